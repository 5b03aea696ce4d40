//! Rules that an operator declares for the values of columns, with the sentence that callers get.

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::nearest::unknown;
use crate::record::selection::Selection;
use crate::request::{Cell, is_numeric};

/// A rule for the values of some columns.
///
/// In a configuration it has one kind of check: `check = "numeric"`, `check = "required"`, `pattern`, `min` and `max`,
/// `minLength` and `maxLength`, or `oneOf`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "Spelling", into = "Spelling")]
pub struct ValidationRule {
    /// The exposed names of the tables.
    pub tables: Selection,
    /// The exposed or the real names of the columns.
    pub columns: Selection,
    /// What values must be.
    pub check: Check,
    /// What callers are told; without it, what values must be.
    pub message: Option<String>,
}

impl ValidationRule {
    /// What a caller is told whose value the rule does not accept.
    pub fn sentence(&self) -> String {
        self.message.clone().unwrap_or_else(|| self.check.sentence())
    }
}

/// What values must be. Only `Numeric` and `Required` say something about null.
///
/// Numbers, booleans and JSON are looked at as the text that was sent.
#[derive(Clone, Debug)]
pub enum Check {
    /// A number, or text that is one (SPEC 20).
    Numeric,
    /// Not null, not empty or blank, and present in a new record.
    Required,
    /// Text in which the expression is found; `^` and `$` tie it to the ends.
    Pattern(Regex),
    /// A number within bounds.
    Range {
        /// The least number.
        min: Option<f64>,
        /// The greatest number.
        max: Option<f64>,
    },
    /// A number of characters within bounds.
    Length {
        /// The least number of characters.
        min: Option<usize>,
        /// The greatest number of characters.
        max: Option<usize>,
    },
    /// One of some texts.
    OneOf(Vec<String>),
}

impl Check {
    /// Whether `cell` is what it must be.
    pub fn accepts(&self, cell: &Cell<'_>) -> bool {
        let text = match cell {
            Cell::Null => return !matches!(self, Check::Numeric | Check::Required),
            Cell::Bool(true) => "true",
            Cell::Bool(false) => "false",
            Cell::Number(text) | Cell::Text(text) | Cell::Json(text) => text,
        };
        match self {
            Check::Numeric => is_numeric(text),
            Check::Required => !text.trim().is_empty(),
            Check::Pattern(pattern) => pattern.is_match(text),
            Check::Range { min, max } => is_numeric(text) && within(text.trim().parse().ok(), *min, *max),
            Check::Length { min, max } => within(Some(text.chars().count()), *min, *max),
            Check::OneOf(texts) => texts.iter().any(|allowed| allowed == text),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Check::Numeric => "must be numeric".to_owned(),
            Check::Required => "is required".to_owned(),
            Check::Pattern(pattern) => format!("must match {pattern}"),
            Check::Range { min, max } => format!("must be a number{}", bounds(min, max)),
            Check::Length { min, max } => format!("must have a length{}", bounds(min, max)),
            Check::OneOf(texts) => format!("must be one of {}", texts.join(", ")),
        }
    }
}

fn within<T: PartialOrd>(value: Option<T>, min: Option<T>, max: Option<T>) -> bool {
    value.is_some_and(|value| min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max))
}

fn bounds<T: ToString>(min: &Option<T>, max: &Option<T>) -> String {
    match (min.as_ref().map(T::to_string), max.as_ref().map(T::to_string)) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(" of {min} at least"),
        (None, Some(max)) => format!(" of {max} at most"),
        (None, None) => String::new(),
    }
}

/// A rule as it stands in a configuration; what is empty is not said.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Spelling {
    tables: Selection,
    columns: Selection,
    #[serde(skip_serializing_if = "String::is_empty")]
    check: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pattern: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    one_of: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

const WORDS: [&str; 2] = ["numeric", "required"];

impl TryFrom<Spelling> for ValidationRule {
    type Error = String;

    fn try_from(spelling: Spelling) -> Result<ValidationRule, String> {
        let mut checks = Vec::new();
        match spelling.check.as_str() {
            "" => {}
            "numeric" => checks.push(Check::Numeric),
            "required" => checks.push(Check::Required),
            other => return Err(unknown("check", other, WORDS)),
        }
        if !spelling.pattern.is_empty() {
            let pattern = &spelling.pattern;
            let pattern = Regex::new(pattern).map_err(|e| format!("pattern '{pattern}': {e}"))?;
            checks.push(Check::Pattern(pattern));
        }
        let (min, max) = (spelling.min, spelling.max);
        if min.is_some() || max.is_some() {
            ordered("min", min, "max", max)?;
            checks.push(Check::Range { min, max });
        }
        let (min, max) = (spelling.min_length, spelling.max_length);
        if min.is_some() || max.is_some() {
            ordered("minLength", min, "maxLength", max)?;
            checks.push(Check::Length { min, max });
        }
        if !spelling.one_of.is_empty() {
            checks.push(Check::OneOf(spelling.one_of));
        }
        let (Some(check), true) = (checks.pop(), checks.is_empty()) else {
            return Err("a rule has one of check, pattern, min and max, minLength and maxLength, or oneOf; \
                        for more, write more rules"
                .to_owned());
        };
        Ok(ValidationRule {
            tables: spelling.tables,
            columns: spelling.columns,
            check,
            message: Some(spelling.message).filter(|message| !message.is_empty()),
        })
    }
}

