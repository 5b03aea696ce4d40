//! The parameters of the operations on records.

use serde_json::{Map, Value as Json, json};

use crate::openapi::asked::Asked;
use crate::request::Operator;

/// The parameters of the operations on records, by the names that operations refer to.
pub fn record_parameters(asked: &Asked<'_>) -> Map<String, Json> {
    let text = || json!({"type": "string"});
    let pk = json!({
        "name": "id", "in": "path", "schema": {"type": "string"},
        "description": "primary key value, or several with commas between", "required": true
    });
    let integer_pk = json!({
        "name": "id", "in": "path",
        "schema": if asked.mode.is_strict() { json!({"type": "string", "pattern": "^-?[0-9]{1,18}(,-?[0-9]{1,18}){0,99}$"}) } else { text() },
        "description": "primary key value (integer), or several with commas between", "required": true,
        "example": "1",
    });
    let mut parameters = Map::from_iter([("pk".to_owned(), pk), ("pk_integer".to_owned(), integer_pk)]);
    parameters.extend(query_parameters(asked));
    parameters
}

/// The parameters of queries (SPEC 8).
fn query_parameters(asked: &Asked<'_>) -> Map<String, Json> {
    let text = || json!({"type": "string"});
    let texts = |pattern: &str| match pattern {
        "" => json!({"type": "array", "items": {"type": "string"}}),
        _ => json!({"type": "array", "items": {"type": "string", "pattern": pattern}}),
    };
    let is_strict = asked.mode.is_strict();
    let when_strict = |pattern: &'static str| if is_strict { pattern } else { "" };
    let numbers =
        |pattern: &str| if is_strict { json!({"type": "string", "pattern": pattern}) } else { text() };
    let mut all = Map::new();
    let mut add = |name: &str, schema: Json, description: &str| {
        let parameter = json!({
            "name": name, "in": "query", "schema": schema, "description": description, "required": false
        });
        all.insert(name.to_owned(), parameter);
    };
    let operators: Vec<String> = operators(asked);
    let filter = format!(
        "Filters to be applied. Each filter consists of a column, an operator and a value (comma separated). \
         Example: id,eq,1. Operators: {}. Filters are combined with AND; those named filter1, filter2 and so on are \
         groups that are combined with OR.",
        operators.join(", ")
    );
    let condition = format!("^[^,]+,({})(,|$)", operators.join("|"));
    add("filter", texts(if is_strict { &condition } else { "" }), &filter);
    add(
        "include",
        text(),
        "Columns you want to include in the output (comma separated). Example: posts.*,categories.name",
    );
    add(
        "exclude",
        text(),
        "Columns you want to exclude from the output (comma separated). Example: posts.content",
    );
    add(
        "order",
        texts(when_strict("^[^,]+(,(asc|desc))?$")),
        "Column you want to sort on and the sort direction (comma separated). Example: id,desc",
    );
    add("size", numbers("^[0-9]{1,9}$"), "Maximum number of results (for top lists). Example: 10");
    add(
        "page",
        numbers("^[1-9][0-9]{0,8}(,[0-9]{1,9})?$"),
        "Page number and page size (comma separated). Example: 1,10",
    );
    add(
        "join",
        texts(""),
        "Paths (comma separated) to related entities that you want to include. Example: comments,users",
    );
    if let Some(name) = &asked.policy.search {
        let parameter = json!({
            "name": name, "in": "query", "schema": {"type": "string"},
            "description": "Text to search for in all text columns", "required": false
        });
        all.insert("search".to_owned(), parameter);
    }
    all.extend(choices());
    all
}

/// The parameters that choose a format and what becomes of taken keys.
fn choices() -> [(String, Json); 3] {
    let formats = json!({"type": "string", "enum": ["json", "ndjson", "csv"]});
    let format = json!({
        "name": "format", "in": "query", "schema": formats,
        "description": "Format of the list, if not that of the Accept header", "required": false
    });
    let conflict = json!({
        "name": "onConflict", "in": "query", "schema": {"type": "string", "enum": ["error", "ignore", "update"]},
        "description": "What becomes of a record whose key is taken", "required": false
    });
    let key = json!({
        "name": "conflictKey", "in": "query", "schema": {"type": "string"},
        "description": "Columns of the unique key that onConflict is about (comma separated), if not the primary key",
        "required": false
    });
    [("format", format), ("onConflict", conflict), ("conflictKey", key)]
        .map(|(name, json)| (name.to_owned(), json))
}

/// The operators that filters may have, those that are negated among them.
fn operators(asked: &Asked<'_>) -> Vec<String> {
    Operator::names()
        .flat_map(|name| [name.to_owned(), format!("n{name}")])
        .filter(|name| match Operator::parse(name) {
            Some((Operator::Spatial(_), _)) => asked.dialect.has_spatial(),
            found => found.is_some(),
        })
        .collect()
}
