//! `/records`: list, read, create, update, increment and delete (SPEC 7).

use std::borrow::Cow;
use std::sync::Arc;

use engine::exec::{self, Answer, Step};
use http::{HeaderName, HeaderValue, StatusCode};
use treeql::encode::{Format, write_error, write_string};
use treeql::error::{Code, Error};
use treeql::plan::{Key, Plan};
use treeql::record::prepare;
use treeql::request::{
    Cell, Conflict, Features, Operation, Query, Record, RecordBatch, Request, Values, Window, Writing,
    composite_address, parameter, parse_query,
};

use crate::api::clean::clean;
use crate::api::context::Context;
use crate::api::controller::Controller;
use crate::api::format::wanted;
use crate::api::ids::{Found, Ids};
use crate::api::import::{import, syntax};
use crate::api::made_key::add_key;
use crate::http::{Body, Incoming, Response};

/// Says how many records a list has at most, to those who have not said so themselves.
const RECORDS_LIMIT: HeaderName = HeaderName::from_static("x-records-limit");

/// A list as it is planned, with the values that it is run with.
pub struct Listed<'a> {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What fills its holes.
    pub values: Values<'a>,
    /// The most records, if the caller has not said how many they want and there may be more.
    pub cut_at: Option<i64>,
    /// How the records are spelled.
    pub format: Format,
    /// Whether the caller could have chosen that.
    pub is_flat: bool,
}

/// `GET /records/{table}`.
pub async fn list(context: &Context<'_>, table: &str) -> Result<Response, Error> {
    let answer = list_as(context, table, |_values| Ok(None)).await?;
    if !answer.is_json() {
        return Ok(answer);
    }
    context.open_json(Controller::Records, table, answer)
}

/// A list; `features` says whether its records are features, and which.
pub async fn list_as<'a>(
    context: &'a Context<'_>,
    table: &str,
    features: impl FnOnce(&mut Values<'a>) -> Result<Option<Features<'a>>, Error>,
) -> Result<Response, Error> {
    let listed = plan_list(context, table, features)?;
    let format = listed.format;
    let mut response = match exec::list(&context.snapshot, &listed.plan, listed.values, format).await? {
        Answer::Whole(document) => Response::json(document),
        Answer::Stream(first, rest) => Response::stream(first, rest),
    };
    if listed.is_flat {
        Response::vary(&mut response.headers, "Accept");
    }
    if format != Format::Json {
        response = response.of_type(format.content_type());
    }
    if let Some(max) = listed.cut_at {
        response.headers.insert(RECORDS_LIMIT, HeaderValue::from(max));
    }
    Ok(response)
}

/// Everything about a list but running it.
pub fn plan_list<'a>(
    context: &'a Context<'_>,
    table: &str,
    features: impl FnOnce(&mut Values<'a>) -> Result<Option<Features<'a>>, Error>,
) -> Result<Listed<'a>, Error> {
    let mut values = context.values();
    let mut parsed = parse_query(context.head.query(), table, context.mode(), &mut values)
        .map_err(|error| table_first(context, Operation::List, table, error))?;
    if parsed.page.zip(context.policy.pages_max).is_some_and(|(page, max)| page > max) {
        return Err(Error::new(Code::PaginationForbidden, ""));
    }
    let mut request = Request::new(Operation::List, table);
    request.query = std::mem::take(&mut parsed.query);
    request.query.features =
        features(&mut values).map_err(|error| table_first(context, Operation::List, table, error))?;
    let search = context.policy.search.as_deref().and_then(|name| parameter(context.head.query(), name));
    if let Some(text) = search {
        request.query.search = u16::try_from(values.slots.len()).ok();
        values.slots.push(text);
    }
    let is_flat = request.query.features.is_none();
    let format = if is_flat { wanted(context, table)? } else { Format::Json };
    request.counted = parsed.counted && format == Format::Json;
    let mut cut_at = None;
    if let Some(max) = context.policy.rows_max {
        let is_cut = parsed
            .bound(max, table, context.mode(), &mut values)
            .map_err(|error| table_first(context, Operation::List, table, error))?;
        // compat: the reference has no such header.
        cut_at = (is_cut && context.mode().is_strict()).then_some(max);
    }
    request.window = Window::of(values.limit, values.offset);
    let plan = context.snapshot.plan(&request, &context.policy)?;
    if format == Format::Csv && !request.query.joins.is_empty() {
        let sentence = "has no place in CSV, which is flat; ask for application/x-ndjson, or leave it out";
        return Err(Error::invalid(table, "join", sentence));
    }
    Ok(Listed { plan, values, cut_at, format, is_flat })
}

