//! Sanitation: what is done to the values of a record before they are checked (SPEC 18.16).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::record::normalize::{is_blank, normalize};
use crate::record::selection::Selection;
use crate::record::strip_tags::strip_tags;
use crate::request::{Cell, Record};
use crate::schema::{Column, ColumnType, Table};

/// What is done to values: declared rules first, then the form of the column's type.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Sanitation {
    /// What is done to text, by table and column.
    pub rules: Vec<SanitationRule>,
    /// The column types whose values are brought into the form of the type.
    pub types: Selection,
    /// The exposed names of the tables for which that is done.
    pub tables: Selection,
}

/// What is done to the text of some columns. If several rules are about a column, it is all that they say.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SanitationRule {
    /// The exposed names of the tables.
    pub tables: Selection,
    /// The exposed or the real names of the columns.
    pub columns: Selection,
    /// Whether HTML tags are removed. Strings inside JSON arrays and objects are not looked at.
    pub strip_tags: bool,
    /// Whether white space around the text is removed.
    pub trim: bool,
    /// Which case letters get; of several rules the last that says so.
    pub case: Option<LetterCase>,
}

/// Small or capital letters.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LetterCase {
    /// Small letters, as for mail addresses.
    Lower,
    /// Capital letters, as for codes.
    Upper,
}

impl Sanitation {
    /// Treats the members of `record` that are columns of `table`. What cannot be brought into the form of its type
    /// stays as it is, for the validation to refuse. Doing it twice at the same time does what doing it once does.
    ///
    /// `now_unix` is the time in seconds since 1970, for texts such as `today` and `10am`.
    pub fn sanitize(&self, table: &Table, record: &mut Record<'_>, now_unix: i64) {
        let tables_match = self.tables.contains(&table.alias);
        for (name, cell) in record {
            let Some(index) = table.column(name) else { continue };
            let column = &table.columns[index];
            let typed = tables_match && self.types.contains(column.kind.name());
            let treatment = self.treatment(table, column, typed);
            if let Cell::Text(text) = cell
                && let Some(treated) = treatment.apply(text)
            {
                *text = Cow::Owned(treated);
            }
            if typed && let Some(normal) = normalize(cell, column, now_unix) {
                *cell = normal;
            }
        }
    }

    fn treatment(&self, table: &Table, column: &Column, typed: bool) -> Treatment {
        let mut treatment = Treatment::default();
        for rule in &self.rules {
            if rule.tables.contains(&table.alias) && rule.columns.contains_column(column) {
                treatment.strip_tags |= rule.strip_tags;
                treatment.trim |= rule.trim;
                treatment.case = rule.case.or(treatment.case);
            }
        }
        // These types have no other form. It is said here because white space decides what is a tag.
        treatment.trim |= typed && (column.kind.is_binary() || column.kind == ColumnType::Geometry);
        treatment
    }
}

/// What is done to the text of one column.
#[derive(Default)]
struct Treatment {
    strip_tags: bool,
    trim: bool,
    case: Option<LetterCase>,
}

impl Treatment {
    /// What becomes of `text`; `None` if it stays.
    fn apply(&self, text: &str) -> Option<String> {
        let stripped = if self.strip_tags { strip_tags(text) } else { Cow::Borrowed(text) };
        let trimmed = if self.trim { self.trimmed(&stripped) } else { &stripped };
        let treated = match self.case {
            None if trimmed.len() == text.len() => return None,
            None => trimmed.to_owned(),
            Some(LetterCase::Lower) => trimmed.to_lowercase(),
            Some(LetterCase::Upper) => trimmed.to_uppercase(),
        };
        Some(treated)
    }

