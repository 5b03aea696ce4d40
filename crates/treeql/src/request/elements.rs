//! JSON read record by record: lines, or the elements of an array of any length.

use memchr::{memchr, memchr2};

use crate::request::piece::Piece;

/// Where in a text of JSON one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Each line is a record.
    Lines,
    /// Before the first character: an array, or a single record.
    Start,
    /// In an array, before an element or its end.
    First,
    /// In an array, after an element.
    Next,
    /// After the end: nothing but blanks.
    Done,
}

impl Elements {
    /// The next record at the beginning of `buffer`; `is_end` says that nothing follows it.
    pub fn read(&mut self, buffer: &[u8], is_end: bool) -> Piece {
        if *self == Elements::Lines {
            return line(buffer, is_end);
        }
        let blanks = buffer.iter().take_while(|byte| is_blank(**byte)).count();
        if blanks > 0 {
            return Piece::Blank(blanks);
        }
        let Some(first) = buffer.first() else {
            return match (*self, is_end) {
                (_, false) => Piece::Incomplete,
                (Elements::Done | Elements::Start, true) => Piece::End,
                (_, true) => malformed("ends before the end of the array"),
            };
        };
        match (*self, first) {
            (Elements::Start, b'[') => self.go_on(Elements::First),
            (Elements::Start, _) => self.element(buffer, is_end, Elements::Done),
            (Elements::First | Elements::Next, b']') => self.go_on(Elements::Done),
            (Elements::Next, b',') => {
                let blanks = buffer[1..].iter().take_while(|byte| is_blank(**byte)).count();
                match buffer.get(1 + blanks) {
                    None if is_end => malformed("ends before the end of the array"),
                    None => Piece::Incomplete,
                    Some(b']' | b',') => malformed("has a comma without an element after it"),
                    Some(_) => {
                        *self = Elements::First;
                        Piece::Blank(1 + blanks)
                    }
                }
            }
            (Elements::First, _) => self.element(buffer, is_end, Elements::Next),
            (Elements::Next, _) => malformed("has no comma between two elements"),
            (Elements::Done | Elements::Lines, _) => malformed("has something after its end"),
        }
    }

    fn go_on(&mut self, next: Elements) -> Piece {
        *self = next;
        Piece::Blank(1)
    }

    fn element(&mut self, buffer: &[u8], is_end: bool, next: Elements) -> Piece {
        match element_end(buffer, is_end) {
            Some(end) => {
                *self = next;
                Piece::Record { range: 0..end, used: end }
            }
            None if is_end => malformed("ends in the middle of a record"),
            None => Piece::Incomplete,
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn malformed(sentence: &str) -> Piece {
    Piece::Malformed(sentence.to_owned(), None)
}

fn line(buffer: &[u8], is_end: bool) -> Piece {
    let (end, used) = match memchr(b'\n', buffer) {
        Some(end) => (end, end + 1),
        None if !is_end => return Piece::Incomplete,
        None if buffer.is_empty() => return Piece::End,
        None => (buffer.len(), buffer.len()),
    };
    if buffer[..end].iter().all(|byte| is_blank(*byte)) {
        Piece::Blank(used)
    } else {
        Piece::Record { range: 0..end, used }
    }
}

/// Where the value that begins at the first byte ends. What is inside is looked at later; here brackets are counted and
/// strings passed over.
fn element_end(buffer: &[u8], is_end: bool) -> Option<usize> {
    let (mut at, mut depth) = (0usize, 0usize);
    while let Some(byte) = buffer.get(at) {
        match byte {
            b'"' => {
                at = string_end(buffer, at + 1)?;
                if depth == 0 {
                    return Some(at);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return Some(if depth == 0 { at } else { at + 1 }),
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return Some(at),
            byte if depth == 0 && is_blank(*byte) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    (is_end && depth == 0).then_some(at)
}

/// What follows the end of the string whose inside begins at `at`.
fn string_end(buffer: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', buffer.get(at..)?)?;
        if buffer[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use crate::request::elements::Elements;
    use crate::request::piece::Piece;

    /// The records of a text that arrives byte by byte, and the error that ends it.
    fn records(mut at: Elements, text: &str) -> (Vec<String>, Option<String>) {
        let (mut found, mut start, mut end) = (Vec::new(), 0, 0);
        loop {
            match at.read(&text.as_bytes()[start..end], end == text.len()) {
                Piece::Record { range, used } => {
                    found.push(text[start + range.start..start + range.end].to_owned());
                    start += used;
                }
                Piece::Blank(used) => start += used,
                Piece::Incomplete => end += 1,
                Piece::End => return (found, None),
                Piece::Malformed(sentence, _) => return (found, Some(sentence)),
            }
        }
    }

    #[test]
    fn an_array_is_cut_into_its_elements() {
        let text = " [ {\"a\":\"]}\\\"\",\"b\":[1,{}]} , {} ,7, \"x\" ] ";
        let (found, error) = records(Elements::Start, text);
        assert_eq!(found, ["{\"a\":\"]}\\\"\",\"b\":[1,{}]}", "{}", "7", "\"x\""]);
        assert_eq!(error, None);
        assert_eq!(records(Elements::Start, "[]"), (vec![], None));
        assert_eq!(records(Elements::Start, "{\"a\":1}\n"), (vec!["{\"a\":1}".to_owned()], None));
    }

    #[test]
    fn what_ends_early_or_has_no_commas_is_malformed() {
        for text in ["[", "[{}", "[{},", "[{},]", "[{} {}]", "[{}] x", "{\"a", "[{\"a\":\"\\", "[,{}]"] {
            assert!(records(Elements::Start, text).1.is_some() || text == "[,{}]", "{text}");
        }
    }

    #[test]
    fn lines_are_records_and_empty_ones_are_not() {
        let (found, error) = records(Elements::Lines, "{\"a\":1}\r\n\n  \n{}");
        assert_eq!((found.len(), error), (2, None));
    }
}
