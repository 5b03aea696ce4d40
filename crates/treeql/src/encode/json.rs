//! Cells and rows as JSON, to the byte as PHP's `json_encode` with JSON_UNESCAPED_UNICODE writes them (SPEC 4).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::encode::double::write_double;
use crate::request::leading_integer;
use crate::row::{Layout, LayoutCell};
use crate::sql::CellKind;
use crate::value::{Row, ValueRef};

/// compat: characters of base64 in a line (SPEC: base64-line-feeds).
const BASE64_LINE: usize = 76;

/// For each byte: 0 if it stands for itself, else what follows the backslash; `u` for `\u00XX`, `*` for a lead
/// byte of U+2028 and U+2029.
static ESCAPES: [u8; 256] = escapes();

const fn escapes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[0x08] = b'b';
    table[0x0c] = b'f';
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[0xe2] = b'*';
    table
}

/// Bytes that are looked at together.
const BLOCK: usize = 16;

/// Appends a JSON string.
///
/// speed: a block without anything to escape is found so with a dozen vector instructions, which more than halves the
/// cost of long text (docs/performance.md).
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut start = 0;
    for (number, block) in blocks.iter().enumerate() {
        if has_escape(block) {
            for index in number * BLOCK..(number + 1) * BLOCK {
                write_escape(out, bytes, index, &mut start);
            }
        }
    }
    // What has no escape in its last block, which overlaps with the one before, has none in its rest.
    if bytes.last_chunk::<BLOCK>().is_none_or(has_escape) {
        for index in bytes.len() - rest.len()..bytes.len() {
            write_escape(out, bytes, index, &mut start);
        }
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

/// Whether a block may need an escape; without a branch, so that it is a few vector instructions.
fn has_escape(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(false, |any, byte| any | may_escape(*byte))
}

/// Whether [`ESCAPES`] has something for a byte, without looking there.
fn may_escape(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\') | (byte == b'/') | (byte == 0xe2)
}

/// Appends the bytes from `start` on, and the escape of the one at `index`, if it has one.
fn write_escape(out: &mut Vec<u8>, bytes: &[u8], index: usize, start: &mut usize) {
    let byte = bytes[index];
    let escape = ESCAPES[usize::from(byte)];
    if escape == 0 || escape == b'*' && !is_line_terminator(&bytes[index..]) {
        return;
    }
    out.extend_from_slice(&bytes[*start..index]);
    *start = index + 1;
    match escape {
        b'u' => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        }
        b'*' => {
            // compat: U+2028 and U+2029 end lines in older JavaScript, so they are escaped.
            out.extend_from_slice(if bytes[index + 2] == 0xa8 { b"\\u2028" } else { b"\\u2029" });
            *start = index + 3;
        }
        _ => out.extend_from_slice(&[b'\\', escape]),
    }
}

fn is_line_terminator(bytes: &[u8]) -> bool {
    matches!(bytes, [0xe2, 0x80, 0xa8 | 0xa9, ..])
}

/// A member name with its quotes and the colon, made once per plan.
pub fn key(name: &str) -> Box<[u8]> {
    let mut out = Vec::with_capacity(name.len() + 3);
    write_string(&mut out, name);
    out.push(b':');
    out.into()
}

/// Appends a row as an object; a row without columns is `[]`, as an empty PHP array is.
pub fn write_row(out: &mut Vec<u8>, layout: &Layout, row: &impl Row) {
    let mut open = b'{';
    for (index, cell) in layout.cells.iter().enumerate() {
        if cell.shown {
            out.push(open);
            open = b',';
            out.extend_from_slice(&cell.key);
            write_cell(out, cell, row.get(index));
        }
    }
    out.extend_from_slice(if open == b'{' { b"[]" } else { b"}" });
}

