//! Addresses of records by more than one column: `day=2026-01-31;page=home` in place of an id.
//!
//! The plain form of an id keeps its meaning. This one is read from the path before it is decoded, so that a comma, a
//! semicolon or an equals sign in a value is written with a percent escape and never separates anything.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::request::decode::decode;

/// What is escaped in a value of an address; the rest reads as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');

/// The values of the key columns, id after id, if every part of `segment` names all of them; else `None`.
///
/// ```
/// use treeql::request::composite_ids;
///
/// let ids = composite_ids("day=1;page=a%2Cb,page=c;day=2", &["day", "page"]).unwrap();
/// assert_eq!(ids, ["1", "a,b", "2", "c"]);
/// assert_eq!(composite_ids("1,2", &["day", "page"]), None);
/// ```
pub fn composite_ids<'a>(segment: &'a str, key: &[&str]) -> Option<Vec<Cow<'a, str>>> {
    let mut values = Vec::new();
    for part in segment.split(',') {
        let mut pairs: Vec<(Cow<'a, str>, Cow<'a, str>)> = Vec::new();
        for pair in part.split(';') {
            let (name, value) = pair.split_once('=')?;
            pairs.push((decode(name)?, decode(value)?));
        }
        if pairs.len() != key.len() {
            return None;
        }
        for column in key {
            let (_, value) = pairs.iter().find(|(name, _)| name == column)?;
            values.push(value.clone());
        }
    }
    Some(values)
}

/// The address of a record, as [`composite_ids`] reads it.
pub fn composite_address<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let escaped = |text: &'a str| utf8_percent_encode(text, ESCAPED).to_string();
    let parts: Vec<String> =
        pairs.into_iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
    parts.join(";")
}

#[cfg(test)]
mod tests {
    use crate::request::address::{composite_address, composite_ids};

    #[test]
    fn an_address_that_was_written_is_read_again() {
        let address = composite_address([("day", "a;b,c=d/é"), ("page", "")]);
        let values = composite_ids(&address, &["day", "page"]).expect("it names both columns");
        assert_eq!(values, ["a;b,c=d/é", ""]);
    }

    #[test]
    fn what_does_not_name_every_key_column_once_is_no_address() {
        for segment in ["day=1", "day=1;page=2;page=3", "day=1;pge=2", "1", "day=1;page=2,3"] {
            assert_eq!(composite_ids(segment, &["day", "page"]), None, "{segment}");
        }
    }
}
