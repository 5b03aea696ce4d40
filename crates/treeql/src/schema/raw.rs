//! RawTable: what a driver read in the catalog.

use crate::schema::column::Column;
use crate::schema::table::TableKind;

/// A table as a driver found it in the catalog, with the names of the database.
#[derive(Clone, Debug)]
pub struct RawTable {
    /// The name in the database.
    pub name: String,
    /// Table or view.
    pub kind: TableKind,
    /// The columns in database order; `alias` is filled in by [`Schema::build`].
    pub columns: Vec<Column>,
    /// The columns of the primary key, by position, in key order.
    pub key_columns: Vec<usize>,
    /// The columns of each other unique key, by position; only keys that hold for all rows, of plain columns.
    pub unique_keys: Vec<Vec<usize>>,
    /// Referencing column, referenced table, referenced column (`None`: its primary key).
    pub references: Vec<(String, String, Option<String>)>,
    /// Whether its rows are on other servers, so that the engine does not tell how many rows it deleted.
    pub is_sharded: bool,
}
