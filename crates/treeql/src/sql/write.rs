//! INSERT, UPDATE, increment and DELETE.

use crate::schema::Column;
use crate::sql::condition::Condition;
use crate::sql::dialect::Dialect;
use crate::sql::statement::{Param, Statement};
use crate::sql::writer::Writer;

/// The text that sets columns of the rows that satisfy a condition.
pub fn update(
    dialect: Dialect,
    table: &str,
    cells: &[(&Column, Param)],
    condition: &Condition,
    srid: u32,
) -> Statement {
    let mut writer = Writer::new(dialect);
    writer.text("UPDATE ");
    writer.name(table);
    writer.text(" SET ");
    writer.list(cells, ",", |writer, (column, param)| {
        writer.name(&column.name);
        writer.text(" = ");
        write_cell(writer, column, param, srid);
    });
    condition.write_where(&mut writer);
    writer.finish()
}

/// The text that adds to columns of the rows that satisfy a condition.
pub fn increment(
    dialect: Dialect,
    table: &str,
    cells: &[(&Column, Param)],
    condition: &Condition,
) -> Statement {
    let mut writer = Writer::new(dialect);
    writer.text("UPDATE ");
    writer.name(table);
    writer.text(" SET ");
    writer.list(cells, ",", |writer, (column, param)| {
        writer.name(&column.name);
        writer.text(" = ");
        let quoted = writer.quoted(&column.name);
        let placeholder = writer.hole(param.clone());
        let text = writer.dialect().incremented(column.kind, &quoted, &placeholder);
        writer.text(&text);
    });
    condition.write_where(&mut writer);
    writer.finish()
}

/// The text that removes the rows that satisfy a condition; with `returning` it answers with that column of each.
pub fn delete(dialect: Dialect, table: &str, condition: &Condition, returning: Option<&Column>) -> Statement {
    let mut writer = Writer::new(dialect);
    writer.text("DELETE FROM ");
    writer.name(table);
    condition.write_where(&mut writer);
    if let Some(key) = returning {
        writer.text(" RETURNING ");
        writer.name(&key.name);
    }
    writer.finish()
}

/// Appends a hole as it is written into a column.
pub fn write_cell(writer: &mut Writer, column: &Column, param: &Param, srid: u32) {
    let placeholder = writer.hole(param.clone());
    let text = writer.dialect().written(column.kind, &placeholder, srid);
    writer.text(&text);
}
