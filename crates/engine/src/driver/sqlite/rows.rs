//! SQLite's rows and values as those of the protocol.

use rusqlite::types::{ToSqlOutput, ValueRef as Native};
use treeql::sql::{Args, Statement};
use treeql::value::{Row, ValueRef};

use crate::driver::sink::Stopped;
use crate::driver::sqlite::error::convert;

/// A row that SQLite lends.
pub struct SqliteRow<'a, 'stmt>(pub &'a rusqlite::Row<'stmt>);

impl Row for SqliteRow<'_, '_> {
    fn get(&self, index: usize) -> ValueRef<'_> {
        match self.0.get_ref(index) {
            Ok(Native::Null) | Err(_) => ValueRef::Null,
            Ok(Native::Integer(int)) => ValueRef::Int(int),
            Ok(Native::Real(float)) => ValueRef::Float(float),
            Ok(Native::Text(bytes)) => ValueRef::of_text(bytes),
            Ok(Native::Blob(bytes)) => ValueRef::Bytes(bytes),
        }
    }
}

/// Binds the arguments of a statement.
pub fn bind(
    prepared: &mut rusqlite::CachedStatement<'_>,
    statement: &Statement,
    args: Args<'_>,
) -> Result<(), Stopped> {
    for (index, param) in statement.params.iter().enumerate() {
        let bound = args.get(param)?;
        let native = match bound.as_ref() {
            ValueRef::Null => Native::Null,
            ValueRef::Bool(truth) => Native::Integer(i64::from(truth)),
            ValueRef::Int(int) => Native::Integer(int),
            ValueRef::Float(float) => Native::Real(float),
            ValueRef::Number(text) | ValueRef::Text(text) => Native::Text(text.as_bytes()),
            ValueRef::Bytes(bytes) => Native::Blob(bytes),
        };
        prepared
            .raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(native))
            .map_err(|error| Stopped::Failed(convert(&error)))?;
    }
    Ok(())
}