/// Appends the value of a cell.
pub fn write_cell(out: &mut Vec<u8>, cell: &LayoutCell, value: ValueRef<'_>) {
    if value == ValueRef::Null {
        out.extend_from_slice(b"null");
        return;
    }
    match cell.kind {
        CellKind::Text => write_text(out, value),
        CellKind::Integer => write_integer(out, value),
        CellKind::IntegerText => {
            out.push(b'"');
            write_integer(out, value);
            out.push(b'"');
        }
        CellKind::Float => write_float(out, value),
        CellKind::Boolean => out.extend_from_slice(if is_true(value) { b"true" } else { b"false" }),
        CellKind::DecimalText => write_decimal_text(out, value),
        CellKind::DecimalOfNumber { scale } => write_decimal(out, value, scale as usize),
        CellKind::Base64 => write_base64(out, value, usize::MAX),
        CellKind::Base64Lines => write_base64(out, value, BASE64_LINE),
    }
}

fn write_int(out: &mut Vec<u8>, int: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(int).as_bytes());
}

/// compat: numbers stored in text columns of SQLite come out as JSON numbers (SPEC 11.3).
fn write_text(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.extend_from_slice(b"null"),
        ValueRef::Bool(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
        ValueRef::Int(int) => write_int(out, int),
        ValueRef::Float(float) => write_double(out, float),
        ValueRef::Number(text) => out.extend_from_slice(text.as_bytes()),
        ValueRef::Text(text) => write_string(out, text),
        // Bytes that are no text cannot be a JSON string: base64 says all of them.
        ValueRef::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => write_string(out, text),
            Err(_not_text) => write_base64(out, value, usize::MAX),
        },
    }
}

/// compat: the text of an integer column is read as a leading integer (SPEC 11.3).
fn write_integer(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Int(int) => write_int(out, int),
        ValueRef::Bool(truth) => write_int(out, i64::from(truth)),
        #[expect(clippy::cast_possible_truncation, reason = "PHP cuts the fraction off, too")]
        ValueRef::Float(float) => write_int(out, float as i64),
        // An unsigned number beyond 63 bits; the reference shows the largest signed one instead.
        ValueRef::Number(text) => out.extend_from_slice(text.as_bytes()),
        ValueRef::Text(text) => write_int(out, leading_integer(text)),
        ValueRef::Bytes(bytes) => write_int(out, leading_integer(&String::from_utf8_lossy(bytes))),
        ValueRef::Null => out.extend_from_slice(b"null"),
    }
}

fn write_float(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Int(int) => write_int(out, int),
        ValueRef::Float(float) => write_double(out, float),
        ValueRef::Number(text) | ValueRef::Text(text) => match text.trim().parse::<f64>() {
            Ok(number) => write_double(out, number),
            Err(_no_number) => write_string(out, text),
        },
        other => write_text(out, other),
    }
}

fn is_true(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Null => false,
        ValueRef::Bool(truth) => truth,
        ValueRef::Int(int) => int != 0,
        ValueRef::Float(float) => float != 0.0,
        ValueRef::Number(text) | ValueRef::Text(text) => !matches!(text, "" | "0"),
        ValueRef::Bytes(bytes) => !matches!(bytes, [] | [0] | b"0"),
    }
}

fn write_decimal_text(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Number(text) => write_string(out, text),
        other => write_text(out, other),
    }
}

/// A number with exactly `scale` decimals, as a string.
fn write_decimal(out: &mut Vec<u8>, value: ValueRef<'_>, scale: usize) {
    match value {
        ValueRef::Int(int) => {
            out.push(b'"');
            write_int(out, int);
            if scale > 0 {
                out.push(b'.');
                out.extend(std::iter::repeat_n(b'0', scale));
            }
            out.push(b'"');
        }
        ValueRef::Float(float) if float.is_finite() => {
            out.push(b'"');
            write_rounded(out, float, scale);
            out.push(b'"');
        }
        // Digits that SQLite kept as text, because they are more than a double holds, are passed on as they are.
        other => write_text(out, other),
    }
}

/// Decimals and size up to which the digits that a double is known by, filled up with zeros, are those of its exact value.
const FILLED_SCALE_MAX: usize = 6;
const FILLED_MAX: f64 = 1e9;

