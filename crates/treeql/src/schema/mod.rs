//! The schema: tables, columns, keys and relations, as one immutable snapshot.

mod column;
mod mapping;
mod relation;
mod snapshot;
mod table;

pub use column::{Column, ColumnType};
pub use mapping::Mapping;
pub use relation::{Relation, relations};
pub use snapshot::{Publication, RawTable, Schema};
pub use table::{ForeignKey, Table, TableId, TableKind};
