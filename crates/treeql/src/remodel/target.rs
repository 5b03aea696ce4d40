//! Target: the table that a foreign key is to lead to.

use crate::error::Error;
use crate::remodel::shown::Shown;
use crate::request::Operation;
use crate::schema::{Table, TableKind};
use crate::sql::{Definition, Reference};

/// Where tables are looked up that foreign keys lead to.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The schema, as the caller may read its definitions.
    pub shown: Shown<'a>,
}

impl<'a> Target<'a> {
    /// Who sees this, sees what foreign keys may lead to.
    pub fn new(shown: Shown<'a>) -> Target<'a> {
        Target { shown: Shown { operation: Operation::Reflect, ..shown } }
    }

    /// The primary key of a table, for a column that is to refer to it.
    pub fn reference(self, alias: &str, column: &Definition) -> Result<Reference, Error> {
        let table = self.table(alias)?;
        let wrong = |sentence: String| Error::invalid(&column.name, "fk", sentence);
        let key = match table.key_columns.as_slice() {
            [only] if table.kind == TableKind::Table => &table.columns[*only],
            [] => return Err(wrong(format!("'{alias}' has no primary key that could be referred to"))),
            _ => return Err(wrong(format!("the primary key of '{alias}' has several columns"))),
        };
        let is_alike = key.kind == column.kind || (key.kind.is_integer() && column.kind.is_integer());
        if self.shown.mode.is_strict() && !is_alike {
            let sentence = format!(
                "'{alias}.{}' is {}, the column is {}; give it the same type",
                key.alias, key.kind, column.kind
            );
            return Err(wrong(sentence));
        }
        Ok(Reference { table: table.name.to_string(), column: key.name.to_string() })
    }

    fn table(self, alias: &str) -> Result<&'a Table, Error> {
        let found = self.shown.table(alias, "fk").map(|(_, table)| table);
        // compat: a name in a body is a real one in the reference (SPEC 15.2).
        found.or_else(|error| {
            let by_name = self.shown.tables().find(|(_, table)| *table.name == *alias);
            by_name.map(|(_, table)| table).filter(|_| !self.shown.mode.is_strict()).ok_or(error)
        })
    }

    /// Whether a column refers to this table already, as its document says.
    pub fn is_reference(self, table: &Table, column: usize, alias: &str) -> bool {
        table.foreign_key(column).is_some_and(|key| {
            let target = self.shown.schema.table(key.table);
            let is_told =
                !self.shown.mode.is_strict() || self.shown.policy.shows_table(Operation::Reflect, target);
            *target.alias == *alias && is_told
        })
    }
}
