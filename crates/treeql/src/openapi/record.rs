//! The schemas of a table's records: listed, read, with others joined to them, created, updated, incremented.

use serde_json::{Map, Value as Json, json};

use crate::openapi::asked::Asked;
use crate::openapi::column::{Use, column};
use crate::openapi::reference::reference;
use crate::request::Operation;
use crate::schema::{Relation, Table, TableId, relations};

/// The members of a record that is answered.
pub fn shown(asked: &Asked<'_>, table: &Table) -> Json {
    let properties: Map<String, Json> = asked
        .columns(table)
        .map(|(index, found)| (found.alias.to_string(), column(asked, table, index, Use::Read)))
        .collect();
    json!({"type": "object", "properties": properties})
}

/// The answer to a list of records.
pub fn list(record: &Json) -> Json {
    json!({
        "type": "object",
        "required": ["records"],
        "properties": {
            "results": {"type": "integer", "format": "int64"},
            "records": {"type": "array", "items": record},
        },
    })
}

/// The members of a record that is sent. In the strict mode anything else is an error.
pub fn sent(asked: &Asked<'_>, table: &Table, operation: Operation) -> Json {
    let purpose = match operation {
        Operation::Increment => Use::Increment,
        Operation::Update => Use::Change,
        _ => Use::Write,
    };
    let is_meant = |index: usize| match operation {
        Operation::Increment => {
            table.columns[index].kind.is_number()
                && !table.key_columns.contains(&index)
                && table.primary_key != Some(index)
        }
        _ => true,
    };
    let properties: Map<String, Json> = asked
        .columns(table)
        .filter(|(index, _)| asked.writes(table, *index) && is_meant(*index))
        .map(|(index, found)| (found.alias.to_string(), column(asked, table, index, purpose)))
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if asked.mode.is_strict() {
        schema["additionalProperties"] = false.into();
    }
    schema
}

/// A record as the parameters of a query may shape it. Foreign keys are replaced by the records that they lead to, lists of
/// related records stand after the columns (SPEC 9), and a record without columns is an empty list (SPEC 4).
pub fn joined(asked: &Asked<'_>, id: TableId, name: impl Fn(TableId) -> String) -> Json {
    let table = asked.schema.table(id);
    let other = |to: TableId| reference("schemas", &format!("joined-{}", name(to)));
    let mut members = Map::new();
    for (index, found) in asked.columns(table) {
        let plain = column(asked, table, index, Use::Shaped);
        let keys = table.foreign_keys.iter().filter(|key| key.column == index && asked.can_join(id, key));
        let targets: Vec<Json> = keys.map(|key| other(key.table)).collect();
        let member = if targets.is_empty() {
            plain
        } else {
            // A record that is gone, or that may not be seen, is null.
            let choices: Vec<Json> =
                [plain].into_iter().chain(targets).chain([asked.version.null()]).collect();
            json!({"anyOf": choices})
        };
        members.insert(found.alias.to_string(), member);
    }
    for to in listed(asked, id) {
        // A column of this name stands where it is; the list comes after it, and the last of a name counts.
        let alias = asked.schema.table(to).alias.to_string();
        members.insert(alias, json!({"type": "array", "items": other(to)}));
    }
    let empty = json!({"type": "array", "items": {}, "maxItems": 0});
    json!({"anyOf": [{"type": "object", "properties": members}, empty]})
}

/// The tables whose rows can be joined to a record as a list, each once, in the order of the schema.
fn listed(asked: &Asked<'_>, id: TableId) -> Vec<TableId> {
    let table = asked.schema.table(id);
    let near = table.referenced_by.iter().map(|(from, _)| *from);
    // What lies behind a junction is found from the junction, not by trying every table.
    let far = table
        .referenced_by
        .iter()
        .flat_map(|(junction, _)| asked.schema.table(*junction).foreign_keys.iter().map(|key| key.table));
    let mut candidates: Vec<TableId> = near.chain(far).filter(|to| asked.sees(*to)).collect();
    candidates.sort_unstable();
    candidates.dedup();
    candidates.retain(|to| {
        let found = relations(asked.schema, id, *to, |table, key| asked.can_join(table, key));
        found.iter().any(|relation| !matches!(relation, Relation::BelongsTo { .. }))
    });
    candidates
}