/// `GET /records/{table}/{id}`, or several ids with commas between.
pub async fn read(context: &Context<'_>, table: &str, ids: Ids<'_>) -> Result<Response, Error> {
    let answer = read_as(context, table, ids, None).await?;
    context.open_json(Controller::Records, table, answer)
}

/// Records by id, as features if there are any to be.
pub async fn read_as(
    context: &Context<'_>,
    table: &str,
    ids: Ids<'_>,
    features: Option<Features<'_>>,
) -> Result<Response, Error> {
    let (plan, found) = plan_read(context, table, ids, features)?;
    exec::read(&context.snapshot, &plan, found.values, found.batch).await.map(Response::json)
}

/// Everything about a read but running it.
pub fn plan_read<'a>(
    context: &'a Context<'_>,
    table: &str,
    ids: Ids<'a>,
    features: Option<Features<'_>>,
) -> Result<(Arc<Plan>, Found<'a>), Error> {
    let found = ids.read(context, table)?;
    let mut request = Request::new(Operation::Read, table);
    request.composite = found.composite;
    request.query = query(context, table)?;
    request.query.features = features;
    Ok((context.snapshot.plan(&request, &context.policy)?, found))
}

/// `POST /records/{table}`.
pub async fn create(context: &Context<'_>, body: Incoming, table: &str) -> Result<Response, Error> {
    let writing = writing(context, table)?;
    let Some(syntax) = syntax(context, &writing)? else {
        return write(context, plan_write(context, body, Operation::Create, table, None).await?).await;
    };
    let mut request = Request::new(Operation::Create, table);
    context.snapshot.plan(&request, &context.policy)?;
    request.query = query(context, table)?;
    request.conflict = writing.conflict.clone();
    // speed: boxed, so that single records do not carry its size about.
    Box::pin(import(context, body, request, &writing, syntax)).await
}

/// `PUT` and `PATCH /records/{table}/{id}`.
pub async fn change(
    context: &Context<'_>,
    body: Incoming,
    operation: Operation,
    table: &str,
    ids: Ids<'_>,
) -> Result<Response, Error> {
    write(context, plan_write(context, body, operation, table, Some(ids)).await?).await
}

/// `DELETE /records/{table}/{id}`.
pub async fn delete(context: &Context<'_>, table: &str, ids: Ids<'_>) -> Result<Response, Error> {
    write(context, plan_delete(context, table, ids)?).await
}

/// Everything about a delete but running it.
pub fn plan_delete<'a>(context: &'a Context<'_>, table: &str, ids: Ids<'a>) -> Result<Written<'a>, Error> {
    let found = ids.read(context, table)?;
    let mut request = Request::new(Operation::Delete, table);
    request.composite = found.composite;
    let plan = context.snapshot.plan(&request, &context.policy)?;
    let step = |_| Step { plan: Arc::clone(&plan), cells: Vec::new(), sent_key: None, is_create: false };
    let steps = (0..found.values.id_count()).map(step).collect();
    Ok(Written { steps, values: found.values, is_batch: found.batch })
}

/// Writes as they are planned, with the values that they are run with.
pub struct Written<'a> {
    /// One for each record.
    pub steps: Vec<Step>,
    /// What fills their holes besides the members of the records.
    pub values: Values<'a>,
    /// Whether the answer is a list.
    pub is_batch: bool,
}

