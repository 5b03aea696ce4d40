//! Rows as CSV (RFC 4180), in which NULL is an empty field and an empty text is `""` (SPEC 4.1).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::encode::double::write_double;
use crate::encode::json::write_cell;
use crate::row::{Layout, LayoutCell};
use crate::sql::CellKind;
use crate::value::{Row, ValueRef};

/// What ends a record.
const LINE_END: &[u8] = b"\r\n";

/// Appends the names of the columns.
pub fn write_csv_header(out: &mut Vec<u8>, layout: &Layout) {
    for (index, cell) in layout.cells.iter().filter(|cell| cell.shown).enumerate() {
        separate(out, index);
        write_field(out, &cell.name);
    }
    out.extend_from_slice(LINE_END);
}

/// Appends a row.
pub fn write_csv_row(out: &mut Vec<u8>, layout: &Layout, row: &impl Row) {
    let shown = layout.cells.iter().enumerate().filter(|(_, cell)| cell.shown);
    for (place, (index, cell)) in shown.enumerate() {
        separate(out, place);
        write_csv_cell(out, cell, row.get(index));
    }
    out.extend_from_slice(LINE_END);
}

fn separate(out: &mut Vec<u8>, place: usize) {
    if place > 0 {
        out.push(b',');
    }
}

/// A value as in JSON, without the quotes and escapes of JSON; base64 in one line.
fn write_csv_cell(out: &mut Vec<u8>, cell: &LayoutCell, value: ValueRef<'_>) {
    match (cell.kind, value) {
        (_, ValueRef::Null) => {}
        (CellKind::Integer | CellKind::Text, ValueRef::Int(int)) => {
            out.extend_from_slice(itoa::Buffer::new().format(int).as_bytes());
        }
        (CellKind::Text, ValueRef::Text(text))
        | (CellKind::DecimalText, ValueRef::Text(text) | ValueRef::Number(text)) => write_field(out, text),
        (CellKind::Float | CellKind::Text, ValueRef::Float(float)) if float.is_finite() => {
            write_double(out, float);
        }
        (CellKind::Base64 | CellKind::Base64Lines, ValueRef::Bytes(bytes)) => {
            write_field(out, &STANDARD.encode(bytes));
        }
        _ => write_any(out, cell, value),
    }
}

/// What is seldom: by way of JSON.
fn write_any(out: &mut Vec<u8>, cell: &LayoutCell, value: ValueRef<'_>) {
    let mut json = Vec::new();
    write_cell(&mut json, cell, value);
    match serde_json::from_slice::<serde_json::Value>(&json) {
        Ok(serde_json::Value::String(text)) => write_field(out, &text),
        Ok(serde_json::Value::Null) => {}
        _ => out.extend_from_slice(&json),
    }
}

fn write_field(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| !matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if !text.is_empty() && text.bytes().all(is_plain) {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    let mut pieces = text.split('"');
    out.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        out.extend_from_slice(b"\"\"");
        out.extend_from_slice(piece.as_bytes());
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use crate::encode::csv::write_csv_cell;
    use crate::row::LayoutCell;
    use crate::sql::CellKind;
    use crate::value::ValueRef;

    fn field(kind: CellKind, value: ValueRef<'_>) -> String {
        let cell = LayoutCell { name: "a".into(), key: Box::default(), kind, shown: true };
        let mut out = Vec::new();
        write_csv_cell(&mut out, &cell, value);
        String::from_utf8(out).expect("it is UTF-8")
    }

    #[test]
    fn null_and_an_empty_text_are_told_apart() {
        assert_eq!(field(CellKind::Text, ValueRef::Null), "");
        assert_eq!(field(CellKind::Text, ValueRef::Text("")), "\"\"");
        assert_eq!(field(CellKind::Base64, ValueRef::Bytes(b"")), "\"\"");
    }

    #[test]
    fn what_separates_is_quoted() {
        assert_eq!(field(CellKind::Text, ValueRef::Text("a,\"b\"\n")), "\"a,\"\"b\"\"\n\"");
        assert_eq!(field(CellKind::Text, ValueRef::Text("a/b 'c';")), "a/b 'c';");
    }

    #[test]
    fn values_are_those_of_json() {
        assert_eq!(field(CellKind::Boolean, ValueRef::Int(1)), "true");
        assert_eq!(field(CellKind::DecimalOfNumber { scale: 2 }, ValueRef::Float(1.5)), "1.50");
        assert_eq!(field(CellKind::Float, ValueRef::Float(f64::INFINITY)), "");
        assert_eq!(
            field(CellKind::Integer, ValueRef::Number("18446744073709551615")),
            "18446744073709551615"
        );
        assert_eq!(field(CellKind::Base64Lines, ValueRef::Bytes(&[255; 60])).len(), 80);
    }
}
