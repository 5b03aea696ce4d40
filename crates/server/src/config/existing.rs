//! Whether the tables and columns that rules name exist: a misspelt one would hide nothing.

use treeql::nearest::{unknown, unknown_of};
use treeql::policy::{Names, Rule, Rules};
use treeql::schema::{Schema, Table};

/// Compares the rules with the database. The error is a sentence with the nearest name that exists.
pub fn check(rules: &Rules, schema: &Schema) -> Result<(), String> {
    for (index, rule) in rules.all().enumerate() {
        check_rule(rule, schema)
            .map_err(|error| format!("authorization.rules, rule {}: {error}", index + 1))?;
    }
    for forced in rules.forced() {
        let at = |error: String| {
            let section = if forced.restricts { "multiTenancy" } else { "ipAddress" };
            format!("{section}: {error}")
        };
        let named: Vec<&Table> =
            forced.tables.iter().map(|name| table(schema, name)).collect::<Result<_, _>>().map_err(at)?;
        column(schema, &named, &forced.column).map_err(at)?;
    }
    Ok(())
}

fn check_rule(rule: &Rule, schema: &Schema) -> Result<(), String> {
    let mut named = Vec::new();
    for name in rule.tables.iter().filter(|name| *name != "*") {
        named.push(table(schema, name).map_err(|error| format!("tables: {error}"))?);
    }
    // A rule for all tables is about those, too, that will be.
    let meant: &[&Table] = if rule.tables.has("*") { &[] } else { &named };
    check_columns(schema, meant, &rule.hide).map_err(|error| format!("hide: {error}"))?;
    check_columns(schema, meant, &rule.read_only).map_err(|error| format!("readOnly: {error}"))?;
    for filter in &rule.filters {
        // A path to a related table is looked at by the planner.
        for table in meant.iter().filter(|_| !filter.column.contains('.')) {
            column(schema, &[table], &filter.column).map_err(|error| format!("filter: {error}"))?;
        }
    }
    Ok(())
}

fn check_columns(schema: &Schema, meant: &[&Table], names: &Names) -> Result<(), String> {
    for name in names.iter().filter(|name| *name != "*") {
        match name.split_once('.') {
            Some(("*", name)) => column(schema, meant, name)?,
            Some((_, "*")) => {}
            Some((of, name)) => column(schema, &[table(schema, of)?], name)?,
            None => column(schema, meant, name)?,
        }
    }
    Ok(())
}

fn table<'a>(schema: &'a Schema, name: &str) -> Result<&'a Table, String> {
    let found = schema.find(name).map(|id| schema.table(id));
    found.ok_or_else(|| unknown("table", name, schema.tables().map(|(_, table)| &*table.alias)))
}

/// One of the tables, or of all if none is named, must have the column.
fn column(schema: &Schema, tables: &[&Table], name: &str) -> Result<(), String> {
    if let [only] = tables {
        let sentence = || unknown_of("column", name, &only.alias, only.aliases());
        return only.column(name).map(drop).ok_or_else(sentence);
    }
    let all: Vec<&Table> = schema.tables().map(|(_, table)| table).collect();
    let among: &[&Table] = if tables.is_empty() { &all } else { tables };
    if among.iter().any(|table| table.column(name).is_some()) {
        return Ok(());
    }
    Err(unknown("column", name, among.iter().flat_map(|table| table.aliases())))
}
