//! INSERT: one row or many, and what becomes of those whose key is taken.

use crate::schema::Column;
use crate::sql::condition::Condition;
use crate::sql::dialect::Dialect;
use crate::sql::statement::{Param, Source, Statement};
use crate::sql::write::write_cell;
use crate::sql::writer::Writer;

/// What is written into a table.
#[derive(Clone, Debug)]
pub struct Insert {
    /// The real name of the table.
    pub table: Box<str>,
    /// The columns, with the holes of one row; none: a row of defaults.
    pub cells: Vec<(Column, Param)>,
    /// What becomes of rows whose key is taken; `None`: they are an error.
    pub conflict: Option<OnConflict>,
    /// The column that is answered with, where the dialect can.
    pub returning: Option<Column>,
    /// The reference system of shapes.
    pub srid: u32,
}

/// What becomes of a row whose key is taken.
#[derive(Clone, Debug)]
pub struct OnConflict {
    /// The columns of the unique key.
    pub key: Vec<Column>,
    /// The columns of the other row that are changed; `None` leaves it as it is.
    pub update: Option<Vec<Column>>,
    /// Which rows may be changed, qualified by the table.
    pub condition: Condition,
    /// The column that the database numbers, if there is one: what is answered of a row that was changed.
    pub numbered: Option<Column>,
}

/// The text that inserts `rows` rows. The members of row n stand in the holes `n * width` and following.
pub fn insert(dialect: Dialect, insert: &Insert, rows: usize, width: usize) -> Statement {
    let mut writer = Writer::new(dialect);
    writer.text("INSERT INTO ");
    writer.name(&insert.table);
    if insert.cells.is_empty() {
        writer.text(dialect.default_row());
    } else {
        write_columns(&mut writer, insert);
        writer.text(" VALUES ");
        writer.list(0..rows, ",", |writer, row| {
            writer.text("(");
            write_row(writer, insert, row * width);
            writer.text(")");
        });
    }
    if let Some(conflict) = &insert.conflict {
        match dialect.names_conflict_key() {
            true => write_on_conflict(&mut writer, &insert.table, conflict),
            false => write_on_duplicate(&mut writer, &insert.table, conflict),
        }
    }
    write_returning(&mut writer, insert);
    writer.finish()
}

/// The text of PostgreSQL that inserts rows one after the other. VALUES alone promises no order. A row of NULL, which is
/// left out, gives the columns their types: those of the table, without a name of a type.
pub fn insert_in_order(dialect: Dialect, insert: &Insert, rows: usize, width: usize) -> Statement {
    let mut writer = Writer::new(dialect);
    let names = |writer: &mut Writer| {
        writer.list(0..insert.cells.len(), ",", |writer, cell| writer.text(&format!("c{cell}")));
    };
    writer.text("INSERT INTO ");
    writer.name(&insert.table);
    write_columns(&mut writer, insert);
    writer.text(" SELECT ");
    names(&mut writer);
    writer.text(" FROM (VALUES (");
    writer.list(&insert.cells, ",", |writer, (column, _)| {
        writer.text("(NULL::");
        writer.name(&insert.table);
        writer.text(").");
        writer.name(&column.name);
    });
    writer.text(",0)");
    for row in 0..rows {
        writer.text(",(");
        write_row(&mut writer, insert, row * width);
        writer.text(&format!(",{})", row + 1));
    }
    writer.text(") AS v (");
    names(&mut writer);
    writer.text(",n) WHERE n > 0 ORDER BY n");
    write_returning(&mut writer, insert);
    writer.finish()
}

/// The text of PostgreSQL that takes rows as a stream of text.
pub fn copy(dialect: Dialect, insert: &Insert) -> Statement {
    let mut writer = Writer::new(dialect);
    writer.text("COPY ");
    writer.name(&insert.table);
    write_columns(&mut writer, insert);
    writer.text(" FROM STDIN");
    writer.finish()
}

