//! JSON in text columns: opened in answers, closed in records that are written (SPEC 18.23).

use std::borrow::Cow;

use crate::encode::double::write_double;
use crate::encode::json::write_string;
use crate::encode::scanner::{Malformed, Scanner, Token};
use crate::request::{Cell, Record};

/// limit: levels of JSON in a column, as many as in the body of a request; what is deeper stays a string.
const JSON_DEPTH_MAX: usize = 512;
/// Digits that a double holds whatever they are.
const DIGITS_SURE: usize = 15;

/// Which members hold JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonColumns {
    /// Every member.
    All,
    /// Those of these names.
    Named(Box<[Box<str>]>),
}

impl JsonColumns {
    /// Reads names separated by commas, `all` for every one.
    pub fn parse(text: &str) -> JsonColumns {
        let names = || text.split(',').map(str::trim).filter(|name| !name.is_empty());
        if names().any(|name| name == "all") {
            return JsonColumns::All;
        }
        JsonColumns::Named(names().map(Box::from).collect())
    }

    /// Whether a member of this name holds JSON.
    pub fn has(&self, name: &str) -> bool {
        match self {
            JsonColumns::All => true,
            JsonColumns::Named(names) => names.iter().any(|known| **known == *name),
        }
    }
}

/// Replaces strings that hold a JSON array or object by what they hold.
///
/// All elements of arrays are looked at, but only those members of objects that `columns` has: with names the members of
/// `records` are not reached unless it is named, too (SPEC 18.23). A document that is no JSON stays as it is.
///
/// ```
/// use treeql::encode::{JsonColumns, expand};
///
/// let document = br#"{"id":1,"options":"{\"size\": 2}","note":"[sic]"}"#;
/// let expanded = br#"{"id":1,"options":{"size":2},"note":"[sic]"}"#;
/// assert_eq!(expand(document, &JsonColumns::All), expanded);
/// ```
pub fn expand(document: &[u8], columns: &JsonColumns) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(document) else { return document.to_vec() };
    expand_text(text, columns).unwrap_or_else(|_malformed| document.to_vec())
}

fn expand_text(text: &str, columns: &JsonColumns) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::with_capacity(text.len());
    Expander::new(columns.clone(), false).piece(&mut Scanner::new(text), text, &mut out)?;
    Ok(out)
}

/// The members that hold the records of a list and what they have, as lists and features spell them.
const LISTS: [&str; 3] = ["records", "features", "properties"];

/// Opens strings, one piece of a document after the other.
pub struct Expander {
    columns: JsonColumns,
    /// Whether the members of lists are entered whatever their names are.
    in_lists: bool,
    /// The depth at which the value ends that is passed over.
    skipped: Option<usize>,
    /// The next value is entered if it is an array or an object, but it is not opened.
    is_list_next: bool,
}

impl Expander {
    /// An expander before the first token.
    pub fn new(columns: JsonColumns, in_lists: bool) -> Expander {
        Expander { columns, in_lists, skipped: None, is_list_next: false }
    }

    /// Writes a piece of the document; `text` is what the scanner reads.
    pub fn piece(
        &mut self,
        scanner: &mut Scanner<'_>,
        text: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        let mut copied = 0;
        while let Some(token) = scanner.token()? {
            if let Some(depth) = self.skipped {
                if scanner.depth() <= depth {
                    self.skipped = None;
                }
                continue;
            }
            let is_list = std::mem::take(&mut self.is_list_next);
            match token {
                Token::Name(name) if self.columns.has(&name) => {}
                Token::Name(name) if self.in_lists && LISTS.contains(&&*name) => self.is_list_next = true,
                Token::Name(_) => self.skipped = Some(scanner.depth()),
                Token::String(string) if !is_list && string.starts_with(['[', '{']) => {
                    let span = scanner.span();
                    let written = out.len();
                    out.extend_from_slice(&text.as_bytes()[copied..span.start]);
                    if write_json(out, &string).is_ok() {
                        copied = span.end;
                    } else {
                        out.truncate(written);
                    }
                }
                _ => {}
            }
        }
        out.extend_from_slice(&text.as_bytes()[copied..]);
        Ok(())
    }
}

