//! Scanner: a JSON text, one token after the other, so that documents of any size and depth are rewritten without a tree.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use memchr::memchr2;

/// A piece of a JSON text. Colons and commas are checked and passed over.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'a> {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// The name of a member, without its escapes.
    Name(Cow<'a, str>),
    /// A string, without its escapes.
    String(Cow<'a, str>),
    /// A number, as it is spelled.
    Number(&'a str),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
}

/// A text is no JSON from a byte on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where it stops to be JSON.
    pub at: usize,
}

impl Display for Malformed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "no JSON from byte {} on", self.at)
    }
}

impl std::error::Error for Malformed {}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Container {
    Object,
    Array,
}

/// What may come next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Expected {
    #[default]
    Value,
    ValueOrEnd,
    Name,
    NameOrEnd,
    CommaOrEnd,
    Nothing,
}

/// Where in the grammar a scanner is, for texts that come in pieces.
#[derive(Debug, Default)]
pub struct Place {
    open: Vec<Container>,
    expected: Expected,
}

/// Reads strictly by RFC 8259; how deep values nest is for the caller to judge.
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    start: usize,
    open: Vec<Container>,
    expected: Expected,
    is_last: bool,
}

impl<'a> Scanner<'a> {
    /// A scanner at the beginning of a text.
    pub fn new(text: &'a str) -> Scanner<'a> {
        Scanner::resume(text, Place::default(), true)
    }

    /// A scanner that goes on where another one ended. A text that is not the last ends after a whole token.
    pub fn resume(text: &'a str, place: Place, is_last: bool) -> Scanner<'a> {
        Scanner { text, at: 0, start: 0, open: place.open, expected: place.expected, is_last }
    }

    /// Where it is.
    pub fn place(self) -> Place {
        Place { open: self.open, expected: self.expected }
    }

    /// How many objects and arrays are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Where the last token stands in the text; that of a name with its colon.
    pub fn span(&self) -> Range<usize> {
        self.start..self.at
    }

    /// The next token; `None` at the end of the text.
    pub fn token(&mut self) -> Result<Option<Token<'a>>, Malformed> {
        self.pass_blanks();
        if self.expected == Expected::CommaOrEnd && self.take(b',') {
            self.pass_blanks();
            self.expected = match self.open.last() {
                Some(Container::Object) => Expected::Name,
                _ => Expected::Value,
            };
        }
        self.start = self.at;
        let next = self.text.as_bytes().get(self.at).copied();
        match (self.expected, next) {
            (Expected::Nothing, None) => Ok(None),
            (_, None) if !self.is_last => Ok(None),
            (Expected::NameOrEnd | Expected::CommaOrEnd, Some(b'}')) => self.close(Container::Object),
            (Expected::ValueOrEnd | Expected::CommaOrEnd, Some(b']')) => self.close(Container::Array),
            (Expected::Name | Expected::NameOrEnd, Some(b'"')) => self.name().map(Some),
            (Expected::Value | Expected::ValueOrEnd, Some(first)) => self.value(first).map(Some),
            _ => Err(self.malformed()),
        }
    }

    fn name(&mut self) -> Result<Token<'a>, Malformed> {
        let name = self.string()?;
        self.pass_blanks();
        if !self.take(b':') {
            return Err(self.malformed());
        }
        self.expected = Expected::Value;
        Ok(Token::Name(name))
    }

