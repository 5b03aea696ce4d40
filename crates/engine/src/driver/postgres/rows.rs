//! PostgreSQL's rows: cells read off the wire's binary form without copying.

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

/// A cell in binary form, read by its type. What has no arm here is asked for as text (`Dialect::selected`).
struct Wire<'a>(ValueRef<'a>);

impl<'a> FromSql<'a> for Wire<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Wire<'a>, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Wire(match *kind {
            Type::BOOL => ValueRef::Bool(raw != [0]),
            Type::INT2 => ValueRef::Int(i64::from(i16::from_be_bytes(raw.try_into()?))),
            Type::INT4 => ValueRef::Int(i64::from(i32::from_be_bytes(raw.try_into()?))),
            Type::INT8 => ValueRef::Int(i64::from_be_bytes(raw.try_into()?)),
            Type::FLOAT4 => ValueRef::Float(widened(f32::from_be_bytes(raw.try_into()?))),
            Type::FLOAT8 => ValueRef::Float(f64::from_be_bytes(raw.try_into()?)),
            Type::BYTEA => ValueRef::Bytes(raw),
            _ => match std::str::from_utf8(raw) {
                Ok(text) => ValueRef::Text(text),
                Err(_not_text) => ValueRef::Bytes(raw),
            },
        }))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// compat: a real is its shortest text read as a double, so 0.1 stays 0.1 (SPEC 11.3).
fn widened(float: f32) -> f64 {
    float.to_string().parse().unwrap_or_else(|_| f64::from(float))
}
