//! How parts of a document name each other.

use serde_json::{Value as Json, json};

/// A reference to a component.
pub fn reference(kind: &str, name: &str) -> Json {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}

/// The name of the response with this status.
pub fn error_name(status: u16) -> String {
    format!("error-{status}")
}

/// A response with a JSON document.
pub fn response(description: &str, schema: &Json) -> Json {
    json!({"description": description, "content": {"application/json": {"schema": schema}}})
}
