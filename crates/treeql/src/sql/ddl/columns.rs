//! CREATE TABLE, ADD COLUMN, RENAME and DROP: what is written alike for all databases.

use crate::sql::ddl::change::{Definition, Reference, SchemaStep};
use crate::sql::dialect::Dialect;
use crate::sql::writer::Writer;

/// The text that makes a table.
pub fn create_table(dialect: Dialect, table: &str, columns: &[Definition]) -> SchemaStep {
    let keys: Vec<&Definition> = columns.iter().filter(|column| column.is_key).collect();
    let mut writer = Writer::new(dialect);
    writer.text("CREATE TABLE ");
    writer.name(table);
    writer.text(" (");
    writer.list(columns, ", ", |writer, column| {
        let is_alone = column.is_key && keys.len() == 1;
        column_definition(writer, column, is_alone);
    });
    // A key that its column does not declare.
    if keys.len() > 1 || keys.iter().any(|key| !dialect.declares_key_in_column(key)) {
        writer.text(", PRIMARY KEY (");
        writer.list(&keys, ", ", |writer, key| writer.name(&key.name));
        writer.text(")");
    }
    for column in columns {
        if let Some(reference) = &column.reference {
            writer.text(", FOREIGN KEY (");
            writer.name(&column.name);
            writer.text(")");
            references(&mut writer, reference);
        }
    }
    writer.text(")");
    writer.finish().into()
}

/// Name, type, nullability; for the only key of a table also what makes its values.
pub fn column_definition(writer: &mut Writer, column: &Definition, is_only_key: bool) {
    let dialect = writer.dialect();
    writer.name(&column.name);
    writer.text(" ");
    let type_name = if is_only_key { dialect.key_type_name(column) } else { dialect.type_name(column) };
    writer.text(&type_name);
    writer.text(if column.nullable && !column.is_key { " NULL" } else { " NOT NULL" });
    if is_only_key {
        writer.text(dialect.key_clause(column));
    }
}

/// ` REFERENCES table (column)`.
pub fn references(writer: &mut Writer, reference: &Reference) {
    writer.text(" REFERENCES ");
    writer.name(&reference.table);
    writer.text(" (");
    writer.name(&reference.column);
    writer.text(")");
}

/// The text that adds a column without keys.
pub fn add_column(dialect: Dialect, table: &str, column: &Definition) -> SchemaStep {
    let mut writer = alter_table(dialect, table);
    writer.text(" ADD COLUMN ");
    column_definition(&mut writer, column, false);
    if let Some(reference) = column.reference.as_ref().filter(|_| dialect.declares_reference_in_column()) {
        references(&mut writer, reference);
    }
    writer.finish().into()
}

/// `ALTER TABLE table`, to be gone on with.
pub fn alter_table(dialect: Dialect, table: &str) -> Writer {
    let mut writer = Writer::new(dialect);
    writer.text("ALTER TABLE ");
    writer.name(table);
    writer
}

/// The text that gives a table another name.
pub fn rename_table(dialect: Dialect, table: &str, name: &str) -> SchemaStep {
    let mut writer = alter_table(dialect, table);
    writer.text(" RENAME TO ");
    writer.name(name);
    writer.finish().into()
}

/// The text that gives a column another name.
pub fn rename_column(dialect: Dialect, table: &str, column: &str, name: &str) -> SchemaStep {
    let mut writer = alter_table(dialect, table);
    writer.text(" RENAME COLUMN ");
    writer.name(column);
    writer.text(" TO ");
    writer.name(name);
    writer.finish().into()
}

/// The text that removes a table.
pub fn drop_table(dialect: Dialect, table: &str, cascades: bool) -> SchemaStep {
    let mut writer = Writer::new(dialect);
    writer.text("DROP TABLE ");
    writer.name(table);
    if cascades {
        writer.text(dialect.cascade());
    }
    writer.finish().into()
}
