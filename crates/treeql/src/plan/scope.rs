//! Scope: names to tables and columns, as this principal may see them, with errors that teach.

use crate::error::{Code, Error};
use crate::mode::Mode;
use crate::nearest::{self, unknown, unknown_of};
use crate::policy::Policy;
use crate::request::Operation;
use crate::schema::{ForeignKey, Relation, Schema, Table, TableId, relations};
use crate::sql::Dialect;

/// What the planner takes from the configuration of a database.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// How the database is spelled.
    pub dialect: Dialect,
    /// How forgiving the protocol is.
    pub mode: Mode,
    /// The reference system of shapes that callers send (EPSG number).
    pub srid: u32,
    /// Whether reads of single records that arrive together may become one statement.
    pub merges_reads: bool,
}

/// Everything that names are looked up in.
pub struct Scope<'a> {
    /// All tables.
    pub schema: &'a Schema,
    /// What may be seen of them.
    pub policy: &'a Policy,
    /// The database's setting.
    pub setting: Setting,
    /// What is done, for rules that depend on it.
    pub operation: Operation,
}

impl<'a> Scope<'a> {
    /// The table that clients call `alias`; `about` is the parameter that names it.
    pub fn table(&self, alias: &str, about: Option<&str>) -> Result<TableId, Error> {
        match self.schema.find(alias).filter(|id| self.sees(*id)) {
            Some(id) => Ok(id),
            None => Err(self.no_table(alias, about)),
        }
    }

