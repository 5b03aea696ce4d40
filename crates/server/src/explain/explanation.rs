//! Explanation: everything that is known about a request before it is run.

use serde::Serialize;
use serde_json::Value as Json;

/// What the rules make of a request.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// Method and target as asked.
    pub request: String,
    /// Who asks: `anonymous`, or the claims.
    pub who: String,
    /// What is done.
    pub operation: &'static str,
    /// The tables that the request names, and the junctions between them.
    pub tables: Vec<TableRules>,
    /// What bounds the request, with the name of the setting.
    pub limits: Vec<Limit>,
    /// What would be run; empty if the request is refused.
    pub statements: Vec<Explained>,
    /// The error that would be answered.
    pub refusal: Option<Refusal>,
}

/// What the rules say about a table.
#[derive(Debug, Serialize)]
pub struct TableRules {
    /// Its exposed name.
    pub table: String,
    /// Whether it exists for who asks.
    pub exists: bool,
    /// Every rule of the authorization, in its order.
    pub rules: Vec<RuleOutcome>,
    /// Conditions on its rows, with where they are configured.
    pub rows: Vec<String>,
    /// Its columns.
    pub columns: Vec<ColumnRules>,
}

/// Whether a rule decides, and why.
#[derive(Debug, Serialize)]
pub struct RuleOutcome {
    /// Where it stands in the configuration.
    pub place: String,
    /// Whether it decides about the table.
    pub decides: bool,
    /// Why, or why not.
    pub why: String,
}

/// What becomes of a column.
#[derive(Debug, Serialize)]
pub struct ColumnRules {
    /// Its exposed name.
    pub column: String,
    /// `shown`, `read-only`, `forced` or `hidden`.
    pub treatment: &'static str,
    /// Why, unless it is simply shown.
    pub why: String,
}

/// A bound of the request.
#[derive(Debug, Serialize)]
pub struct Limit {
    /// What is bounded.
    pub what: &'static str,
    /// The bound; none if there is none.
    pub max: Option<i64>,
}

/// A statement that would be run.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// What it is for.
    pub purpose: String,
    /// Its text, with placeholders.
    pub sql: String,
    /// What is bound to them, in their order.
    pub values: Vec<Bound>,
}

/// What is bound to a placeholder.
#[derive(Debug, Serialize)]
pub struct Bound {
    /// Where the value comes from.
    pub source: String,
    /// The value, where it is known before the statement is run.
    pub value: Json,
    /// What is put around it: `%…%` for a text that is looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<&'static str>,
    /// The column that it is compared with or stored in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
}

/// The error that the server would answer with.
#[derive(Debug, Serialize)]
pub struct Refusal {
    /// The status.
    pub status: u16,
    /// The document.
    pub body: Json,
}
