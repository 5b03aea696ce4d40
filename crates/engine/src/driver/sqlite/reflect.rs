//! The catalog of SQLite as a schema, in four queries over all tables.

use std::collections::HashMap;

use rusqlite::{Connection, Row};
use treeql::schema::{Column, ColumnType, RawTable, TableKind};

/// All columns of all tables. Views are read one by one, because a broken one fails the whole query.
const COLUMNS: &str = "SELECT s.name, c.name, c.type, c.\"notnull\", c.pk, c.hidden \
    FROM sqlite_schema s JOIN pragma_table_xinfo(s.name) c \
    WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.name, c.cid";

/// The columns of one view.
const VIEW_COLUMNS: &str = "SELECT ?1, c.name, c.type, c.\"notnull\", c.pk, c.hidden \
    FROM pragma_table_xinfo(?1) c ORDER BY c.cid";

/// All foreign keys of one column of all tables: a part of a composite one alone would relate rows that have nothing
/// to do with each other.
const FOREIGN_KEYS: &str = "SELECT s.name, f.\"from\", f.\"table\", f.\"to\" \
    FROM sqlite_schema s JOIN pragma_foreign_key_list(s.name) f \
    WHERE s.type = 'table' GROUP BY s.name, f.id HAVING COUNT(*) = 1 ORDER BY s.name, f.id";

/// All unique keys but those of some rows only and those of expressions; the primary key may be among them.
const UNIQUE_KEYS: &str = "SELECT s.name, i.name, c.name FROM sqlite_schema s JOIN pragma_index_list(s.name) i \
    JOIN pragma_index_info(i.name) c WHERE s.type = 'table' AND i.\"unique\" AND NOT i.partial \
    ORDER BY s.name, i.seq, c.seqno";

/// The names of the views.
const VIEWS: &str = "SELECT name FROM sqlite_schema WHERE type = 'view'";

/// Every table and view of the main schema.
pub fn tables(connection: &Connection) -> rusqlite::Result<Vec<RawTable>> {
    let mut tables: Vec<RawTable> = Vec::new();
    let mut query = connection.prepare(COLUMNS)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        add_column(&mut tables, row, TableKind::Table)?;
    }
    add_views(connection, &mut tables)?;
    add_foreign_keys(connection, &mut tables)?;
    add_unique_keys(connection, &mut tables)?;
    Ok(tables)
}

fn add_column(tables: &mut Vec<RawTable>, row: &Row<'_>, kind: TableKind) -> rusqlite::Result<()> {
    let table: String = row.get(0)?;
    if tables.last().is_none_or(|last| last.name != table) {
        tables.push(RawTable {
            name: table,
            kind,
            columns: Vec::new(),
            key_columns: Vec::new(),
            unique_keys: Vec::new(),
            references: Vec::new(),
            is_sharded: false,
        });
    }
    let table = tables.last_mut().expect("one was just pushed");
    let hidden: i64 = row.get(5)?;
    // 1 is a hidden column of a virtual table; 2 and 3 are generated columns (sqlite.org/pragma.html#pragma_table_xinfo).
    if hidden == 1 {
        return Ok(());
    }
    let name: String = row.get(1)?;
    let declared: String = row.get::<_, Option<String>>(2)?.unwrap_or_default();
    let not_null: bool = row.get(3)?;
    let key = row.get::<_, u32>(4)? as usize;
    let (kind_of_column, length, precision, scale) = column_type(&declared);
    if key > 0 {
        let place = table.key_columns.len().max(key);
        table.key_columns.resize(place, usize::MAX);
        table.key_columns[key - 1] = table.columns.len();
    }
    table.columns.push(Column {
        name: name.clone().into(),
        alias: name.into(),
        kind: kind_of_column,
        length,
        precision,
        scale,
        // compat: columns of views are never nullable (SPEC 6.3).
        nullable: !not_null && kind == TableKind::Table,
        generated: hidden != 0,
        as_text: false,
        quoted: false,
        is_uuid: false,
    });
    Ok(())
}

fn add_views(connection: &Connection, tables: &mut Vec<RawTable>) -> rusqlite::Result<()> {
    let names: Vec<String> =
        connection.prepare(VIEWS)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut query = connection.prepare(VIEW_COLUMNS)?;
    for name in names {
        let before = tables.len();
        let mut read = || -> rusqlite::Result<()> {
            let mut rows = query.query([&name])?;
            while let Some(row) = rows.next()? {
                add_column(tables, row, TableKind::View)?;
            }
            Ok(())
        };
        if let Err(error) = read() {
            tables.truncate(before);
            tracing::warn!(view = name, %error, "the view cannot be read and is left out");
        }
    }
    Ok(())
}

