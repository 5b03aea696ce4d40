//! PostgreSQL's rows: cells read off the wire's binary form without copying.

use std::ops::Range;

use tokio_postgres::Column;
use tokio_postgres::types::{FromSql, Type};
use treeql::value::{Row, ValueRef};

/// A row that PostgreSQL sent.
pub struct PostgresRow<'a>(pub &'a tokio_postgres::Row);

impl Row for PostgresRow<'_> {
    fn get(&self, index: usize) -> ValueRef<'_> {
        match self.0.try_get::<_, Option<Wire<'_>>>(index) {
            Ok(Some(wire)) => wire.0,
            Ok(None) | Err(_) => ValueRef::Null,
        }
    }
}

/// A cell in binary form, read by its type.
struct Wire<'a>(ValueRef<'a>);

impl<'a> FromSql<'a> for Wire<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Wire<'a>, Box<dyn std::error::Error + Sync + Send>> {
        Form::of(kind).read(raw).map(Wire).ok_or_else(|| "a cell is cut off".into())
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// How cells of a column lie on the wire. What has no form of its own here is asked for as text (`Dialect::selected`).
#[derive(Clone, Copy)]
enum Form {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Bytes,
    Text,
}

impl Form {
    fn of(kind: &Type) -> Form {
        match *kind {
            Type::BOOL => Form::Bool,
            Type::INT2 => Form::Int2,
            Type::INT4 => Form::Int4,
            Type::INT8 => Form::Int8,
            Type::FLOAT4 => Form::Float4,
            Type::FLOAT8 => Form::Float8,
            Type::BYTEA => Form::Bytes,
            _ => Form::Text,
        }
    }

    fn read(self, raw: &[u8]) -> Option<ValueRef<'_>> {
        Some(match self {
            Form::Bool => ValueRef::Bool(raw != [0]),
            Form::Int2 => ValueRef::Int(i64::from(i16::from_be_bytes(raw.try_into().ok()?))),
            Form::Int4 => ValueRef::Int(i64::from(i32::from_be_bytes(raw.try_into().ok()?))),
            Form::Int8 => ValueRef::Int(i64::from_be_bytes(raw.try_into().ok()?)),
            Form::Float4 => ValueRef::Float(widened(f32::from_be_bytes(raw.try_into().ok()?))),
            Form::Float8 => ValueRef::Float(f64::from_be_bytes(raw.try_into().ok()?)),
            Form::Bytes => ValueRef::Bytes(raw),
            Form::Text => ValueRef::of_text(raw),
        })
    }
}

/// Rows as they lie in whole messages, one after the other.
pub struct WireRows {
    forms: Vec<Form>,
    cells: Vec<Option<Range<usize>>>,
}

/// One of them.
pub struct WireRow<'a, 'b> {
    rows: &'a WireRows,
    bytes: &'b [u8],
}

impl WireRows {
    /// Rows with these columns.
    pub fn new(columns: &[Column]) -> WireRows {
        WireRows { forms: columns.iter().map(|column| Form::of(column.type_())).collect(), cells: Vec::new() }
    }

    /// The row at the beginning of `piece`, which is passed over; `None` if it has not as many cells as there are columns.
    pub fn next<'a, 'b>(&'a mut self, piece: &mut &'b [u8]) -> Option<WireRow<'a, 'b>> {
        let length = 1 + u32::from_be_bytes(piece.get(1..5)?.try_into().ok()?) as usize;
        let (bytes, rest) = piece.split_at_checked(length)?;
        *piece = rest;
        self.cells.clear();
        let mut at = 7;
        for _ in &self.forms {
            let length = i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
            at += 4;
            // A NULL has the length -1.
            let cell = usize::try_from(length).ok().map(|length| at..at + length);
            at = cell.as_ref().map_or(at, |cell| cell.end);
            self.cells.push(cell);
        }
        (at == bytes.len()).then_some(WireRow { rows: self, bytes })
    }
}

impl Row for WireRow<'_, '_> {
    fn get(&self, index: usize) -> ValueRef<'_> {
        let cell = self.rows.cells.get(index).cloned().flatten();
        cell.and_then(|cell| self.rows.forms[index].read(&self.bytes[cell])).unwrap_or(ValueRef::Null)
    }
}

/// compat: a real is its shortest text read as a double, so 0.1 stays 0.1 (SPEC 11.3).
fn widened(float: f32) -> f64 {
    float.to_string().parse().unwrap_or_else(|_| f64::from(float))
}
