//! From what a caller asks for to a change of the schema, or to an error that says why not (SPEC 15.2).

use crate::error::{Code, Error};
use crate::nearest::shown;
use crate::remodel::asked::{AskedColumn, AskedTable};
use crate::remodel::definition::{definition_of, new_definition, with_asked};
use crate::remodel::shown::Shown;
use crate::remodel::target::Target;
use crate::schema::{Column, Publication, Table, TableId, TableKind};
use crate::sql::{Definition, Dialect, Reference, SchemaChange};

/// Everything that a change of the schema is looked up in.
#[derive(Clone, Copy)]
pub struct Remodel<'a> {
    /// What may be changed.
    pub shown: Shown<'a>,
    /// How the database is spelled.
    pub dialect: Dialect,
    /// What the configuration says about tables and columns by name.
    pub publication: &'a Publication,
}

/// `POST /columns`.
pub fn create_table(remodel: Remodel<'_>, asked: AskedTable) -> Result<SchemaChange, Error> {
    let table = required(asked.name, "table")?;
    remodel.check_table_name(&table, None)?;
    let columns = asked.columns.unwrap_or_default();
    if columns.is_empty() {
        return Err(Error::invalid(&table, "columns", "is missing; a table has at least one column"));
    }
    let mut definitions: Vec<Definition> = Vec::new();
    for column in &columns {
        let name = required(column.name.clone(), &table)?;
        check_name(remodel.dialect, &name)?;
        let is_allowed = remodel.shown.policy.creates_column(remodel.alias(&table), &name);
        if !is_allowed {
            return Err(forbidden(&name, "the rules keep a column of this name from you"));
        }
        if definitions.iter().any(|known| remodel.dialect.is_same_column(&known.name, &name)) {
            return Err(Error::new(Code::ColumnAlreadyExists, name));
        }
        definitions.push(new_definition(name, column)?);
    }
    // What refers to the table itself could not be looked up before its key was known.
    let keys: Vec<String> = definitions.iter().filter(|one| one.is_key).map(|one| one.name.clone()).collect();
    for (definition, column) in definitions.iter_mut().zip(&columns) {
        let Some(Some(target)) = &column.reference else { continue };
        let own = matches!(keys.as_slice(), [_]) && (*target == table || target == remodel.alias(&table));
        definition.reference = match keys.first().filter(|_| own) {
            Some(key) => Some(Reference { table: table.clone(), column: key.clone() }),
            None => Some(Target::new(remodel.shown).reference(target, definition)?),
        };
    }
    Ok(SchemaChange::CreateTable { table, columns: definitions })
}

/// `PUT /columns/{table}`; `None` if nothing changes.
pub fn rename_table(
    remodel: Remodel<'_>,
    alias: &str,
    asked: AskedTable,
) -> Result<Option<SchemaChange>, Error> {
    let (_, table) = remodel.shown.table(alias, "table")?;
    if asked.columns.is_some() && remodel.shown.mode.is_strict() {
        let sentence = "only the name changes here; change a column at /columns/{table}/{column}";
        return Err(Error::invalid(alias, "columns", sentence));
    }
    let Some(name) = asked.name.filter(|name| **name != *table.name) else { return Ok(None) };
    if table.kind == TableKind::View && !remodel.dialect.renames_views() {
        return Err(view(table));
    }
    remodel.check_declared(table, None)?;
    remodel.check_table_name(&name, Some(table))?;
    Ok(Some(SchemaChange::RenameTable { table: table.name.to_string(), name }))
}

/// `DELETE /columns/{table}`.
pub fn drop_table(remodel: Remodel<'_>, alias: &str) -> Result<SchemaChange, Error> {
    let (id, table) = remodel.table(alias)?;
    remodel.check_declared(table, None)?;
    let referring = remodel.referring(id, table, None);
    if remodel.shown.mode.is_strict()
        && let Some(names) = referring
    {
        return Err(Error::new(Code::DataIntegrityViolation, "")
            .detail("table", format!("'{alias}' is referred to by {names}; remove the foreign keys first")));
    }
    Ok(SchemaChange::DropTable { table: table.name.to_string(), cascades: remodel.cascades() })
}

/// `POST /columns/{table}`.
pub fn add_column(remodel: Remodel<'_>, alias: &str, asked: &AskedColumn) -> Result<SchemaChange, Error> {
    let (_, table) = remodel.table(alias)?;
    let name = required(asked.name.clone(), alias)?;
    remodel.check_column_name(table, &name, None)?;
    let mut column = new_definition(name, asked)?;
    if let Some(Some(target)) = &asked.reference {
        column.reference = Some(Target::new(remodel.shown).reference(target, &column)?);
    }
    let old_key = if column.is_key { remodel.old_key(table, None)? } else { None };
    Ok(SchemaChange::AddColumn { table: table.name.to_string(), column, old_key })
}

