//! Which columns are selected: include, exclude, and what joins cannot do without (SPEC 8.5).

use crate::error::Error;
use crate::plan::scope::Scope;
use crate::request::Query;
use crate::schema::{Table, TableId};

/// The column selection of a request, for the table it is about and for those that are joined.
pub struct Selection<'a> {
    include: Option<Vec<&'a str>>,
    exclude: Vec<&'a str>,
    mandatory: Vec<(TableId, usize)>,
    root: TableId,
}

impl<'a> Selection<'a> {
    /// Reads include and exclude; in the strict mode every entry must be a column of one of `tables`.
    pub fn parse(
        scope: &Scope<'_>,
        query: &'a Query<'_>,
        root: TableId,
        tables: &[TableId],
    ) -> Result<Selection<'a>, Error> {
        let entries = |list: &'a str| list.split(',').collect::<Vec<&str>>();
        let include = query.include.as_deref().map(entries);
        let exclude = query.exclude.as_deref().map(entries).unwrap_or_default();
        let selection = Selection { include, exclude, mandatory: Vec::new(), root };
        if scope.is_strict() {
            selection.check(scope, tables)?;
        }
        Ok(selection)
    }

    /// Makes columns mandatory: they connect joined tables, so they stay whatever include and exclude say.
    pub fn require(&mut self, columns: impl IntoIterator<Item = (TableId, usize)>) {
        if self.include.is_some() {
            self.mandatory.extend(columns);
        }
    }

    /// Keeps columns that the answer cannot do without, whatever include and exclude say.
    pub fn keep(&mut self, columns: impl IntoIterator<Item = (TableId, usize)>) {
        self.mandatory.extend(columns);
    }

    /// Whether a column of `table` is selected; `is_root` if it is the table of the request.
    pub fn has(&self, id: TableId, table: &Table, column: usize) -> bool {
        if self.mandatory.contains(&(id, column)) {
            return true;
        }
        let name = &*table.columns[column].alias;
        let matches = |list: &[&str]| list.iter().any(|entry| self.matches(entry, id, table, name));
        self.include.as_ref().is_none_or(|list| matches(list)) && !matches(&self.exclude)
    }

    fn matches(&self, entry: &str, id: TableId, table: &Table, name: &str) -> bool {
        match entry.split_once('.') {
            Some((prefix, column)) => {
                (prefix == "*" || prefix == &*table.alias) && (column == "*" || column == name)
            }
            None => id == self.root && (entry == "*" || entry == name),
        }
    }

    fn check(&self, scope: &Scope<'_>, tables: &[TableId]) -> Result<(), Error> {
        let include = self.include.iter().flatten().map(|entry| ("include", *entry));
        for (about, entry) in include.chain(self.exclude.iter().map(|entry| ("exclude", *entry))) {
            self.check_entry(scope, tables, about, entry)?;
        }
        Ok(())
    }

    fn check_entry(
        &self,
        scope: &Scope<'_>,
        tables: &[TableId],
        about: &str,
        entry: &str,
    ) -> Result<(), Error> {
        let root = scope.at(self.root);
        let Some((prefix, column)) = entry.split_once('.') else {
            // An empty parameter selects nothing, and that may be meant.
            if entry.is_empty() || entry == "*" || scope.column(root, entry).is_some() {
                return Ok(());
            }
            return Err(scope.no_column(root, entry, about));
        };
        if prefix == "*" {
            return Ok(());
        }
        let Some(id) = tables.iter().find(|id| &*scope.at(**id).alias == prefix) else {
            let names: Vec<&str> = tables.iter().map(|id| &*scope.at(*id).alias).collect();
            let sentence = format!("'{prefix}' is no table of this request; here are: {}", names.join(", "));
            return Err(Error::invalid(&root.alias, about, sentence));
        };
        let table = scope.at(*id);
        if column == "*" || scope.column(table, column).is_some() {
            return Ok(());
        }
        Err(scope.no_column(table, column, about))
    }
}
