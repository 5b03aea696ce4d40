//! Schema: an immutable picture of every table, built from what a driver read in the catalog.

use std::collections::HashMap;

use crate::nearest::unknown;
use crate::schema::column::{Column, ColumnType};
use crate::schema::declared::Declared;
use crate::schema::mapping::Mapping;
use crate::schema::raw::RawTable;
use crate::schema::table::{ForeignKey, Table, TableId, TableKind};

/// What of a database is published, and under which names.
#[derive(Clone, Debug, Default)]
pub struct Publication {
    /// Exposed names for real ones.
    pub mapping: Mapping,
    /// Real names of the tables to publish; empty means all.
    pub tables: Vec<String>,
    /// Keys and relations that the catalog does not have.
    pub declared: Declared,
    /// Whether whole numbers of 64 bits are JSON strings.
    pub quoted_bigints: bool,
    /// Whether the first column of a composite key addresses records (SQLite and PostgreSQL do so in the reference).
    pub first_of_composite_key: bool,
}

/// An immutable picture of all tables, in the order of their real names.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    tables: Vec<Table>,
    by_alias: HashMap<Box<str>, TableId>,
}

impl Schema {
    /// Puts together what the catalog says: names mapped, keys and references resolved.
    ///
    /// # Errors
    ///
    /// A sentence that names what is declared and does not exist, or the exposed name that two tables have.
    pub fn build(mut raw: Vec<RawTable>, publication: &Publication) -> Result<Schema, String> {
        publication.declared.apply(&mut raw)?;
        check_published(&raw, publication)?;
        raw.retain(|table| publication.tables.is_empty() || publication.tables.contains(&table.name));
        raw.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        let by_name: HashMap<String, TableId> =
            raw.iter().enumerate().map(|(index, table)| (table.name.clone(), id(index))).collect();
        let references: Vec<_> = raw.iter_mut().map(|table| std::mem::take(&mut table.references)).collect();
        let mut tables: Vec<Table> = raw.into_iter().map(|table| resolve(table, publication)).collect();
        let by_alias =
            tables.iter().enumerate().map(|(index, table)| (table.alias.clone(), id(index))).collect();
        for (index, references) in references.iter().enumerate() {
            tables[index].foreign_keys = foreign_keys(&tables, index, references, &by_name);
        }
        let mut schema = Schema { tables, by_alias };
        schema.add_view_keys();
        schema.add_back_references();
        schema.check_aliases()?;
        Ok(schema)
    }

    /// Of two tables with one name only one could be reached, and nobody would know which.
    fn check_aliases(&self) -> Result<(), String> {
        match self.tables().find(|(id, table)| self.find(&table.alias) != Some(*id)) {
            Some((_, table)) => Err(format!("mapping: '{}' is the exposed name of two tables", table.alias)),
            None => Ok(()),
        }
    }

    /// The table at `id`.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.0 as usize]
    }

    /// The table that clients call `alias`.
    pub fn find(&self, alias: &str) -> Option<TableId> {
        self.by_alias.get(alias).copied()
    }

    /// All tables, in the order of their real names.
    pub fn tables(&self) -> impl Iterator<Item = (TableId, &Table)> + Clone {
        self.tables.iter().enumerate().map(|(index, table)| (id(index), table))
    }

    /// How many foreign keys there are.
    pub fn foreign_key_count(&self) -> usize {
        self.tables.iter().map(|table| table.foreign_keys.len()).sum()
    }

    /// compat: a view's key is its column `id`; a column `…<table>_id` of a view references that table,
    /// the last table in order winning (SPEC 6.4).
    fn add_view_keys(&mut self) {
        let targets: Vec<(String, TableId, usize)> = self
            .tables()
            .filter_map(|(id, table)| Some((format!("{}_id", table.alias), id, table.primary_key?)))
            .collect();
        for table in self.tables.iter_mut().filter(|table| table.kind == TableKind::View) {
            table.primary_key = table.primary_key.or_else(|| table.column("id"));
            for (column, definition) in table.columns.iter().enumerate() {
                let target =
                    targets.iter().rev().find(|(suffix, _, _)| definition.alias.ends_with(&**suffix));
                if let Some((_, id, target)) = target {
                    table.foreign_keys.push(ForeignKey { column, table: *id, target: *target });
                }
            }
        }
    }

    fn add_back_references(&mut self) {
        let all: Vec<(TableId, TableId, usize)> = self
            .tables()
            .flat_map(|(from, table)| {
                table.foreign_keys.iter().enumerate().map(move |(index, key)| (key.table, from, index))
            })
            .collect();
        for (to, from, index) in all {
            self.tables[to.0 as usize].referenced_by.push((from, index));
        }
    }
}

/// A table to publish that does not exist is a mistake, not an empty API.
fn check_published(raw: &[RawTable], publication: &Publication) -> Result<(), String> {
    let missing = publication.tables.iter().find(|name| !raw.iter().any(|table| table.name == **name));
    match missing {
        Some(name) => {
            let names: Vec<&str> = raw.iter().map(|table| table.name.as_str()).collect();
            Err(format!("tables: {}", unknown("table", name, names)))
        }
        None => Ok(()),
    }
}

fn id(index: usize) -> TableId {
    TableId(u32::try_from(index).expect("a database has fewer than 2^32 tables"))
}

fn resolve(raw: RawTable, publication: &Publication) -> Table {
    let mut columns = raw.columns;
    for column in &mut columns {
        column.alias = publication.mapping.column(&raw.name, &column.name).into();
        complete_sizes(column);
        column.quoted = publication.quoted_bigints && column.kind == ColumnType::Bigint;
    }
    let primary_key = match raw.key_columns.as_slice() {
        [only] => Some(*only),
        [first, ..] if publication.first_of_composite_key => Some(*first),
        _ => None,
    };
    Table {
        made_key: publication.declared.made_key(&raw.name),
        is_sharded: raw.is_sharded,
        alias: publication.mapping.table(&raw.name).into(),
        name: raw.name.into(),
        kind: raw.kind,
        columns,
        primary_key,
        key_columns: raw.key_columns,
        unique_keys: raw.unique_keys,
        foreign_keys: Vec::new(),
        referenced_by: Vec::new(),
    }
}

/// compat: sizes that the database does not declare have defaults (SPEC 6.3).
fn complete_sizes(column: &mut Column) {
    match column.kind {
        ColumnType::Varchar | ColumnType::Varbinary if column.length == 0 => column.length = 255,
        ColumnType::Decimal => {
            if column.precision == 0 {
                column.precision = 19;
            }
            if column.scale == 0 {
                column.scale = 4;
            }
        }
        _ => {}
    }
}

fn foreign_keys(
    tables: &[Table],
    index: usize,
    references: &[(String, String, Option<String>)],
    by_name: &HashMap<String, TableId>,
) -> Vec<ForeignKey> {
    let position = |table: &Table, name: &str| table.columns.iter().position(|column| &*column.name == name);
    let mut keys: Vec<ForeignKey> = references
        .iter()
        .filter_map(|(column, table, target)| {
            let column = position(&tables[index], column)?;
            let id = *by_name.get(table)?;
            let to = &tables[id.0 as usize];
            let target = match target {
                Some(name) => position(to, name)?,
                None => to.primary_key?,
            };
            Some(ForeignKey { column, table: id, target })
        })
        .collect();
    keys.sort_by_key(|key| key.column);
    keys
}
