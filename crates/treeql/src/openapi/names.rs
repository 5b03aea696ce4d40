//! Names of tables as they can stand in a document: as components, and in paths.

use std::collections::HashSet;

use deunicode::deunicode;

/// A name for each table that components may have: ASCII letters, digits, `.`, `-` and `_`, and each name once.
pub fn component_names<'a>(tables: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    tables
        .map(|name| {
            let plain: String = deunicode(name)
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' })
                .collect();
            let mut unique = plain.clone();
            let mut number = 1;
            while !taken.insert(unique.clone()) {
                number += 1;
                unique = format!("{plain}_{number}");
            }
            unique
        })
        .collect()
}

/// A name as a segment of a path: what would end it or mean a parameter is escaped, letters of any language stay.
pub fn segment(name: &str) -> String {
    let is_special = |c: char| c.is_ascii_control() || " \"#%/<>?\\^`{|}".contains(c);
    let mut segment = String::with_capacity(name.len());
    for c in name.chars() {
        if is_special(c) {
            segment.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            segment.push(c);
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use crate::openapi::names::{component_names, segment};

    #[test]
    fn names_become_ascii_and_stay_apart() {
        let names = ["kunsthåndværk", "Straße", "prix €", "kunsthandvaerk", "Łódź", "Øl"];
        let expected = ["kunsthandvaerk", "Strasse", "prix_EUR", "kunsthandvaerk_2", "Lodz", "Ol"];
        assert_eq!(component_names(names.into_iter()), expected);
    }

    #[test]
    fn what_a_path_would_misread_is_escaped() {
        assert_eq!(segment("städte"), "städte");
        assert_eq!(segment("a/{b}?c d%"), "a%2F%7Bb%7D%3Fc%20d%25");
    }
}