/// `PUT /columns/{table}/{column}`; `None` if nothing changes.
pub fn alter_column(
    remodel: Remodel<'_>,
    alias: &str,
    column: &str,
    asked: &AskedColumn,
) -> Result<Option<SchemaChange>, Error> {
    let (id, table) = remodel.table(alias)?;
    let index = remodel.column(table, column)?;
    let from = definition_of(remodel.shown.schema, table, index);
    let target = Target::new(remodel.shown);
    let to = with_asked(target, table, index, &from, asked)?;
    if to == from {
        return Ok(None);
    }
    let only_named = Definition { name: from.name.clone(), ..to.clone() } == from;
    if table.columns[index].generated && !only_named {
        let sentence = "the database computes it; it can be given another name, or be removed";
        return Err(Error::invalid(alias, column, sentence));
    }
    if to.name != from.name {
        remodel.check_declared(table, Some(&from.name))?;
        remodel.check_column_name(table, &to.name, Some(index))?;
    }
    if from.is_key
        && !to.is_key
        && let Some(names) = remodel.referring(id, table, Some(index))
    {
        let sentence =
            format!("'{column}' is a key and is referred to by {names}; remove the foreign keys first");
        return Err(Error::new(Code::DataIntegrityViolation, "").detail("pk", sentence));
    }
    let old_key = if to.is_key && !from.is_key { remodel.old_key(table, Some(id))? } else { None };
    Ok(Some(SchemaChange::AlterColumn { table: table.name.to_string(), from, to, old_key }))
}

/// `DELETE /columns/{table}/{column}`.
pub fn drop_column(remodel: Remodel<'_>, alias: &str, column: &str) -> Result<SchemaChange, Error> {
    let (id, table) = remodel.table(alias)?;
    let index = remodel.column(table, column)?;
    let definition = definition_of(remodel.shown.schema, table, index);
    remodel.check_declared(table, Some(&definition.name))?;
    let violation =
        |sentence: String| Error::new(Code::DataIntegrityViolation, "").detail("column", sentence);
    if table.columns.len() == 1 {
        return Err(violation(format!(
            "'{column}' is the only column of '{alias}'; remove the table instead"
        )));
    }
    let is_strict = remodel.shown.mode.is_strict();
    if let Some(names) = remodel.referring(id, table, Some(index)).filter(|_| is_strict) {
        let sentence = format!("'{column}' is referred to by {names}; remove the foreign keys first");
        return Err(violation(sentence));
    }
    if table.key_columns.contains(&index) && (is_strict || table.key_columns.len() > 1) {
        let way =
            if table.key_columns.len() > 1 { "" } else { "; take the key away first, with {\"pk\":false}" };
        return Err(violation(format!("'{column}' is part of the primary key of '{alias}'{way}")));
    }
    let table = table.name.to_string();
    Ok(SchemaChange::DropColumn { table, column: definition, cascades: remodel.cascades() })
}

impl<'a> Remodel<'a> {
    /// A table, not a view, that may be changed.
    fn table(self, alias: &str) -> Result<(TableId, &'a Table), Error> {
        let (id, table) = self.shown.table(alias, "table")?;
        if table.kind == TableKind::View { Err(view(table)) } else { Ok((id, table)) }
    }

    /// A column that may be changed.
    fn column(self, table: &'a Table, alias: &str) -> Result<usize, Error> {
        let index = self.shown.column(table, alias)?;
        if !self.shown.policy.remodels_column(table, alias) {
            return Err(forbidden(alias, "the rules let you see this column, not change what it is"));
        }
        Ok(index)
    }

    /// compat: the reference takes what depends on a table with it (SPEC 15.2). Where there are rules that could be
    /// something that they keep from the caller.
    fn cascades(self) -> bool {
        !self.shown.mode.is_strict() && self.shown.policy.rules.is_none()
    }