/// Bounds between which there is nothing would refuse everything; `nan` would, too.
fn ordered<T: PartialOrd>(least: &str, min: Option<T>, greatest: &str, max: Option<T>) -> Result<(), String> {
    let comparable =
        |bound: &Option<T>| bound.as_ref().is_none_or(|bound| bound.partial_cmp(bound).is_some());
    let fine = comparable(&min) && comparable(&max) && min.zip(max).is_none_or(|(min, max)| min <= max);
    if !fine {
        return Err(format!("no value is between {least} and {greatest}"));
    }
    Ok(())
}

impl From<ValidationRule> for Spelling {
    fn from(rule: ValidationRule) -> Spelling {
        let mut spelling = Spelling {
            tables: rule.tables,
            columns: rule.columns,
            message: rule.message.unwrap_or_default(),
            ..Spelling::default()
        };
        match rule.check {
            Check::Numeric => spelling.check = "numeric".to_owned(),
            Check::Required => spelling.check = "required".to_owned(),
            Check::Pattern(pattern) => spelling.pattern = pattern.to_string(),
            Check::Range { min, max } => (spelling.min, spelling.max) = (min, max),
            Check::Length { min, max } => (spelling.min_length, spelling.max_length) = (min, max),
            Check::OneOf(texts) => spelling.one_of = texts,
        }
        spelling
    }
}

#[cfg(test)]
mod tests {
    use crate::record::rule::ValidationRule;
    use crate::request::cell_of_json;

    /// The check of a rule, JSON that it accepts, JSON that it does not, and the sentence without a message.
    const CASES: &[(&str, &str, &str, &str)] = &[
        (
            r#""check":"numeric""#,
            r#"1|1.5e3|"7"|" -.5 "|"1e5""#,
            r#"null|true|[1]|"two"|"""#,
            "must be numeric",
        ),
        (r#""check":"required""#, r#"0|false|"a"|{}"#, r#"null|""|" \n""#, "is required"),
        (r#""pattern":"^[a-z]+$""#, r#""abc"|null|true"#, r#""abc\n"|"Abc"|7"#, "must match ^[a-z]+$"),
        (r#""pattern":"b""#, r#""abc""#, r#""xyz""#, "must match b"),
        (r#""min":1,"max":5"#, r#"1|5|"3"|1.5|null"#, r#"0.9|6|"six"|true"#, "must be a number from 1 to 5"),
        (r#""min":0.5"#, "0.5|1e300", "0.4", "must be a number of 0.5 at least"),
        (
            r#""minLength":2,"maxLength":3"#,
            r#""äö"|"äöü"|12|null"#,
            r#""a"|"abcd""#,
            "must have a length from 2 to 3",
        ),
        (r#""maxLength":1"#, r#"""|"𠜎""#, r#""ab""#, "must have a length of 1 at most"),
        (r#""oneOf":["a","7"]"#, r#""a"|7|"7"|null"#, r#""b"|"""#, "must be one of a, 7"),
    ];

    fn rule(body: &str) -> Result<ValidationRule, serde_json::Error> {
        serde_json::from_str(&format!(r#"{{"columns":"it",{body}}}"#))
    }

    #[test]
    fn a_rule_accepts_what_it_says() {
        for (body, accepted, refused, sentence) in CASES {
            let rule = rule(body).expect("it is a rule");
            for (list, accepts) in [(accepted, true), (refused, false)] {
                for json in list.split('|') {
                    let cell = cell_of_json(json).expect("it is JSON");
                    assert_eq!(rule.check.accepts(&cell), accepts, "{body} {json}");
                }
            }
            assert_eq!(rule.sentence(), *sentence);
        }
    }

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        for (body, _, _, _) in CASES {
            let first = serde_json::to_string(&rule(body).expect("it is a rule")).expect("it can be written");
            let again: ValidationRule = serde_json::from_str(&first).expect("it can be read again");
            assert_eq!(serde_json::to_string(&again).expect("it can be written"), first);
        }
    }

    #[test]
    fn a_rule_that_says_nothing_or_too_much_is_refused() {
        let bodies = [
            (r#""message":"wrong""#, "a rule has one of"),
            (r#""min":1,"pattern":"a""#, "a rule has one of"),
            (r#""pattern":"(""#, "pattern '('"),
            (r#""min":5,"max":1"#, "no value is between min and max"),
            (r#""minLength":5,"maxLength":1"#, "no value is between minLength and maxLength"),
            (r#""check":"numerical""#, "unknown check 'numerical'"),
            (r#""check":"","pattern":"","oneOf":[]"#, "a rule has one of"),
            (r#""enum":["a"]"#, "unknown field"),
        ];
        for (body, part) in bodies {
            let error = rule(body).expect_err(body).to_string();
            assert!(error.contains(part), "{body}: {error}");
        }
    }
}
