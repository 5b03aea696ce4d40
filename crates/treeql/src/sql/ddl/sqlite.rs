//! Changes that SQLite cannot make in place: the table is made anew, filled, and put in the place of the old one
//! (sqlite.org/lang_altertable.html, section 7). Foreign keys are off meanwhile and checked at the end.

use crate::error::{Code, Error};
use crate::sql::ddl::change::{Definition, Facts, SchemaStep};
use crate::sql::ddl::columns::{add_column, alter_table, references, rename_column};
use crate::sql::ddl::create_text::{ColumnText, CreateText, Print};
use crate::sql::ddl::tokens::{Kind, Token, spelled, tokens};
use crate::sql::dialect::Dialect;
use crate::sql::writer::Writer;

/// What the catalog keeps about a table and what belongs to it.
struct Kept<'a> {
    dialect: Dialect,
    table: &'a str,
    create: CreateText,
    /// Indexes and triggers: type, name and text.
    parts: Vec<(&'a str, &'a str, &'a str)>,
    /// A name that no table has.
    free_name: String,
}

/// Makes a column what it is to be.
pub fn alter(
    dialect: Dialect,
    table: &str,
    from: &Definition,
    to: &Definition,
    old_key: Option<&Definition>,
    facts: &Facts,
) -> Result<Vec<SchemaStep>, Error> {
    let named = Definition { name: from.name.clone(), ..to.clone() };
    let mut steps = Vec::new();
    if named != *from || old_key.is_some() {
        let kept = Kept::read(dialect, table, facts)?;
        let mut new = kept.create.clone();
        if let Some(old_key) = old_key {
            remove_key(&mut new, &old_key.name)?;
        }
        if from.is_key && (!to.is_key || !to.has_type_of(from)) {
            remove_key(&mut new, &from.name)?;
        }
        let is_strict = new.has_option("STRICT");
        let column = new.column(&from.name)?;
        if !to.has_type_of(from) {
            column.kind = if is_strict { strict_type(to)? } else { dialect.type_name(to) };
        }
        edit(dialect, column, from, to)?;
        if from.reference.is_some() && from.reference != to.reference {
            new.constraints.retain(|constraint| !CreateText::is_foreign_key_of(constraint, &from.name));
        }
        kept.rebuild(&new, &mut steps);
    }
    if to.name != from.name {
        steps.push(rename_column(dialect, table, &from.name, &to.name));
    }
    Ok(steps)
}

/// Adds a column: in place where SQLite can.
pub fn add(
    dialect: Dialect,
    table: &str,
    column: &Definition,
    old_key: Option<&Definition>,
    facts: &Facts,
) -> Result<Vec<SchemaStep>, Error> {
    if column.nullable && !column.is_key {
        return Ok(vec![add_column(dialect, table, column)]);
    }
    let kept = Kept::read(dialect, table, facts)?;
    let mut new = kept.create.clone();
    if let Some(old_key) = old_key {
        remove_key(&mut new, &old_key.name)?;
    }
    let kind = if new.has_option("STRICT") { strict_type(column)? } else { dialect.type_name(column) };
    let mut text = ColumnText::new(&column.name, kind);
    let nothing = Definition { is_key: false, reference: None, nullable: true, ..column.clone() };
    edit(dialect, &mut text, &nothing, column)?;
    new.columns.push(text);
    let mut steps = Vec::new();
    kept.rebuild(&new, &mut steps);
    Ok(steps)
}

