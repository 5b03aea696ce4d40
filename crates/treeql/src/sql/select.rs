//! SELECT: lists, single records, counts, and the rows of a join for given keys.

use std::sync::{Arc, OnceLock};

use crate::request::Window;
use crate::schema::Column;
use crate::sql::condition::{ColumnRef, Condition, Qualifier};
use crate::sql::dialect::Dialect;
use crate::sql::statement::{Param, Source, Statement};
use crate::sql::writer::Writer;

/// limit: keys of one join statement; more parents are joined in several rounds.
pub const KEYS_MAX: usize = 512;

/// How many power-of-two sizes of key lists there are up to [`KEYS_MAX`].
const KEY_SIZES: usize = 10;

/// A query on one table.
pub struct Select<'a> {
    /// The real name of the table.
    pub table: &'a str,
    /// What is selected, in order.
    pub columns: &'a [&'a Column],
    /// Which rows.
    pub condition: &'a Condition,
    /// Columns to order by, and whether descending.
    pub order: &'a [(&'a Column, bool)],
    /// Which part.
    pub window: Window,
}

/// The text of a query on one table.
pub fn select(dialect: Dialect, query: &Select<'_>) -> Statement {
    let mut writer = Writer::new(dialect);
    writer.text("SELECT ");
    write_columns(&mut writer, query.columns, None);
    writer.text(" FROM ");
    writer.name(query.table);
    query.condition.write_where(&mut writer);
    write_order(&mut writer, query.table, query.order);
    write_window(&mut writer, query.window);
    writer.finish()
}

/// The text that counts the rows of a table that satisfy a condition.
pub fn count(dialect: Dialect, table: &str, condition: &Condition) -> Statement {
    let mut writer = Writer::new(dialect);
    writer.text("SELECT COUNT(*) FROM ");
    writer.name(table);
    condition.write_where(&mut writer);
    writer.finish()
}

/// A query for the rows that belong to given keys; the key comes first in each row.
pub struct Keyed<'a> {
    /// The real name of the table whose rows are joined.
    pub table: &'a str,
    /// What is selected of it, after the key.
    pub columns: &'a [&'a Column],
    /// The column that must be one of the keys: of the table, or of the junction if there is one.
    pub key: &'a Column,
    /// The junction of a many-to-many relation.
    pub junction: Option<Junction<'a>>,
    /// Which rows of the table may be seen; with a junction its columns are qualified by the table.
    pub condition: &'a Condition,
    /// The columns that give the order, qualified.
    pub order: &'a [ColumnRef],
}

/// The table between two others.
pub struct Junction<'a> {
    /// Its real name.
    pub table: &'a str,
    /// Its column that leads to the joined table.
    pub to: &'a Column,
    /// The column of the joined table that it leads to.
    pub target: &'a Column,
    /// Which rows of the junction may be seen, qualified by its alias.
    pub condition: &'a Condition,
}

/// The number of the alias of the junction to `table`: `r0`, unless the joined table is called that.
pub fn junction_alias(table: &str) -> u16 {
    u16::from(table.eq_ignore_ascii_case("r0"))
}

/// A statement that exists once for each power-of-two number of keys.
#[derive(Debug)]
pub struct KeyedStatement {
    dialect: Dialect,
    head: Statement,
    tail: Box<str>,
    sizes: [OnceLock<Arc<Statement>>; KEY_SIZES],
}

impl KeyedStatement {
    /// The statement for `count` keys; the caller binds the next power of two of them, the last one repeated.
    pub fn for_keys(&self, count: usize) -> Arc<Statement> {
        let size = count.next_power_of_two();
        let index = size.trailing_zeros() as usize;
        Arc::clone(self.sizes[index].get_or_init(|| Arc::new(self.write(size))))
    }

    fn write(&self, size: usize) -> Statement {
        let mut params = self.head.params.clone();
        let mut text = String::from(&*self.head.text);
        for key in 0..size {
            if key > 0 {
                text.push(',');
            }
            let number = u16::try_from(key).expect("KEYS_MAX fits");
            params.push(Param::bare(Source::Key(number)));
            text.push_str(&self.dialect.placeholder(params.len()));
        }
        text.push_str(&self.tail);
        Statement::new(text, params)
    }

