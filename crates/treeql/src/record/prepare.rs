//! prepare: a record checked and converted for its table, all mistakes told at once.

use crate::error::{Code, Error};
use crate::mode::Mode;
use crate::nearest;
use crate::record::convert::convert;
use crate::request::{Cell, Operation, Record, is_integer, is_numeric};
use crate::schema::{Column, Table};
use crate::sql::Dialect;
use crate::value::Value;

/// The values of the members of `record`, in its order; members that are no column are null and not used.
///
/// `id` is the id of the path that the record is for, value by value; empty for a new record. The error is 1013 with a detail for each bad member.
pub fn prepare(
    operation: Operation,
    table: &Table,
    id: &[&str],
    record: &Record<'_>,
    dialect: Dialect,
    mode: Mode,
) -> Result<Vec<Value>, Error> {
    let mut values = Vec::with_capacity(record.len());
    let mut details: Vec<(Box<str>, Box<str>)> = Vec::new();
    for (name, cell) in record {
        let Some(index) = table.column(name) else {
            values.push(Value::Null);
            continue;
        };
        let checked = check_key(table, index, id, cell, mode)
            .and_then(|()| value(operation, &table.columns[index], cell, dialect, mode));
        match checked {
            Ok(value) => values.push(value),
            Err(sentence) => {
                values.push(Value::Null);
                details.push((name.as_ref().into(), sentence.into()));
            }
        }
    }
    if details.is_empty() {
        return Ok(values);
    }
    Err(Error { code: Code::InputValidationFailed, argument: table.alias.clone(), details })
}

/// Appends the values of the cells of one record whose columns are known already: `columns` has one for each cell, or
/// `None` where it is not written, which is null. The error is 1013 with a detail for each bad cell, and leaves `values`
/// as it was.
pub fn prepare_cells<'a>(
    table: &Table,
    columns: &[Option<usize>],
    cells: impl Iterator<Item = Cell<'a>>,
    dialect: Dialect,
    mode: Mode,
    values: &mut Vec<Value>,
) -> Result<(), Error> {
    let before = values.len();
    let mut details: Vec<(Box<str>, Box<str>)> = Vec::new();
    for (column, cell) in columns.iter().zip(cells) {
        let Some(column) = column.map(|index| &table.columns[index]) else {
            values.push(Value::Null);
            continue;
        };
        match convert(&cell, column, dialect, mode) {
            Ok(value) => values.push(value),
            Err(sentence) => details.push((column.alias.clone(), sentence.into())),
        }
    }
    if details.is_empty() {
        return Ok(());
    }
    values.truncate(before);
    Err(Error { code: Code::InputValidationFailed, argument: table.alias.clone(), details })
}

/// A key that differs from the one in the path would be dropped in silence; whoever sends it means something else.
fn check_key(table: &Table, index: usize, id: &[&str], cell: &Cell<'_>, mode: Mode) -> Result<(), String> {
    let part = match id {
        [] => None,
        [only] if table.primary_key == Some(index) => Some(only),
        parts => {
            table.key_columns.iter().position(|column| *column == index).and_then(|part| parts.get(part))
        }
    };
    let Some(id) = part.filter(|_| mode.is_strict()) else { return Ok(()) };
    match cell {
        Cell::Number(text) | Cell::Text(text) if text == id => Ok(()),
        _ => Err(format!("differs from '{id}' in the path; a primary key cannot be changed")),
    }
}

fn value(
    operation: Operation,
    column: &Column,
    cell: &Cell<'_>,
    dialect: Dialect,
    mode: Mode,
) -> Result<Value, String> {
    if operation != Operation::Increment {
        return convert(cell, column, dialect, mode);
    }
    let (Cell::Number(text) | Cell::Text(text)) = cell else {
        return Err("is no number; an increment adds numbers".to_owned());
    };
    let text = text.trim();
    if !is_numeric(text) {
        let shown = nearest::shown(text);
        return Err(format!("'{shown}' is no number; an increment adds numbers"));
    }
    if mode.is_strict() && !column.kind.is_number() {
        return Err(format!("is of type {}; only numbers can be incremented", column.kind));
    }
    if let Some(int) = text.parse().ok().filter(|_| is_integer(text)) {
        return Ok(Value::Int(int));
    }
    if mode.is_strict() && column.kind.is_integer() {
        return Err(format!("'{text}' is no {} that fits into 64 bits", column.kind));
    }
    // The text is a number, so the database adds it as one; a double would lose digits of a decimal.
    match (dialect.adds_doubles(), text.parse()) {
        (_, Ok(float)) if f64::is_infinite(float) => {
            Err(format!("{text} does not fit into a {}", column.kind))
        }
        (true, Ok(float)) => Ok(Value::Float(float)),
        _ => Ok(Value::Text(text.into())),
    }
}
