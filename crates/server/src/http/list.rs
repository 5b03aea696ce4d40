//! Lists as headers and settings write them: separated by commas, blanks around elements, empty elements ignored.

/// The elements of a list.
pub fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|element| !element.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::http::list::list;

    #[test]
    fn blanks_and_empty_elements_do_not_count() {
        assert_eq!(list(" a, b c ,,d,").collect::<Vec<_>>(), ["a", "b c", "d"]);
        assert_eq!(list(" ").count(), 0);
    }
}