    /// The text with one key, for snapshots and explanations.
    pub fn text(&self) -> String {
        self.for_keys(1).text.to_string()
    }
}

/// The text of a query for the rows of given keys. The keys stand last, so that their number can vary.
pub fn keyed(dialect: Dialect, query: &Keyed<'_>) -> KeyedStatement {
    let mut writer = Writer::new(dialect);
    writer.text("SELECT ");
    match &query.junction {
        None => {
            write_column(&mut writer, query.key, None);
            write_more_columns(&mut writer, query.columns, None);
            writer.text(" FROM ");
            writer.name(query.table);
            query.condition.write_where(&mut writer);
            writer.text(if query.condition.is_always() { " WHERE " } else { " AND " });
            writer.name(&query.key.name);
        }
        Some(junction) => write_junction(&mut writer, query, junction),
    }
    writer.text(" IN (");
    KeyedStatement {
        dialect,
        tail: tail(dialect, query).into(),
        head: writer.finish(),
        sizes: Default::default(),
    }
}

/// A left join, so that a junction row whose record may not be seen still counts, as null (SPEC 9.2).
fn write_junction(writer: &mut Writer, query: &Keyed<'_>, junction: &Junction<'_>) {
    let alias = junction_alias(query.table);
    let junction_column =
        |column: &Column| ColumnRef { qualifier: Qualifier::Related(alias), name: column.name.clone() };
    let key = junction_column(query.key).quoted(writer);
    writer.text(&writer.dialect().selected(query.key, &key));
    write_more_columns(writer, query.columns, Some(query.table));
    writer.text(" FROM ");
    writer.name(junction.table);
    writer.text(&format!(" r{alias} LEFT JOIN "));
    writer.name(query.table);
    writer.text(" ON ");
    writer.name(query.table);
    writer.text(".");
    writer.name(&junction.target.name);
    writer.text(" = ");
    junction_column(junction.to).write(writer);
    if !query.condition.is_always() {
        writer.text(" AND ");
        query.condition.write(writer);
    }
    junction.condition.write_where(writer);
    writer.text(if junction.condition.is_always() { " WHERE " } else { " AND " });
    junction_column(query.key).write(writer);
}

fn tail(dialect: Dialect, query: &Keyed<'_>) -> String {
    let quoted = Writer::new(dialect);
    let order: Vec<String> = query.order.iter().map(|column| column.quoted(&quoted)).collect();
    if order.is_empty() { ")".to_owned() } else { format!(") ORDER BY {}", order.join(",")) }
}

fn write_columns(writer: &mut Writer, columns: &[&Column], table: Option<&str>) {
    if columns.is_empty() {
        // Nothing is selected, but rows still count.
        writer.text("1");
    }
    writer.list(columns, ",", |writer, column| write_column(writer, column, table));
}

fn write_more_columns(writer: &mut Writer, columns: &[&Column], table: Option<&str>) {
    for column in columns {
        writer.text(",");
        write_column(writer, column, table);
    }
}

fn write_column(writer: &mut Writer, column: &Column, table: Option<&str>) {
    let quoted = match table {
        Some(table) => format!("{}.{}", writer.quoted(table), writer.quoted(&column.name)),
        None => writer.quoted(&column.name),
    };
    let text = writer.dialect().selected(column, &quoted);
    writer.text(&text);
}

/// The columns are qualified: PostgreSQL takes a bare name for a selected column of that name, which may be the text
/// of a number, and "10" comes before "9".
fn write_order(writer: &mut Writer, table: &str, order: &[(&Column, bool)]) {
    if order.is_empty() {
        return;
    }
    writer.text(" ORDER BY ");
    writer.list(order, ",", |writer, (column, descending)| {
        writer.name(table);
        writer.text(".");
        writer.name(&column.name);
        if *descending {
            writer.text(" DESC");
        }
    });
}

fn write_window(writer: &mut Writer, window: Window) {
    let (limit, offset) = match window {
        Window::All => return,
        Window::Limit => (writer.hole(Param::bare(Source::Limit)), None),
        Window::LimitOffset => {
            let limit = writer.hole(Param::bare(Source::Limit));
            (limit, Some(writer.hole(Param::bare(Source::Offset))))
        }
    };
    let text = writer.dialect().limit(&limit, offset.as_deref());
    writer.text(&text);
}
