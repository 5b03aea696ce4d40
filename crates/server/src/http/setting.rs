//! Settings about HTTP: lists as headers write them too, and names of headers.

use http::HeaderName;

/// The elements of a list: separated by commas, blanks around them do not count, nor do empty ones.
pub fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|element| !element.is_empty())
}

/// A header by the name in a setting. The error is a sentence.
pub fn header_name(setting: &str, name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_invalid| format!("{setting} is '{name}', which is no name of a header"))
}

#[cfg(test)]
mod tests {
    use crate::http::setting::list;

    #[test]
    fn blanks_and_empty_elements_do_not_count() {
        assert_eq!(list(" a, b c ,,d,").collect::<Vec<_>>(), ["a", "b c", "d"]);
        assert_eq!(list(" ").count(), 0);
    }
}
