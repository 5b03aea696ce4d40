//! URL decoding: percent escapes, and `+` for a blank.

use std::borrow::Cow;

use percent_encoding::percent_decode;
use smallvec::SmallVec;

/// Decoded segments of a path.
///
/// speed: those of the longest path of the protocol need no memory of their own (docs/performance.md).
pub type Segments<'a> = SmallVec<[Cow<'a, str>; 4]>;

/// The text behind a piece of a query string or form; `None` if it is not valid UTF-8.
///
/// Copies only when there is something to decode.
pub fn decode(piece: &str) -> Option<Cow<'_, str>> {
    if !piece.bytes().any(|byte| byte == b'%' || byte == b'+') {
        return Some(Cow::Borrowed(piece));
    }
    let blanks = piece.replace('+', " ");
    let bytes: Vec<u8> = percent_decode(blanks.as_bytes()).collect();
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// The segments of a path, decoded after splitting; what follows an empty segment is hidden (SPEC 2.2).
pub fn decode_path(path: &str) -> Option<Segments<'_>> {
    let mut segments = Segments::new();
    let mut rest = path.trim_start_matches('/');
    while !rest.is_empty() && !rest.starts_with('/') {
        let end = rest.bytes().position(|byte| byte == b'/').unwrap_or(rest.len());
        segments.push(decode(&rest[..end])?);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Some(segments)
}

#[cfg(test)]
mod tests {
    use crate::request::decode::{decode, decode_path};

    #[test]
    fn a_plus_is_a_blank_and_a_bad_escape_stays() {
        assert_eq!(decode("a+b%2Cc").as_deref(), Some("a b,c"));
        assert_eq!(decode("100%").as_deref(), Some("100%"));
        assert_eq!(decode("%ff"), None);
    }

    #[test]
    fn slashes_at_the_ends_do_not_count_and_an_empty_segment_ends_the_path() {
        let decoded = |path| decode_path(path).map(|segments| segments.join("|"));
        assert_eq!(decoded("//records/posts/").as_deref(), Some("records|posts"));
        assert_eq!(decoded("/records//posts").as_deref(), Some("records"));
        assert_eq!(decoded("/records/a%2Fb").as_deref(), Some("records|a/b"));
        assert_eq!(decoded("/a/b/c/d/e/f").as_deref(), Some("a|b|c|d|e|f"));
        assert_eq!(decoded("/").as_deref(), Some(""));
        assert_eq!(decoded("/records/%ff"), None);
    }
}