/// Appends a number with exactly `scale` decimals.
///
/// speed: few numbers have more decimals than their column, and `format!` costs 1,400 instructions (docs/performance.md).
fn write_rounded(out: &mut Vec<u8>, float: f64, scale: usize) {
    if (1..=FILLED_SCALE_MAX).contains(&scale) && float.abs() < FILLED_MAX {
        let mut buffer = zmij::Buffer::new();
        let shortest = buffer.format_finite(float).as_bytes();
        let point = memchr::memchr(b'.', shortest).filter(|_| memchr::memchr(b'e', shortest).is_none());
        if let Some(missing) = point.and_then(|point| (point + 1 + scale).checked_sub(shortest.len())) {
            out.extend_from_slice(shortest);
            out.extend(std::iter::repeat_n(b'0', missing));
            return;
        }
    }
    out.extend_from_slice(rounded(float, scale).as_bytes());
}

/// Rounded half away from zero, in the decimal digits that the number is known by.
fn rounded(float: f64, scale: usize) -> String {
    let shortest = format!("{float:?}");
    if shortest.contains('e') {
        return format!("{float:.scale$}");
    }
    let decimals = shortest.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if decimals <= scale {
        return format!("{float:.scale$}");
    }
    let cut = shortest.len() - (decimals - scale);
    let round_up = shortest.as_bytes()[cut] >= b'5';
    let kept = shortest[..cut].trim_end_matches('.');
    if round_up { increment_digits(kept) } else { kept.to_owned() }
}

fn increment_digits(text: &str) -> String {
    let mut digits: Vec<u8> = text.bytes().collect();
    for index in (0..digits.len()).rev() {
        match digits[index] {
            b'9' => digits[index] = b'0',
            b'0'..=b'8' => {
                digits[index] += 1;
                return String::from_utf8_lossy(&digits).into_owned();
            }
            _ => {}
        }
    }
    let start = usize::from(digits.first() == Some(&b'-'));
    digits.insert(start, b'1');
    String::from_utf8_lossy(&digits).into_owned()
}

/// Text in a binary column is base64 already, as the reference keeps it on SQLite.
fn write_base64(out: &mut Vec<u8>, value: ValueRef<'_>, line: usize) {
    let ValueRef::Bytes(bytes) = value else { return write_text(out, value) };
    let text = STANDARD.encode(bytes);
    out.push(b'"');
    let mut rest = text.as_str();
    while rest.len() > line {
        let (head, tail) = rest.split_at(line);
        out.extend(head.bytes().flat_map(slash_escaped));
        out.extend_from_slice(b"\\n");
        rest = tail;
    }
    out.extend(rest.bytes().flat_map(slash_escaped));
    out.push(b'"');
}

fn slash_escaped(byte: u8) -> impl Iterator<Item = u8> {
    (byte == b'/').then_some(b'\\').into_iter().chain([byte])
}

#[cfg(test)]
mod tests {
    use crate::encode::json::{rounded, write_rounded, write_string};

    fn string(text: &str) -> String {
        let mut out = Vec::new();
        write_string(&mut out, text);
        String::from_utf8(out).expect("it is UTF-8")
    }

    #[test]
    fn strings_are_escaped_as_in_php() {
        assert_eq!(string("a/b\"\\\n\u{1}\u{7f}é€"), "\"a\\/b\\\"\\\\\\n\\u0001\u{7f}é€\"");
        assert_eq!(string("x\u{2028}y\u{2029}\u{20ac}"), "\"x\\u2028y\\u2029\u{20ac}\"");
        assert_eq!(string(""), "\"\"");
    }

    #[test]
    fn numbers_that_are_filled_with_zeros_are_those_that_are_rounded() {
        for float in
            [0.0, -0.0, 4.5, -4.5, 0.1, 1.0 / 3.0, 23.01, 999_999_999.25, 1e-7, 1e9, 12_345.678_9, -1e15]
        {
            for scale in 0..=8 {
                let mut out = Vec::new();
                write_rounded(&mut out, float, scale);
                assert_eq!(String::from_utf8(out).unwrap(), rounded(float, scale), "{float} with {scale}");
            }
        }
    }

    #[test]
    fn decimals_are_rounded_half_away_from_zero() {
        assert_eq!(rounded(23.01, 2), "23.01");
        assert_eq!(rounded(1.005, 2), "1.01");
        assert_eq!(rounded(-9.995, 2), "-10.00");
        assert_eq!(rounded(5.0, 2), "5.00");
        assert_eq!(rounded(0.5, 0), "1");
    }
}