    fn value(&mut self, first: u8) -> Result<Token<'a>, Malformed> {
        let token = match first {
            b'{' => return Ok(self.enter(Container::Object)),
            b'[' => return Ok(self.enter(Container::Array)),
            b'"' => Token::String(self.string()?),
            b't' => self.word("true", Token::Bool(true))?,
            b'f' => self.word("false", Token::Bool(false))?,
            b'n' => self.word("null", Token::Null)?,
            _ => Token::Number(self.number()?),
        };
        self.expected = self.after_value();
        Ok(token)
    }

    fn enter(&mut self, container: Container) -> Token<'a> {
        self.at += 1;
        self.open.push(container);
        let (expected, token) = match container {
            Container::Object => (Expected::NameOrEnd, Token::BeginObject),
            Container::Array => (Expected::ValueOrEnd, Token::BeginArray),
        };
        self.expected = expected;
        token
    }

    fn close(&mut self, container: Container) -> Result<Option<Token<'a>>, Malformed> {
        if self.open.last() != Some(&container) {
            return Err(self.malformed());
        }
        self.at += 1;
        self.open.pop();
        self.expected = self.after_value();
        Ok(Some(match container {
            Container::Object => Token::EndObject,
            Container::Array => Token::EndArray,
        }))
    }

    fn after_value(&self) -> Expected {
        if self.open.is_empty() { Expected::Nothing } else { Expected::CommaOrEnd }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let (quote, bytes) = (self.at, self.text.as_bytes());
        let mut is_escaped = false;
        self.at += 1;
        loop {
            let Some(found) = memchr2(b'"', b'\\', &bytes[self.at..]) else {
                self.at = bytes.len();
                return Err(self.malformed());
            };
            self.at += found + 1;
            if bytes[self.at - 1] == b'"' {
                break;
            }
            is_escaped = true;
            // What is escaped is no end of the string; whether it may be escaped is looked at below.
            self.at = (self.at + 1).min(bytes.len());
        }
        let inside = &self.text[quote + 1..self.at - 1];
        if inside.bytes().any(|byte| byte < 0x20) {
            return Err(Malformed { at: quote });
        }
        if !is_escaped {
            return Ok(Cow::Borrowed(inside));
        }
        match serde_json::from_str(&self.text[quote..self.at]) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(_bad_escape) => Err(Malformed { at: quote }),
        }
    }

    fn number(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), Malformed> {
        let count = self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.malformed()) } else { Ok(()) }
    }

    fn word(&mut self, word: &str, token: Token<'a>) -> Result<Token<'a>, Malformed> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.malformed());
        }
        self.at += word.len();
        Ok(token)
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn pass_blanks(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn malformed(&self) -> Malformed {
        Malformed { at: self.at }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::{prop_assert_eq, proptest};
    use serde_json::Value as Json;

    use crate::encode::scanner::{Malformed, Scanner, Token};

    fn tokens(text: &str) -> Result<Vec<Token<'_>>, Malformed> {
        let mut scanner = Scanner::new(text);
        let mut found = Vec::new();
        while let Some(token) = scanner.token()? {
            found.push(token);
        }
        Ok(found)
    }

    #[test]
    fn a_text_is_its_tokens() {
        let expected = [
            Token::BeginObject,
            Token::Name("a/".into()),
            Token::BeginArray,
            Token::Number("-1.50e+3"),
            Token::Bool(true),
            Token::EndArray,
            Token::Name("".into()),
            Token::String("\u{1f980}\n".into()),
            Token::Name("b".into()),
            Token::BeginObject,
            Token::EndObject,
            Token::EndObject,
        ];
        let text = " { \"a\\/\" : [ -1.50e+3 , true ],\"\":\"\\ud83e\\udd80\\n\", \"b\":{} }\n";
        assert_eq!(tokens(text).expect("it is JSON"), expected);
    }

    #[test]
    fn what_is_no_json_is_found() {
        let table = [
            "",
            " ",
            "[",
            "]",
            "{",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{1:1}",
            "[}",
            "{]",
            "[1}",
            "{\"a\":1]",
            "1 1",
            "[]]",
            "tru",
            "nul",
            "truex",
            "\"",
            "\"\\",
            "\"\\\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\udc00\\ud800\"",
            "\"a\nb\"",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "1e+",
            "0x1",
            "NaN",
            "'a'",
            "{a:1}",
            "\u{feff}[]",
            "[1]//",
        ];
        for text in table {
            assert!(tokens(text).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_is_no_matter() {
        let text = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert_eq!(tokens(&text).map(|tokens| tokens.len()), Ok(2_000_000));
    }

    proptest! {
        #[test]
        fn json_is_what_serde_says_it_is(text in "[\\[\\]{}:,0-9eE+. tfn\"\\\\u-]{0,12}|([\\[\\]{},]|\"a\":|\"\\\\[nu/]\"|-?[0-9]{1,3}|[0-9]e5|[0-9]\\.[0-9]|true|null){0,12}") {
            // A number beyond doubles is JSON, but not for serde_json.
            let judged = serde_json::from_str::<Json>(&text);
            if !judged.as_ref().is_err_and(|e| e.to_string().contains("out of range")) {
                prop_assert_eq!(tokens(&text).is_ok(), judged.is_ok(), "{}", text);
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            drop(tokens(&text));
            drop(tokens(&format!("[\"{text}")));
        }
    }
}