async fn write(context: &Context<'_>, planned: Written<'_>) -> Result<Response, Error> {
    let Written { steps, values, is_batch } = planned;
    answer(exec::write(&context.snapshot, steps, values, is_batch).await?, is_batch)
}

/// Include, exclude and joins; the filters of a query have no meaning for single records (SPEC 7.2).
fn query<'a>(context: &'a Context<'_>, table: &str) -> Result<Query<'a>, Error> {
    let mut values = Values::default();
    let parsed = parse_query(context.head.query(), table, context.mode(), &mut values)
        .map_err(|error| table_first(context, Operation::Read, table, error))?;
    // What is ignored must not be part of the shape: it would only make more plans.
    Ok(Query { filters: Default::default(), orders: Default::default(), ..parsed.query })
}

/// What the query says about new records.
fn writing<'a>(context: &'a Context<'_>, table: &str) -> Result<Writing<'a>, Error> {
    Writing::parse(context.head.query(), table, context.mode())
        .map_err(|error| table_first(context, Operation::Create, table, error))
}

/// The error to answer when the query is wrong: what is wrong with the table comes first (SPEC 5).
fn table_first(context: &Context<'_>, operation: Operation, table: &str, error: Error) -> Error {
    context.snapshot.plan(&Request::new(operation, table), &context.policy).err().unwrap_or(error)
}

/// Everything about a write but running it. The checks are in the order of SPEC 5: table, key and view; then the body;
/// then the number of ids.
pub async fn plan_write<'a>(
    context: &'a Context<'_>,
    body: Incoming,
    operation: Operation,
    table: &str,
    ids: Option<Ids<'a>>,
) -> Result<Written<'a>, Error> {
    let found = ids.map(|ids| ids.read(context, table)).transpose()?;
    let mut request = Request::new(operation, table);
    request.composite = found.as_ref().is_some_and(|found| found.composite);
    context.snapshot.plan(&request, &context.policy)?;
    let body = body.read(context.limits.body_bytes).await?;
    let mut batch =
        RecordBatch::parse(&body, context.body_kind(), context.limits.batch_rows, context.mode())?;
    let values = match (found, ids) {
        (Some(found), Some(ids)) if found.values.id_count() != batch.records.len() => {
            return Err(Error::new(Code::ArgumentCountMismatch, ids.text));
        }
        (Some(found), _) => found.values,
        (None, _) => context.values(),
    };
    request.query = query(context, table)?;
    request.conflict =
        if operation == Operation::Create { writing(context, table)?.conflict } else { Conflict::Error };
    let made = if operation == Operation::Create {
        add_keys(context, table, &mut batch.records)?
    } else {
        Vec::new()
    };
    if let Some(json) = context.json.filter(|_| operation != Operation::Increment) {
        json.close(table, &mut batch.records);
    }
    if let Some(definition) = context.snapshot.schema.find(table) {
        let definition = context.snapshot.schema.table(definition);
        for record in &mut batch.records {
            clean(context.record_rules, &context.policy, operation, definition, record)?;
        }
    }
    let mut steps: Vec<Step> = Vec::with_capacity(batch.records.len());
    for (index, record) in batch.records.iter().enumerate() {
        let width = values.more_id_parts + 1;
        let id: Vec<&str> = values.ids.iter().skip(index * width).take(width).map(Cow::as_ref).collect();
        request.key_is_made = made.get(index).is_some_and(|made| *made);
        let like_last = index.checked_sub(1).filter(|last| {
            has_same_members(&batch.records[*last], record) && made.get(*last) == made.get(index)
        });
        let known = like_last.map(|last| Arc::clone(&steps[last].plan));
        let step = step(context, &request, known, &values, &id, record);
        steps.push(step.map_err(|error| if batch.batch { in_record(index, error) } else { error })?);
    }
    Ok(Written { steps, values, is_batch: batch.batch })
}

/// Adds the keys that the server makes; says for each record whether it did. Empty if it makes none of this table.
fn add_keys(context: &Context<'_>, table: &str, records: &mut [Record<'_>]) -> Result<Vec<bool>, Error> {
    let schema = &context.snapshot.schema;
    match schema.find(table).map(|id| schema.table(id)).filter(|table| table.made_key.is_some()) {
        Some(definition) => records.iter_mut().map(|record| add_key(definition, record)).collect(),
        None => Ok(Vec::new()),
    }
}

