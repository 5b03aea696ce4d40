//! Scan: a text in lower case, read piece by piece.

/// What is still to be read.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    /// Begins with all of `text`.
    pub fn new(text: &'a str) -> Scan<'a> {
        Scan { rest: text }
    }

    /// The next character.
    pub fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// How many digits come next.
    pub fn digits_len(&self) -> usize {
        self.rest.bytes().take_while(u8::is_ascii_digit).count()
    }

    /// The number that comes next, if it has that many digits.
    pub fn digits(&mut self, least: usize, most: usize) -> Option<i64> {
        let length = self.digits_len();
        if !(least..=most).contains(&length) {
            return None;
        }
        self.first_digits(length)
    }

    /// The number that the next `length` digits are.
    pub fn first_digits(&mut self, length: usize) -> Option<i64> {
        let number = self.rest.get(..length)?.parse().ok()?;
        self.rest = &self.rest[length..];
        Some(number)
    }

    /// The letters that come next, maybe none.
    pub fn letters(&mut self) -> &'a str {
        let length = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (letters, rest) = self.rest.split_at(length);
        self.rest = rest;
        letters
    }

    /// Whether the next character is `wanted`, which is read then.
    pub fn take(&mut self, wanted: char) -> bool {
        self.take_any(&[wanted]).is_some()
    }

    /// The next character, if it is one of `wanted`.
    pub fn take_any(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| wanted.contains(next))?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    /// Leaves out characters that are one of `skipped`.
    pub fn skip(&mut self, skipped: &[char]) {
        self.rest = self.rest.trim_start_matches(skipped);
    }

    /// What `read` finds; if that is nothing, nothing was read.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Scan<'a>) -> Option<T>) -> Option<T> {
        let before = *self;
        let found = read(self);
        if found.is_none() {
            *self = before;
        }
        found
    }
}
