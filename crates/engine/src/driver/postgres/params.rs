//! Parameters in PostgreSQL's text form, which it reads with the type of the column they meet (SPEC 11.1).

use bytes::BytesMut;
use tokio_postgres::types::{Format, IsNull, ToSql, Type};
use treeql::error::Error;
use treeql::sql::{Args, Statement};
use treeql::value::ValueRef;

/// A parameter: text that the server reads, or bytes.
#[derive(Debug)]
pub enum Parameter {
    /// NULL.
    Null,
    /// Text, whatever the type.
    Text(Box<str>),
    /// Bytes of a `bytea`.
    Bytes(Box<[u8]>),
}

impl ToSql for Parameter {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Parameter::Null => return Ok(IsNull::Yes),
            Parameter::Text(text) => out.extend_from_slice(text.as_bytes()),
            Parameter::Bytes(bytes) => out.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        self.to_sql(kind, out)
    }

    fn encode_format(&self, _: &Type) -> Format {
        match self {
            Parameter::Bytes(_) => Format::Binary,
            Parameter::Null | Parameter::Text(_) => Format::Text,
        }
    }
}

/// The parameters of a statement.
pub fn parameters(statement: &Statement, args: Args<'_>) -> Result<Vec<Parameter>, Error> {
    statement.params.iter().map(|param| args.get(param).map(|bound| parameter(bound.as_ref()))).collect()
}

fn parameter(value: ValueRef<'_>) -> Parameter {
    match value {
        ValueRef::Null => Parameter::Null,
        ValueRef::Bool(truth) => Parameter::Text(if truth { "1" } else { "0" }.into()),
        ValueRef::Int(int) => Parameter::Text(int.to_string().into()),
        ValueRef::Float(float) => Parameter::Text(float.to_string().into()),
        ValueRef::Number(text) | ValueRef::Text(text) => Parameter::Text(text.into()),
        ValueRef::Bytes(bytes) => Parameter::Bytes(bytes.into()),
    }
}