/// Removes a column with the keys, constraints and indexes that it is in, as PostgreSQL does. SQLite itself takes the
/// column away at the end, because it looks whether a view or a trigger uses it.
pub fn drop_column(
    dialect: Dialect,
    table: &str,
    column: &Definition,
    facts: &Facts,
) -> Result<Vec<SchemaStep>, Error> {
    let mut kept = Kept::read(dialect, table, facts)?;
    let name = &*column.name;
    let mut steps = Vec::new();
    let is_index_of = |text: &str| {
        let tokens = tokens(text, false);
        let open = tokens.iter().position(|token| token.is_mark("(")).unwrap_or(tokens.len());
        tokens[open..].iter().any(|token| token.names(name))
    };
    for (_, index, _) in kept.parts.iter().filter(|(kind, _, text)| *kind == "index" && is_index_of(text)) {
        let mut writer = Writer::new(dialect);
        writer.text("DROP INDEX ");
        writer.name(index);
        steps.push(writer.finish().into());
    }
    kept.parts.retain(|(kind, _, text)| *kind != "index" || !is_index_of(text));
    let mut new = kept.create.clone();
    new.constraints.retain(|constraint| !CreateText::mentions(constraint, name));
    let own = new.column(name)?;
    let has_keys = own.has(&["PRIMARY", "UNIQUE", "REFERENCES", "CHECK"]);
    own.remove(&["PRIMARY", "UNIQUE", "REFERENCES", "CHECK"]);
    if has_keys || new.constraints.len() != kept.create.constraints.len() {
        kept.rebuild(&new, &mut steps);
    }
    let mut writer = alter_table(dialect, table);
    writer.text(" DROP COLUMN ");
    writer.name(name);
    steps.push(writer.finish().into());
    Ok(steps)
}

/// Nullability, primary key and foreign key of a column, where they differ.
fn edit(dialect: Dialect, text: &mut ColumnText, from: &Definition, to: &Definition) -> Result<(), Error> {
    let becomes_key = to.is_key && (!from.is_key || !to.has_type_of(from));
    if to.nullable != from.nullable || becomes_key {
        text.remove(&["NOT", "NULL"]);
        if !to.nullable || to.is_key {
            text.clauses.insert(0, tokens("NOT NULL", false));
        }
    }
    if becomes_key {
        text.kind = dialect.key_type_name(to);
        let clause = dialect.key_clause(to).trim_start();
        text.clauses.push(tokens(if clause.is_empty() { "PRIMARY KEY" } else { clause }, false));
    }
    if to.reference != from.reference {
        text.remove(&["REFERENCES"]);
        if let Some(reference) = &to.reference {
            let mut writer = Writer::new(dialect);
            references(&mut writer, reference);
            text.clauses.push(tokens(writer.finish().text.trim_start(), false));
        }
    }
    Ok(())
}

/// Takes the primary key from a column.
fn remove_key(create: &mut CreateText, column: &str) -> Result<(), Error> {
    create.constraints.retain(|constraint| !CreateText::is_primary_key_of(constraint, column));
    create.column(column)?.remove(&["PRIMARY"]);
    Ok(())
}

/// A STRICT table knows a few types only (sqlite.org/stricttables.html).
fn strict_type(column: &Definition) -> Result<String, Error> {
    let name = match column.kind.name() {
        "integer" => "INTEGER",
        "float" => "REAL",
        "clob" => "TEXT",
        "blob" => "BLOB",
        other => {
            let sentence =
                format!("this table is STRICT and has no {other}; it knows integer, float, clob and blob");
            return Err(Error::new(Code::InputValidationFailed, &*column.name).detail("type", sentence));
        }
    };
    Ok(name.to_owned())
}

