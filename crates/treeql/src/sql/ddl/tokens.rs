//! Tokens of the SQL that a database keeps for a table: names, texts, brackets, without comments.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bare word or number.
    Word,
    /// A name in quotes.
    Quoted,
    /// A text in quotes.
    Text,
    /// A mark of one character.
    Mark,
}

/// One token, spelled as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// How it is spelled, quotes included.
    pub text: String,
    /// Whether a blank or a comment stands before it.
    pub is_apart: bool,
}

impl Token {
    /// Whether it is this keyword.
    pub fn is(&self, keyword: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    /// Whether it is this mark.
    pub fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    /// The name that it spells, without quotes.
    pub fn name(&self) -> String {
        if self.kind != Kind::Quoted {
            return self.text.clone();
        }
        let close = self.text.chars().next_back().unwrap_or('"');
        let inside = &self.text[1..self.text.len() - close.len_utf8()];
        if close == ']' {
            inside.to_owned()
        } else {
            inside.replace(&format!("{close}{close}"), &close.to_string())
        }
    }

    /// Whether it may be this name; names in a table are compared without their case.
    pub fn names(&self, name: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Quoted) && self.name().eq_ignore_ascii_case(name)
    }
}

/// The tokens of a text. `has_backslashes`: whether a backslash escapes in texts.
pub fn tokens(text: &str, has_backslashes: bool) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut is_apart = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_whitespace() => {
                rest = rest.trim_start();
                is_apart = true;
                continue;
            }
            '-' if rest.starts_with("--") => {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
                is_apart = true;
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.split_once("*/").map_or("", |(_, after)| after);
                is_apart = true;
                continue;
            }
            '\'' | '"' | '`' => quoted(rest, first, has_backslashes && first == '\''),
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let kind = match first {
            '\'' => Kind::Text,
            '"' | '`' | '[' => Kind::Quoted,
            _ if is_word(first) => Kind::Word,
            _ => Kind::Mark,
        };
        // What introduces a text belongs to it: x'00', b'1', _utf8mb4'a'.
        let introduces = kind == Kind::Word && rest[length..].starts_with('\'');
        let (kind, length) = if introduces {
            (Kind::Text, length + quoted(&rest[length..], '\'', has_backslashes))
        } else {
            (kind, length)
        };
        found.push(Token { kind, text: rest[..length].to_owned(), is_apart });
        rest = &rest[length..];
        is_apart = false;
    }
    found
}

/// Tokens as a text again, one blank for whatever stood between them.
pub fn spelled(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.is_apart && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

/// The length of a text in quotes at the start of `rest`; a doubled quote is a part of it.
fn quoted(rest: &str, quote: char, has_backslashes: bool) -> usize {
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if has_backslashes && character == '\\' {
            characters.next();
        } else if character == quote {
            match characters.peek() {
                Some((_, next)) if *next == quote => {
                    characters.next();
                }
                _ => return at + quote.len_utf8(),
            }
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use crate::sql::ddl::tokens::{spelled, tokens};

    #[test]
    fn a_text_is_spelled_again_without_its_comments() {
        for (text, expected) in [
            ("a  int -- note, with comma\n, b text", "a int , b text"),
            ("\"we\"\"ird\" varchar ( 3 )", "\"we\"\"ird\" varchar ( 3 )"),
            ("[a b] text DEFAULT 'it''s -- no comment'", "[a b] text DEFAULT 'it''s -- no comment'"),
            (
                "c blob DEFAULT x'00ff' /* c */ CHECK (c <> x'' AND 1 <= 2)",
                "c blob DEFAULT x'00ff' CHECK (c <> x'' AND 1 <= 2)",
            ),
            (
                "d int CHECK (a || b == 'x' AND d->'$' >= 1.5e-3)",
                "d int CHECK (a || b == 'x' AND d->'$' >= 1.5e-3)",
            ),
        ] {
            assert_eq!(spelled(&tokens(text, false)), expected);
        }
        assert_eq!(spelled(&tokens(r"a text DEFAULT 'x\'y'", true)), r"a text DEFAULT 'x\'y'");
    }

    #[test]
    fn names_are_read_out_of_their_quotes() {
        let found = tokens("`a``b` \"c\"\"d\" [e f] g", false);
        let names: Vec<String> = found.iter().map(|token| token.name()).collect();
        assert_eq!(names, ["a`b", "c\"d", "e f", "g"]);
    }
}
