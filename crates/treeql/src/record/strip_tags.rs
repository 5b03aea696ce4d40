//! strip_tags: text without its HTML tags, as PHP's function of that name removes them (SPEC 20).

use std::borrow::Cow;

use memchr::{memchr2, memmem};

/// `text` without tags, comments, `<? ?>` and NUL characters.
///
/// A `<` before white space is text. A tag that does not end takes the rest of the text with it, so that what is left
/// never begins one: doing it twice is doing it once. Entities stay as they are.
pub fn strip_tags(text: &str) -> Cow<'_, str> {
    let mut at = match memchr2(b'<', 0, text.as_bytes()) {
        Some(first) => first,
        None => return Cow::Borrowed(text),
    };
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        kept.push_str(&rest[..at]);
        let tail = &rest[at..];
        let removed = match tail.as_bytes() {
            [b'<', blank, ..] if is_blank(*blank) => {
                kept.push('<');
                1
            }
            [b'<', ..] => markup_len(tail.as_bytes()),
            _ => 1,
        };
        rest = &tail[removed..];
        at = match memchr2(b'<', 0, rest.as_bytes()) {
            Some(next) => next,
            None => break,
        };
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// The white space of C, which is that of HTML and the vertical tab.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

/// How long the tag, comment or instruction is that `markup` begins with.
fn markup_len(markup: &[u8]) -> usize {
    if markup.starts_with(b"<!--") {
        // The dashes of the opening count for the end, so that `<!-->` is a comment.
        return memmem::find(&markup[2..], b"-->").map_or(markup.len(), |at| 2 + at + 3);
    }
    let instruction = markup.starts_with(b"<?");
    let mut quote = None;
    let mut depth = 0_usize;
    for (at, &byte) in markup.iter().enumerate().skip(1) {
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => {}
            (b'>', None) if instruction && markup[at - 1] != b'?' => {}
            (b'>', None) if depth == 0 => return at + 1,
            (b'>', None) => depth -= 1,
            (b'<', None) if !instruction && markup.get(at + 1).is_some_and(|next| !is_blank(*next)) => {
                depth += 1;
            }
            _ => {}
        }
    }
    markup.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use crate::record::strip_tags::strip_tags;

    #[test]
    fn tags_go_and_text_stays() {
        let cases = [
            ("plain", "plain"),
            ("<h1>Title</h1> <p>Body</p>", "Title Body"),
            ("a<b", "a"),
            ("a < b", "a < b"),
            ("a <\tb> c", "a <\tb> c"),
            ("1 > 0", "1 > 0"),
            ("a<", "a"),
            ("a<>b", "ab"),
            ("<br/>x<br />y", "xy"),
            (r#"<a title="1 > 0" href='>'>link</a>"#, "link"),
            ("<a title='x>y", ""),
            ("<<b>script>alert(1)<</b>/script>", "alert(1)"),
            ("<a < b>c", "c"),
            ("a<!-- b > c -->d", "ad"),
            ("a<!-- it's -->d", "ad"),
            ("a<!-->d", "ad"),
            ("a<!-- b", "a"),
            ("<!DOCTYPE html>a", "a"),
            ("a<?php if (1 > 0) echo '?>'; ?>b", "ab"),
            ("a<?>b", "ab"),
            ("a<? b >c", "a"),
            ("a\0b", "ab"),
            ("<\0b>c", "c"),
            ("&lt;b&gt; &amp;", "&lt;b&gt; &amp;"),
            ("grüße<i>𠜎</i>", "grüße𠜎"),
        ];
        for (text, expected) in cases {
            assert_eq!(strip_tags(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn twice_is_once(text in "[<>!?/ \\-\"'a\u{0}\u{b}ö]{0,40}") {
            let once = strip_tags(&text).into_owned();
            prop_assert_eq!(strip_tags(&once), once.clone());
        }

        #[test]
        fn any_text_will_do(text in "\\PC{0,60}") {
            let once = strip_tags(&text).into_owned();
            prop_assert_eq!(strip_tags(&once), once.clone());
        }
    }
}