/// Names in references are written by people, so their case may differ from the table's.
fn add_foreign_keys(connection: &Connection, tables: &mut [RawTable]) -> rusqlite::Result<()> {
    let by_name: HashMap<String, usize> =
        tables.iter().enumerate().map(|(index, table)| (table.name.to_lowercase(), index)).collect();
    let column_name = |table: &RawTable, name: &str| {
        table
            .columns
            .iter()
            .find(|column| column.name.eq_ignore_ascii_case(name))
            .map(|column| column.name.to_string())
    };
    let mut query = connection.prepare(FOREIGN_KEYS)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (from, column): (String, String) = (row.get(0)?, row.get(1)?);
        let (to, target): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        let Some(from) = by_name.get(&from.to_lowercase()).copied() else { continue };
        let Some(to) = by_name.get(&to.to_lowercase()).copied() else { continue };
        let Some(column) = column_name(&tables[from], &column) else { continue };
        let target = target.and_then(|name| column_name(&tables[to], &name));
        let name = tables[to].name.clone();
        tables[from].references.push((column, name, target));
    }
    Ok(())
}

fn add_unique_keys(connection: &Connection, tables: &mut [RawTable]) -> rusqlite::Result<()> {
    let mut query = connection.prepare(UNIQUE_KEYS)?;
    let mut rows = query.query([])?;
    let mut keys: Vec<(String, String, Vec<Option<String>>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (table, index): (String, String) = (row.get(0)?, row.get(1)?);
        match keys.last_mut() {
            Some((of, name, columns)) if *of == table && *name == index => columns.push(row.get(2)?),
            _ => keys.push((table, index, vec![row.get(2)?])),
        }
    }
    let by_name: HashMap<String, usize> =
        tables.iter().enumerate().map(|(index, table)| (table.name.clone(), index)).collect();
    for (table, _, columns) in keys {
        let Some(table) = by_name.get(&table).map(|index| &mut tables[*index]) else { continue };
        let place = |name: &Option<String>| {
            table.columns.iter().position(|column| Some(&*column.name) == name.as_deref())
        };
        if let Some(key) = columns.iter().map(place).collect::<Option<Vec<usize>>>()
            && key != table.key_columns
        {
            table.unique_keys.push(key);
        }
    }
    Ok(())
}

/// The declared type, its first word and what is in brackets, as a type of the protocol (SPEC 6.3).
fn column_type(declared: &str) -> (ColumnType, u32, u32, u32) {
    let lower = declared.to_lowercase();
    let word: String = lower.trim().chars().take_while(char::is_ascii_alphabetic).collect();
    let sizes: Vec<u32> = lower
        .split_once('(')
        .map(|(_, rest)| rest.split(')').next().unwrap_or_default())
        .map(|inside| inside.split(',').map(|number| number.trim().parse().unwrap_or(0)).collect())
        .unwrap_or_default();
    let size = |index: usize| sizes.get(index).copied().unwrap_or(0);
    match word.as_str() {
        "int" | "integer" | "mediumint" | "tinyint" | "smallint" => (ColumnType::Integer, 0, 0, 0),
        "bigint" => (ColumnType::Bigint, 0, 0, 0),
        "decimal" | "numeric" => (ColumnType::Decimal, 0, size(0), size(1)),
        "float" | "real" => (ColumnType::Float, 0, 0, 0),
        "double" => (ColumnType::Double, 0, 0, 0),
        "boolean" => (ColumnType::Boolean, 0, 0, 0),
        "char" | "varchar" | "nvarchar" | "nchar" => (ColumnType::Varchar, size(0), 0, 0),
        "blob" | "longvarbinary" => (ColumnType::Blob, 0, 0, 0),
        "binary" | "varbinary" => (ColumnType::Varbinary, size(0), 0, 0),
        "date" => (ColumnType::Date, 0, 0, 0),
        "time" => (ColumnType::Time, 0, 0, 0),
        "datetime" | "timestamp" => (ColumnType::Timestamp, 0, 0, 0),
        "geometry" => (ColumnType::Geometry, 0, 0, 0),
        _ => (ColumnType::Clob, 0, 0, 0),
    }
}

#[cfg(test)]
mod tests {
    use treeql::schema::ColumnType;

    use crate::driver::sqlite::reflect::column_type;

    #[test]
    fn declared_types_have_the_names_of_the_protocol() {
        assert_eq!(column_type("VARCHAR(36)"), (ColumnType::Varchar, 36, 0, 0));
        assert_eq!(column_type("decimal(10,2)"), (ColumnType::Decimal, 0, 10, 2));
        assert_eq!(column_type("INT8"), (ColumnType::Integer, 0, 0, 0));
        assert_eq!(column_type("double precision"), (ColumnType::Double, 0, 0, 0));
        assert_eq!(column_type("bool"), (ColumnType::Clob, 0, 0, 0));
        assert_eq!(column_type(""), (ColumnType::Clob, 0, 0, 0));
    }
}
