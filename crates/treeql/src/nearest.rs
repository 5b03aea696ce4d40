//! The nearest existing name to one that does not exist, for errors that teach.

/// limit: names longer than this are not compared, because the comparison is quadratic and the name is the caller's.
const NAME_BYTES_MAX: usize = 64;

/// limit: an error lists at most this many allowed names.
const ALLOWED_MAX: usize = 20;

/// The name among `names` that `wanted` is most likely a misspelling of, if any is near enough.
///
/// The distance is Damerau-Levenshtein (optimal string alignment); near enough is a third of the length.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wanted.len() > NAME_BYTES_MAX {
        return None;
    }
    let lower = wanted.to_lowercase();
    names
        .into_iter()
        .filter(|name| name.len() <= NAME_BYTES_MAX)
        .map(|name| (strsim::osa_distance(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= (name.chars().count().max(3) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// A sentence that names what is unknown, the nearest existing name and what is allowed:
/// `unknown column 'titel', did you mean 'title'? Allowed: id, title`.
pub fn unknown<'a>(what: &str, wanted: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    format!("unknown {what} '{}'{}", shown(wanted), choices(wanted, names))
}

/// The same about something that is part of `whole`: `unknown column 'titel' of 'posts', did you mean …`.
pub fn unknown_of<'a>(
    what: &str,
    wanted: &str,
    whole: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    format!("unknown {what} '{}' of '{whole}'{}", shown(wanted), choices(wanted, names))
}

/// As much of a caller's text as an error repeats.
pub fn shown(text: &str) -> String {
    text.chars().take(NAME_BYTES_MAX).collect()
}

fn choices<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let hint = match nearest(wanted, names.clone()) {
        Some(name) => format!(", did you mean '{name}'?"),
        None => ".".to_owned(),
    };
    let mut allowed: Vec<&str> = names.into_iter().take(ALLOWED_MAX + 1).collect();
    if allowed.is_empty() {
        return format!("{hint} There is none");
    }
    let more = allowed.len() > ALLOWED_MAX;
    allowed.truncate(ALLOWED_MAX);
    let dots = if more { ", …" } else { "" };
    format!("{hint} Allowed: {}{dots}", allowed.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::nearest::{nearest, unknown};

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        assert_eq!(nearest("titel", ["id", "title", "content"]), Some("title"));
        assert_eq!(nearest("zzzzzz", ["id", "title"]), None);
    }

    #[test]
    fn the_sentence_lists_what_is_allowed() {
        let text = unknown("column", "titel", ["id", "title"]);
        assert_eq!(text, "unknown column 'titel', did you mean 'title'? Allowed: id, title");
    }
}
