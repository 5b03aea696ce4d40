//! A table or view: its columns, keys and foreign keys.

use crate::schema::column::Column;

/// The position of a table in its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u32);

/// Whether rows can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// An ordinary table.
    Table,
    /// A view: it can be listed and, with a key, read.
    View,
}

/// A reference from a column of one table to a column of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The referencing column, by position.
    pub column: usize,
    /// The referenced table.
    pub table: TableId,
    /// The referenced column, by position.
    pub target: usize,
}

/// A table or view of the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name in the database.
    pub name: Box<str>,
    /// The name that clients see.
    pub alias: Box<str>,
    /// Table or view.
    pub kind: TableKind,
    /// The columns in the order of the database.
    pub columns: Vec<Column>,
    /// The column that addresses a record, by position.
    pub primary_key: Option<usize>,
    /// All columns of the primary key, by position; more than one if it is composite.
    pub key_columns: Vec<usize>,
    /// The columns of each other unique key, by position.
    pub unique_keys: Vec<Vec<usize>>,
    /// References to other tables.
    pub foreign_keys: Vec<ForeignKey>,
    /// Who references this table: the table, and the position in its `foreign_keys`.
    pub referenced_by: Vec<(TableId, usize)>,
    /// Whether its rows are on other servers, so that the engine does not tell how many rows it deleted.
    pub is_sharded: bool,
    /// How the server makes the key of a record that has none; `None` leaves it to the database.
    pub made_key: Option<MadeKey>,
}

/// How the server makes keys, for engines whose own do not hold across servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeKey {
    /// A random whole number of 53 bits, which every JSON reader can hold.
    Random53,
    /// A UUID of version 7, which begins with the time (RFC 9562, section 5.7).
    UuidV7,
}

impl MadeKey {
    /// The names of the configuration.
    pub const NAMES: [(&str, MadeKey); 2] = [("random53", MadeKey::Random53), ("uuidv7", MadeKey::UuidV7)];
}

impl Table {
    /// The position of the column that clients call `alias`.
    pub fn column(&self, alias: &str) -> Option<usize> {
        self.columns.iter().position(|column| &*column.alias == alias)
    }

    /// The exposed names of the columns.
    pub fn aliases(&self) -> impl Iterator<Item = &str> + Clone {
        self.columns.iter().map(|column| &*column.alias)
    }

    /// The primary key column, if there is one.
    pub fn key(&self) -> Option<&Column> {
        self.primary_key.map(|index| &self.columns[index])
    }

    /// The foreign keys from this table to `table`, in column order.
    pub fn references(&self, table: TableId) -> impl Iterator<Item = &ForeignKey> {
        self.foreign_keys.iter().filter(move |key| key.table == table)
    }

    /// The foreign key of the column at `column`, if it has one.
    pub fn foreign_key(&self, column: usize) -> Option<&ForeignKey> {
        self.foreign_keys.iter().find(|key| key.column == column)
    }
}
