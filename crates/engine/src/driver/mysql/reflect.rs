//! The catalog of MySQL as a schema, in four queries over all tables.

use std::collections::HashMap;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use treeql::schema::{Column, RawTable, TableKind};

use crate::driver::mysql::types::catalog_type;

const TABLES: &str = "SELECT TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES \
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE','VIEW') ORDER BY TABLE_NAME";

const COLUMNS: &str = "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, EXTRA, COLUMN_KEY \
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION";

/// Primary and foreign keys in one query, each key's columns in order.
const KEYS: &str = "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME \
    FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() \
    AND (CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_TABLE_NAME IS NOT NULL) \
    ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION";

/// Unique keys, each key's columns in order. A part of a column, or an expression, makes no key of columns.
const UNIQUE_KEYS: &str = "SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS \
    WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY' \
    ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX";

/// A row of [`KEYS`].
type KeyRow = (String, String, String, Option<String>, Option<String>);

/// A number that differs when a table, a column or a key does.
const FINGERPRINT: &str = "SELECT (SELECT COALESCE(BIT_XOR(CRC32(CONCAT_WS('/', TABLE_NAME, TABLE_TYPE, CREATE_TIME))), 0) \
        + COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()) \
    + 4294967296 * (SELECT COALESCE(BIT_XOR(CRC32(CONCAT_WS('/', TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, \
        COLUMN_KEY))), 0) % 2147483648 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE())";

/// Every table and view of the database.
pub async fn tables(conn: &mut Conn) -> Result<Vec<RawTable>, mysql_async::Error> {
    let mut tables = Vec::new();
    let mut by_name = HashMap::new();
    let found: Vec<(String, String, Option<String>)> = conn.query(TABLES).await?;
    for (name, kind, engine) in found {
        by_name.insert(name.clone(), tables.len());
        let kind = if kind == "VIEW" { TableKind::View } else { TableKind::Table };
        tables.push(RawTable {
            name,
            kind,
            columns: Vec::new(),
            key_columns: Vec::new(),
            unique_keys: Vec::new(),
            references: Vec::new(),
            is_sharded: engine.is_some_and(|engine| engine.eq_ignore_ascii_case("SPIDER")),
        });
    }
    let found: Vec<(String, String, String, String, String, String)> = conn.query(COLUMNS).await?;
    for (table, name, declared, nullable, extra, _) in found {
        if let Some(index) = by_name.get(&table) {
            add_column(&mut tables[*index], name, &declared, &nullable, &extra);
        }
    }
    let found: Vec<KeyRow> = conn.query(KEYS).await?;
    let mut sizes: HashMap<(String, String), usize> = HashMap::new();
    for (table, constraint, ..) in &found {
        *sizes.entry((table.clone(), constraint.clone())).or_default() += 1;
    }
    for (table, constraint, column, referenced, target) in found {
        // A part of a composite foreign key alone would relate rows that have nothing to do with each other.
        if referenced.is_some() && sizes.get(&(table.clone(), constraint)) != Some(&1) {
            continue;
        }
        let Some(index) = by_name.get(&table) else { continue };
        let table: &mut RawTable = &mut tables[*index];
        match referenced {
            Some(referenced) => table.references.push((column, referenced, target)),
            None => table.key_columns.extend(table.columns.iter().position(|known| *known.name == *column)),
        }
    }
    let found: Vec<(String, String, Option<String>, Option<u64>)> = conn.query(UNIQUE_KEYS).await?;
    for columns in found.chunk_by(|one, next| one.0 == next.0 && one.1 == next.1) {
        let Some(table) = by_name.get(&columns[0].0).map(|index| &mut tables[*index]) else { continue };
        let key = columns.iter().map(|(_, _, column, part)| {
            let name = column.as_deref().filter(|_| part.is_none())?;
            table.columns.iter().position(|known| &*known.name == name)
        });
        if let Some(key) = key.collect::<Option<Vec<usize>>>() {
            table.unique_keys.push(key);
        }
    }
    Ok(tables)
}

fn add_column(table: &mut RawTable, name: String, declared: &str, nullable: &str, extra: &str) {
    let (kind, length, precision, scale) = catalog_type(declared);
    table.columns.push(Column {
        name: name.clone().into(),
        alias: name.into(),
        kind,
        length,
        precision,
        scale,
        // compat: columns of views are never nullable (SPEC 6.3).
        nullable: nullable == "YES" && table.kind == TableKind::Table,
        generated: extra.contains("GENERATED") && !extra.contains("DEFAULT_GENERATED"),
        as_text: false,
        quoted: false,
        is_uuid: declared.eq_ignore_ascii_case("uuid"),
    });
}

/// A number that differs when the schema does.
pub async fn fingerprint(conn: &mut Conn) -> Result<u64, mysql_async::Error> {
    let number: Option<mysql_async::Value> = conn.query_first(FINGERPRINT).await?;
    let text = number.map(|value| value.as_sql(true)).unwrap_or_default();
    Ok(text.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))))
}
