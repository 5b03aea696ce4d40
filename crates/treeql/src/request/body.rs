//! Request bodies: one record or a batch, from JSON, a form or XML (SPEC 3).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Code, Error};
use crate::mode::Mode;
use crate::request::decode::decode;
use crate::request::form::records_of_form;
use crate::request::multipart::{boundary, fields};
use crate::request::record::{Cell, MEMBERS_MAX, Members, Record, RecordBatch};
use crate::request::xml::records_of_xml;

/// What the content type says about a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind<'a> {
    /// Nothing: its first character says whether it is JSON or a form.
    Detected,
    /// It is a form, so that a brace does not make it JSON.
    Form,
    /// It is a form of several parts, with this boundary.
    Multipart(&'a str),
    /// It is XML, because the caller wants XML back.
    Xml,
}

impl BodyKind<'_> {
    /// The kind that a content type means.
    pub fn of(content_type: &str) -> BodyKind<'_> {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        match boundary(content_type) {
            Some(boundary) => BodyKind::Multipart(boundary),
            None if kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") => BodyKind::Form,
            None => BodyKind::Detected,
        }
    }
}

impl<'a> RecordBatch<'a> {
    /// Reads a body.
    ///
    /// Every error is 1008; its details say what is wrong and, for JSON, where.
    pub fn parse(
        body: &'a [u8],
        kind: BodyKind<'_>,
        batch_rows_max: usize,
        mode: Mode,
    ) -> Result<RecordBatch<'a>, Error> {
        let text = std::str::from_utf8(body).map_err(|e| {
            unreadable(format!("is not UTF-8 from byte {} on; send text in UTF-8", e.valid_up_to()))
        })?;
        // compat: PHP takes an empty body and the body `0` for none (SPEC 3.1).
        if text.is_empty() || (text == "0" && kind == BodyKind::Detected) {
            return Err(unreadable("is empty; send a JSON object, an array of objects, or a form"));
        }
        let batch = match kind {
            BodyKind::Multipart(boundary) => {
                let fields = fields(text, boundary)
                    .ok_or_else(|| unreadable("is no form of parts with the boundary of its content type"))?;
                records_of_form(fields)
            }
            BodyKind::Xml => records_of_xml(body, mode)?,
            BodyKind::Detected if is_json(text) => json(text, batch_rows_max, mode)?,
            BodyKind::Detected | BodyKind::Form => form_pairs(text)?,
        };
        if batch.records.len() > batch_rows_max {
            return Err(too_many(batch.records.len(), batch_rows_max));
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

fn too_many(count: usize, max: usize) -> Error {
    Error::new(Code::TooLarge, format!("{count} records; one request may have {max} (limits.batchRows)"))
}

fn is_json(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with(['{', '['])
}

fn form_pairs(text: &str) -> Result<RecordBatch<'_>, Error> {
    let mut pairs = Vec::new();
    for piece in text.split('&').filter(|piece| !piece.is_empty()) {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let bad = || unreadable(format!("'{}' is not UTF-8 when decoded", piece.escape_debug()));
        pairs.push((decode(name).ok_or_else(bad)?, decode(value).ok_or_else(bad)?));
    }
    Ok(records_of_form(pairs))
}

fn json(text: &str, batch_rows_max: usize, mode: Mode) -> Result<RecordBatch<'_>, Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let (batch, count, odd) = deserializer
        .deserialize_any(BatchVisitor { batch_rows_max })
        .and_then(|batch| deserializer.end().map(|()| batch))
        .map_err(|e| unreadable(format!("is no JSON: {e}")))?;
    if count > batch_rows_max {
        return Err(too_many(count, batch_rows_max));
    }
    match odd {
        Some(index) if mode.is_strict() => {
            Err(unreadable(format!("has an array whose element {} is no object", index + 1)))
        }
        // compat: an element that is no object counts as an empty record (SPEC 3.4).
        _ => Ok(batch),
    }
}

/// Reads a batch, the number of its elements, and the position of the first that is no object, if there is one. Elements
/// beyond the limit are counted, but not kept.
struct BatchVisitor {
    batch_rows_max: usize,
}

impl<'de> Visitor<'de> for BatchVisitor {
    type Value = (RecordBatch<'de>, usize, Option<usize>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Ok((RecordBatch { records: vec![read_record(map)?], batch: false }, 1, None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut records = Vec::new();
        let (mut count, mut odd) = (0, None);
        while let Some(element) = seq.next_element::<&'de RawValue>()? {
            if !element.get().starts_with('{') {
                odd = odd.or(Some(count));
            }
            count += 1;
            if count <= self.batch_rows_max {
                records.push(record_of_json(element.get()).map_err(serde::de::Error::custom)?);
            }
        }
        Ok((RecordBatch { records, batch: true }, count, odd))
    }
}

/// The record that a text is, all of it: a line, or an element of an array. The error says what is wrong, in a few words.
pub fn record_of_text(text: &[u8]) -> Result<Record<'_>, String> {
    let text =
        std::str::from_utf8(text).map_err(|e| format!("is not UTF-8 from byte {} on", e.valid_up_to()))?;
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if !text.starts_with('{') {
        return Err("is no JSON object".to_owned());
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|e| format!("is no JSON: {e}"))?;
    record_of_json(raw.get()).map_err(|e| format!("is no JSON: {e}"))
}

/// A record, empty if the element is no object.
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
    let mut members = Members::default();
    while let Some(name) = map.next_key::<Name<'de>>()? {
        let raw = map.next_value::<&'de RawValue>()?;
        members.put(name.0, cell_of_json(raw.get()).map_err(serde::de::Error::custom)?);
    }
    Ok(members.finish())
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
    use crate::mode::Mode;
    use crate::request::body::BodyKind;
    use crate::request::record::{Cell, RecordBatch};

    fn parse(text: &str) -> Option<RecordBatch<'_>> {
        RecordBatch::parse(text.as_bytes(), BodyKind::Detected, 10, Mode::Strict).ok()
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
    fn an_array_is_a_batch_and_odd_elements_are_refused_or_empty_records() {
        let text = r#"[{"a":1}, 7]"#;
        assert!(parse(text).is_none());
        let batch = RecordBatch::parse(text.as_bytes(), BodyKind::Detected, 10, Mode::Lenient);
        let batch = batch.expect("it is JSON");
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
    fn a_form_may_say_null() {
        let batch = parse("icon__is_null&name=a+b").expect("it is a form");
        assert_eq!(
            batch.records[0],
            [("icon".into(), Cell::Null), ("name".into(), Cell::Text("a b".into()))]
        );
    }

    #[test]
    fn xml_is_read_when_it_is_asked_for_within_the_same_limits() {
        let parse = |text: &'static str| RecordBatch::parse(text.as_bytes(), BodyKind::Xml, 1, Mode::Strict);
        let batch = parse("<row><a>1</a></row>").expect("it is XML");
        assert_eq!(batch.records[0], [("a".into(), Cell::Text("1".into()))]);
        assert!(
            ["", "0", "{}", "a=1"]
                .into_iter()
                .all(|text| parse(text).is_err_and(|e| e.code.number() == 1008))
        );
        let two = "<rows type='array'><row/><row/></rows>";
        assert!(parse(two).is_err_and(|e| e.code.number() == 2000));
    }
}
