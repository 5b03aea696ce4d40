//! Shown: the schema as somebody may see its definitions, with errors that teach.

use crate::error::{Code, Error};
use crate::mode::Mode;
use crate::nearest::{unknown, unknown_of};
use crate::policy::Policy;
use crate::request::Operation;
use crate::schema::{Schema, Table, TableId};

/// The schema as somebody may see its definitions, or change them.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// All tables.
    pub schema: &'a Schema,
    /// What may be seen of them.
    pub policy: &'a Policy,
    /// How forgiving the protocol is.
    pub mode: Mode,
    /// Whether definitions are read or changed.
    pub operation: Operation,
}

impl<'a> Shown<'a> {
    /// The tables, in the order of their real names.
    pub fn tables(self) -> impl Iterator<Item = (TableId, &'a Table)> {
        let policy = self.policy;
        self.schema.tables().filter(move |(_, table)| policy.shows_table(self.operation, table))
    }

    /// The table that clients call `alias`, or 1001.
    pub fn table(self, alias: &str, about: &str) -> Result<(TableId, &'a Table), Error> {
        let found = self.schema.find(alias).map(|id| (id, self.schema.table(id)));
        found.filter(|(_, table)| self.policy.shows_table(self.operation, table)).ok_or_else(|| {
            let names: Vec<&str> = self.tables().map(|(_, table)| &*table.alias).collect();
            Error::new(Code::TableNotFound, alias).detail(about, unknown("table", alias, names))
        })
    }

    /// The column of a table that clients call `alias`, or 1005.
    pub fn column(self, table: &'a Table, alias: &str) -> Result<usize, Error> {
        let shows = |index: &usize| self.policy.shows_column(table, *index);
        table.column(alias).filter(shows).ok_or_else(|| {
            let names: Vec<&str> =
                (0..table.columns.len()).filter(shows).map(|index| &*table.columns[index].alias).collect();
            let sentence = unknown_of("column", alias, &table.alias, names);
            Error::new(Code::ColumnNotFound, alias).detail("column", sentence)
        })
    }
}
