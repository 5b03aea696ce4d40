//! The catalog of PostgreSQL as a schema, in four queries over all tables.

use std::collections::HashMap;

use tokio_postgres::Client;
use treeql::schema::{Column, RawTable, TableKind};

use crate::driver::postgres::types::catalog_type;

/// Which relations are published: those that a bare name leads to, without the catalogs, the partitions of a table
/// and what PostGIS keeps for itself.
const RELATIONS: &str = "c.relkind IN ('r','p','f','v','m') AND NOT c.relispartition \
    AND n.nspname NOT IN ('information_schema') AND n.nspname NOT LIKE 'pg\\_%' \
    AND pg_table_is_visible(c.oid) AND c.relname NOT IN \
    ('spatial_ref_sys','raster_columns','raster_overviews','geography_columns','geometry_columns')";

/// All columns of all tables; domains count as the type they are of.
fn columns_query() -> String {
    format!(
        "SELECT c.oid, c.relname, c.relkind::text, a.attnum, a.attname, COALESCE(b.typname, t.typname), \
            CASE WHEN b.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END, a.attnotnull, \
            a.attgenerated <> '' OR a.attidentity = 'a' \
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
        JOIN pg_type t ON t.oid = a.atttypid \
        LEFT JOIN pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype \
        WHERE {RELATIONS} ORDER BY c.oid, a.attnum"
    )
}

/// All primary keys: table and columns in key order.
const PRIMARY_KEYS: &str = "SELECT indrelid, indkey::int2[] FROM pg_index WHERE indisprimary";

/// All other unique keys of plain columns that hold for all rows, at once.
const UNIQUE_KEYS: &str = "SELECT indrelid, (indkey::int2[])[0:indnkeyatts - 1] FROM pg_index WHERE indisunique \
    AND NOT indisprimary AND indisvalid AND indimmediate AND indpred IS NULL AND indexprs IS NULL \
    ORDER BY indexrelid";

/// All foreign keys: table, columns, referenced table, referenced columns.
const FOREIGN_KEYS: &str = "SELECT conrelid, conkey, confrelid, confkey FROM pg_constraint \
    WHERE contype = 'f' AND conparentid = 0 ORDER BY conrelid, conname";

/// A number that differs when a table, a column or a constraint does.
const FINGERPRINT: &str = "SELECT hashtextextended(concat( \
    (SELECT SUM(hashtext(oid::text || xmin::text || relname)::bigint) FROM pg_class \
        WHERE relkind IN ('r','p','f','v','m','i') AND oid >= 16384), '/', \
    (SELECT SUM(hashtext(attrelid::text || attnum::text || xmin::text)::bigint) FROM pg_attribute \
        WHERE attrelid >= 16384), '/', \
    (SELECT SUM(hashtext(oid::text || xmin::text)::bigint) FROM pg_constraint)), 0)";

/// Every table and view that a bare name leads to. Nothing here is prepared under a name, because a pooler may stand
/// in between.
pub async fn tables(client: &Client) -> Result<Vec<RawTable>, tokio_postgres::Error> {
    let mut catalog = Catalog::default();
    for row in client.query_typed(&columns_query(), &[]).await? {
        catalog.add_column(&row);
    }
    for row in client.query_typed(PRIMARY_KEYS, &[]).await? {
        catalog.add_primary_key(row.get(0), &row.get::<_, Vec<i16>>(1));
    }
    for row in client.query_typed(UNIQUE_KEYS, &[]).await? {
        catalog.add_unique_key(row.get(0), &row.get::<_, Vec<i16>>(1));
    }
    for row in client.query_typed(FOREIGN_KEYS, &[]).await? {
        let (columns, targets): (Vec<i16>, Vec<i16>) = (row.get(1), row.get(3));
        // A part of a composite foreign key alone would relate rows that have nothing to do with each other.
        if let ([column], [target]) = (columns.as_slice(), targets.as_slice()) {
            catalog.add_foreign_key(row.get(0), *column, row.get(2), *target);
        }
    }
    Ok(catalog.tables)
}

/// A number that differs when the schema does.
pub async fn fingerprint(client: &Client) -> Result<u64, tokio_postgres::Error> {
    let row = client.query_typed_one(FINGERPRINT, &[]).await?;
    Ok(row.get::<_, i64>(0).cast_unsigned())
}

/// Tables under construction, found by the numbers that the catalog refers to them by.
#[derive(Default)]
struct Catalog {
    tables: Vec<RawTable>,
    by_oid: HashMap<u32, usize>,
    places: HashMap<(u32, i16), usize>,
}

impl Catalog {
    fn add_column(&mut self, row: &tokio_postgres::Row) {
        let (oid, relation, relation_kind): (u32, String, String) = (row.get(0), row.get(1), row.get(2));
        let kind = if matches!(&*relation_kind, "v" | "m") { TableKind::View } else { TableKind::Table };
        let tables = &mut self.tables;
        let index = *self.by_oid.entry(oid).or_insert_with(|| {
            tables.push(RawTable {
                name: relation,
                kind,
                columns: Vec::new(),
                key_columns: Vec::new(),
                unique_keys: Vec::new(),
                references: Vec::new(),
                is_sharded: false,
            });
            tables.len() - 1
        });
        let table = &mut self.tables[index];
        let (number, name): (i16, String) = (row.get(3), row.get(4));
        let found = catalog_type(row.get(5), row.get(6));
        let (not_null, generated): (bool, bool) = (row.get(7), row.get(8));
        self.places.insert((oid, number), table.columns.len());
        table.columns.push(Column {
            name: name.clone().into(),
            alias: name.into(),
            kind: found.kind,
            length: found.length,
            precision: found.precision,
            scale: found.scale,
            // compat: columns of views are never nullable (SPEC 6.3).
            nullable: !not_null && kind == TableKind::Table,
            generated,
            as_text: found.as_text,
            quoted: false,
            is_uuid: row.get::<_, &str>(5) == "uuid",
        });
    }

    fn add_primary_key(&mut self, oid: u32, numbers: &[i16]) {
        let Some(index) = self.by_oid.get(&oid) else { return };
        self.tables[*index].key_columns =
            numbers.iter().filter_map(|number| self.places.get(&(oid, *number)).copied()).collect();
    }

    fn add_unique_key(&mut self, oid: u32, numbers: &[i16]) {
        let Some(index) = self.by_oid.get(&oid) else { return };
        let key = numbers.iter().map(|number| self.places.get(&(oid, *number)).copied());
        self.tables[*index].unique_keys.extend(key.collect::<Option<Vec<usize>>>());
    }

    fn add_foreign_key(&mut self, from: u32, column: i16, to: u32, target: i16) {
        let (Some(table), Some(other)) = (self.by_oid.get(&from), self.by_oid.get(&to)) else { return };
        let (Some(place), Some(target)) = (self.places.get(&(from, column)), self.places.get(&(to, target)))
        else {
            return;
        };
        let column = self.tables[*table].columns[*place].name.to_string();
        let (other, target) =
            (self.tables[*other].name.clone(), self.tables[*other].columns[*target].name.to_string());
        self.tables[*table].references.push((column, other, Some(target)));
    }
}
