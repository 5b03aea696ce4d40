//! URL decoding: percent escapes, and `+` for a blank.

use std::borrow::Cow;

use percent_encoding::percent_decode;

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
pub fn decode_path(path: &str) -> Option<Vec<Cow<'_, str>>> {
    path.trim_start_matches('/').split('/').take_while(|segment| !segment.is_empty()).map(decode).collect()
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
        assert_eq!(decode_path("//records/posts/"), Some(vec!["records".into(), "posts".into()]));
        assert_eq!(decode_path("/records//posts"), Some(vec!["records".into()]));
        assert_eq!(decode_path("/records/a%2Fb"), Some(vec!["records".into(), "a/b".into()]));
    }
}
