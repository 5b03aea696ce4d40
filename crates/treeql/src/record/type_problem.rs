//! What the type of a column does not accept, in the words of the reference (SPEC 18.14).

use crate::record::decimal::has_size;
use crate::request::{Cell, is_integer};
use crate::schema::{Column, ColumnType};

/// What counts as white space at the ends of a text (SPEC 18.14).
const BLANKS: &[char] = &[' ', '\t', '\n', '\r', '\0', '\x0b'];

/// What is wrong with `cell` as a value of `column`; `None` if nothing is (SPEC 18.14).
///
/// These rules look at the form only: `2020-13-45` is a date here, the database knows better.
pub fn type_problem(cell: &Cell<'_>, column: &Column) -> Option<&'static str> {
    match cell {
        Cell::Null if column.nullable => None,
        Cell::Null => Some("cannot be null"),
        Cell::Text(text) => text_problem(text, column),
        Cell::Number(number) => number_problem(number, column.kind),
        Cell::Bool(_) if column.kind == ColumnType::Boolean => None,
        Cell::Bool(_) | Cell::Json(_) => Some(invalid(column.kind)),
    }
}

fn text_problem(text: &str, column: &Column) -> Option<&'static str> {
    let kind = column.kind;
    if !kind.is_text() && text.trim_matches(BLANKS).len() != text.len() {
        return Some("illegal whitespace");
    }
    let fine = match kind {
        ColumnType::Varchar => return length_problem(text.chars().count(), column),
        ColumnType::Clob | ColumnType::Geometry | ColumnType::Bit => true,
        ColumnType::Varbinary | ColumnType::Blob => match decoded_len(text) {
            Some(length) => return length_problem(length, column),
            None => return Some("invalid base64"),
        },
        ColumnType::Integer | ColumnType::Bigint => fits(text, kind),
        // compat: a point or an exponent is refused in text, though not in numbers (Q-float-strings).
        ColumnType::Float | ColumnType::Double => are_digits(unsigned(text), 1, usize::MAX),
        ColumnType::Decimal => return decimal_problem(text, column),
        ColumnType::Boolean => text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false"),
        ColumnType::Date => is_date(text),
        ColumnType::Time => is_time(text),
        ColumnType::Timestamp => text
            .split_once([' ', '\t'])
            .is_some_and(|(date, time)| is_date(date) && is_time(time.trim_start_matches([' ', '\t']))),
    };
    (!fine).then(|| invalid(kind))
}

fn number_problem(number: &str, kind: ColumnType) -> Option<&'static str> {
    let fine = match kind {
        ColumnType::Integer | ColumnType::Bigint => fits(number, kind),
        ColumnType::Float | ColumnType::Double => true,
        ColumnType::Boolean => matches!(number, "0" | "1"),
        _ => false,
    };
    (!fine).then(|| invalid(kind))
}

fn invalid(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Varchar => "invalid varchar",
        ColumnType::Clob => "invalid clob",
        ColumnType::Boolean => "invalid boolean",
        ColumnType::Integer | ColumnType::Bigint => "invalid integer",
        ColumnType::Float | ColumnType::Double => "invalid float",
        ColumnType::Decimal => "invalid decimal",
        ColumnType::Date => "invalid date",
        ColumnType::Time => "invalid time",
        ColumnType::Timestamp => "invalid timestamp",
        ColumnType::Varbinary => "invalid varbinary",
        ColumnType::Blob => "invalid blob",
        ColumnType::Geometry => "invalid geometry",
        ColumnType::Bit => "invalid bit",
    }
}

/// Whether `text` is a whole number of 64 bits, or of 32 for an integer.
fn fits(text: &str, kind: ColumnType) -> bool {
    let Some(int) = text.parse::<i64>().ok().filter(|_| is_integer(text)) else { return false };
    kind == ColumnType::Bigint || i32::try_from(int).is_ok()
}

fn length_problem(length: usize, column: &Column) -> Option<&'static str> {
    (column.length > 0 && length > column.length as usize).then_some("string too long")
}

