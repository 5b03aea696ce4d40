//! Changes of a column as MySQL makes them: all of one request in one ALTER TABLE, because every statement commits what
//! it did. A column is written whole; what the request does not name is taken from what the server keeps.

use crate::error::{Code, Error};
use crate::sql::ddl::change::{Definition, Facts, SchemaStep};
use crate::sql::ddl::columns::{alter_table, column_definition, references, rename_column};
use crate::sql::ddl::create_text::{ColumnText, CreateText, Print};
use crate::sql::ddl::tokens::{Kind, Token, tokens};
use crate::sql::dialect::Dialect;
use crate::sql::writer::Writer;

/// Makes a column what it is to be; `from` is `None` for a new one.
pub fn alter(
    dialect: Dialect,
    table: &str,
    from: Option<&Definition>,
    to: &Definition,
    old_key: Option<&Definition>,
    facts: &Facts,
) -> Result<Vec<SchemaStep>, Error> {
    if let Some(from) = from {
        let named = Definition { name: from.name.clone(), ..to.clone() };
        if named == *from && old_key.is_none() {
            return Ok(vec![rename_column(dialect, table, &from.name, &to.name)]);
        }
    }
    let mut create = read(table, facts)?;
    let was_key = from.is_some_and(|from| from.is_key);
    let old_reference = from.and_then(|from| from.reference.as_ref());
    let mut clauses = Clauses { writer: alter_table(dialect, table), count: 0 };
    if let Some(from) = from.filter(|from| from.reference.is_some() && from.reference != to.reference) {
        clauses.drop_foreign_keys(&create, &from.name);
    }
    if old_key.is_some() || (was_key && !to.is_key) {
        clauses.next("DROP PRIMARY KEY");
    }
    if let Some(old_key) = old_key {
        let column = create.column(&old_key.name)?;
        column.remove(&["AUTO_INCREMENT"]);
        clauses.next("MODIFY COLUMN ");
        clauses.column(&old_key.name, column);
    }
    match from {
        Some(from) if (Definition { reference: from.reference.clone(), ..to.clone() }) == *from => {}
        Some(from) => {
            let column = create.column(&from.name)?;
            edit(dialect, column, from, to);
            clauses.next("CHANGE COLUMN ");
            clauses.writer.name(&from.name);
            clauses.writer.text(" ");
            clauses.column(&to.name, column);
        }
        None => {
            clauses.next("ADD COLUMN ");
            column_definition(&mut clauses.writer, to, to.is_key);
        }
    }
    if to.is_key && !was_key {
        clauses.next("ADD PRIMARY KEY (");
        clauses.writer.name(&to.name);
        clauses.writer.text(")");
    }
    if let Some(reference) = to.reference.as_ref().filter(|reference| old_reference != Some(*reference)) {
        clauses.next("ADD FOREIGN KEY (");
        clauses.writer.name(&to.name);
        clauses.writer.text(")");
        references(&mut clauses.writer, reference);
    }
    Ok(vec![clauses.writer.finish().into()])
}

/// Removes a column with the keys that it is.
pub fn drop_column(
    dialect: Dialect,
    table: &str,
    column: &Definition,
    facts: &Facts,
) -> Result<Vec<SchemaStep>, Error> {
    let create = read(table, facts)?;
    let mut clauses = Clauses { writer: alter_table(dialect, table), count: 0 };
    clauses.drop_foreign_keys(&create, &column.name);
    if column.is_key {
        clauses.next("DROP PRIMARY KEY");
    }
    clauses.next("DROP COLUMN ");
    clauses.writer.name(&column.name);
    Ok(vec![clauses.writer.finish().into()])
}

/// What the server keeps: a row of the name of the table and its CREATE TABLE.
fn read(table: &str, facts: &Facts) -> Result<CreateText, Error> {
    let text = facts.first().and_then(|row| row.get(1));
    CreateText::parse(text.ok_or_else(|| Error::new(Code::TableNotFound, table))?, Print::Generated)
}

/// What the column is written with from now on.
fn edit(dialect: Dialect, column: &mut ColumnText, from: &Definition, to: &Definition) {
    if !to.has_type_of(from) {
        column.kind = dialect.type_name(to);
        // What belongs to the old type: its characters, its reference system, and the check that makes MariaDB's JSON.
        if !(to.kind.is_text() && from.kind.is_text()) {
            column.remove(&["CHARACTER", "CHARSET", "COLLATE"]);
        }
        column.remove(&["REF_SYSTEM_ID", "SRID"]);
        column.clauses.retain(|clause| !clause.iter().any(|token| token.is("json_valid")));
    }
    if !to.is_automatic() {
        column.remove(&["AUTO_INCREMENT"]);
    }
    if to.nullable != from.nullable || to.is_key != from.is_key {
        column.remove(&["NOT", "NULL"]);
        let is_null = to.nullable && !to.is_key;
        column.clauses.insert(0, tokens(if is_null { "NULL" } else { "NOT NULL" }, false));
        let is_default_null = |clause: &Vec<Token>| matches!(clause.as_slice(), [word, value] if word.is("DEFAULT") && value.is("NULL"));
        column.clauses.retain(|clause| is_null || !is_default_null(clause));
    }
    if to.is_automatic() && !column.has(&["AUTO_INCREMENT"]) {
        column.remove(&["DEFAULT"]);
        column.clauses.push(tokens("AUTO_INCREMENT", false));
    }
    for token in column.clauses.iter_mut().flatten().filter(|token| token.kind == Kind::Quoted) {
        if token.names(&from.name) {
            token.text = Writer::new(dialect).quoted(&to.name);
        }
    }
}

/// The clauses of one ALTER TABLE.
struct Clauses {
    writer: Writer,
    count: usize,
}

impl Clauses {
    fn next(&mut self, text: &str) {
        self.writer.text(if self.count == 0 { " " } else { ", " });
        self.writer.text(text);
        self.count += 1;
    }

    fn column(&mut self, name: &str, column: &ColumnText) {
        self.writer.name(name);
        self.writer.text(" ");
        self.writer.text(&column.kind);
        self.writer.text(&spaced(column));
    }

    fn drop_foreign_keys(&mut self, create: &CreateText, column: &str) {
        for constraint in create.constraints.iter().filter(|one| CreateText::is_foreign_key_of(one, column)) {
            if let Some(name) = CreateText::constraint_name(constraint) {
                self.next("DROP FOREIGN KEY ");
                self.writer.name(&name);
            }
        }
    }
}

/// The order that MySQL's grammar asks for: the characters of a type stand next to it.
fn spaced(column: &ColumnText) -> String {
    let mut sorted = column.clone();
    let is_type = |clause: &Vec<Token>| {
        ["CHARACTER", "CHARSET", "COLLATE"].iter().any(|word| clause.first().is_some_and(|t| t.is(word)))
    };
    sorted.clauses.sort_by_key(|clause| !is_type(clause));
    sorted.tail()
}
