//! A tokenizer of SQL that knows very little: whatever it does not know must not be in a statement.

use treeql::sql::{Dialect, Statement};

/// Every word that stands outside quotes. A new one is fixed text of ours, or a hole in the wall.
const WORDS: &[&str] = &[
    "AND",
    "BY",
    "COUNT",
    "AS",
    "CASE",
    "CAST",
    "DEFAULT",
    "DELETE",
    "DESC",
    "ELSE",
    "END",
    "ESCAPE",
    "EXISTS",
    "FROM",
    "IN",
    "INSERT",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "RETURNING",
    "SELECT",
    "SET",
    "ST_AsText",
    "ST_Contains",
    "ST_Crosses",
    "ST_Disjoint",
    "ST_Equals",
    "ST_GeomFromText",
    "ST_Intersects",
    "ST_IsClosed",
    "ST_IsSimple",
    "ST_IsValid",
    "ST_Overlaps",
    "ST_Touches",
    "ST_Within",
    "UNSIGNED",
    "UPDATE",
    "VALUES",
    "WHERE",
    "text",
    "THEN",
    "WHEN",
    "abs",
    "typeof",
];

/// The numbers that we write ourselves: true and false, and the reference system of the tests.
const NUMBERS: &[&str] = &["0", "1", "4326"];

/// The texts that we write ourselves.
const TEXTS: [&str; 2] = ["'\\'", "'real'"];

/// Checks that a statement holds nothing but our own words, quoted `names` and placeholders; says what else there is.
pub fn check(statement: &Statement, dialect: Dialect, names: &[String]) -> Result<(), String> {
    let mut rest: &str = &statement.text;
    let mut holes = 0;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            ' ' | '(' | ')' | ',' | '.' | '=' | '<' | '>' | '+' | '*' | ':' => &rest[1..],
            _ if first == dialect.quote() => quoted(rest, names, dialect.quote())?,
            // The escape character of LIKE, and the name of a storage class: the only texts that we write ourselves.
            '\'' => {
                let after = TEXTS.iter().find_map(|text| rest.strip_prefix(text));
                after.ok_or_else(|| format!("text: {rest}"))?
            }
            '-' if rest.starts_with("-9223372036854775807 - 1") => &rest["-9223372036854775807 - 1".len()..],
            '?' | '$' => {
                // A numbered placeholder may stand again.
                if let Some(after) = (1..=holes).find_map(|known| whole(rest, &dialect.placeholder(known)))
                    && dialect.placeholder(1) != dialect.placeholder(2)
                {
                    rest = after;
                    continue;
                }
                holes += 1;
                let expected = dialect.placeholder(holes);
                whole(rest, &expected).ok_or_else(|| format!("no {expected}: {rest}"))?
            }
            _ => word(rest)?,
        };
    }
    if holes != statement.params.len() {
        return Err(format!("{holes} placeholders for {} values", statement.params.len()));
    }
    Ok(())
}

/// What follows a placeholder, if `text` begins with it and not with a longer one.
fn whole<'a>(text: &'a str, placeholder: &str) -> Option<&'a str> {
    text.strip_prefix(placeholder).filter(|after| !after.starts_with(|c: char| c.is_ascii_digit()))
}

fn quoted<'a>(text: &'a str, names: &[String], quote: char) -> Result<&'a str, String> {
    let mut name = String::new();
    let mut characters = text[1..].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        if character != quote {
            name.push(character);
            continue;
        }
        if characters.next_if(|(_, next)| *next == quote).is_none() {
            if !names.contains(&name) {
                return Err(format!("no such name: {name:?}"));
            }
            return Ok(&text[offset + 2..]);
        }
        name.push(quote);
    }
    Err(format!("a quote without an end: {text}"))
}

fn word(text: &str) -> Result<&str, String> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_alias = word.strip_prefix('r').is_some_and(|number| number.parse::<u16>().is_ok());
    if is_alias || WORDS.contains(&word) || NUMBERS.contains(&word) {
        return Ok(rest);
    }
    Err(format!("{word:?} in {text}"))
}
