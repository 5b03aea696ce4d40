//! Changes of the schema as SQL: what is asked for, what the catalog says about it, and the statements.

mod change;
mod columns;
mod create_text;
mod mysql;
mod postgres;
mod sqlite;
mod tokens;

pub use change::{Definition, Facts, Reference, SchemaChange, SchemaStep};
pub use columns::{create_table, drop_table, rename_table};
pub use mysql::{alter as alter_mysql, drop_column as drop_column_mysql};
pub use postgres::{alter as alter_postgres, drop_column as drop_column_postgres};
pub use sqlite::{add as add_sqlite, alter as alter_sqlite, drop_column as drop_column_sqlite};
