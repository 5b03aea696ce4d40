//! Tables and columns as documents (SPEC 15.1).

use crate::encode::write_string;
use crate::remodel::shown::Shown;
use crate::schema::{Table, TableKind};

/// Writes `{"tables":[…]}`.
pub fn write_database(out: &mut Vec<u8>, shown: Shown<'_>) {
    out.extend_from_slice(b"{\"tables\":[");
    for (index, (_, table)) in shown.tables().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_table(out, shown, table);
    }
    out.extend_from_slice(b"]}");
}

/// Writes a table with its columns; there is no member for what is not.
pub fn write_table(out: &mut Vec<u8>, shown: Shown<'_>, table: &Table) {
    write_names(out, &table.name, &table.alias);
    out.extend_from_slice(match table.kind {
        TableKind::Table => b",\"type\":\"table\"",
        TableKind::View => b",\"type\":\"view\"",
    });
    let columns = (0..table.columns.len()).filter(|column| shown.policy.shows_column(table, *column));
    for (place, column) in columns.enumerate() {
        out.extend_from_slice(if place == 0 { b",\"columns\":[" } else { b"," });
        write_column(out, shown, table, column);
    }
    out.extend_from_slice(if out.ends_with(b"}") { b"]}" } else { b"}" });
}

/// Writes the column at `index` of a table.
pub fn write_column(out: &mut Vec<u8>, shown: Shown<'_>, table: &Table, index: usize) {
    let column = &table.columns[index];
    write_names(out, &column.name, &column.alias);
    out.extend_from_slice(format!(",\"type\":\"{}\"", column.kind).as_bytes());
    for (member, number) in
        [("length", column.length), ("precision", column.precision), ("scale", column.scale)]
    {
        if number > 0 {
            out.extend_from_slice(format!(",\"{member}\":{number}").as_bytes());
        }
    }
    // compat: of a composite key the reference shows the first column, if any (SPEC 6.4).
    let is_in_key = shown.mode.is_strict() && table.key_columns.contains(&index);
    let is_key = table.primary_key == Some(index) || is_in_key;
    for (member, is) in [("nullable", column.nullable), ("pk", is_key), ("generated", column.generated)] {
        if is {
            out.extend_from_slice(format!(",\"{member}\":true").as_bytes());
        }
    }
    if let Some(key) = table.foreign_key(index) {
        let target = shown.schema.table(key.table);
        // compat: the reference tells the name of a table that may not be seen (SPEC 15.1).
        if !shown.mode.is_strict() || shown.policy.shows_table(shown.operation, target) {
            out.extend_from_slice(b",\"fk\":");
            write_string(out, &target.alias);
        }
    }
    out.push(b'}');
}

fn write_names(out: &mut Vec<u8>, name: &str, alias: &str) {
    out.extend_from_slice(b"{\"name\":");
    write_string(out, name);
    if name != alias {
        out.extend_from_slice(b",\"alias\":");
        write_string(out, alias);
    }
}
