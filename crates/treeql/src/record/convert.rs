//! A member of a record, as the caller spelled it, to a value of its column's type (SPEC 11.2).

use crate::mode::Mode;
use crate::nearest::shown;
use crate::request::{Cell, decode_base64, is_integer, is_numeric, standard_base64};
use crate::schema::{Column, ColumnType};
use crate::sql::Dialect;
use crate::value::Value;

/// The value to store. The error is what is wrong with it, in a few words, for the details of a 1013.
pub fn convert(cell: &Cell<'_>, column: &Column, dialect: Dialect, mode: Mode) -> Result<Value, String> {
    let value = match cell {
        Cell::Null => return Ok(Value::Null),
        Cell::Text(text) if text.contains('\0') => {
            return Err("contains a NUL character, which databases do not store".to_owned());
        }
        Cell::Json(text) => json(text, column, mode)?,
        Cell::Bool(truth) => Spelled { text: if *truth { "1" } else { "" }, sort: Sort::Bool(*truth) },
        Cell::Number(text) => Spelled { text, sort: Sort::Number },
        Cell::Text(text) => Spelled { text, sort: Sort::Text },
    };
    match column.kind {
        ColumnType::Boolean => boolean(&value, mode),
        ColumnType::Varbinary | ColumnType::Blob => binary(&value, dialect, mode),
        ColumnType::Integer | ColumnType::Bigint => integer(&value, column.kind, dialect, mode),
        ColumnType::Float | ColumnType::Double | ColumnType::Decimal => {
            number(&value, column.kind, dialect, mode)
        }
        _ => plain(&value, column, mode),
    }
}

/// The text form of a JSON value, and what it was.
struct Spelled<'a> {
    text: &'a str,
    sort: Sort,
}

#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Bool(bool),
    Number,
    Text,
    Json,
}

/// Arrays and objects go into long text as their JSON; elsewhere they are a mistake.
fn json<'a>(text: &'a str, column: &Column, mode: Mode) -> Result<Spelled<'a>, String> {
    if column.kind == ColumnType::Clob {
        return Ok(Spelled { text, sort: Sort::Json });
    }
    // compat: the reference stores the word `Array` (SPEC 11.1).
    if !mode.is_strict() && text.starts_with('[') {
        return Ok(Spelled { text: "Array", sort: Sort::Text });
    }
    let what = if text.starts_with('[') { "an array" } else { "an object" };
    Err(format!("is {what}, but the column is {}", column.kind))
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn boolean(value: &Spelled<'_>, mode: Mode) -> Result<Value, String> {
    let truth = match (value.sort, value.text.to_ascii_lowercase().as_str()) {
        (Sort::Bool(truth), _) => truth,
        (_, "1" | "true" | "on" | "yes") => true,
        (_, "0" | "false" | "off" | "no" | "") => false,
        // compat: anything else is false (SPEC 11.2).
        _ if !mode.is_strict() => false,
        _ => return Err(format!("'{}' is no boolean; send true or false", shown(value.text))),
    };
    Ok(Value::Int(i64::from(truth)))
}

fn binary(value: &Spelled<'_>, dialect: Dialect, mode: Mode) -> Result<Value, String> {
    if dialect.keeps_base64() && !mode.is_strict() {
        let standard = standard_base64(value.text);
        let padding = (4 - standard.len() % 4) % 4;
        return Ok(text(&(standard + &"==="[..padding])));
    }
    match decode_base64(value.text) {
        Ok(bytes) => Ok(Value::Bytes(bytes.into())),
        Err(e) => Err(format!("is no base64: {e}")),
    }
}

fn integer(value: &Spelled<'_>, kind: ColumnType, dialect: Dialect, mode: Mode) -> Result<Value, String> {
    if let Sort::Bool(truth) = value.sort
        && mode.is_strict()
    {
        return Err(format!("{truth} is no {kind}"));
    }
    if let Some(int) = value.text.parse().ok().filter(|_| is_integer(value.text)) {
        return Ok(Value::Int(int));
    }
    let is_unsigned = dialect.has_unsigned() && value.text.parse::<u64>().is_ok();
    if is_unsigned || !mode.is_strict() {
        return Ok(text(value.text));
    }
    if is_integer(value.text) {
        return Err(format!("{} does not fit into 64 bits", shown(value.text)));
    }
    Err(format!("'{}' is no {kind}", shown(value.text)))
}

fn number(value: &Spelled<'_>, kind: ColumnType, dialect: Dialect, mode: Mode) -> Result<Value, String> {
    if !mode.is_strict() {
        return Ok(text(value.text));
    }
    if let Sort::Bool(truth) = value.sort {
        return Err(format!("{truth} is no {kind}"));
    }
    if kind == ColumnType::Decimal && dialect.has_money() && is_money(value.text) {
        return Ok(text(value.text));
    }
    if !is_numeric(value.text) {
        return Err(format!("'{}' is no {kind}", shown(value.text)));
    }
    if kind == ColumnType::Decimal
        && let Some(max) = dialect.decimal_digits_max()
        && significant_digits(value.text) > max
    {
        return Err(format!(
            "{} has more than {max} digits, which {} does not keep",
            shown(value.text),
            dialect.name()
        ));
    }
    // SQLite would store an infinity, which JSON cannot say.
    if value.text.trim().parse().is_ok_and(f64::is_infinite) {
        return Err(format!("{} does not fit into a {kind}", shown(value.text)));
    }
    Ok(text(value.text))
}

/// Whether it is an amount as PostgreSQL shows it, such as `-$1,234.50`, so that what is read can be written.
fn is_money(text: &str) -> bool {
    let amount = text.strip_prefix('-').unwrap_or(text).strip_prefix('$');
    amount.is_some_and(|amount| is_numeric(&amount.replace(',', "")))
}

/// The digits of a number without the zeros around them.
fn significant_digits(text: &str) -> usize {
    let mantissa = text.trim().split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let kept = digits.trim_start_matches('0');
    let fraction = mantissa.contains('.');
    if fraction { kept.trim_end_matches('0').len() } else { kept.len() }
}

fn plain(value: &Spelled<'_>, column: &Column, mode: Mode) -> Result<Value, String> {
    if mode.is_strict()
        && let Sort::Bool(truth) = value.sort
    {
        return Err(format!("{truth} is a boolean, but the column is {}; send text", column.kind));
    }
    Ok(text(value.text))
}
