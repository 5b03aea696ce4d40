//! SQL text: every statement is written once, and every difference between databases is in `dialect.rs`.

mod args;
mod condition;
mod ddl;
mod dialect;
mod dialect_ddl;
mod insert;
mod rows;
mod select;
mod statement;
mod write;
mod writer;

pub use args::{Args, Bound};
pub use condition::{ColumnRef, Comparison, Condition, Exists, Qualifier};
pub use ddl::{Definition, Facts, Reference, SchemaChange, SchemaStep};
pub use dialect::{CellKind, Dialect};
pub use insert::{Insert, OnConflict, insert};
pub use rows::Rows;
pub use select::{Junction, KEYS_MAX, Keyed, KeyedStatement, Select, count, junction_alias, keyed, select};
pub use statement::{About, Param, Source, Statement, Wrap};
pub use write::{delete, increment, update};
