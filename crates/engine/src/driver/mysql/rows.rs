//! MySQL's rows: the values of the binary protocol as those of the protocol.

use mysql_async::consts::{ColumnFlags, ColumnType};
use mysql_async::{Column, Value as Native};
use treeql::sql::{Args, Statement};
use treeql::value::{Row, ValueRef};

/// The number of the binary character set, which tells bytes from text.
const BINARY: u16 = 63;

/// A row, with the text of those cells that arrive in another form.
pub struct MySqlRow {
    row: mysql_async::Row,
    made: Vec<(usize, String)>,
}

impl MySqlRow {
    /// Reads what is not text yet: dates, times, and numbers beyond 63 bits.
    pub fn read(row: mysql_async::Row) -> MySqlRow {
        let mut made = Vec::new();
        for (index, column) in row.columns_ref().iter().enumerate() {
            if let Some(text) = row.as_ref(index).and_then(|value| made_text(value, column)) {
                made.push((index, text));
            }
        }
        MySqlRow { row, made }
    }

    fn made(&self, index: usize) -> &str {
        self.made.iter().find(|(known, _)| *known == index).map_or("", |(_, text)| text)
    }
}

impl Row for MySqlRow {
    fn get(&self, index: usize) -> ValueRef<'_> {
        let Some(value) = self.row.as_ref(index) else { return ValueRef::Null };
        match value {
            Native::NULL => ValueRef::Null,
            Native::Int(int) => ValueRef::Int(*int),
            Native::UInt(int) => {
                i64::try_from(*int).map_or_else(|_| ValueRef::Number(self.made(index)), ValueRef::Int)
            }
            Native::Float(float) => ValueRef::Float(six_digits(*float)),
            Native::Double(double) => ValueRef::Float(*double),
            Native::Date(..) | Native::Time(..) => ValueRef::Text(self.made(index)),
            Native::Bytes(bytes) => {
                let column = &self.row.columns_ref()[index];
                if column.column_type() == ColumnType::MYSQL_TYPE_BIT {
                    let bits = i64::try_from(bits(bytes));
                    return bits.map_or_else(|_| ValueRef::Number(self.made(index)), ValueRef::Int);
                }
                if is_bytes(column) { ValueRef::Bytes(bytes) } else { ValueRef::of_text(bytes) }
            }
        }
    }
}

/// The text of a cell that does not arrive as text, nor as what [`ValueRef`] has.
///
/// speed: written digit by digit, because `format!` took longer than the rest of a row with a date
/// (docs/performance.md).
pub fn made_text(value: &Native, column: &Column) -> Option<String> {
    match value {
        Native::UInt(int) => i64::try_from(*int).is_err().then(|| int.to_string()),
        Native::Bytes(bytes) if column.column_type() == ColumnType::MYSQL_TYPE_BIT => {
            let bits = bits(bytes);
            i64::try_from(bits).is_err().then(|| bits.to_string())
        }
        Native::Date(year, month, day, hour, minute, second, micros) => {
            let mut text = String::with_capacity(26);
            push(&mut text, u32::from(*year), 4, None);
            push(&mut text, u32::from(*month), 2, Some('-'));
            push(&mut text, u32::from(*day), 2, Some('-'));
            if column.column_type() != ColumnType::MYSQL_TYPE_DATE {
                push(&mut text, u32::from(*hour), 2, Some(' '));
                push(&mut text, u32::from(*minute), 2, Some(':'));
                push(&mut text, u32::from(*second), 2, Some(':'));
                push_fraction(&mut text, *micros, column.decimals());
            }
            Some(text)
        }
        Native::Time(is_negative, days, hours, minutes, seconds, micros) => {
            let mut text = String::with_capacity(17);
            let hours = days * 24 + u32::from(*hours);
            push(&mut text, hours, if hours > 99 { 3 } else { 2 }, is_negative.then_some('-'));
            push(&mut text, u32::from(*minutes), 2, Some(':'));
            push(&mut text, u32::from(*seconds), 2, Some(':'));
            push_fraction(&mut text, *micros, column.decimals());
            Some(text)
        }
        _ => None,
    }
}

/// A number with so many digits, behind a separator.
fn push(text: &mut String, number: u32, digits: u32, before: Option<char>) {
    text.extend(before);
    for place in (0..digits).rev() {
        let digit = number / 10u32.pow(place) % 10;
        text.push(char::from_digit(digit, 10).expect("a remainder of ten is a digit"));
    }
}

/// As many digits of the microseconds as the column has.
fn push_fraction(text: &mut String, micros: u32, decimals: u8) {
    let decimals = u32::from(decimals.min(6));
    if decimals > 0 {
        push(text, micros / 10u32.pow(6 - decimals), decimals, Some('.'));
    }
}

/// The number that a bit string is.
pub fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// Whether a column holds bytes and no text.
pub fn is_bytes(column: &Column) -> bool {
    column.character_set() == BINARY
        && column.flags().contains(ColumnFlags::BINARY_FLAG)
        && matches!(
            column.column_type(),
            ColumnType::MYSQL_TYPE_STRING
                | ColumnType::MYSQL_TYPE_VAR_STRING
                | ColumnType::MYSQL_TYPE_VARCHAR
                | ColumnType::MYSQL_TYPE_TINY_BLOB
                | ColumnType::MYSQL_TYPE_BLOB
                | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
                | ColumnType::MYSQL_TYPE_LONG_BLOB
        )
}

/// compat: a FLOAT is shown with six significant digits, as the server prints it (SPEC 11.3).
pub fn six_digits(float: f32) -> f64 {
    format!("{float:.5e}").parse().unwrap_or_else(|_| f64::from(float))
}

/// The parameters of a statement.
pub fn parameters(statement: &Statement, args: Args<'_>) -> Result<Vec<Native>, treeql::error::Error> {
    statement
        .params
        .iter()
        .map(|param| {
            args.get(param).map(|bound| match bound.as_ref() {
                ValueRef::Null => Native::NULL,
                ValueRef::Bool(truth) => Native::Int(i64::from(truth)),
                ValueRef::Int(int) => Native::Int(int),
                ValueRef::Float(float) => Native::Double(float),
                ValueRef::Number(text) | ValueRef::Text(text) => Native::Bytes(text.as_bytes().to_vec()),
                ValueRef::Bytes(bytes) => Native::Bytes(bytes.to_vec()),
            })
        })
        .collect()
}