    /// The table at `id`.
    pub fn at(&self, id: TableId) -> &'a Table {
        self.schema.table(id)
    }

    /// Whether the table at `id` exists for this principal.
    pub fn sees(&self, id: TableId) -> bool {
        self.policy.shows_table(self.operation, self.at(id))
    }

    /// The column of `table` that clients call `alias`, if this principal may see it.
    pub fn column(&self, table: &Table, alias: &str) -> Option<usize> {
        table.column(alias).filter(|index| self.shows(table, *index))
    }

    /// Whether the column exists for this principal.
    pub fn shows(&self, table: &Table, column: usize) -> bool {
        self.policy.shows_column(table, column)
    }

    /// The column that addresses a record of `table`, if this principal may see it and all others of the primary key:
    /// of several rows with one value, which comes first would be told by the others.
    pub fn key(&self, table: &Table) -> Option<usize> {
        let is_shown = |index: &usize| self.shows(table, *index);
        table.primary_key.filter(|key| is_shown(key) && table.key_columns.iter().all(is_shown))
    }

    /// All columns of the primary key of `table`; none if one of them may not be seen.
    pub fn key_columns<'t>(&self, table: &'t Table) -> &'t [usize] {
        let is_shown = table.key_columns.iter().all(|index| self.shows(table, *index));
        if is_shown { &table.key_columns } else { &[] }
    }

    /// All columns of `table` that this principal may see, if its primary key is not among them.
    ///
    /// Rows that are equal in what may be seen must not stand in the order of what may not.
    pub fn order_without_key(&self, table: &Table) -> Vec<usize> {
        let is_hidden = |index: &usize| !self.shows(table, *index);
        if !table.key_columns.iter().chain(&table.primary_key).any(is_hidden) {
            return Vec::new();
        }
        (0..table.columns.len()).filter(|index| self.shows(table, *index)).collect()
    }

    /// Whether unknown names are errors.
    pub fn is_strict(&self) -> bool {
        self.setting.mode.is_strict()
    }

    /// The names of the tables this principal may see.
    fn table_names(&self) -> Vec<&'a str> {
        self.schema.tables().filter(|(id, _)| self.sees(*id)).map(|(_, table)| &*table.alias).collect()
    }

    /// The names of the columns this principal may see.
    pub fn column_names(&self, table: &'a Table) -> Vec<&'a str> {
        (0..table.columns.len())
            .filter(|index| self.shows(table, *index))
            .map(|index| &*table.columns[index].alias)
            .collect()
    }

    /// 1001 with the nearest table that this principal may see.
    pub fn no_table(&self, alias: &str, about: Option<&str>) -> Error {
        let error = Error::new(Code::TableNotFound, alias);
        if !self.is_strict() {
            return error;
        }
        error.detail(about.unwrap_or("table"), unknown("table", alias, self.table_names()))
    }

    /// 1005 with the nearest column that this principal may see.
    pub fn no_column(&self, table: &'a Table, alias: &str, about: &str) -> Error {
        let sentence = unknown_of("column", alias, &table.alias, self.column_names(table));
        Error::new(Code::ColumnNotFound, alias).detail(about, sentence)
    }

    /// How the table `to`, written `segment` in a path, is related to `from`.
    ///
    /// A segment `messages!from_id` names the foreign key to use. In the strict mode an error says which relations
    /// there are; in the lenient mode no relation is an empty answer.
    pub fn relations(
        &self,
        from: TableId,
        to: TableId,
        key: Option<&str>,
        about: &str,
    ) -> Result<Vec<Relation>, Error> {
        let mut found = relations(self.schema, from, to, |table, key| self.is_usable(table, key));
        if let Some(name) = key {
            let named = |relation: &Relation| self.key_name(from, to, relation) == name;
            if self.is_strict() && !found.is_empty() && !found.iter().any(named) {
                return Err(self.no_key(from, to, &found, name, about));
            }
            found.retain(named);
        }
        if found.is_empty() && self.is_strict() {
            return Err(self.unrelated(from, to, about));
        }
        let many = found.iter().filter(|relation| matches!(relation, Relation::HasMany { .. })).count();
        if many > 1 && self.is_strict() {
            return Err(self.ambiguous(from, to, &found, about));
        }
        Ok(found)
    }

    /// A foreign key of `table` counts only if its table and the columns at both of its ends may be seen: whoever sees
    /// one end and follows the key learns the other.
    fn is_usable(&self, table: TableId, key: &ForeignKey) -> bool {
        self.sees(table)
            && self.shows(self.at(table), key.column)
            && self.shows(self.at(key.table), key.target)
    }

    fn key_name(&self, from: TableId, to: TableId, relation: &Relation) -> &'a str {
        let (table, column) = match relation {
            Relation::BelongsTo { key } => (from, key.column),
            Relation::HasMany { key } => (to, key.column),
            Relation::HasAndBelongsToMany { junction, source, .. } => (*junction, source.column),
        };
        &self.at(table).columns[column].alias
    }

    fn unrelated(&self, from: TableId, to: TableId, about: &str) -> Error {
        let table = self.at(from);
        let related: Vec<&str> = self
            .schema
            .tables()
            .filter(|(id, _)| {
                self.sees(*id)
                    && !relations(self.schema, from, *id, |table, key| self.is_usable(table, key)).is_empty()
            })
            .map(|(_, table)| &*table.alias)
            .collect();
        let list = if related.is_empty() { "nothing".to_owned() } else { related.join(", ") };
        let sentence =
            format!("'{}' is not related to '{}'; related are: {list}", self.at(to).alias, table.alias);
        Error::invalid(&table.alias, about, sentence)
    }

    fn no_key(&self, from: TableId, to: TableId, found: &[Relation], name: &str, about: &str) -> Error {
        let (table, other) = (&self.at(from).alias, &self.at(to).alias);
        let shown = nearest::shown(name);
        let choices = self.choices(from, to, found);
        let sentence = format!("'{other}' is not related to '{table}' by '{shown}'; name one of: {choices}");
        Error::invalid(table, about, sentence)
    }

    /// The error for a path that could mean one of several relations.
    pub fn ambiguous(&self, from: TableId, to: TableId, found: &[Relation], about: &str) -> Error {
        let choices = self.choices(from, to, found);
        let sentence = format!("'{}' is related in several ways; name one of: {choices}", self.at(to).alias);
        Error::invalid(&self.at(from).alias, about, sentence)
    }

    fn choices(&self, from: TableId, to: TableId, found: &[Relation]) -> String {
        let name = |relation| format!("{}!{}", self.at(to).alias, self.key_name(from, to, relation));
        found.iter().map(name).collect::<Vec<String>>().join(", ")
    }
}

/// A segment of a path of tables: the table, and the foreign key after `!` if one is named.
pub fn segment(text: &str) -> (&str, Option<&str>) {
    match text.split_once('!') {
        Some((table, key)) => (table, Some(key)),
        None => (text, None),
    }
}
