//! `/geojson`: lists and records as features, for tables that have a shape to show (SPEC 14).

use serde_json::json;

use crate::openapi::asked::Asked;
use crate::openapi::document::Document;
use crate::openapi::names::{component_names, segment};
use crate::openapi::operation::OperationText;
use crate::openapi::reference::{reference, response};
use crate::request::Operation;
use crate::schema::{ColumnType, Table};

const STATUSES: [u16; 6] = [404, 413, 422, 500, 503, 504];

/// Adds the paths of every table with a geometry that may be seen.
pub fn add(document: &mut Document, asked: &Asked<'_>) {
    let has_shape = |table: &Table| {
        asked.columns(table).any(|(_, column)| column.kind == ColumnType::Geometry)
            && asked.can(Operation::List, table)
    };
    let tables: Vec<&Table> =
        asked.schema.tables().map(|(_, table)| table).filter(|table| has_shape(table)).collect();
    if tables.is_empty() {
        return;
    }
    add_components(document);
    let names = component_names(tables.iter().map(|table| &*table.alias));
    for (table, name) in tables.into_iter().zip(names) {
        add_table(document, asked, table, &name);
    }
}

fn add_components(document: &mut Document) {
    let parameter = |name: &str, description: &str| {
        let schema = json!({"type": "string"});
        let whole = json!({
            "name": name, "in": "query", "schema": schema, "description": description, "required": false
        });
        (name.to_owned(), whole)
    };
    document.add_parameters([
        parameter("geometry", "Geometry column that is the shape of the features"),
        parameter("bbox", "Box that the shapes meet: west, south, east, north. Example: 5,50,15,55"),
        parameter("tile", "Tile of a web map that the shapes meet: z, x, y. Example: 6,33,21"),
    ]);
    let feature = json!({
        "type": "object",
        "required": ["type", "properties"],
        "properties": {
            "type": {"type": "string", "enum": ["Feature"]},
            "id": {},
            "properties": {},
            "geometry": {},
        },
    });
    document.schema("feature", feature);
    let features = json!({
        "type": "object",
        "required": ["type", "features"],
        "properties": {
            "type": {"type": "string", "enum": ["FeatureCollection"]},
            "features": {"type": "array", "items": reference("schemas", "feature")},
            "results": {"type": "integer", "format": "int64"},
        },
    });
    document.schema("features", features);
    document.response("features", response("records as features", &reference("schemas", "features")));
    let one = json!({"anyOf": [reference("schemas", "feature"), reference("schemas", "features")]});
    document.response("feature", response("single record as a feature, or several", &one));
}

fn add_table(document: &mut Document, asked: &Asked<'_>, table: &Table, name: &str) {
    let segment = segment(&table.alias);
    let operation = |answer: &str, parameters: &'static [&'static str]| OperationText {
        parameters,
        own_parameters: Vec::new(),
        body: None,
        tag: &table.alias,
        id: format!("{answer}_{name}"),
        description: format!("{answer} of {}", table.alias),
        answer: answer.to_owned(),
        statuses: &STATUSES,
    };
    let all = ["filter", "include", "exclude", "order", "size", "page", "join", "geometry", "bbox", "tile"];
    let list = OperationText { parameters: &all, ..operation("features", &[]) };
    document.operation(&format!("/geojson/{segment}"), "get", list);
    if asked.can(Operation::Read, table) && !asked.needs_composite(table) {
        let one = operation("feature", &["pk", "include", "exclude", "join", "geometry"]);
        document.operation(&format!("/geojson/{segment}/{{id}}"), "get", one);
    }
}
