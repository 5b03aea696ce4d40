//! Rows in the text form of COPY, which the server reads with the type of each column, as it reads parameters.

use std::io::Write;

use treeql::error::Error;
use treeql::schema::ColumnType;
use treeql::sql::{Args, Rows};
use treeql::value::ValueRef;

/// The rows as lines.
pub fn copy_text(rows: &Rows, args: Args<'_>, count: usize) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(count * rows.cells().len() * 12);
    for row in 0..count {
        let cells = &args.cells[row * rows.width..(row + 1) * rows.width];
        let args = Args { cells, ..args };
        for (place, (column, param)) in rows.cells().iter().enumerate() {
            if place > 0 {
                out.push(b'\t');
            }
            let bound = args.get(param)?;
            let is_shape = column.kind == ColumnType::Geometry;
            if is_shape && bound.as_ref() != ValueRef::Null {
                write!(out, "SRID={};", rows.srid()).expect("memory takes everything");
            }
            write_value(&mut out, bound.as_ref());
        }
        out.push(b'\n');
    }
    Ok(out)
}

fn write_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.extend_from_slice(b"\\N"),
        ValueRef::Bool(truth) => out.push(if truth { b'1' } else { b'0' }),
        ValueRef::Int(int) => write!(out, "{int}").expect("memory takes everything"),
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
