//! Columns and tables for the tests of this folder.

use crate::schema::{Column, ColumnType, Table, TableKind};

/// A column that is not nullable; ten characters, or ten digits with four after the point.
pub fn column(name: &str, kind: ColumnType) -> Column {
    let (length, precision, scale) = match kind {
        ColumnType::Varchar | ColumnType::Varbinary => (10, 0, 0),
        ColumnType::Decimal => (0, 10, 4),
        _ => (0, 0, 0),
    };
    Column {
        name: name.into(),
        alias: name.into(),
        kind,
        length,
        precision,
        scale,
        nullable: false,
        generated: false,
        as_text: false,
        quoted: false,
        is_uuid: false,
    }
}

/// A table with a column for each pair.
pub fn table(name: &str, columns: &[(&str, ColumnType)]) -> Table {
    Table {
        name: name.into(),
        alias: name.into(),
        kind: TableKind::Table,
        columns: columns.iter().map(|(name, kind)| column(name, *kind)).collect(),
        primary_key: None,
        key_columns: Vec::new(),
        unique_keys: Vec::new(),
        foreign_keys: Vec::new(),
        referenced_by: Vec::new(),
        is_sharded: false,
        made_key: None,
    }
}
