//! Components that do not depend on tables: errors, and answers to writes.

use serde_json::{Value as Json, json};

use crate::error::Code;
use crate::openapi::asked::Asked;
use crate::openapi::reference::{reference, response};

/// The status of a batch that failed; its answer is a list of error documents (SPEC 12).
pub const BATCH_FAILED: u16 = 424;

/// The response for a status of an error, with every code that has it.
pub fn error_response(status: u16) -> Json {
    let codes: Vec<String> = Code::ALL
        .iter()
        .filter(|code| code.status() == status)
        .map(|code| format!("{} {}", code.number(), code.message()))
        .collect();
    if status == BATCH_FAILED {
        let description =
            "a record of the batch failed; nothing was written, and this is what became of each";
        return response(description, &reference("schemas", "batch-errors"));
    }
    response(&codes.join("; "), &reference("schemas", "error"))
}

/// The schemas of error documents.
pub fn error_schemas() -> [(String, Json); 2] {
    let error = json!({
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": {"type": "integer", "format": "int32"},
            "message": {"type": "string"},
            "details": {
                "type": "object",
                "description": "what is wrong, by parameter, member or column",
                "additionalProperties": {"type": "string"},
            },
        },
    });
    let batch = json!({"type": "array", "items": reference("schemas", "error")});
    [("error".to_owned(), error), ("batch-errors".to_owned(), batch)]
}

/// The answers to writes. A single record is answered by a value, a batch by a list of such values.
pub fn write_responses(asked: &Asked<'_>) -> [(String, Json); 3] {
    let one_or_many = |description: &str, one: &Json| {
        let many = json!({"type": "array", "items": one});
        response(description, &json!({"anyOf": [one, many]}))
    };
    let number = json!({"type": "integer", "format": "int64"});
    // A key that was sent comes back as it was sent (SPEC 7.3).
    let integer_key = json!({"anyOf": [number, {"type": "string"}]});
    let other_key = json!({"anyOf": [
        {"type": "string"}, {"type": "number"}, {"type": "boolean"}, asked.version.null()
    ]});
    [
        (
            "pk_integer".to_owned(),
            one_or_many("inserted primary key value (integer), or as it was sent", &integer_key),
        ),
        ("pk_string".to_owned(), one_or_many("inserted primary key value (string)", &other_key)),
        ("rows_affected".to_owned(), one_or_many("number of rows affected (integer)", &number)),
    ]
}