impl<'a> Kept<'a> {
    fn read(dialect: Dialect, table: &'a str, facts: &'a Facts) -> Result<Kept<'a>, Error> {
        let rows = facts.iter().filter_map(|row| match row.as_slice() {
            [kind, name, text] => Some((kind.as_str(), name.as_str(), text.as_str())),
            _ => None,
        });
        let rows: Vec<(&str, &str, &str)> = rows.collect();
        let own = rows.iter().find(|(kind, name, _)| *kind == "table" && name.eq_ignore_ascii_case(table));
        let (_, _, text) = own.ok_or_else(|| Error::new(Code::TableNotFound, table))?;
        let create = CreateText::parse(text, Print::Written)?;
        let is_free = |free: &String| !rows.iter().any(|(_, name, _)| name.eq_ignore_ascii_case(free));
        let mut names = (0..=rows.len()).map(|number| format!("rowcast_new_{number}"));
        let free_name = names.find(is_free).unwrap_or_else(|| "rowcast_new".to_owned());
        let parts = rows.iter().filter(|(kind, ..)| matches!(*kind, "index" | "trigger")).copied().collect();
        Ok(Kept { dialect, table, create, parts, free_name })
    }

    /// The twelve steps, without those that the writer of the driver takes around them.
    fn rebuild(&self, new: &CreateText, steps: &mut Vec<SchemaStep>) {
        steps.push(self.create_new(new));
        steps.push(self.copy(new));
        if self.create.columns.iter().any(|column| has_word(column, "AUTOINCREMENT"))
            && new.columns.iter().any(|column| has_word(column, "AUTOINCREMENT"))
        {
            // Keys of rows that are gone are not given out again.
            let remove = "DELETE FROM sqlite_sequence WHERE name = ?1";
            let copy = "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, seq FROM sqlite_sequence WHERE name = ?2 COLLATE NOCASE";
            steps.push(SchemaStep::with_texts(remove, &[&self.free_name]));
            steps.push(SchemaStep::with_texts(copy, &[&self.free_name, self.table]));
        }
        let mut writer = Writer::new(self.dialect);
        writer.text("DROP TABLE ");
        writer.name(self.table);
        steps.push(writer.finish().into());
        // Views and triggers name the table that is not there for a moment; they are to stay as they are.
        steps.push(SchemaStep::with_texts("PRAGMA legacy_alter_table = ON", &[]));
        let mut writer = alter_table(self.dialect, &self.free_name);
        writer.text(" RENAME TO ");
        writer.name(self.table);
        steps.push(writer.finish().into());
        steps.push(SchemaStep::with_texts("PRAGMA legacy_alter_table = OFF", &[]));
        for (_, _, text) in &self.parts {
            // The catalog's own words: only the database could have put them there.
            steps.push(SchemaStep::with_texts(text, &[]));
        }
    }

    fn create_new(&self, new: &CreateText) -> SchemaStep {
        let mut writer = Writer::new(self.dialect);
        writer.text("CREATE TABLE ");
        writer.name(&self.free_name);
        writer.text(" (");
        writer.list(&new.columns, ", ", |writer, column| {
            writer.name(&column.name);
            if !column.kind.is_empty() {
                writer.text(" ");
                writer.text(&column.kind);
            }
            writer.text(&column.tail());
        });
        for constraint in &new.constraints {
            writer.text(", ");
            writer.text(&spelled(constraint));
        }
        writer.text(")");
        if !new.options().is_empty() {
            writer.text(" ");
            writer.text(&new.options());
        }
        writer.finish().into()
    }

    /// All rows with what both tables have.
    fn copy(&self, new: &CreateText) -> SchemaStep {
        let is_old = |column: &&ColumnText| {
            self.create.columns.iter().any(|old| old.name == column.name) && !column.is_generated()
        };
        let columns: Vec<&ColumnText> = new.columns.iter().filter(is_old).collect();
        let mut writer = Writer::new(self.dialect);
        writer.text("INSERT INTO ");
        writer.name(&self.free_name);
        writer.text(" (");
        writer.list(&columns, ", ", |writer, column| writer.name(&column.name));
        writer.text(") SELECT ");
        writer.list(&columns, ", ", |writer, column| writer.name(&column.name));
        writer.text(" FROM ");
        writer.name(self.table);
        writer.finish().into()
    }
}

fn has_word(column: &ColumnText, word: &str) -> bool {
    let is_word = |token: &Token| token.kind == Kind::Word && token.is(word);
    column.clauses.iter().flatten().any(is_word)
}
