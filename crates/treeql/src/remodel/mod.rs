//! `/columns` without I/O: definitions of tables as documents, and documents as changes of the schema.

mod asked;
mod definition;
mod document;
mod plan;
mod shown;
mod target;

pub use asked::{AskedColumn, AskedTable};
pub use document::{write_column, write_database, write_table};
pub use plan::{Remodel, add_column, alter_column, create_table, drop_column, drop_table, rename_table};
pub use shown::Shown;