fn write_columns(writer: &mut Writer, insert: &Insert) {
    writer.text(" (");
    writer.list(&insert.cells, ",", |writer, (column, _)| writer.name(&column.name));
    writer.text(")");
}

/// The holes of a row whose first member stands in the hole `first`.
fn write_row(writer: &mut Writer, insert: &Insert, first: usize) {
    writer.list(&insert.cells, ",", |writer, (column, param)| {
        write_cell(writer, column, &of_row(param, first), insert.srid);
    });
}

fn write_returning(writer: &mut Writer, insert: &Insert) {
    let Some(key) = &insert.returning else { return };
    let quoted = writer.quoted(&key.name);
    let dialect = writer.dialect();
    if let Some(text) = dialect.returning(&dialect.selected(key, &quoted)) {
        writer.text(&text);
    }
}

/// The hole of the same member of another row.
fn of_row(param: &Param, first: usize) -> Param {
    let mut param = param.clone();
    if let Source::Cell(place) = &mut param.source {
        *place = u16::try_from(usize::from(*place) + first).expect("rows are bounded by their holes");
    }
    param
}

/// The words of SQLite and PostgreSQL. A row outside of the condition is left alone, and not counted.
fn write_on_conflict(writer: &mut Writer, table: &str, conflict: &OnConflict) {
    writer.text(" ON CONFLICT (");
    writer.list(&conflict.key, ",", |writer, column| writer.name(&column.name));
    writer.text(")");
    let Some(update) = &conflict.update else { return writer.text(" DO NOTHING") };
    writer.text(" DO UPDATE SET ");
    writer.list(update, ",", |writer, column| {
        writer.name(&column.name);
        writer.text(" = excluded.");
        writer.name(&column.name);
    });
    if update.is_empty() {
        // A row that is touched is answered with, as one that is changed.
        let key = &conflict.key[0];
        writer.name(&key.name);
        writer.text(" = ");
        writer.name(table);
        writer.text(".");
        writer.name(&key.name);
    }
    conflict.condition.write_where(writer);
}

/// The words of MySQL, which knows no key: any unique key leads here. Where it is another key, or a row that may not be
/// changed, a query of two rows in place of a value makes it an error (1242).
fn write_on_duplicate(writer: &mut Writer, table: &str, conflict: &OnConflict) {
    let own = |writer: &mut Writer, column: &Column| {
        writer.name(table);
        writer.text(".");
        writer.name(&column.name);
    };
    let new = |writer: &mut Writer, column: &Column| {
        writer.text("VALUES(");
        writer.name(&column.name);
        writer.text(")");
    };
    let first = &conflict.key[0];
    writer.text(" ON DUPLICATE KEY UPDATE ");
    writer.name(&first.name);
    writer.text(" = IF(");
    writer.list(&conflict.key, " AND ", |writer, column| {
        own(writer, column);
        writer.text(" <=> ");
        new(writer, column);
    });
    if !conflict.condition.is_always() {
        writer.text(" AND ");
        conflict.condition.write(writer);
    }
    match (&conflict.update, &conflict.numbered) {
        // The number that no row has says that there was one: the count of rows cannot tell. What depends on no row
        // would be evaluated without one, too.
        (None, _) => {
            writer.text(&format!(" AND LAST_INSERT_ID({} - 0 * LENGTH(", u64::MAX));
            own(writer, first);
            writer.text(")) <> 0");
        }
        (Some(_), Some(numbered)) => {
            writer.text(" AND LAST_INSERT_ID(");
            own(writer, numbered);
            writer.text(") IS NOT NULL");
        }
        (Some(_), None) => {}
    }
    writer.text(", ");
    own(writer, first);
    writer.text(", (SELECT 1 UNION ALL SELECT 2))");
    for column in conflict.update.iter().flatten() {
        writer.text(", ");
        writer.name(&column.name);
        writer.text(" = ");
        new(writer, column);
    }
}
