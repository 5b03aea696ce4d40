//! CSV (RFC 4180) read record by record, knowing which fields were quoted: an empty one is NULL, `""` is an empty text.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr3};

use crate::request::piece::Piece;
use crate::request::record::{Cell, MEMBERS_MAX};

/// The fields of one record, as places in the buffer that it was read from.
#[derive(Debug, Default)]
pub struct Fields {
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
struct Field {
    range: Range<usize>,
    is_quoted: bool,
    /// Whether there are doubled quotes inside.
    is_escaped: bool,
}

impl Fields {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The field at `index` of the record in `buffer`: NULL if it is empty and not quoted, else text. The error says what
    /// is wrong with it.
    pub fn cell<'a>(&self, index: usize, buffer: &'a [u8]) -> Result<Cell<'a>, String> {
        let field = &self.fields[index];
        if field.range.is_empty() && !field.is_quoted {
            return Ok(Cell::Null);
        }
        let text = std::str::from_utf8(&buffer[field.range.clone()])
            .map_err(|e| format!("is not UTF-8 from byte {} on", e.valid_up_to()))?;
        Ok(Cell::Text(if field.is_escaped {
            Cow::Owned(text.replace("\"\"", "\""))
        } else {
            Cow::Borrowed(text)
        }))
    }
}

/// Reads one record from the beginning of `buffer`; `is_end` says that nothing follows it.
pub fn read_fields(buffer: &[u8], is_end: bool, fields: &mut Fields) -> Piece {
    fields.fields.clear();
    if buffer.is_empty() {
        return if is_end { Piece::End } else { Piece::Incomplete };
    }
    let mut at = 0;
    loop {
        let (field, next) = match read_field(buffer, at, is_end) {
            Ok(found) => found,
            Err(piece) => return piece,
        };
        if fields.fields.len() == MEMBERS_MAX {
            return malformed(buffer, at, &format!("has more than {MEMBERS_MAX} fields"));
        }
        fields.fields.push(field);
        match buffer.get(next) {
            Some(b',') => at = next + 1,
            Some(b'\n') => return Piece::Record { range: 0..next, used: next + 1 },
            Some(b'\r') if buffer.get(next + 1) == Some(&b'\n') => {
                return Piece::Record { range: 0..next, used: next + 2 };
            }
            Some(b'\r') if next + 1 < buffer.len() || is_end => {
                return Piece::Record { range: 0..next, used: next + 1 };
            }
            None if is_end => return Piece::Record { range: 0..next, used: next },
            None | Some(b'\r') => return Piece::Incomplete,
            Some(_) => return malformed(buffer, next, "has a quoted field with something after its end"),
        }
    }
}

/// The field that begins at `start`, and where it ends.
fn read_field(buffer: &[u8], start: usize, is_end: bool) -> Result<(Field, usize), Piece> {
    if buffer.get(start) == Some(&b'"') {
        return quoted_field(buffer, start, is_end);
    }
    let end = match memchr3(b',', b'\n', b'"', &buffer[start..]) {
        Some(offset) if buffer[start + offset] == b'"' => {
            return Err(malformed(buffer, start, "has a quote inside a field that is not quoted"));
        }
        Some(offset) => start + offset,
        None if is_end => buffer.len(),
        None => return Err(Piece::Incomplete),
    };
    // A carriage return before a line feed belongs to the end of the line; a lone one ends it, too.
    let end = memchr(b'\r', &buffer[start..end]).map_or(end, |offset| start + offset);
    Ok((Field { range: start..end, is_quoted: false, is_escaped: false }, end))
}

fn quoted_field(buffer: &[u8], start: usize, is_end: bool) -> Result<(Field, usize), Piece> {
    let mut at = start + 1;
    let mut is_escaped = false;
    loop {
        let Some(offset) = memchr(b'"', &buffer[at..]) else {
            if is_end {
                let sentence = "has a quoted field without an end";
                return Err(Piece::Malformed(sentence.to_owned(), None));
            }
            return Err(Piece::Incomplete);
        };
        let quote = at + offset;
        match buffer.get(quote + 1) {
            Some(b'"') => {
                is_escaped = true;
                at = quote + 2;
            }
            None if !is_end => return Err(Piece::Incomplete),
            _ => {
                return Ok((Field { range: start + 1..quote, is_quoted: true, is_escaped }, quote + 1));
            }
        }
    }
}

/// A line that is no record; the next one may be.
fn malformed(buffer: &[u8], at: usize, sentence: &str) -> Piece {
    let rest = memchr(b'\n', &buffer[at..]).map_or(buffer.len(), |offset| at + offset + 1);
    Piece::Malformed(sentence.to_owned(), Some(rest))
}

#[cfg(test)]
mod tests {
    use crate::request::csv::{Fields, read_fields};
    use crate::request::piece::Piece;
    use crate::request::record::Cell;

    fn record(text: &str) -> (Vec<Option<String>>, usize) {
        let mut fields = Fields::default();
        let Piece::Record { used, .. } = read_fields(text.as_bytes(), true, &mut fields) else {
            return (Vec::new(), 0);
        };
        let cells = (0..fields.len()).map(|index| match fields.cell(index, text.as_bytes()) {
            Ok(Cell::Text(text)) => Some(text.into_owned()),
            _ => None,
        });
        (cells.collect(), used)
    }

    #[test]
    fn fields_are_quoted_or_not() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(record("a,b\r\nc"), (vec![some("a"), some("b")], 5));
        assert_eq!(record(",\"\"\n"), (vec![None, some("")], 4));
        assert_eq!(record("\"a\n\"\"b\"\",\",c"), (vec![some("a\n\"b\","), some("c")], 12));
        assert_eq!(record("a"), (vec![some("a")], 1));
        assert_eq!(record("a\rb"), (vec![some("a")], 2));
        assert_eq!(record("\n"), (vec![None], 1));
    }

    #[test]
    fn half_a_record_waits_for_more() {
        let mut fields = Fields::default();
        for text in ["", "a", "a,", "a,\"b", "a,\"b\"", "a\r", "\"a\"\""] {
            assert_eq!(read_fields(text.as_bytes(), false, &mut fields), Piece::Incomplete, "{text}");
        }
        assert_eq!(read_fields(b"", true, &mut fields), Piece::End);
    }

    #[test]
    fn what_is_no_csv_is_malformed() {
        let mut fields = Fields::default();
        for (text, rest) in [("a\"b\nc", Some(4)), ("\"a\"b\nc", Some(5)), ("\"a\nb", None)] {
            let piece = read_fields(text.as_bytes(), true, &mut fields);
            assert!(matches!(&piece, Piece::Malformed(_, after) if *after == rest), "{piece:?}");
        }
    }
}
