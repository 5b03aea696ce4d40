//! The schema: tables, columns, keys and relations, as one immutable snapshot.

mod column;
mod declared;
mod mapping;
mod raw;
mod relation;
mod snapshot;
mod table;

pub use column::{Column, ColumnType};
pub use declared::Declared;
pub use mapping::Mapping;
pub use raw::RawTable;
pub use relation::{Relation, relations};
pub use snapshot::{Publication, Schema};
pub use table::{ForeignKey, MadeKey, Table, TableId, TableKind};