/// The same error, its details saying which record of a batch they are about.
fn in_record(index: usize, mut error: Error) -> Error {
    for (_, sentence) in &mut error.details {
        *sentence = format!("record {}: {sentence}", index + 1).into();
    }
    error
}

/// speed: what follows a record of the same shape needs no look into the cache of plans.
fn has_same_members(one: &Record<'_>, other: &Record<'_>) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|((a, _), (b, _))| a == b)
}

/// Plans one record, unless the plan is known, and converts its members; all but the members is as in `like`.
fn step(
    context: &Context<'_>,
    like: &Request<'_>,
    known: Option<Arc<Plan>>,
    like_values: &Values<'_>,
    id: &[&str],
    record: &Record<'_>,
) -> Result<Step, Error> {
    let snapshot = &context.snapshot;
    let plan = match known {
        Some(known) => known,
        None => {
            let mut request = like.clone();
            request.members = record.iter().map(|(name, _)| Cow::Borrowed(name.as_ref())).collect();
            snapshot.plan(&request, &context.policy)?
        }
    };
    let written = plan.write();
    let definition = snapshot.schema.table(written.table);
    if written.claims.iter().any(|claim| like_values.claims[usize::from(*claim)].is_none()) {
        let sentence = "something that is written into every record of this table is not known about you";
        return Err(Error::new(Code::OperationForbidden, "").detail("authorization", sentence));
    }
    let cells = prepare(like.operation, definition, id, record, snapshot.setting.dialect, context.mode())?;
    let sent_key = match &written.key {
        Key::Sent(place) => key_as_sent(&record[*place].1),
        Key::Address(parts) => Some(address(parts, record)),
        Key::Generated => None,
    };
    Ok(Step { plan, cells, sent_key, is_create: like.operation == Operation::Create })
}

/// The address of a record with a composite key, as it can stand in a path.
fn address(parts: &[(Box<str>, usize)], record: &Record<'_>) -> Vec<u8> {
    let pairs = parts.iter().map(|(name, place)| match &record[*place].1 {
        Cell::Number(text) | Cell::Text(text) | Cell::Json(text) => (&**name, text.as_ref()),
        Cell::Bool(truth) => (&**name, if *truth { "1" } else { "0" }),
        Cell::Null => (&**name, ""),
    });
    let mut document = Vec::new();
    write_string(&mut document, &composite_address(pairs));
    document
}

/// compat: a key that the caller sent is answered as it was sent (SPEC 7.3).
fn key_as_sent(cell: &Cell<'_>) -> Option<Vec<u8>> {
    let mut document = Vec::new();
    match cell {
        Cell::Null => return None,
        Cell::Bool(truth) => document.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Cell::Number(text) | Cell::Json(text) => document.extend_from_slice(text.as_bytes()),
        Cell::Text(text) => write_string(&mut document, text),
    }
    Some(document)
}

/// One result, or all; if one of a batch failed, 424 with what each would have been (SPEC 12).
fn answer(results: exec::Results, batch: bool) -> Result<Response, Error> {
    if !batch {
        let only = results.into_iter().next();
        return only.unwrap_or_else(|| Ok(b"null".to_vec())).map(Response::json);
    }
    let has_failed = results.iter().any(Result::is_err);
    let mut document = vec![b'['];
    for (index, result) in results.iter().enumerate() {
        if index > 0 {
            document.push(b',');
        }
        match result {
            Err(error) => write_error(&mut document, error),
            Ok(_) if has_failed => write_error(&mut document, &Error::new(Code::Success, "")),
            Ok(value) => document.extend_from_slice(value),
        }
    }
    document.push(b']');
    let status = if has_failed { StatusCode::FAILED_DEPENDENCY } else { StatusCode::OK };
    Ok(Response::with_status(status, Body::Whole(document.into())))
}
