//! `/status`: whether the database answers, and how fast.

use std::time::Instant;

use treeql::error::Error;

use crate::api::context::Context;
use crate::http::Response;

/// `GET /status/ping`: microseconds of a trivial query and of a look into the schema (SPEC 17).
pub async fn ping(context: &Context<'_>) -> Result<Response, Error> {
    let database = context.snapshot.driver.ping().await?;
    let start = Instant::now();
    let tables = context.snapshot.schema.tables().count();
    let cache = if tables == 0 { 0 } else { start.elapsed().as_micros() };
    Ok(Response::json(format!("{{\"db\":{},\"cache\":{cache}}}", database.as_micros())))
}
