//! Tables in a few words.

use treeql::schema::{Column, ColumnType, RawTable, TableKind};

/// A table with these columns; the first is the primary key.
pub fn table(name: &str, columns: &[(&str, ColumnType)]) -> RawTable {
    let columns: Vec<Column> = columns.iter().map(|(name, kind)| column(name, *kind)).collect();
    RawTable {
        name: name.to_owned(),
        kind: TableKind::Table,
        columns,
        key_columns: vec![0],
        unique_keys: Vec::new(),
        references: Vec::new(),
        is_sharded: false,
    }
}

/// The same table with foreign keys: a column and the table whose primary key it refers to.
pub fn with_references(mut table: RawTable, references: &[(&str, &str)]) -> RawTable {
    let owned = references.iter().map(|(column, target)| ((*column).to_owned(), (*target).to_owned(), None));
    table.references = owned.collect();
    table
}

fn column(name: &str, kind: ColumnType) -> Column {
    Column {
        name: name.into(),
        alias: name.into(),
        kind,
        length: 0,
        precision: 0,
        scale: 0,
        nullable: true,
        generated: false,
        as_text: matches!(
            kind,
            ColumnType::Decimal | ColumnType::Date | ColumnType::Time | ColumnType::Timestamp
        ),
        quoted: false,
        is_uuid: false,
    }
}