    /// Without white space at the end, a `<` that was text because of it would begin a tag.
    fn trimmed<'a>(&self, text: &'a str) -> &'a str {
        let end = |character| is_blank(character) || (self.strip_tags && character == '<');
        text.trim_start_matches(is_blank).trim_end_matches(end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use crate::record::sample::table;
    use crate::record::sanitize::{LetterCase, Sanitation, SanitationRule};
    use crate::request::{Cell, Record};
    use crate::schema::{ColumnType, Table};

    fn posts() -> Table {
        let columns =
            [("id", ColumnType::Integer), ("content", ColumnType::Clob), ("shape", ColumnType::Geometry)];
        let mut posts = table("posts", &columns);
        posts.columns[1].alias = "text".into();
        posts
    }

    fn sanitation(json: &str) -> Sanitation {
        serde_json::from_str(json).expect("it is a sanitation")
    }

    fn treated(sanitation: &Sanitation, name: &str, text: &str) -> Cell<'static> {
        let mut record: Record<'_> = vec![(name.to_owned().into(), Cell::Text(text.to_owned().into()))];
        sanitation.sanitize(&posts(), &mut record, 0);
        record.remove(0).1
    }

    #[test]
    fn rules_are_for_tables_and_columns_and_types_for_tables() {
        let tags = r#"{"rules":[{"stripTags":true}],"tables":"forgiving"}"#;
        let cases = [
            ("{}", "id", " 7 ", Cell::Number("7".into())),
            ("{}", "text", " <b>7 ", Cell::Text(" <b>7 ".into())),
            ("{}", "unknown", " 7 ", Cell::Text(" 7 ".into())),
            ("{}", "id", " two ", Cell::Text(" two ".into())),
            ("{}", "shape", " POINT(1 2)", Cell::Text("POINT(1 2)".into())),
            (r#"{"types":"boolean"}"#, "id", " 7 ", Cell::Text(" 7 ".into())),
            (r#"{"tables":"tags"}"#, "id", " 7 ", Cell::Text(" 7 ".into())),
            (tags, "text", " <b>7 ", Cell::Text(" 7 ".into())),
            (tags, "id", "<b>7", Cell::Text("7".into())),
            (r#"{"rules":[{"columns":"content","trim":true}]}"#, "text", " a ", Cell::Text("a".into())),
            (
                r#"{"rules":[{"columns":"text","case":"upper"}]}"#,
                "text",
                "größe",
                Cell::Text("GRÖSSE".into()),
            ),
            (r#"{"rules":[{"columns":["text"],"case":"lower"}]}"#, "text", "A", Cell::Text("a".into())),
            (r#"{"rules":[{"tables":"tags","trim":true}]}"#, "text", " a ", Cell::Text(" a ".into())),
            (r#"{"rules":[{"trim":true},{"stripTags":true}]}"#, "text", "a < <b> ", Cell::Text("a".into())),
        ];
        for (json, name, text, expected) in cases {
            assert_eq!(treated(&sanitation(json), name, text), expected, "{json} {name} {text}");
        }
    }

    #[test]
    fn a_misspelled_rule_is_refused() {
        assert!(serde_json::from_str::<Sanitation>(r#"{"rules":[{"striptags":true}]}"#).is_err());
        let written = serde_json::to_string(&Sanitation::default()).expect("it can be written");
        assert_eq!(written, r#"{"rules":[],"types":"all","tables":"all"}"#);
    }

    proptest! {
        #[test]
        fn twice_is_once(
            text in "[<> \n\u{0}\u{a0}ßİΣa-b!?'0-9:@+-]{0,24}",
            (strip_tags, trim, case) in (any::<bool>(), any::<bool>(), 0..3_usize),
            now in any::<i64>(),
        ) {
            let case = [None, Some(LetterCase::Lower), Some(LetterCase::Upper)][case];
            let rule = SanitationRule { strip_tags, trim, case, ..SanitationRule::default() };
            let sanitation = Sanitation { rules: vec![rule], ..Sanitation::default() };
            let members = ["id", "text", "shape"].map(|name| (name.into(), Cell::Text(text.as_str().into())));
            let mut once: Record<'_> = members.into();
            sanitation.sanitize(&posts(), &mut once, now);
            let mut twice = once.clone();
            sanitation.sanitize(&posts(), &mut twice, now);
            prop_assert_eq!(once, twice);
        }
    }
}
