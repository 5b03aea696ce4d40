//! `/records`: two paths for every table, with the operations that this principal may use.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use crate::openapi::asked::Asked;
use crate::openapi::components::{BATCH_FAILED, write_responses};
use crate::openapi::document::Document;
use crate::openapi::names::{component_names, segment};
use crate::openapi::operation::OperationText;
use crate::openapi::parameters::record_parameters;
use crate::openapi::record::{joined, list, sent, shown};
use crate::openapi::reference::{reference, response};
use crate::request::Operation;
use crate::schema::{Column, Table, TableId};

const OPERATIONS: [Operation; 6] = [
    Operation::List,
    Operation::Create,
    Operation::Read,
    Operation::Update,
    Operation::Delete,
    Operation::Increment,
];
const LIST_PARAMETERS: [&str; 7] = ["filter", "include", "exclude", "order", "size", "page", "join"];
const READ_STATUSES: [u16; 6] = [404, 413, 422, 500, 503, 504];
const WRITE_STATUSES: [u16; 9] = [403, 404, 409, 413, 422, BATCH_FAILED, 500, 503, 504];

/// Adds the paths and components of every table.
pub fn add(document: &mut Document, asked: &Asked<'_>) {
    let tables: Vec<(TableId, &Table)> = asked
        .schema
        .tables()
        .filter(|(id, table)| {
            asked.sees(*id) || OPERATIONS.iter().any(|operation| asked.can(*operation, table))
        })
        .collect();
    let names = component_names(tables.iter().map(|(_, table)| &*table.alias));
    let names: HashMap<TableId, String> = tables.iter().map(|(id, _)| *id).zip(names).collect();
    document.add_parameters(record_parameters(asked));
    for (name, answer) in write_responses(asked) {
        document.response(name, answer);
    }
    for (id, table) in tables {
        let name = &names[&id];
        add_schemas(document, asked, table, name);
        if asked.sees(id) {
            let record = joined(asked, id, |other| names[&other].clone());
            add_answers(document, asked, table, name, record);
        }
        for operation in OPERATIONS.into_iter().filter(|operation| asked.can(*operation, table)) {
            add_operation(document, asked, table, name, operation);
        }
        document.tag(&table.alias, &format!("{} operations", table.alias));
    }
}

fn add_schemas(document: &mut Document, asked: &Asked<'_>, table: &Table, name: &str) {
    for operation in [Operation::Create, Operation::Update, Operation::Increment] {
        if !asked.can(operation, table) {
            continue;
        }
        let key = format!("{}-{name}", operation.name());
        let one = reference("schemas", &key);
        let many = json!({"type": "array", "items": one});
        // A form holds texts; `NAME__is_null` is null (SPEC 3.2).
        let form = json!({"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}});
        let content = json!({
            "application/json": {"schema": {"anyOf": [one, many]}},
            "application/x-www-form-urlencoded": {"schema": form},
        });
        let description = format!("single {} record, or an array of records", table.alias);
        let body = json!({"description": description, "content": content, "required": true});
        document.schema(&*key, sent(asked, table, operation));
        document.request_body(key, body);
    }
}

/// What lists and reads of a table are answered with: plain records, and those that the query has shaped.
fn add_answers(document: &mut Document, asked: &Asked<'_>, table: &Table, name: &str, joined: Json) {
    let plain = shown(asked, table);
    let any = |forms: &[Json]| json!({"anyOf": forms});
    let shaped = reference("schemas", &format!("joined-{name}"));
    document.schema(format!("joined-{name}"), joined);
    if asked.can(Operation::List, table) {
        let key = format!("list-{name}");
        let answers = any(&[reference("schemas", &key), list(&shaped)]);
        document.schema(&*key, list(&plain));
        document.response(key, response(&format!("list of {} records", table.alias), &answers));
    }
    if asked.can(Operation::Read, table) {
        let key = format!("read-{name}");
        // Of several ids, one that is not there is null (SPEC 7.2).
        let each = any(&[shaped.clone(), asked.version.null()]);
        let many = json!({"type": "array", "items": each});
        let answers = any(&[reference("schemas", &key), shaped, many]);
        document.schema(&*key, plain);
        document.response(key, response(&format!("single {} record", table.alias), &answers));
    }
}

fn add_operation(
    document: &mut Document,
    asked: &Asked<'_>,
    table: &Table,
    name: &str,
    operation: Operation,
) {
    let is_about_one = !matches!(operation, Operation::List | Operation::Create);
    let id = if is_about_one { "/{id}" } else { "" };
    let path = format!("/records/{}{id}", segment(&table.alias));
    let (method, mut parameters): (_, Vec<&str>) = match operation {
        Operation::List => ("get", LIST_PARAMETERS.to_vec()),
        Operation::Read => ("get", vec!["pk", "include", "exclude", "join"]),
        Operation::Create => ("post", Vec::new()),
        Operation::Update => ("put", vec!["pk"]),
        Operation::Delete => ("delete", vec!["pk"]),
        _ => ("patch", vec!["pk"]),
    };
    if operation == Operation::List && asked.policy.search.is_some() {
        parameters.push("search");
    }
    if asked.has_integer_key(table) {
        parameters.iter_mut().filter(|name| **name == "pk").for_each(|name| *name = "pk_integer");
    }
    let mut own_parameters = Vec::new();
    if is_about_one && asked.needs_composite(table) {
        parameters.retain(|parameter| *parameter != "pk");
        own_parameters.push(address(table));
    }
    let is_write = !matches!(operation, Operation::List | Operation::Read);
    if is_write {
        let needed = asked.surface.write_headers.iter().filter(|(_, without)| !without.contains(&method));
        own_parameters.extend(needed.map(|(header, _)| header.clone()));
    }
    let has_body = is_write && operation != Operation::Delete;
    let mut statuses = if is_write { WRITE_STATUSES.to_vec() } else { READ_STATUSES.to_vec() };
    if operation == Operation::List && asked.policy.pages_max.is_some() {
        statuses.push(403);
    }
    let text = OperationText {
        parameters: &parameters,
        own_parameters,
        body: has_body.then(|| format!("{}-{name}", operation.name())),
        tag: &table.alias,
        id: format!("{}_{name}", operation.name()),
        description: format!("{} {}", operation.name(), table.alias),
        answer: answer_name(asked, table, name, operation),
        statuses: &statuses,
    };
    document.operation(&path, method, text);
}

fn answer_name(asked: &Asked<'_>, table: &Table, name: &str, operation: Operation) -> String {
    match operation {
        Operation::List | Operation::Read => format!("{}-{name}", operation.name()),
        Operation::Create if asked.has_integer_key(table) => "pk_integer".to_owned(),
        Operation::Create => "pk_string".to_owned(),
        _ => "rows_affected".to_owned(),
    }
}

/// The parameter for the address of a record by several columns (SPEC 6.4).
fn address(table: &Table) -> Json {
    let columns: Vec<&Column> = table.key_columns.iter().map(|index| &table.columns[*index]).collect();
    let form: Vec<String> = columns.iter().map(|column| format!("{}=VALUE", column.alias)).collect();
    json!({
        "name": "id", "in": "path", "schema": {"type": "string"},
        "description": format!("primary key values: {}, or several with commas between", form.join(";")),
        "required": true,
    })
}
