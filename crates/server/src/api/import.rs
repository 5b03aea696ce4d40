//! Imports: new records of any number, in bounded memory (SPEC 12.1).

use std::sync::Arc;

use engine::database::Snapshot;
use engine::exec::{self, Clean, MakeKey, Progress, Recipe, Report, Spool, Spooled, Syntax};
use http::header;
use tokio::sync::Semaphore;
use treeql::encode::{Format, write_error};
use treeql::error::{Code, Error};
use treeql::policy::Policy;
use treeql::request::{BodyKind, Operation, Request, Writing};

use crate::api::clean::clean;
use crate::api::context::{Context, RecordRules};
use crate::api::made_key::add_key;
use crate::http::{Incoming, Response};
use crate::middleware::json::JsonMembers;

/// limit: imports of this process at once; each may fill the directory for temporary files.
const IMPORTS_MAX: usize = 32;

/// How the records of a body follow one another, if it is an import: CSV, lines of JSON, and JSON of which counts are to
/// be answered.
pub fn syntax(context: &Context<'_>, writing: &Writing<'_>) -> Result<Option<Syntax>, Error> {
    let content_type = context.head.header(header::CONTENT_TYPE).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default();
    match Format::of_media_type(media_type) {
        Some(Format::Csv) => Ok(Some(Syntax::Csv)),
        Some(Format::Ndjson) => Ok(Some(Syntax::Ndjson)),
        _ if !writing.is_counted => Ok(None),
        _ if BodyKind::of(content_type) == BodyKind::Detected => Ok(Some(Syntax::Json)),
        _ => {
            let sentence =
                "onError, dryRun and answer=counts are for JSON, CSV and lines of JSON, not for forms";
            Err(Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence))
        }
    }
}

/// Takes all of the body, then writes its records in one transaction: nobody waits for a slow client.
pub async fn import(
    context: &Context<'_>,
    body: Incoming,
    request: Request<'_>,
    writing: &Writing<'_>,
    syntax: Syntax,
) -> Result<Response, Error> {
    static PERMITS: Semaphore = Semaphore::const_new(IMPORTS_MAX);
    let Ok(_permit) = PERMITS.try_acquire() else {
        let sentence = format!("{IMPORTS_MAX} imports are running; try again");
        return Err(Error::new(Code::DatabaseUnavailable, sentence));
    };
    let spooled = spool(body, context.limits.import_bytes).await?;
    let recipe = Recipe {
        snapshot: Arc::clone(&context.snapshot),
        policy: Arc::clone(&context.policy),
        make_key: making(&context.snapshot, &request.table),
        clean: cleaning(
            context.record_rules,
            context.json,
            &context.snapshot,
            &context.policy,
            &request.table,
        ),
        values: context.values().into_owned(),
        request: request.into_owned(),
        syntax,
        names: Default::default(),
        is_skipping: writing.is_skipping,
        is_dry_run: writing.is_dry_run,
        record_bytes_max: usize::try_from(context.limits.body_bytes).unwrap_or(usize::MAX),
        patience: context.limits.import_patience,
        progress: Arc::new(Progress::default()),
    };
    let report = exec::load(Arc::new(recipe), spooled).await?;
    Ok(Response::json(document(&report, syntax, writing.is_dry_run)))
}

async fn spool(mut body: Incoming, bytes_max: u64) -> Result<Spooled, Error> {
    let mut spool = Spool::default();
    while let Some(bytes) = body.next().await? {
        if spool.len() + bytes.len() as u64 > bytes_max {
            let sentence = format!("the body has more than {bytes_max} bytes (limits.importBytes)");
            return Err(Error::new(Code::TooLarge, sentence));
        }
        spool.push(&bytes).await?;
    }
    if spool.is_empty() {
        return Err(Error::new(Code::HttpMessageNotReadable, "").detail("body", "is empty"));
    }
    spool.finish().await
}

/// JSON in columns, sanitation and validation, if there are any.
pub fn cleaning(
    rules: &Arc<RecordRules>,
    json: Option<&JsonMembers>,
    snapshot: &Arc<Snapshot>,
    policy: &Arc<Policy>,
    table: &str,
) -> Option<Clean> {
    let (rules, json) = (Arc::clone(rules), json.cloned());
    if rules.sanitation.is_none() && rules.validation.is_none() && json.is_none() {
        return None;
    }
    let (snapshot, policy) = (Arc::clone(snapshot), Arc::clone(policy));
    let (name, table) = (table.to_owned(), snapshot.schema.find(table)?);
    Some(Arc::new(move |record| {
        if let Some(json) = &json {
            json.close(&name, std::slice::from_mut(record));
        }
        clean(&rules, &policy, Operation::Create, snapshot.schema.table(table), record)
    }))
}

/// How the keys of a table are made, if the server makes them.
pub fn making(snapshot: &Arc<Snapshot>, table: &str) -> Option<MakeKey> {
    let snapshot = Arc::clone(snapshot);
    let id = snapshot.schema.find(table)?;
    let definition = snapshot.schema.table(id);
    definition.made_key?;
    let column = definition.key()?.alias.clone();
    Some(MakeKey { column, make: Arc::new(move |record| add_key(snapshot.schema.table(id), record)) })
}

/// The counts, and what was refused.
pub fn document(report: &Report, syntax: Syntax, is_dry_run: bool) -> Vec<u8> {
    let Report { records, written, ignored, refused, errors } = report;
    let mut document = format!(
        "{{\"records\":{records},\"written\":{written},\"ignored\":{ignored},\"refused\":{refused},\"dryRun\":{is_dry_run},\"errors\":["
    )
    .into_bytes();
    let place_name = if syntax == Syntax::Json { "record" } else { "line" };
    for (index, (place, error)) in errors.iter().enumerate() {
        if index > 0 {
            document.push(b',');
        }
        document.extend_from_slice(format!("{{\"{place_name}\":{place},\"error\":").as_bytes());
        write_error(&mut document, error);
        document.push(b'}');
    }
    document.extend_from_slice(b"]}");
    document
}
