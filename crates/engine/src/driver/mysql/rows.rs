//! MySQL's rows: the values of the binary protocol as those of the protocol.

use mysql_async::consts::{ColumnFlags, ColumnType};
use mysql_async::{Column, Value as Native};
use treeql::sql::{Args, Statement};
use treeql::value::{Row, ValueRef};

/// The number of the binary character set, which tells bytes from text.
const BINARY: u16 = 63;

/// A row whose cells have been read.
pub struct MySqlRow(Vec<Cell>);

enum Cell {
    Null,
    Int(i64),
    Float(f64),
    Number(String),
    Text(String),
    Bytes(Vec<u8>),
}

impl MySqlRow {
    /// Reads the cells of a row.
    pub fn read(row: mysql_async::Row) -> MySqlRow {
        let columns = row.columns();
        let cells = row.unwrap_raw().into_iter().zip(columns.iter());
        MySqlRow(cells.map(|(value, column)| cell(value, column)).collect())
    }
}

impl Row for MySqlRow {
    fn get(&self, index: usize) -> ValueRef<'_> {
        match self.0.get(index) {
            None | Some(Cell::Null) => ValueRef::Null,
            Some(Cell::Int(int)) => ValueRef::Int(*int),
            Some(Cell::Float(float)) => ValueRef::Float(*float),
            Some(Cell::Number(text)) => ValueRef::Number(text),
            Some(Cell::Text(text)) => ValueRef::Text(text),
            Some(Cell::Bytes(bytes)) => ValueRef::Bytes(bytes),
        }
    }
}

fn cell(value: Option<Native>, column: &Column) -> Cell {
    match value {
        None | Some(Native::NULL) => Cell::Null,
        Some(Native::Int(int)) => Cell::Int(int),
        // Beyond 63 bits the digits are handed through.
        Some(Native::UInt(int)) => {
            i64::try_from(int).map_or_else(|_| Cell::Number(int.to_string()), Cell::Int)
        }
        Some(Native::Float(float)) => Cell::Float(six_digits(float)),
        Some(Native::Double(double)) => Cell::Float(double),
        Some(Native::Bytes(bytes)) => bytes_cell(bytes, column),
        Some(Native::Date(year, month, day, hour, minute, second, micros)) => {
            let date = format!("{year:04}-{month:02}-{day:02}");
            if column.column_type() == ColumnType::MYSQL_TYPE_DATE {
                return Cell::Text(date);
            }
            let fraction = fraction(micros, column.decimals());
            Cell::Text(format!("{date} {hour:02}:{minute:02}:{second:02}{fraction}"))
        }
        Some(Native::Time(is_negative, days, hours, minutes, seconds, micros)) => {
            let sign = if is_negative { "-" } else { "" };
            let hours = days * 24 + u32::from(hours);
            let fraction = fraction(micros, column.decimals());
            Cell::Text(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}"))
        }
    }
}

fn bytes_cell(bytes: Vec<u8>, column: &Column) -> Cell {
    if column.column_type() == ColumnType::MYSQL_TYPE_BIT {
        let number = bytes.iter().take(8).fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte));
        return i64::try_from(number).map_or_else(|_| Cell::Number(number.to_string()), Cell::Int);
    }
    let is_binary = column.character_set() == BINARY && column.flags().contains(ColumnFlags::BINARY_FLAG);
    let is_string = matches!(
        column.column_type(),
        ColumnType::MYSQL_TYPE_STRING
            | ColumnType::MYSQL_TYPE_VAR_STRING
            | ColumnType::MYSQL_TYPE_VARCHAR
            | ColumnType::MYSQL_TYPE_TINY_BLOB
            | ColumnType::MYSQL_TYPE_BLOB
            | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
            | ColumnType::MYSQL_TYPE_LONG_BLOB
    );
    if is_binary && is_string {
        return Cell::Bytes(bytes);
    }
    String::from_utf8(bytes).map_or_else(|error| Cell::Bytes(error.into_bytes()), Cell::Text)
}

/// As many digits of the microseconds as the column has.
fn fraction(micros: u32, decimals: u8) -> String {
    let decimals = usize::from(decimals.min(6));
    if decimals == 0 { String::new() } else { format!(".{}", &format!("{micros:06}")[..decimals]) }
}

/// compat: a FLOAT is shown with six significant digits, as the server prints it (SPEC 11.3).
fn six_digits(float: f32) -> f64 {
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