    /// The exposed name that a table of this real name has.
    fn alias(self, name: &'a str) -> &'a str {
        self.publication.mapping.table(name)
    }

    fn check_table_name(self, name: &str, renamed: Option<&Table>) -> Result<(), Error> {
        check_name(self.dialect, name)?;
        let alias = self.publication.mapping.table(name);
        let policy = self.shown.policy;
        // Before it is looked up: a table that may not be seen is not told from one that is not there.
        let is_allowed =
            policy.creates_table(alias) && renamed.is_none_or(|table| policy.holds_alike(table, alias));
        if !is_allowed {
            return Err(forbidden(name, "the rules do not let you have a table of this name"));
        }
        let published = &self.publication.tables;
        if !published.is_empty() && !published.iter().any(|known| known == name) {
            return Err(forbidden(
                name,
                "the configuration names the tables that are published; this is none of them",
            ));
        }
        let is_taken = |table: &Table| {
            renamed.is_none_or(|renamed| renamed.name != table.name)
                && (self.dialect.is_same_table(&table.name, name) || &*table.alias == alias)
        };
        if self.shown.schema.tables().any(|(_, table)| is_taken(table)) {
            // compat: in the reference a name that is taken is 1009 for a table that has another one so far (SPEC 20).
            let is_compat = renamed.is_some() && !self.shown.mode.is_strict();
            let code = if is_compat { Code::DuplicateKey } else { Code::TableAlreadyExists };
            return Err(Error::new(code, name));
        }
        Ok(())
    }

    fn check_column_name(self, table: &Table, name: &str, renamed: Option<usize>) -> Result<(), Error> {
        check_name(self.dialect, name)?;
        let alias = self.publication.mapping.column(&table.name, name);
        if !self.shown.policy.remodels_column(table, alias) {
            return Err(forbidden(name, "the rules keep a column of this name from you"));
        }
        let others = table.columns.iter().enumerate().filter(|(index, _)| Some(*index) != renamed);
        let is_taken =
            |column: &Column| self.dialect.is_same_column(&column.name, name) || &*column.alias == alias;
        if others.map(|(_, column)| column).any(is_taken) {
            // compat: 1009 for a column that has another name so far (SPEC 20).
            let is_compat = renamed.is_some() && !self.shown.mode.is_strict();
            let code = if is_compat { Code::DuplicateKey } else { Code::ColumnAlreadyExists };
            return Err(Error::new(code, name));
        }
        Ok(())
    }

    /// What the configuration names would be missing at the next start.
    fn check_declared(self, table: &Table, column: Option<&str>) -> Result<(), Error> {
        let publication = self.publication;
        let is_published = column.is_none() && publication.tables.iter().any(|name| **name == *table.name);
        if is_published || publication.declared.names(&table.name, column) {
            let name = column.unwrap_or(&table.alias);
            return Err(forbidden(
                name,
                "the configuration names it, in tables, primaryKeys or foreignKeys; change that first",
            ));
        }
        Ok(())
    }

    /// Who refers to a table, or to a column of it: a list of names, of which those that may not be seen are none.
    fn referring(self, id: TableId, table: &Table, column: Option<usize>) -> Option<String> {
        let mut names = Vec::new();
        let mut hidden = 0;
        for (from, place) in &table.referenced_by {
            let other = self.shown.schema.table(*from);
            let key = &other.foreign_keys[*place];
            if other.kind == TableKind::View || column.is_some_and(|column| column != key.target) {
                continue;
            }
            if *from == id && column.is_none() {
                continue;
            }
            let policy = self.shown.policy;
            if policy.shows_table(self.shown.operation, other) && policy.shows_column(other, key.column) {
                names.push(format!("{}.{}", other.alias, other.columns[key.column].alias));
            } else {
                hidden += 1;
            }
        }
        if hidden > 0 {
            names.push("something that you may not see".to_owned());
        }
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The column that is the key so far, when another is to be.
    fn old_key(self, table: &Table, id: Option<TableId>) -> Result<Option<Definition>, Error> {
        let wrong = |sentence: String| Error::invalid(&table.alias, "pk", sentence);
        match table.key_columns.as_slice() {
            [] => Ok(None),
            [only] if self.shown.mode.is_strict() => {
                let name = &table.columns[*only].alias;
                Err(wrong(format!(
                    "'{name}' is the primary key; take the key away there first, with {{\"pk\":false}}"
                )))
            }
            [only] => {
                let own = id.or_else(|| self.shown.schema.find(&table.alias));
                if let Some(names) = own.and_then(|id| self.referring(id, table, Some(*only))) {
                    return Err(wrong(format!("the key so far is referred to by {names}")));
                }
                Ok(Some(definition_of(self.shown.schema, table, *only)))
            }
            _ => Err(wrong("the table has a primary key of several columns".to_owned())),
        }
    }
}

fn required(name: Option<String>, about: &str) -> Result<String, Error> {
    name.ok_or_else(|| Error::invalid(about, "name", "is missing; give a name"))
}

fn check_name(dialect: Dialect, name: &str) -> Result<(), Error> {
    match dialect.name_problem(name) {
        Some(problem) => Err(Error::invalid(&shown(name), "name", problem)),
        None => Ok(()),
    }
}

fn forbidden(name: &str, sentence: &str) -> Error {
    Error::new(Code::OperationForbidden, "").detail(name, sentence)
}

fn view(table: &Table) -> Error {
    let sentence = format!("'{}' is a view; it has the columns of its query", table.alias);
    Error::new(Code::OperationNotSupported, "remodel").detail("table", sentence)
}