/// Replaces the arrays and objects among the members that `columns` has by their text.
pub fn collapse(record: &mut Record<'_>, columns: &JsonColumns) {
    for (name, cell) in record.iter_mut() {
        let Cell::Json(json) = cell else { continue };
        if !columns.has(name) {
            continue;
        }
        let mut out = Vec::with_capacity(json.len());
        let text = match write_json(&mut out, json).map(|()| String::from_utf8(out)) {
            Ok(Ok(text)) => Cow::Owned(text),
            // Escapes that mean no character: the database may judge what was sent.
            _ => std::mem::take(json),
        };
        *cell = Cell::Text(text);
    }
}

/// Appends a JSON text in our style: compact, with `\/` and Unicode as it is.
fn write_json(out: &mut Vec<u8>, text: &str) -> Result<(), Malformed> {
    let mut scanner = Scanner::new(text);
    let mut is_first = true;
    while let Some(token) = scanner.token()? {
        if scanner.depth() > JSON_DEPTH_MAX {
            return Err(Malformed { at: scanner.span().start });
        }
        let is_end = matches!(token, Token::EndObject | Token::EndArray);
        if !is_first && !is_end {
            out.push(b',');
        }
        is_first = matches!(token, Token::BeginObject | Token::BeginArray | Token::Name(_));
        match token {
            Token::BeginObject => out.push(b'{'),
            Token::EndObject => out.push(b'}'),
            Token::BeginArray => out.push(b'['),
            Token::EndArray => out.push(b']'),
            Token::Name(name) => {
                write_string(out, &name);
                out.push(b':');
            }
            Token::String(string) => write_string(out, &string),
            Token::Number(digits) => write_number(out, digits),
            Token::Bool(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
            Token::Null => out.extend_from_slice(b"null"),
        }
    }
    Ok(())
}

/// compat: a number with a fraction or an exponent is spelled as PHP spells its double, so `1.0` is `1` and `2e3` is
/// `2000`. Digits that a double would lose are passed on as they are, where the reference rounds them.
fn write_number(out: &mut Vec<u8>, digits: &str) {
    let is_whole = !digits.contains(['.', 'e', 'E']);
    let mantissa = digits.split(['e', 'E']).next().unwrap_or(digits);
    let significant = mantissa.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    match digits.parse::<f64>() {
        Ok(number) if !is_whole && significant <= DIGITS_SURE && (number.is_normal() || significant == 0) => {
            write_double(out, number);
        }
        _ => out.extend_from_slice(digits.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::{prop_assert_eq, proptest};
    use serde_json::Value as Json;

    use crate::encode::json_columns::{JsonColumns, collapse, expand};
    use crate::request::{Cell, Record};

    fn expanded(document: &str, columns: &str) -> String {
        let expanded = expand(document.as_bytes(), &JsonColumns::parse(columns));
        String::from_utf8(expanded).expect("it is UTF-8")
    }

    #[test]
    fn strings_that_hold_arrays_and_objects_are_opened() {
        let table = [
            (r#"{"id":3,"shape":"{\"w\": 1, \"h\": [ ]}"}"#, r#"{"id":3,"shape":{"w":1,"h":[]}}"#),
            (r#"["[1,2]","x"]"#, r#"[[1,2],"x"]"#),
            (
                r#"{"records":[{"a":"{}"},{"a":"[]"}],"results":2}"#,
                r#"{"records":[{"a":{}},{"a":[]}],"results":2}"#,
            ),
            (r#""[null]""#, "[null]"),
            // What is opened is not opened again.
            (r#"{"a":"[\"[1]\"]"}"#, r#"{"a":["[1]"]}"#),
            // Blanks after, but not before.
            (r#"["{} \n"," {}"]"#, r#"[{}," {}"]"#),
            (r#"["{\"u\\/r\":\"\\u00e9\\ud83e\\udd80\"}"]"#, r#"[{"u\/r":"é🦀"}]"#),
            (r#"["[\"a\/b\u2028\"]"]"#, "[[\"a\\/b\\u2028\"]]"),
        ];
        for (document, expected) in table {
            assert_eq!(expanded(document, "all"), expected);
        }
    }

    #[test]
    fn what_is_no_json_stays() {
        let table = [
            r#"{"a":"[sic]","b":"{","c":"","d":"7","e":"true","f":null,"g":[],"h":1.50}"#,
            r#"["[1] x","{a:1}","[\"\\ud800\"]","[1,]"]"#,
            "[] []",
            "",
        ];
        for document in table {
            assert_eq!(expanded(document, "all"), document);
        }
        assert_eq!(expand(b"\"\xff\"", &JsonColumns::All), b"\"\xff\"");
    }

    #[test]
    fn objects_are_entered_through_named_members_only() {
        let table = [
            (r#"{"a":"[1]","b":"[2]"}"#, r#"{"a":"[1]","b":[2]}"#),
            (r#"[{"a":"[1]","b":"[2]"}]"#, r#"[{"a":"[1]","b":[2]}]"#),
            (r#"{"records":[{"b":"[2]"}]}"#, r#"{"records":[{"b":"[2]"}]}"#),
            (r#"{"b":{"a":"[1]","b":"[2]"}}"#, r#"{"b":{"a":"[1]","b":[2]}}"#),
        ];
        for (document, expected) in table {
            assert_eq!(expanded(document, "c, b"), expected);
        }
        assert_eq!(expanded(r#"{"b":"[2]"}"#, ""), r#"{"b":"[2]"}"#);
    }

    #[test]
    fn numbers_are_respelled_unless_digits_would_be_lost() {
        let table = [
            ("1.0", "1"),
            ("-0.0", "-0"),
            ("2e3", "2000"),
            ("0.00001", "1.0e-5"),
            ("12.340", "12.34"),
            ("123456789012345678901", "123456789012345678901"),
            ("0.1234567890123456789", "0.1234567890123456789"),
            ("1e999", "1e999"),
            ("1e-999", "1e-999"),
        ];
        for (number, expected) in table {
            assert_eq!(expanded(&format!("[\"[{number}]\"]"), "all"), format!("[[{expected}]]"));
        }
    }

    #[test]
    fn what_is_too_deep_stays_a_string() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(expanded(&format!("[\"{}\"]", nested(512)), "all"), nested(513));
        let document = format!("[\"{}\"]", nested(513));
        assert_eq!(expanded(&document, "all"), document);
    }

    #[test]
    fn arrays_and_objects_are_written_as_text() {
        let mut record: Record<'_> = vec![
            ("a".into(), Cell::Json("{ \"x\" : \"\\u00e9/\", \"y\": [1.0, 2] }".into())),
            ("b".into(), Cell::Json("[ 1 ]".into())),
            ("c".into(), Cell::Text("[ 1 ]".into())),
            ("d".into(), Cell::Number("1.0".into())),
            ("e".into(), Cell::Json("[ \"\\ud800\" ]".into())),
        ];
        let before = record.clone();
        collapse(&mut record, &JsonColumns::parse("a,c,d,e"));
        assert_eq!(record[0].1, Cell::Text(r#"{"x":"é\/","y":[1,2]}"#.into()));
        assert_eq!(record[1..4], before[1..4]);
        assert_eq!(record[4].1, Cell::Text("[ \"\\ud800\" ]".into()));
    }

    proptest! {
        #[test]
        fn what_is_closed_is_opened_again(json in "([\\[{]|\"[a/é]{0,2}\":|\"[a/\\u2028]{0,2}\"|-?[1-9]{1,9}|[\\]},]|null){0,12}") {
            let Ok(value) = serde_json::from_str::<Json>(&json) else { return Ok(()) };
            if !value.is_array() && !value.is_object() {
                return Ok(());
            }
            let mut record: Record<'_> = vec![("m".into(), Cell::Json(json.clone().into()))];
            collapse(&mut record, &JsonColumns::All);
            let Cell::Text(text) = &record[0].1 else { panic!("it is text") };
            let document = serde_json::json!({ "m": text }).to_string();
            let opened = expanded(&document, "m");
            prop_assert_eq!(&opened, &format!("{{\"m\":{text}}}"));
            prop_assert_eq!(serde_json::from_str::<Json>(&opened).expect("it is JSON"), serde_json::json!({ "m": value }));
        }

        #[test]
        fn every_document_stays_json(texts in proptest::collection::vec(any::<String>(), 0..4), braces in "[\\[{]?[\"\\\\\\[\\]{}:,a0-9]{0,8}") {
            let document = serde_json::to_string(&(texts, braces)).expect("strings are JSON");
            let opened = expanded(&document, "all");
            assert!(serde_json::from_str::<Json>(&opened).is_ok(), "{document} {opened}");
        }
    }
}
