//! route(): the whole API in one match.

use std::borrow::Cow;

use http::Method;
use smallvec::SmallVec;
use treeql::error::{Code, Error};
use treeql::request::{Operation, decode_path};

use crate::api::context::Context;
use crate::api::controller::Controller;
use crate::api::ids::Ids;
use crate::api::{cache, columns, geojson, openapi, records, root, status};
use crate::http::{Incoming, Response};

/// Answers a request, or says that there is no such route: 1000, as there is no 405 in the protocol (SPEC 2.3).
pub async fn route(
    context: &Context<'_>,
    body: Incoming,
    path: &str,
    controllers: &[Controller],
) -> Result<Response, Error> {
    let not_found = || Error::new(Code::RouteNotFound, path);
    let segments = decode_path(path).ok_or_else(not_found)?;
    let segments: SmallVec<[&str; 4]> = segments.iter().map(Cow::as_ref).collect();
    // What separates the columns of an address is told from what stands in its values before decoding.
    let raw = path.trim_start_matches('/').split('/').nth(2).unwrap_or_default();
    let ids = |text| Ids { text, raw };
    let method = context.head.method().clone();
    let has = |controller: Controller| controllers.contains(&controller);
    match (&method, segments.as_slice()) {
        (&Method::GET, []) => root::overview(context, controllers),
        (_, ["records", rest @ ..]) if has(Controller::Records) => match (&method, rest) {
            (&Method::GET, [table]) => records::list(context, table).await,
            (&Method::POST, [table]) => Box::pin(records::create(context, body, table)).await,
            (&Method::GET, [table, text]) => records::read(context, table, ids(text)).await,
            (&Method::PUT, [table, text]) => {
                Box::pin(records::change(context, body, Operation::Update, table, ids(text))).await
            }
            (&Method::PATCH, [table, text]) => {
                Box::pin(records::change(context, body, Operation::Increment, table, ids(text))).await
            }
            (&Method::DELETE, [table, text]) => Box::pin(records::delete(context, table, ids(text))).await,
            _ => Err(not_found()),
        },
        (_, ["columns", rest @ ..]) if has(Controller::Columns) => match (&method, rest) {
            (&Method::GET, []) => Ok(columns::database(context)),
            (&Method::POST, []) => Box::pin(columns::create(context, body)).await,
            (&Method::GET, [table]) => columns::table(context, table),
            (&Method::POST, [table]) => Box::pin(columns::add(context, body, table)).await,
            (&Method::PUT, [table]) => Box::pin(columns::rename(context, body, table)).await,
            (&Method::DELETE, [table]) => Box::pin(columns::remove(context, table)).await,
            (&Method::GET, [table, column]) => columns::column(context, table, column),
            (&Method::PUT, [table, column]) => Box::pin(columns::alter(context, body, table, column)).await,
            (&Method::DELETE, [table, column]) => {
                Box::pin(columns::remove_column(context, table, column)).await
            }
            _ => Err(not_found()),
        },
        (&Method::GET, ["geojson", table]) if has(Controller::GeoJson) => {
            Box::pin(geojson::list(context, table)).await
        }
        (&Method::GET, ["geojson", table, text]) if has(Controller::GeoJson) => {
            Box::pin(geojson::read(context, table, ids(text))).await
        }
        (&Method::GET, ["openapi" | "openapi.json"]) if has(Controller::OpenApi) => {
            Box::pin(openapi::document(context)).await
        }
        (&Method::GET, ["status", "ping"]) if has(Controller::Status) => {
            Box::pin(status::ping(context)).await
        }
        (&Method::GET, ["cache", "clear"]) if has(Controller::Cache) => Box::pin(cache::clear(context)).await,
        _ => Err(not_found()),
    }
}
