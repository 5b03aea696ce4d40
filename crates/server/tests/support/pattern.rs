//! Holes in an expected text: `{{name}}` stands for what cannot be known, and is remembered for later steps.

use std::collections::HashMap;

/// What the holes of this transcript were filled with so far, by name.
pub type Captures = HashMap<String, String>;

/// Whether `actual` is `expected`; a hole takes the shortest text, never an empty one, that lets the rest match.
/// A name seen before must stand for the same text again.
pub fn matches(expected: &str, actual: &str, captures: &mut Captures) -> bool {
    let Some((before, name, after)) = first_hole(expected) else {
        return expected == actual;
    };
    let Some(rest) = actual.strip_prefix(before) else {
        return false;
    };
    if let Some(known) = captures.get(name).cloned() {
        return rest.strip_prefix(known.as_str()).is_some_and(|rest| matches(after, rest, captures));
    }
    let ends = rest.char_indices().skip(1).map(|(index, _)| index).chain([rest.len()]);
    for end in ends.filter(|&end| end > 0) {
        let mut attempt = captures.clone();
        attempt.insert(name.to_owned(), rest[..end].to_owned());
        if matches(after, &rest[end..], &mut attempt) {
            *captures = attempt;
            return true;
        }
    }
    false
}

/// Puts remembered texts in place of their holes; a hole without one stays, so that the failure shows it.
pub fn fill(text: &str, captures: &Captures) -> String {
    let Some((before, name, after)) = first_hole(text) else {
        return text.to_owned();
    };
    let value = captures.get(name).cloned().unwrap_or_else(|| format!("{{{{{name}}}}}"));
    format!("{before}{value}{}", fill(after, captures))
}

/// Splits at the first `{{name}}`. JSON may contain `{{` as well: a name is one word.
fn first_hole(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices("{{").find_map(|(open, _)| {
        let (name, after) = text[open + 2..].split_once("}}")?;
        let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_word.then_some((&text[..open], name, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_holes_matches_itself_only() {
        let mut captures = Captures::new();
        assert!(matches("{\"a\":{\"b\":{}}}", "{\"a\":{\"b\":{}}}", &mut captures));
        assert!(!matches("abc", "abcd", &mut captures));
        assert!(captures.is_empty());
    }

    #[test]
    fn a_hole_takes_something_and_the_rest_must_match() {
        let mut captures = Captures::new();
        assert!(matches("id={{id}}; Path=/", "id=a;b; Path=/", &mut captures));
        assert_eq!(captures["id"], "a;b");
        assert!(!matches("id={{other}}; Path=/", "id=; Path=/", &mut captures));
    }

    #[test]
    fn a_name_stands_for_one_text() {
        let mut captures = Captures::new();
        assert!(matches("{{a}}-{{a}}", "12-12", &mut captures));
        assert!(!matches("{{a}}", "13", &mut captures));
        assert_eq!(fill("x={{a}}&y={{b}}", &captures), "x=12&y={{b}}");
    }
}
