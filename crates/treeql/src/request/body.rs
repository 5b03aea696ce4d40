//! Request bodies: one record or a batch, from JSON or a form (SPEC 3).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Code, Error};
use crate::request::decode::decode;
use crate::request::form::records_of_form;
use crate::request::record::{Cell, MEMBERS_MAX, Record, RecordBatch, put};

impl<'a> RecordBatch<'a> {
    /// Reads a body. `form` says that the content type is a form's, so that a brace does not make it JSON.
    ///
    /// Every error is 1008; its details say what is wrong and, for JSON, where.
    pub fn parse(body: &'a [u8], form: bool, batch_rows_max: usize) -> Result<RecordBatch<'a>, Error> {
        let text = std::str::from_utf8(body).map_err(|e| {
            unreadable(format!("is not UTF-8 from byte {} on; send text in UTF-8", e.valid_up_to()))
        })?;
        // compat: PHP takes an empty body and the body `0` for none (SPEC 3.1).
        if text.is_empty() || (text == "0" && !form) {
            return Err(unreadable("is empty; send a JSON object, an array of objects, or a form"));
        }
        let trimmed = text.trim_start_matches([' ', '\t', '\n', '\r']);
        let is_json = !form && trimmed.starts_with(['{', '[']);
        let (batch, count) = if is_json { json(text, batch_rows_max)? } else { form_pairs(text)? };
        if count > batch_rows_max {
            return Err(Error::new(
                Code::TooLarge,
                format!("{count} records; one request may have {batch_rows_max} (limits.batchRows)"),
            ));
        }
        if batch.records.iter().any(|record| record.len() > MEMBERS_MAX) {
            let sentence = format!("a record with more than {MEMBERS_MAX} members");
            return Err(Error::new(Code::TooLarge, sentence));
        }
        Ok(batch)
    }
}

fn unreadable(sentence: impl Into<Box<str>>) -> Error {
    Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence)
}

/// A batch, and how many records were sent: those beyond the limit are counted, but not kept.
type Counted<'a> = (RecordBatch<'a>, usize);

fn form_pairs(text: &str) -> Result<Counted<'_>, Error> {
    let mut pairs = Vec::new();
    for piece in text.split('&').filter(|piece| !piece.is_empty()) {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let bad = || unreadable(format!("'{}' is not UTF-8 when decoded", piece.escape_debug()));
        pairs.push((decode(name).ok_or_else(bad)?, decode(value).ok_or_else(bad)?));
    }
    let batch = records_of_form(pairs);
    let count = batch.records.len();
    Ok((batch, count))
}

fn json(text: &str, batch_rows_max: usize) -> Result<Counted<'_>, Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let counted = deserializer
        .deserialize_any(BatchVisitor { batch_rows_max })
        .and_then(|counted| deserializer.end().map(|()| counted))
        .map_err(|e| unreadable(format!("is no JSON: {e}")))?;
    Ok(counted)
}

struct BatchVisitor {
    batch_rows_max: usize,
}

impl<'de> Visitor<'de> for BatchVisitor {
    type Value = Counted<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Ok((RecordBatch { records: vec![read_record(map)?], batch: false }, 1))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut records = Vec::new();
        let mut count = 0;
        while let Some(element) = seq.next_element::<&'de RawValue>()? {
            count += 1;
            if count <= self.batch_rows_max {
                records.push(record_of_json(element.get()).map_err(serde::de::Error::custom)?);
            }
        }
        Ok((RecordBatch { records, batch: true }, count))
    }
}

/// compat: an element that is no object counts as an empty record (SPEC 3.4).
fn record_of_json(text: &str) -> Result<Record<'_>, serde_json::Error> {
    if !text.starts_with('{') {
        return Ok(Record::new());
    }
    struct RecordVisitor;
    impl<'de> Visitor<'de> for RecordVisitor {
        type Value = Record<'de>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            read_record(map)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(RecordVisitor)
}

fn read_record<'de, A: MapAccess<'de>>(mut map: A) -> Result<Record<'de>, A::Error> {
    let mut record = Record::new();
    while let Some(name) = map.next_key::<Name<'de>>()? {
        let raw = map.next_value::<&'de RawValue>()?;
        let cell = cell_of_json(raw.get()).map_err(serde::de::Error::custom)?;
        put(&mut record, name.0, cell);
    }
    Ok(record)
}

/// A member name, borrowed where it has no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }
            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// The cell of one JSON value, given as its text without blanks around it.
pub fn cell_of_json(raw: &str) -> Result<Cell<'_>, serde_json::Error> {
    Ok(match raw.as_bytes().first() {
        Some(b'n') => Cell::Null,
        Some(b't') => Cell::Bool(true),
        Some(b'f') => Cell::Bool(false),
        Some(b'"') if !raw.contains('\\') => Cell::Text(Cow::Borrowed(&raw[1..raw.len() - 1])),
        Some(b'"') => Cell::Text(Cow::Owned(serde_json::from_str(raw)?)),
        Some(b'[' | b'{') => Cell::Json(Cow::Borrowed(raw)),
        _ => Cell::Number(Cow::Borrowed(raw)),
    })
}

#[cfg(test)]
mod tests {
    use crate::request::record::{Cell, RecordBatch};

    fn parse(text: &str) -> Option<RecordBatch<'_>> {
        RecordBatch::parse(text.as_bytes(), false, 10).ok()
    }

    #[test]
    fn digits_are_kept_as_sent() {
        let batch = parse(r#" {"a": 12345678901234567890.10, "a\u0062": "x\ny", "a": null}"#);
        let batch = batch.expect("it is JSON");
        assert!(!batch.batch);
        assert_eq!(batch.records[0][0], ("a".into(), Cell::Null));
        assert_eq!(batch.records[0][1], ("ab".into(), Cell::Text("x\ny".into())));
    }

    #[test]
    fn an_array_is_a_batch_and_odd_elements_are_empty_records() {
        let batch = parse(r#"[{"a":1}, 7]"#).expect("it is JSON");
        assert!(batch.batch);
        assert_eq!(batch.records[0], [("a".into(), Cell::Number("1".into()))]);
        assert!(batch.records[1].is_empty());
    }

    #[test]
    fn what_is_cut_off_or_no_json_is_refused() {
        assert!(
            ["", "0", "[\"truncat", "{\"a\":1", "{\"a\":1} x", "{\"a\":\"\\ud800\"}"]
                .into_iter()
                .all(|text| parse(text).is_none())
        );
    }

    #[test]
    fn a_body_is_not_kept_beyond_its_limits() {
        let members: Vec<String> = (0..200_000).map(|number| format!("\"{number}\":0")).collect();
        let numbers = vec!["1"; 200_000].join(",");
        let form: Vec<String> = (0..200_000).map(|number| format!("{number}=")).collect();
        let bodies = [format!("{{{}}}", members.join(",")), format!("[{numbers}]"), form.join("&")];
        for body in bodies {
            let error = RecordBatch::parse(body.as_bytes(), false, 10).expect_err("it is too large");
            assert_eq!(error.code.number(), 2000, "{error}");
        }
    }

    #[test]
    fn a_form_may_say_null() {
        let batch = parse("icon__is_null&name=a+b").expect("it is a form");
        assert_eq!(
            batch.records[0],
            [("icon".into(), Cell::Null), ("name".into(), Cell::Text("a b".into()))]
        );
    }
}
