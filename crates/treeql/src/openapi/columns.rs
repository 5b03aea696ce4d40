//! `/columns`: definitions of tables, read and changed (SPEC 15).

use serde_json::{Value as Json, json};

use crate::openapi::asked::Asked;
use crate::openapi::document::Document;
use crate::openapi::operation::OperationText;
use crate::openapi::reference::{reference, response};
use crate::request::Operation;
use crate::schema::ColumnType;

const READ_STATUSES: [u16; 4] = [404, 500, 503, 504];
const CHANGE_STATUSES: [u16; 9] = [403, 404, 405, 409, 413, 422, 500, 503, 504];
/// Path, method, tag, name, what it does, body, answer.
const OPERATIONS: [(&str, &str, &str, &str, &str, &str, &str); 9] = [
    ("/columns", "get", "database", "read_database", "read database", "", "read-database"),
    ("/columns", "post", "database", "create_table", "create table", "create-table", "bool-success"),
    ("/columns/{table}", "get", "table", "read_table", "read table", "", "read-table"),
    ("/columns/{table}", "put", "table", "update_table", "rename table", "update-table", "bool-success"),
    ("/columns/{table}", "delete", "table", "delete_table", "delete table", "", "bool-success"),
    ("/columns/{table}", "post", "table", "create_column", "create column", "create-column", "bool-success"),
    ("/columns/{table}/{column}", "get", "column", "read_column", "read column", "", "read-column"),
    (
        "/columns/{table}/{column}",
        "put",
        "column",
        "update_column",
        "update column",
        "update-column",
        "bool-success",
    ),
    ("/columns/{table}/{column}", "delete", "column", "delete_column", "delete column", "", "bool-success"),
];

/// Adds what of it this principal may use.
pub fn add(document: &mut Document, asked: &Asked<'_>) {
    let any = |operation| asked.schema.tables().any(|(_, table)| asked.policy.shows_table(operation, table));
    let creates = asked
        .policy
        .rules
        .as_ref()
        .is_none_or(|rules| rules.iter().any(|(rule, _)| rule.allow.has(Operation::Remodel)));
    let (reads, changes) = (any(Operation::Reflect), any(Operation::Remodel));
    let may = |id: &str, method: &str| match (id, method) {
        (_, "get") => reads,
        ("create_table", _) => creates,
        _ => changes,
    };
    if !(reads || changes || creates) {
        return;
    }
    add_components(document);
    for (path, method, tag, id, description, body, answer) in OPERATIONS {
        if !may(id, method) {
            continue;
        }
        let parameters: &[&str] = match path {
            "/columns" => &[],
            "/columns/{table}" => &["table"],
            _ => &["table", "column"],
        };
        let needed = asked.surface.write_headers.iter().filter(|(_, without)| !without.contains(&method));
        let headers =
            if method == "get" { Vec::new() } else { needed.map(|(header, _)| header.clone()).collect() };
        let operation = OperationText {
            parameters,
            own_parameters: headers,
            body: (!body.is_empty()).then(|| body.to_owned()),
            tag,
            id: id.to_owned(),
            description: description.to_owned(),
            answer: answer.to_owned(),
            statuses: if method == "get" { &READ_STATUSES } else { &CHANGE_STATUSES },
        };
        document.operation(path, method, operation);
    }
    for tag in ["database", "table", "column"] {
        document.tag(tag, &format!("{tag} operations"));
    }
}

fn add_components(document: &mut Document) {
    let read = column(&["name", "type"], &[("alias", "string"), ("generated", "boolean"), ("fk", "string")]);
    // False or null takes a foreign key away.
    let sent = |required: &[&str]| {
        let mut schema = column(required, &[]);
        schema["properties"]["fk"] = json!({});
        schema
    };
    let schemas = [
        ("read-database", list("tables", &reference("schemas", "read-table"))),
        ("create-table", {
            let mut schema = list("columns", &reference("schemas", "create-column"));
            schema["properties"]["name"] = json!({"type": "string"});
            schema["required"] = json!(["name", "columns"]);
            schema
        }),
        ("read-table", {
            let mut schema = list("columns", &reference("schemas", "read-column"));
            schema["properties"]["name"] = json!({"type": "string"});
            schema["properties"]["type"] = json!({"type": "string", "enum": ["table", "view"]});
            schema
        }),
        (
            "update-table",
            json!({
                "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}},
            }),
        ),
        ("create-column", sent(&["name", "type"])),
        ("read-column", read),
        ("update-column", sent(&[])),
    ];
    for (name, schema) in schemas {
        let kind = name.split('-').next_back().unwrap_or_default();
        let description = format!("single {kind} record");
        let of = reference("schemas", name);
        if name.starts_with("read-") {
            document.response(name, response(&description, &of));
        } else {
            let content = json!({"application/json": {"schema": of}});
            let body = json!({"description": description, "content": content, "required": true});
            document.request_body(name, body);
        }
        document.schema(name, schema);
    }
    let success = response("boolean indicating success or failure", &json!({"type": "boolean"}));
    document.response("bool-success", success);
    let path = |name: &str| {
        let schema = json!({"type": "string"});
        let description = format!("{name} name");
        let whole = json!({
            "name": name, "in": "path", "schema": schema, "description": description, "required": true
        });
        (name.to_owned(), whole)
    };
    document.add_parameters([path("table"), path("column")]);
}

fn list(name: &str, item: &Json) -> Json {
    json!({"type": "object", "properties": {name: {"type": "array", "items": item}}})
}

/// A column, with members that only some of its documents have.
fn column(required: &[&str], more: &[(&str, &str)]) -> Json {
    let number = json!({"type": "integer", "format": "int64"});
    let types: Vec<&str> = ColumnType::ALL.iter().map(|kind| kind.name()).collect();
    let mut schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "type": {"type": "string", "enum": types},
            "length": number,
            "precision": number,
            "scale": number,
            "nullable": {"type": "boolean"},
            "pk": {"type": "boolean"},
        },
    });
    for (name, kind) in more {
        schema["properties"][*name] = json!({"type": kind});
    }
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}
