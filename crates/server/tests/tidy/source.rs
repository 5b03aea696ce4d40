//! Source files as text: read, named by their place, and stripped of what the compiler does not read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub struct Source {
    /// The crate's folder below `crates/`.
    pub package: String,
    /// Below `src/`, for example `plan/read.rs`.
    pub path: String,
    pub text: String,
    /// The text with comments and the insides of literals blanked; every line stays where it was.
    pub code: String,
    /// `code` without what stands under `#[cfg(test)]`.
    pub product: String,
}

impl Source {
    pub fn new(package: &str, path: &str, text: &str) -> Self {
        let code = blank_comments_and_literals(text);
        let product = blank_tests(&code);
        Self { package: package.to_owned(), path: path.to_owned(), text: text.to_owned(), code, product }
    }

    /// Where the reader finds it, with a line.
    pub fn place(&self, line: usize) -> String {
        format!("crates/{}/src/{}:{line}", self.package, self.path)
    }
}

/// Every `.rs` file below `crates/*/src`, in order.
pub fn read_sources(crates: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for package in names_in(crates)? {
        let root = crates.join(&package).join("src");
        if root.is_dir() {
            read_folder(&root, &package, "", &mut sources)?;
        }
    }
    Ok(sources)
}

/// Every `.rs` file of one folder of sources, in order.
pub fn read_package(root: &Path, package: &str) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    read_folder(root, package, "", &mut sources)?;
    Ok(sources)
}

fn read_folder(root: &Path, package: &str, inner: &str, sources: &mut Vec<Source>) -> Result<()> {
    for name in names_in(&root.join(inner))? {
        let path = if inner.is_empty() { name } else { format!("{inner}/{name}") };
        if root.join(&path).is_dir() {
            read_folder(root, package, &path, sources)?;
        } else if path.ends_with(".rs") {
            let text = fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
            sources.push(Source::new(package, &path, &text));
        }
    }
    Ok(())
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}

/// The line of a byte, from one.
pub fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// Where `word` stands on its own in the text.
pub fn find_word(text: &str, word: &str) -> Vec<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let found = text.match_indices(word).filter(|(offset, _)| {
        let before = text[..*offset].chars().next_back();
        let after = text[offset + word.len()..].chars().next();
        let starts_with_a_letter = word.starts_with(is_part);
        let ends_with_a_letter = word.ends_with(is_part);
        !(starts_with_a_letter && before.is_some_and(is_part)
            || ends_with_a_letter && after.is_some_and(is_part))
    });
    found.map(|(offset, _)| offset).collect()
}

/// The byte after the bracket that closes the one at `open`.
pub fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return offset + 1;
        }
    }
    code.len()
}

fn blank_comments_and_literals(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let follows_a_name = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = literal_length(rest, follows_a_name);
        let (token, after) =
            rest.split_at(length.unwrap_or_else(|| rest.chars().next().map_or(0, char::len_utf8)));
        match length {
            Some(_) => code.extend(token.chars().map(|c| if c == '\n' { '\n' } else { ' ' })),
            None => code.push_str(token),
        }
        rest = after;
    }
    code
}

/// The length of the comment or literal that begins here, if one does.
fn literal_length(rest: &str, follows_a_name: bool) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment_length(rest));
    }
    if let Some(body) = rest.strip_prefix('"') {
        return Some(1 + quoted_length(body, '"'));
    }
    if rest.starts_with('\'') {
        return character_length(rest);
    }
    if follows_a_name {
        return None;
    }
    let raw =
        rest.strip_prefix("br").or_else(|| rest.strip_prefix("cr")).or_else(|| rest.strip_prefix('r'))?;
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    let body = raw[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let closed = body.find(&end).map_or(body.len(), |offset| offset + end.len());
    Some(rest.len() - body.len() + closed)
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0;
    for (offset, _) in rest.char_indices() {
        if rest[offset..].starts_with("/*") {
            depth += 1;
        } else if rest[..offset].ends_with("*/") {
            depth -= 1;
            if depth == 0 {
                return offset;
            }
        }
    }
    rest.len()
}

/// The length up to and with the closing quote.
fn quoted_length(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (offset, c) in body.char_indices() {
        if c == quote && !escaped {
            return offset + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    body.len()
}

/// `'x'` and `'\n'` are characters, `'a` is a lifetime.
fn character_length(rest: &str) -> Option<usize> {
    let mut chars = rest[1..].chars();
    let first = chars.next()?;
    let closes = chars.next() == Some('\'');
    (first == '\\' || closes).then(|| 1 + quoted_length(&rest[1..], '\''))
}

fn blank_tests(code: &str) -> String {
    let mut product = code.to_owned();
    if code.contains("#![cfg(test)]") {
        return String::new();
    }
    while let Some(start) = product.find("#[cfg(test)]") {
        let item = &product[start..];
        let body = item.find(['{', ';']).map_or(product.len(), |offset| start + offset);
        let end = if product[body..].starts_with('{') { closing(&product, body) } else { body };
        let blank: String = product[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        product.replace_range(start..end, &blank);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blank_and_lines_stay() {
        let text = "a // b\n/* c /* d */ \n e */ f(\"g\\\"h\", 'i', '\\'', r#\"j\"k\"#) <'l>";
        let code = blank_comments_and_literals(text);
        assert_eq!(code.split_whitespace().collect::<String>(), "af(,,,)<'l>");
        assert_eq!(code.lines().count(), text.lines().count());
    }

    #[test]
    fn a_test_module_is_not_product() {
        let source =
            Source::new("x", "y.rs", "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { {} } }\nfn c() {}\n");
        assert!(source.code.contains("fn b"));
        assert!(!source.product.contains("fn b"));
        assert_eq!(find_word(&source.product, "c").len(), 1);
        assert_eq!(line_of(&source.product, source.product.find("fn c").unwrap()), 4);
    }

    #[test]
    fn a_word_stands_on_its_own() {
        assert_eq!(find_word("tokio tokio_postgres my_tokio", "tokio"), [0]);
        assert_eq!(find_word("x.todo!()", "todo!"), [2]);
    }
}