fn decimal_problem(text: &str, column: &Column) -> Option<&'static str> {
    let digits = text.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !are_digits(whole, 0, usize::MAX) || !are_digits(fraction, 0, usize::MAX) {
        return Some("invalid decimal");
    }
    if !has_size(column) {
        return None;
    }
    // The zero before a point is no digit that needs a place: decimal(2,2) holds 0.25.
    let whole_len = if whole == "0" { 0 } else { whole.len() };
    if whole_len > column.precision.saturating_sub(column.scale) as usize {
        return Some("decimal too large");
    }
    (fraction.len() > column.scale as usize).then_some("decimal too precise")
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = |most| parts.next().is_some_and(|part| are_digits(part, 1, most));
    next(4) && next(2) && next(2) && parts.next().is_none()
}

fn is_time(text: &str) -> bool {
    let mut parts = text.split(':');
    let mut next = |least| parts.next().is_some_and(|part| are_digits(part, least, 2));
    next(1) && next(2) && next(2) && parts.next().is_none()
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn are_digits(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// How many bytes `text` is in base64: blanks do not count, padding may be absent but not wrong.
fn decoded_len(text: &str) -> Option<usize> {
    let (mut symbols, mut padding) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => symbols += 1,
            _ => return None,
        }
    }
    let complete = padding == 0 || (padding <= 2 && (symbols + padding).is_multiple_of(4));
    (complete && symbols % 4 != 1).then_some(symbols / 4 * 3 + (symbols % 4).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use crate::record::sample::column;
    use crate::record::type_problem::type_problem;
    use crate::request::Cell;
    use crate::schema::ColumnType;

    /// A type, the JSON of a value, and what is wrong with it; nothing if it is fine.
    const CASES: &[(ColumnType, &str, &str)] = &[
        (ColumnType::Integer, r#""7""#, ""),
        (ColumnType::Integer, r#""+7""#, ""),
        (ColumnType::Integer, r#"" 7""#, "illegal whitespace"),
        (ColumnType::Integer, r#""7\n""#, "illegal whitespace"),
        (ColumnType::Integer, r#""07""#, "invalid integer"),
        (ColumnType::Integer, r#""two""#, "invalid integer"),
        (ColumnType::Integer, r#""""#, "invalid integer"),
        (ColumnType::Integer, "1.0", "invalid integer"),
        (ColumnType::Integer, "1e2", "invalid integer"),
        (ColumnType::Integer, "true", "invalid integer"),
        (ColumnType::Integer, "[1]", "invalid integer"),
        (ColumnType::Integer, "-2147483648", ""),
        (ColumnType::Integer, "2147483648", "invalid integer"),
        (ColumnType::Integer, r#""2147483648""#, "invalid integer"),
        (ColumnType::Bigint, "2147483648", ""),
        (ColumnType::Bigint, r#""9223372036854775807""#, ""),
        (ColumnType::Bigint, "9223372036854775808", "invalid integer"),
        (ColumnType::Decimal, r#""123456.7891""#, ""),
        (ColumnType::Decimal, r#""--1.5""#, ""),
        (ColumnType::Decimal, r#""""#, ""),
        (ColumnType::Decimal, r#""-""#, ""),
        (ColumnType::Decimal, r#"".""#, ""),
        (ColumnType::Decimal, r#""1.2.3""#, "invalid decimal"),
        (ColumnType::Decimal, r#""+1""#, "invalid decimal"),
        (ColumnType::Decimal, r#""1e2""#, "invalid decimal"),
        (ColumnType::Decimal, "1.5", "invalid decimal"),
        (ColumnType::Decimal, r#""1234567""#, "decimal too large"),
        (ColumnType::Decimal, r#""1.23456""#, "decimal too precise"),
        (ColumnType::Double, "1.5", ""),
        (ColumnType::Double, r#""-15""#, ""),
        (ColumnType::Double, r#""1.5""#, "invalid float"),
        (ColumnType::Float, r#""1e5""#, "invalid float"),
        (ColumnType::Float, r#""-""#, "invalid float"),
        (ColumnType::Float, "false", "invalid float"),
        (ColumnType::Boolean, "true", ""),
        (ColumnType::Boolean, "0", ""),
        (ColumnType::Boolean, r#""FALSE""#, ""),
        (ColumnType::Boolean, r#""1""#, "invalid boolean"),
        (ColumnType::Boolean, "2", "invalid boolean"),
        (ColumnType::Boolean, "1.0", "invalid boolean"),
        (ColumnType::Date, r#""2020-13-45""#, ""),
        (ColumnType::Date, r#""1-2-3""#, ""),
        (ColumnType::Date, r#""2020-12""#, "invalid date"),
        (ColumnType::Date, r#""2020-12-05-1""#, "invalid date"),
        (ColumnType::Date, r#""20200-12-05""#, "invalid date"),
        (ColumnType::Date, "20201205", "invalid date"),
        (ColumnType::Time, r#""9:05:07""#, ""),
        (ColumnType::Time, r#""99:99:99""#, ""),
        (ColumnType::Time, r#""9:5:07""#, "invalid time"),
        (ColumnType::Time, r#""13:15""#, "invalid time"),
        (ColumnType::Timestamp, r#""2020-1-2   9:05:07""#, ""),
        (ColumnType::Timestamp, r#""2020-01-02T09:05:07""#, "invalid timestamp"),
        (ColumnType::Timestamp, r#""2020-01-02 09:05:07.5""#, "invalid timestamp"),
        (ColumnType::Varchar, r#"" a ""#, ""),
        (ColumnType::Varchar, r#""äöüäöüäöüä""#, ""),
        (ColumnType::Varchar, r#""äöüäöüäöüäö""#, "string too long"),
        (ColumnType::Varchar, "1", "invalid varchar"),
        (ColumnType::Clob, r#""äöüäöüäöüäö""#, ""),
        (ColumnType::Clob, r#"{"a":1}"#, "invalid clob"),
        (ColumnType::Blob, r#""YQ==""#, ""),
        (ColumnType::Blob, r#""Y Q\n==""#, ""),
        (ColumnType::Blob, r#""YQ""#, ""),
        (ColumnType::Blob, r#""""#, ""),
        (ColumnType::Blob, r#""!""#, "invalid base64"),
        (ColumnType::Blob, r#""YQ=""#, "invalid base64"),
        (ColumnType::Blob, r#""Y""#, "invalid base64"),
        (ColumnType::Blob, r#""YQ======""#, "invalid base64"),
        (ColumnType::Blob, r#""====""#, "invalid base64"),
        (ColumnType::Blob, r#""YQ==YQ==""#, "invalid base64"),
        (ColumnType::Blob, r#""YQ-_""#, "invalid base64"),
        (ColumnType::Blob, r#""YQ==\n""#, "illegal whitespace"),
        (ColumnType::Blob, "1", "invalid blob"),
        (ColumnType::Varbinary, r#""MTIzNDU2Nzg5MA==""#, ""),
        (ColumnType::Varbinary, r#""MTIzNDU2Nzg5MDE=""#, "string too long"),
        (ColumnType::Varbinary, "null", "cannot be null"),
        (ColumnType::Geometry, r#""POINT(1 2)""#, ""),
        (ColumnType::Geometry, r#"" POINT(1 2)""#, "illegal whitespace"),
        (ColumnType::Geometry, "[1,2]", "invalid geometry"),
        (ColumnType::Bit, r#""101""#, ""),
        (ColumnType::Bit, "5", "invalid bit"),
    ];

    #[test]
    fn every_type_has_its_rule() {
        for (kind, json, problem) in CASES {
            let cell = crate::request::cell_of_json(json).expect("it is JSON");
            let found = type_problem(&cell, &column("it", *kind)).unwrap_or_default();
            assert_eq!(found, *problem, "{kind} {json}");
        }
    }

    #[test]
    fn null_depends_on_the_column() {
        let mut column = column("it", ColumnType::Integer);
        assert_eq!(type_problem(&Cell::Null, &column), Some("cannot be null"));
        column.nullable = true;
        assert_eq!(type_problem(&Cell::Null, &column), None);
    }

    #[test]
    fn a_decimal_may_be_all_fraction_or_without_size() {
        let mut column = column("it", ColumnType::Decimal);
        (column.precision, column.scale) = (2, 2);
        assert_eq!(type_problem(&Cell::Text("0.25".into()), &column), None);
        assert_eq!(type_problem(&Cell::Text("1.25".into()), &column), Some("decimal too large"));
        (column.precision, column.scale) = (65535, 65531);
        assert_eq!(type_problem(&Cell::Text("1234567.25".into()), &column), None);
    }
}
