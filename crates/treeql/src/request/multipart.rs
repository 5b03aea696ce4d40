//! Forms of several parts: multipart/form-data (RFC 7578).

use std::borrow::Cow;

/// The fields of a form, in order: each part's name and text. `None` if the text is no such form, or cut off.
///
/// Files are no fields, so they are passed over, as in PHP.
pub fn fields<'a>(text: &'a str, boundary: &str) -> Option<Vec<(Cow<'a, str>, Cow<'a, str>)>> {
    let delimiter = format!("\r\n--{boundary}");
    // What stands before the first boundary means nothing.
    let mut rest = match text.strip_prefix(&delimiter[2..]) {
        Some(rest) => rest,
        None => text.split_once(&delimiter)?.1,
    };
    let mut fields = Vec::new();
    while !rest.starts_with("--") {
        let (padding, part) = rest.split_once("\r\n")?;
        if !padding.trim_matches([' ', '\t']).is_empty() {
            return None;
        }
        let (part, after) = part.split_once(&delimiter)?;
        let (head, content) = part.split_once("\r\n\r\n")?;
        if let Some(name) = field_name(head) {
            fields.push((name, Cow::Borrowed(content)));
        }
        rest = after;
    }
    Some(fields)
}

/// The boundary in a content type, if it is a form of several parts.
pub fn boundary(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';')?;
    let is_multipart = kind.trim().eq_ignore_ascii_case("multipart/form-data");
    parameter(parameters, "boundary").filter(|boundary| is_multipart && !boundary.is_empty())
}

/// The name of the field that a part with this head is; `None` for a file.
fn field_name(head: &str) -> Option<Cow<'_, str>> {
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    })?;
    let (kind, parameters) = disposition.split_once(';')?;
    let is_field =
        kind.trim().eq_ignore_ascii_case("form-data") && parameter(parameters, "filename").is_none();
    let name = parameter(parameters, "name").filter(|_| is_field)?;
    // Browsers escape a quote as %22 and line breaks as %0D and %0A, and nothing else.
    if name.contains('%') {
        return Some(Cow::Owned(name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")));
    }
    Some(Cow::Borrowed(name))
}

/// The value of a parameter, without its quotes.
fn parameter<'a>(mut parameters: &'a str, wanted: &str) -> Option<&'a str> {
    loop {
        let (name, after) = parameters.split_once('=')?;
        let after = after.trim_start();
        let (value, rest) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(';').unwrap_or((after, "")),
        };
        if name.trim_matches([' ', '\t', ';']).eq_ignore_ascii_case(wanted) {
            return Some(value.trim_end());
        }
        parameters = rest;
    }
}

#[cfg(test)]
mod tests {
    use crate::request::multipart::{boundary, fields};

    const FORM: &str = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n\
        --b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\nx\r\n\
        --b \r\ncontent-disposition: form-data; name=\"say %22hi%22\"\r\n\r\n\r\n--b--\r\n";

    #[test]
    fn parts_are_fields_and_files_are_not() {
        let found = fields(FORM, "b").expect("it is a form");
        assert_eq!(found, [("a".into(), "1\r\n2".into()), ("say \"hi\"".into(), "".into())]);
    }

    #[test]
    fn what_is_cut_off_anywhere_is_no_form() {
        let end = FORM.len() - "--\r\n".len();
        assert!((0..end).all(|length| fields(&FORM[..length], "b").is_none()));
    }

    #[test]
    fn a_boundary_may_have_quotes() {
        assert_eq!(boundary("multipart/form-data; boundary=xY"), Some("xY"));
        assert_eq!(boundary("Multipart/Form-Data; charset=utf-8; Boundary=\"x;y\""), Some("x;y"));
        assert_eq!(boundary("multipart/form-data"), None);
        assert_eq!(boundary("text/plain; boundary=x"), None);
    }
}
