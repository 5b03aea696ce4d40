//! Paths that are about the server and no table: `/status`, `/cache`, `/health`, and those to log in.

use serde_json::{Map, Value as Json, json};

use crate::openapi::asked::{Accounts, Asked};
use crate::openapi::document::Document;
use crate::openapi::operation::OperationText;
use crate::openapi::reference::{reference, response};

/// Adds the groups that are served.
pub fn add(document: &mut Document, asked: &Asked<'_>) {
    let groups = asked.surface.groups;
    if groups.status {
        add_status(document);
    }
    if groups.cache {
        add_cache(document);
    }
    if groups.health {
        add_health(document);
    }
    if let Some(accounts) = &asked.surface.accounts {
        add_accounts(document, accounts);
    }
}

/// `/login` and its like (SPEC 18.8).
fn add_accounts(document: &mut Document, accounts: &Accounts) {
    let text = json!({"type": "string"});
    let body = |fields: &[&String]| {
        let properties: Map<String, Json> =
            fields.iter().map(|name| ((*name).clone(), text.clone())).collect();
        let schema = json!({"type": "object", "required": fields, "properties": properties});
        let types = ["application/json", "application/x-www-form-urlencoded"];
        let content: Map<String, Json> =
            types.iter().map(|kind| ((*kind).to_owned(), json!({"schema": schema}))).collect();
        json!({"description": "name and password", "content": content, "required": true})
    };
    let Accounts { username, password, new_password, registers } = accounts;
    document.request_body("credentials", body(&[username, password]));
    document.request_body("new-password", body(&[username, password, new_password]));
    document.schema("user", json!({"type": "object"}));
    document.response("user", response("the record of the user", &reference("schemas", "user")));
    let all: [(&str, &str, &str, &[u16], bool); 5] = [
        ("login", "post", "credentials", &[403, 413, 422, 429, 500, 503, 504], true),
        ("register", "post", "credentials", &[403, 409, 413, 422, 429, 500, 503, 504], *registers),
        ("password", "post", "new-password", &[401, 403, 413, 422, 429, 500, 503, 504], true),
        ("logout", "post", "", &[401], true),
        ("me", "get", "", &[401], true),
    ];
    for (name, method, body, statuses, _) in all.into_iter().filter(|(.., exists)| *exists) {
        let operation = OperationText {
            parameters: &[],
            own_parameters: Vec::new(),
            body: (!body.is_empty()).then(|| body.to_owned()),
            tag: "account",
            id: format!("{name}_user"),
            description: format!("{name} of the user"),
            answer: "user".to_owned(),
            statuses,
        };
        document.operation(&format!("/{name}"), method, operation);
    }
    document.tag("account", "account operations");
}

fn add_status(document: &mut Document) {
    let microseconds = json!({"type": "integer", "format": "int64"});
    document.schema(
        "ping-status",
        json!({
            "type": "object",
            "required": ["db", "cache"],
            "properties": {"db": microseconds, "cache": microseconds},
        }),
    );
    document.response("ping-status", response("ping status record", &reference("schemas", "ping-status")));
    let ping = OperationText {
        description: "Request API 'ping' status".to_owned(),
        ..plain("status", "ping_status", "ping-status", &[500, 503, 504])
    };
    document.operation("/status/ping", "get", ping);
    document.tag("status", "status operations");
}

fn add_cache(document: &mut Document) {
    document.response("cache-cleared", response("the catalog was read again", &json!({"type": "boolean"})));
    document.operation(
        "/cache/clear",
        "get",
        plain("cache", "clear_cache", "cache-cleared", &[500, 503, 504]),
    );
    document.tag("cache", "cache operations");
}

fn add_health(document: &mut Document) {
    document.schema(
        "health",
        json!({
            "type": "object",
            "required": ["status"],
            "properties": {"status": {"type": "string"}, "reason": {"type": "string"}},
        }),
    );
    let health = reference("schemas", "health");
    document.response("health", response("it is", &health));
    document.response("not-ready", response("it is not, or not now", &health));
    for (path, id) in [("/health/live", "is_live"), ("/health/ready", "is_ready")] {
        document.operation(path, "get", plain("health", id, "health", &[]));
        document.respond(path, "get", 503, "not-ready");
    }
    document.tag("health", "health operations");
}

/// An operation without parameters and body.
fn plain<'a>(tag: &'a str, id: &str, answer: &str, statuses: &'a [u16]) -> OperationText<'a> {
    OperationText {
        parameters: &[],
        own_parameters: Vec::new(),
        body: None,
        tag,
        id: id.to_owned(),
        description: id.replace('_', " "),
        answer: answer.to_owned(),
        statuses,
    }
}
