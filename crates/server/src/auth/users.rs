//! Users: records of people in a table of the database, read and written past the rules for callers.

use std::borrow::Cow;
use std::sync::Arc;

use engine::database::Snapshot;
use engine::exec::{self, Answer, Step};
use serde_json::{Map, Value as Json};
use treeql::encode::Format;
use treeql::error::{Code, Error};
use treeql::policy::{Policy, Secrets};
use treeql::record::prepare;
use treeql::request::{Cell, Filter, Operation, Operator, Record, Request, Values, Window};

/// Rules have numbers from 0 on; this policy is none of them.
const OPEN_POLICY: u32 = u32::MAX;

fn open_policy() -> Policy {
    Policy { id: OPEN_POLICY, secrets: Secrets::published(), ..Policy::default() }
}

/// The first record of `table`, in key order, whose `column` is `value`.
pub async fn find(
    snapshot: &Arc<Snapshot>,
    table: &str,
    column: &str,
    value: &str,
) -> Result<Option<Map<String, Json>>, Error> {
    let mut request = Request::new(Operation::List, table);
    request.window = Window::Limit;
    request.query.filters.push(Filter {
        group: Cow::Borrowed(""),
        column: Cow::Borrowed(column),
        operator: Operator::Equal,
        negated: false,
        slots: 1,
    });
    let values = Values { slots: vec![Cow::Borrowed(value)], limit: Some(1), ..Values::default() };
    let plan = snapshot.plan(&request, &open_policy())?;
    let Answer::Whole(document) = exec::list(snapshot, &plan, values, Format::Json).await? else {
        return Err(Error::new(Code::Internal, "A user's record is too large"));
    };
    let unreadable = |_error| Error::new(Code::Internal, "A user's record cannot be read");
    let mut document: Map<String, Json> = serde_json::from_slice(&document).map_err(unreadable)?;
    let records = document.remove("records");
    Ok(match records {
        Some(Json::Array(mut records)) if !records.is_empty() => match records.remove(0) {
            Json::Object(record) => Some(record),
            _ => None,
        },
        _ => None,
    })
}

/// Writes a new record.
pub async fn create(snapshot: &Arc<Snapshot>, table: &str, record: Record<'_>) -> Result<(), Error> {
    write(snapshot, Operation::Create, table, None, record).await
}

/// Changes the record with this key.
pub async fn update(
    snapshot: &Arc<Snapshot>,
    table: &str,
    key: &str,
    record: Record<'_>,
) -> Result<(), Error> {
    write(snapshot, Operation::Update, table, Some(key), record).await
}

async fn write(
    snapshot: &Arc<Snapshot>,
    operation: Operation,
    table: &str,
    key: Option<&str>,
    record: Record<'_>,
) -> Result<(), Error> {
    let mut request = Request::new(operation, table);
    request.members = record.iter().map(|(name, _)| Cow::Borrowed(name.as_ref())).collect();
    let plan = snapshot.plan(&request, &open_policy())?;
    let written = plan.write();
    let definition = snapshot.schema.table(written.table);
    let setting = snapshot.setting;
    let id: Vec<&str> = key.into_iter().collect();
    let cells = prepare(operation, definition, &id, &record, setting.dialect, setting.mode)?;
    let is_create = operation == Operation::Create;
    let values = Values { ids: key.into_iter().map(Cow::Borrowed).collect(), ..Values::default() };
    let step = Step { plan, cells, sent_key: None, is_create };
    let mut results = exec::write(snapshot, vec![step], values, false).await?;
    results.pop().unwrap_or(Ok(Vec::new())).map(|_written| ())
}

/// The exposed name of the primary key of `table`.
pub fn key_column<'a>(snapshot: &'a Snapshot, table: &str) -> Option<&'a str> {
    let schema = &snapshot.schema;
    schema.find(table).and_then(|id| schema.table(id).key()).map(|key| &*key.alias)
}

/// A JSON value as the text that a filter or a path takes.
pub fn text(value: Option<&Json>) -> String {
    match value {
        Some(Json::String(text)) => text.clone(),
        None | Some(Json::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

/// A JSON value as a member of a record.
pub fn cell(value: &Json) -> Cell<'static> {
    match value {
        Json::Null => Cell::Null,
        Json::Bool(truth) => Cell::Bool(*truth),
        Json::Number(number) => Cell::Number(Cow::Owned(number.to_string())),
        Json::String(text) => Cell::Text(Cow::Owned(text.clone())),
        other => Cell::Json(Cow::Owned(other.to_string())),
    }
}
