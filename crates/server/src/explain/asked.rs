//! explain(): a request goes the way that the server would send it, up to the database and not further.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use engine::database::Snapshot;
use http::{Method, Request as HttpRequest};
use serde_json::{Map, Value as Json};
use treeql::error::Error;
use treeql::policy::{Policy, Principal};
use treeql::request::{Operation, decode_path};

use crate::api::{
    Context, Ids, Listed, Written, features, features_of_list, plan_delete, plan_list, plan_read, plan_write,
};
use crate::config::Config;
use crate::explain::explanation::{Explained, Explanation, Limit, Refusal};
use crate::explain::statements::{Seen, of_list, of_read, of_write};
use crate::explain::tables::table_rules;
use crate::http::{Body, Head, Incoming, Peer, Response};

/// A request, and who asks.
pub struct Asked {
    /// The method, as `GET`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The claims of who asks, as a JSON object; nothing is anonymous.
    pub claims: Option<String>,
    /// The address of who asks.
    pub address: String,
    /// The body of a write.
    pub body: String,
}

/// What the rules make of a request. The errors are about the question; what the server would refuse is an answer.
pub fn explain(config: &Config, asked: &Asked) -> anyhow::Result<Explanation> {
    let database = config.open().map_err(anyhow::Error::msg)?;
    let snapshot = database.snapshot();
    let principal = principal(asked.claims.as_deref())?;
    let method: Method = asked.method.parse().with_context(|| format!("'{}' is no method", asked.method))?;
    let request = HttpRequest::builder().method(method.clone()).uri(&*asked.target).body(());
    let request = request.with_context(|| format!("'{}' is no path with a query", asked.target))?;
    let head = Head::new(request.into_parts().0, Peer::new(asked.address.parse().ok()), false);
    let path = head.path().strip_prefix(&config.base_path).unwrap_or(head.path()).to_owned();
    let segments = decode_path(&path).with_context(|| format!("'{path}' is not UTF-8"))?;
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    let [controller @ ("records" | "geojson"), table, rest @ ..] = segments.as_slice() else {
        bail!(
            "'{path}' is not explained; rules are about /records/TABLE and /geojson/TABLE, and an ID behind them"
        );
    };
    let is_map = *controller == "geojson";
    let operation = operation(&method, rest)
        .filter(|_| !is_map || method == Method::GET)
        .with_context(|| format!("there is no {method} {path}; see docs/protocol.md, section 2.3"))?;
    let raw = path.trim_start_matches('/').split('/').nth(2).unwrap_or_default();
    let ids = rest.first().map(|text| Ids { text, raw });
    let policy = config.rules.policy(&principal);
    let context = Context {
        head: &head,
        database: &database,
        snapshot: Arc::clone(&snapshot),
        policy: Arc::clone(&policy),
        principal: &principal,
        address: &asked.address,
        record_rules: &config.record_rules,
        json: config.stations.json.as_ref(),
        is_xml: false,
        documents: &config.documents,
        base_path: &config.base_path,
        limits: &config.limits,
    };
    let question = Question { operation, table, ids, is_map, body: &asked.body };
    let (statements, refusal) = match planned(&context, config, &question) {
        Ok(statements) => (statements, None),
        Err(error) => (Vec::new(), Some(refusal(&error, &snapshot)?)),
    };
    Ok(Explanation {
        request: format!("{method} {}", asked.target),
        who: asked.claims.clone().unwrap_or_else(|| "anonymous".to_owned()),
        operation: operation.name(),
        tables: table_rules(&config.rules, &context, operation, table),
        limits: limits(&policy),
        statements,
        refusal,
    })
}

fn principal(claims: Option<&str>) -> anyhow::Result<Principal> {
    let Some(text) = claims else { return Ok(Principal::anonymous()) };
    let claims: Map<String, Json> = serde_json::from_str(text).with_context(|| {
        format!("--as takes claims as a JSON object, for example '{{\"role\":\"editor\"}}'; not '{text}'")
    })?;
    Ok(Principal::from_claims(&claims))
}

fn operation(method: &Method, rest: &[&str]) -> Option<Operation> {
    Some(match (method, rest) {
        (&Method::GET, []) => Operation::List,
        (&Method::POST, []) => Operation::Create,
        (&Method::GET, [_]) => Operation::Read,
        (&Method::PUT, [_]) => Operation::Update,
        (&Method::PATCH, [_]) => Operation::Increment,
        (&Method::DELETE, [_]) => Operation::Delete,
        _ => return None,
    })
}

/// A request as the route understands it.
struct Question<'a> {
    operation: Operation,
    table: &'a str,
    ids: Option<Ids<'a>>,
    /// Whether records are asked for as features.
    is_map: bool,
    body: &'a str,
}

/// The functions that answer requests, but for the last step of each.
fn planned(context: &Context<'_>, config: &Config, question: &Question<'_>) -> Result<Vec<Explained>, Error> {
    let Question { operation, table, ids, is_map, body } = *question;
    let query = context.head.query();
    let seen = Seen { policy: &context.policy, rules: &config.rules, query, table, mode: context.mode() };
    let written = match (operation, ids) {
        (Operation::List, _) => {
            let Listed { plan, values, .. } = plan_list(context, table, |values| {
                if is_map { features_of_list(context, table, values) } else { Ok(None) }
            })?;
            return Ok(of_list(&seen, &plan, &values));
        }
        (Operation::Read, Some(ids)) => {
            let features = is_map.then(|| features(context, table)).transpose()?;
            let (plan, found) = plan_read(context, table, ids, features)?;
            return Ok(of_read(&seen, &plan, &found.values));
        }
        (Operation::Delete, Some(ids)) => plan_delete(context, table, ids)?,
        (_, ids) => {
            let body = Incoming::whole(Bytes::copy_from_slice(body.as_bytes()));
            block_on(plan_write(context, body, operation, table, ids))?
        }
    };
    let Written { steps, values, .. } = &written;
    Ok(of_write(&seen, context, operation, steps, values))
}

/// Runs what waits for nothing: the body is here already.
fn block_on<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("the system has what a runtime needs").block_on(work)
}

fn refusal(error: &Error, snapshot: &Snapshot) -> anyhow::Result<Refusal> {
    let response = Response::error(error, snapshot.setting.mode);
    let Body::Whole(document) = &response.body else { unreachable!("an error is whole") };
    Ok(Refusal { status: response.status.as_u16(), body: serde_json::from_slice(document)? })
}

fn limits(policy: &Policy) -> Vec<Limit> {
    let count = |count: usize| i64::try_from(count).ok();
    vec![
        Limit { what: "records of a list (limits.listRows, pageLimits.records)", max: policy.rows_max },
        Limit { what: "number of a page (pageLimits.pages)", max: policy.pages_max },
        Limit {
            what: "tables in one path (limits.joinDepth, joinLimits.depth)",
            max: count(policy.join_depth_max),
        },
        Limit {
            what: "tables in all joins (limits.joinTables, joinLimits.tables)",
            max: count(policy.join_tables_max),
        },
        Limit {
            what: "records joined to one record (joinLimits.records)",
            max: policy.join_rows_max.and_then(count),
        },
    ]
}
