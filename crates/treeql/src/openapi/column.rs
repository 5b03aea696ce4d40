//! The schema of a column's values: what a caller gets, what may be sent, what may be added.

use serde_json::{Map, Value as Json, json};

use crate::openapi::asked::Asked;
use crate::schema::{Column, ColumnType, Table, TableKind};

/// limit: a scale that no database means; "numeric" of PostgreSQL has it (SPEC: pgsql-numeric-without-size).
const SCALE_MAX: u32 = 1000;

/// What a value is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is answered, as the column is declared.
    Read,
    /// It is answered, as it may be.
    Shaped,
    /// It is sent to be stored.
    Write,
    /// It is sent to be stored in a record that exists.
    Change,
    /// It is sent to be added.
    Increment,
}

/// The schema of the column at `index`, with its members in the order of php-crud-api.
///
/// What a caller gets has type and format, and the type in the protocol's own words (`x-type`). What a caller sends has
/// a length and a pattern besides, where something refuses the rest.
pub fn column(asked: &Asked<'_>, table: &Table, index: usize, purpose: Use) -> Json {
    let column = &table.columns[index];
    let mut schema = Map::new();
    let (kind, format) = if purpose == Use::Increment { addend(column) } else { spelling(asked, column) };
    let is_json = asked.surface.opens_json && column.kind.is_text() && purpose != Use::Read;
    let may_be_any = is_json || (purpose == Use::Shaped && is_loose(asked, table, column));
    if !may_be_any {
        schema.insert("type".to_owned(), kind.into());
    }
    if !format.is_empty() {
        schema.insert("format".to_owned(), format.into());
    }
    if matches!(purpose, Use::Write | Use::Change) && !may_be_any {
        add_bounds(asked, column, &mut schema);
    }
    if column.nullable && purpose != Use::Increment {
        asked.version.allow_null(&mut schema);
    }
    if purpose == Use::Change && is_key(table, index) {
        schema.insert("readOnly".to_owned(), true.into());
    }
    schema.insert("x-type".to_owned(), column.kind.name().into());
    add_keys(asked, table, index, &mut schema);
    Json::Object(schema)
}

fn spelling(asked: &Asked<'_>, column: &Column) -> (&'static str, &'static str) {
    match column.kind {
        ColumnType::Integer => ("integer", if asked.dialect.has_wide_integers() { "int64" } else { "int32" }),
        ColumnType::Bigint => ("integer", "int64"),
        ColumnType::Varchar => ("string", ""),
        ColumnType::Clob => ("string", "large-string"),
        ColumnType::Varbinary => ("string", "byte"),
        ColumnType::Blob => ("string", "large-byte"),
        ColumnType::Decimal => ("string", "decimal"),
        ColumnType::Float => ("number", "float"),
        ColumnType::Double => ("number", "double"),
        ColumnType::Date if asked.dialect.checks_types() => ("string", "date"),
        // What tools know as `date` is refused by them if it is none, and SQLite has what was stored.
        ColumnType::Date => ("string", ""),
        // Not `time` and `date-time`: those have a zone, and a T between the two.
        ColumnType::Time => ("string", "partial-time"),
        ColumnType::Timestamp => ("string", "timestamp"),
        ColumnType::Geometry => ("string", "geometry"),
        ColumnType::Boolean => ("boolean", ""),
        ColumnType::Bit if asked.dialect.has_numeric_bits() => ("integer", "int64"),
        ColumnType::Bit => ("string", "bit"),
    }
}

fn addend(column: &Column) -> (&'static str, &'static str) {
    if column.kind.is_integer() { ("integer", "int64") } else { ("number", "double") }
}

/// A key cannot be changed; a client that sends a whole record may leave it in (SPEC 7.4).
fn is_key(table: &Table, index: usize) -> bool {
    table.primary_key == Some(index) || table.key_columns.contains(&index)
}

/// Where types are not checked, a date that is a number is stored and answered as one, and a column of a view holds
/// whatever its expression makes.
fn is_loose(asked: &Asked<'_>, table: &Table, column: &Column) -> bool {
    let is_loose = match column.kind {
        ColumnType::Date | ColumnType::Time | ColumnType::Timestamp => true,
        ColumnType::Clob => table.kind == TableKind::View,
        _ => false,
    };
    is_loose && !asked.dialect.checks_types()
}

fn add_bounds(asked: &Asked<'_>, column: &Column, schema: &mut Map<String, Json>) {
    let is_checked = asked.dialect.checks_types();
    if matches!(column.kind, ColumnType::Varchar | ColumnType::Varbinary) && is_checked {
        let bytes = if column.kind == ColumnType::Varchar { column.length } else { base64_length(column) };
        schema.insert("maxLength".to_owned(), bytes.into());
    }
    let pattern = match column.kind {
        ColumnType::Varbinary | ColumnType::Blob => "^[A-Za-z0-9+/]*=*$".to_owned(),
        ColumnType::Decimal => decimal_pattern(column, is_checked),
        ColumnType::Date if is_checked => "^[0-9]{4}-[0-9]{2}-[0-9]{2}$".to_owned(),
        ColumnType::Time if is_checked => "^[0-9]{2}:[0-9]{2}:[0-9]{2}$".to_owned(),
        ColumnType::Timestamp if is_checked => {
            "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$".to_owned()
        }
        _ => return,
    };
    schema.insert("pattern".to_owned(), pattern.into());
}

fn base64_length(column: &Column) -> u32 {
    column.length.div_ceil(3).saturating_mul(4)
}

fn decimal_pattern(column: &Column, is_checked: bool) -> String {
    let whole = column.precision.saturating_sub(column.scale).max(1);
    match column.scale {
        scale if !is_checked || scale > SCALE_MAX => r"^-?[0-9]+(\.[0-9]+)?$".to_owned(),
        0 => format!("^-?[0-9]{{1,{whole}}}$"),
        scale => format!(r"^-?[0-9]{{1,{whole}}}(\.[0-9]{{1,{scale}}})?$"),
    }
}

/// `x-primary-key`, `x-referenced` and `x-references`, which clients of php-crud-api follow. They name what may be seen.
fn add_keys(asked: &Asked<'_>, table: &Table, index: usize, schema: &mut Map<String, Json>) {
    if is_key(table, index) && asked.has_address(table) {
        schema.insert("x-primary-key".to_owned(), true.into());
    }
    if table.primary_key == Some(index) {
        let referenced: Vec<String> = table
            .referenced_by
            .iter()
            .map(|(from, key)| (*from, asked.schema.table(*from).foreign_keys[*key].column))
            .filter(|(from, column)| {
                asked.sees(*from) && asked.policy.shows_column(asked.schema.table(*from), *column)
            })
            .map(|(from, column)| {
                let table = asked.schema.table(from);
                format!("{}.{}", table.alias, table.columns[column].alias)
            })
            .collect();
        schema.insert("x-referenced".to_owned(), json!(referenced));
    }
    if let Some(key) = table.foreign_key(index).filter(|key| asked.sees(key.table)) {
        let target = &*asked.schema.table(key.table).alias;
        schema.insert("x-references".to_owned(), target.into());
    }
}
