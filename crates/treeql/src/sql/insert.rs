//! INSERT: one row or many, and what becomes of those whose key is taken.

use std::sync::{Arc, OnceLock};

use crate::schema::Column;
use crate::sql::condition::Condition;
use crate::sql::dialect::Dialect;
use crate::sql::statement::{Param, Source, Statement};
use crate::sql::write::write_cell;
use crate::sql::writer::Writer;

/// limit: rows of one statement, or of one run of a statement that takes a row at a time.
const ROWS_MAX: usize = 4096;
/// limit: holes of one statement; PostgreSQL and MySQL number them with 16 bits.
const HOLES_MAX: usize = 60_000;
/// How many powers of two there are up to [`ROWS_MAX`].
const SIZES: usize = 13;

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
        writer.text(" (");
        writer.list(&insert.cells, ",", |writer, (column, _)| writer.name(&column.name));
        writer.text(") VALUES ");
        writer.list(0..rows, ",", |writer, row| {
            writer.text("(");
            writer.list(&insert.cells, ",", |writer, (column, param)| {
                write_cell(writer, column, &of_row(param, row * width), insert.srid);
            });
            writer.text(")");
        });
    }
    if let Some(conflict) = &insert.conflict {
        match dialect.names_conflict_key() {
            true => write_on_conflict(&mut writer, &insert.table, conflict),
            false => write_on_duplicate(&mut writer, &insert.table, conflict),
        }
    }
    if let Some(key) = &insert.returning {
        let quoted = writer.quoted(&key.name);
        if let Some(text) = dialect.returning(&dialect.selected(key, &quoted)) {
            writer.text(&text);
        }
    }
    writer.finish()
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

/// The statements that insert many rows, made when they are first needed.
#[derive(Debug)]
pub struct Rows {
    dialect: Dialect,
    insert: Insert,
    /// The members of a record, written or not.
    pub width: usize,
    /// limit: rows of one statement, a power of two.
    pub rows_max: usize,
    /// What takes rows as a stream of text, where the dialect has that and no key may be taken.
    pub copy: Option<Statement>,
    sizes: [OnceLock<Arc<Statement>>; SIZES],
}

impl Rows {
    /// The statements for records of `width` members; they answer with nothing.
    pub fn new(dialect: Dialect, insert: Insert, width: usize) -> Rows {
        let insert = Insert { returning: None, ..insert };
        let holes = insert.cells.len().max(width).max(1);
        let most = if insert.cells.is_empty() { 1 } else { (HOLES_MAX / holes).clamp(1, ROWS_MAX) };
        let rows_max = if most.is_power_of_two() { most } else { most.next_power_of_two() / 2 };
        let is_plain = insert.conflict.is_none() && !insert.cells.is_empty();
        let copy = (is_plain && dialect.has_copy()).then(|| copy(dialect, &insert));
        Rows { dialect, insert, width, rows_max, copy, sizes: Default::default() }
    }

    /// The statement for `count` rows, a power of two.
    pub fn of(&self, count: usize) -> Arc<Statement> {
        let make = || Arc::new(insert(self.dialect, &self.insert, count, self.width));
        Arc::clone(self.sizes[count.trailing_zeros() as usize].get_or_init(make))
    }

    /// Whether rows whose key is taken are left out.
    pub fn is_ignoring(&self) -> bool {
        self.insert.conflict.as_ref().is_some_and(|conflict| conflict.update.is_none())
    }

    /// The reference system of shapes.
    pub fn srid(&self) -> u32 {
        self.insert.srid
    }

    /// The holes of one row with the columns they fill.
    pub fn cells(&self) -> &[(Column, Param)] {
        &self.insert.cells
    }
}

fn copy(dialect: Dialect, insert: &Insert) -> Statement {
    let mut writer = Writer::new(dialect);
    writer.text("COPY ");
    writer.name(&insert.table);
    writer.text(" (");
    writer.list(&insert.cells, ",", |writer, (column, _)| writer.name(&column.name));
    writer.text(") FROM STDIN");
    writer.finish()
}
