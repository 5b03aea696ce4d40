//! Rows in the text form of COPY, which the server reads with the type of each column, as it reads parameters.

use std::io::Write;

use bytes::Bytes;
use treeql::error::Error;
use treeql::schema::ColumnType;
use treeql::sql::{Args, Rows};
use treeql::value::ValueRef;

/// Bytes that are sent at once: the server works on them while the next ones are written.
const PIECE_BYTES: usize = 32 * 1024;

/// The rows as lines, some at a time.
pub struct CopyText<'a> {
    rows: &'a Rows,
    args: Args<'a>,
    count: usize,
    next: usize,
}

impl<'a> CopyText<'a> {
    /// Nothing has been written yet.
    pub fn new(rows: &'a Rows, args: Args<'a>, count: usize) -> CopyText<'a> {
        CopyText { rows, args, count, next: 0 }
    }

    fn write_row(&self, out: &mut Vec<u8>, row: usize) -> Result<(), Error> {
        let args = self.rows.part(self.args, row, 1);
        for (place, (column, param)) in self.rows.cells().iter().enumerate() {
            if place > 0 {
                out.push(b'\t');
            }
            let bound = args.get(param)?;
            let is_shape = column.kind == ColumnType::Geometry;
            if is_shape && bound.as_ref() != ValueRef::Null {
                write!(out, "SRID={};", self.rows.srid()).expect("memory takes everything");
            }
            write_value(out, bound.as_ref());
        }
        out.push(b'\n');
        Ok(())
    }
}

impl Iterator for CopyText<'_> {
    type Item = Result<Bytes, Error>;

    fn next(&mut self) -> Option<Result<Bytes, Error>> {
        if self.next == self.count {
            return None;
        }
        let mut out = Vec::with_capacity(PIECE_BYTES + 1024);
        while self.next < self.count && out.len() < PIECE_BYTES {
            if let Err(error) = self.write_row(&mut out, self.next) {
                return Some(Err(error));
            }
            self.next += 1;
        }
        Some(Ok(out.into()))
    }
}

fn write_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.extend_from_slice(b"\\N"),
        ValueRef::Bool(truth) => out.push(if truth { b'1' } else { b'0' }),
        ValueRef::Int(int) => out.extend_from_slice(itoa::Buffer::new().format(int).as_bytes()),
        ValueRef::Float(float) => write!(out, "{float}").expect("memory takes everything"),
        ValueRef::Number(text) | ValueRef::Text(text) => write_text(out, text.as_bytes()),
        ValueRef::Bytes(bytes) => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(b"\\\\x");
            out.extend(
                bytes.iter().flat_map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
            );
        }
    }
}

fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    let is_plain = |byte: u8| !matches!(byte, b'\\' | b'\t' | b'\n' | b'\r');
    if text.iter().all(|byte| is_plain(*byte)) {
        return out.extend_from_slice(text);
    }
    for byte in text {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            _ => out.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use treeql::value::ValueRef;

    use crate::driver::postgres::copy::write_value;

    #[test]
    fn what_separates_is_escaped() {
        let text = |value: ValueRef<'_>| {
            let mut out = Vec::new();
            write_value(&mut out, value);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(ValueRef::Null), "\\N");
        assert_eq!(text(ValueRef::Text("a\tb\\N\nc")), "a\\tb\\\\N\\nc");
        assert_eq!(text(ValueRef::Bytes(&[0, 255])), "\\\\x00ff");
        assert_eq!(text(ValueRef::Int(-7)), "-7");
    }
}
