//! Changes of a column as PostgreSQL makes them: one statement for each, all in one transaction.

use crate::sql::ddl::change::{Definition, Facts, SchemaStep};
use crate::sql::ddl::columns::{add_column, alter_table, references, rename_column};
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
) -> Vec<SchemaStep> {
    let mut steps = Steps { dialect, table, steps: Vec::new() };
    if let Some(old_key) = old_key {
        steps.drop_key(&old_key.name, facts);
    }
    let was = match from {
        Some(from) => from.clone(),
        None => {
            steps.steps.push(add_column(dialect, table, to));
            Definition { is_key: false, reference: None, ..to.clone() }
        }
    };
    if was.is_key && !to.is_key {
        steps.drop_key(&was.name, facts);
    }
    if was.reference != to.reference {
        steps.drop_constraints("f", &was.name, facts);
    }
    if to.name != was.name {
        steps.steps.push(rename_column(dialect, table, &was.name, &to.name));
    }
    if !to.has_type_of(&was) {
        steps.retype(&was, to, facts);
    }
    if from.is_some() && to.nullable != was.nullable && !to.is_key {
        steps.alter_column(&to.name, if to.nullable { " DROP NOT NULL" } else { " SET NOT NULL" });
    }
    if let Some(reference) = to.reference.as_ref().filter(|_| was.reference != to.reference) {
        let mut writer = alter_table(dialect, table);
        writer.text(" ADD FOREIGN KEY (");
        writer.name(&to.name);
        writer.text(")");
        references(&mut writer, reference);
        steps.steps.push(writer.finish().into());
    }
    if to.is_key && !was.is_key {
        steps.add_key(to);
    }
    steps.steps
}

/// Removes a column; its own constraints and indexes go with it.
pub fn drop_column(dialect: Dialect, table: &str, column: &Definition, cascades: bool) -> Vec<SchemaStep> {
    let mut writer = alter_table(dialect, table);
    writer.text(" DROP COLUMN ");
    writer.name(&column.name);
    if cascades {
        writer.text(dialect.cascade());
    }
    vec![writer.finish().into()]
}

/// Statements about one table.
struct Steps<'a> {
    dialect: Dialect,
    table: &'a str,
    steps: Vec<SchemaStep>,
}

impl Steps<'_> {
    fn alter_column(&mut self, column: &str, clause: &str) {
        let mut writer = alter_table(self.dialect, self.table);
        writer.text(" ALTER COLUMN ");
        writer.name(column);
        writer.text(clause);
        self.steps.push(writer.finish().into());
    }

    /// Constraints of one kind that are about this column alone; facts are rows of kind, name and column.
    fn drop_constraints(&mut self, kind: &str, column: &str, facts: &Facts) {
        for row in facts {
            if let [found, name, of] = row.as_slice()
                && found == kind
                && of == column
            {
                let mut writer = alter_table(self.dialect, self.table);
                writer.text(" DROP CONSTRAINT ");
                writer.name(name);
                self.steps.push(writer.finish().into());
            }
        }
    }

    /// The key, and what makes its values.
    fn drop_key(&mut self, column: &str, facts: &Facts) {
        self.drop_constraints("p", column, facts);
        let of = |kind: &str| facts.iter().find(|row| row[0] == kind && row[2] == column);
        if of("identity").is_some() {
            self.alter_column(column, " DROP IDENTITY IF EXISTS");
        }
        if let Some(row) = of("serial") {
            self.alter_column(column, " DROP DEFAULT");
            let mut writer = Writer::new(self.dialect);
            writer.text("DROP SEQUENCE ");
            writer.name(&row[1]);
            self.steps.push(writer.finish().into());
        }
    }

    fn add_key(&mut self, column: &Definition) {
        let (dialect, table) = (self.dialect, self.table);
        let mut writer = alter_table(dialect, table);
        writer.text(" ADD PRIMARY KEY (");
        writer.name(&column.name);
        writer.text(")");
        if !column.is_automatic() {
            self.steps.push(writer.finish().into());
            return;
        }
        // Values for rows that have none, and a beginning beyond those that have one.
        self.alter_column(&column.name, " DROP DEFAULT");
        self.alter_column(&column.name, " SET NOT NULL");
        self.alter_column(&column.name, &format!(" ADD{}", dialect.key_clause(column)));
        self.steps.push(writer.finish().into());
        let writer = Writer::new(dialect);
        let (quoted_table, quoted) = (writer.quoted(table), writer.quoted(&column.name));
        let text = format!(
            "SELECT setval(pg_get_serial_sequence($1, $2), (SELECT COALESCE(MAX({quoted}), 0) + 1 FROM {quoted_table}), false)"
        );
        self.steps.push(SchemaStep::with_texts(&text, &[&quoted_table, &column.name]));
    }

    fn retype(&mut self, was: &Definition, to: &Definition, facts: &Facts) {
        let mut writer = alter_table(self.dialect, self.table);
        let type_name = self.dialect.type_name(to);
        writer.text(" ALTER COLUMN ");
        writer.name(&to.name);
        writer.text(" TYPE ");
        writer.text(&type_name);
        writer.text(" USING ");
        writer.name(&to.name);
        writer.text("::");
        writer.text(&type_name);
        self.steps.push(writer.finish().into());
        // A sequence of its own has the old range.
        let serial = facts.iter().find(|row| row[0] == "serial" && row[2] == was.name);
        if let Some(row) = serial.filter(|_| to.kind.is_integer()) {
            let mut writer = Writer::new(self.dialect);
            writer.text("ALTER SEQUENCE ");
            writer.name(&row[1]);
            writer.text(" AS ");
            writer.text(&type_name);
            self.steps.push(writer.finish().into());
        }
    }
}
