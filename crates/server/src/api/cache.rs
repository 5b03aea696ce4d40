//! `/cache`: what is known about the schema, read again (SPEC 17.1).

use std::sync::Arc;

use engine::database::Database;
use treeql::error::Error;

use crate::api::context::Context;
use crate::http::Response;

/// `GET /cache/clear`: reads the catalog and forgets all plans before it answers `true`.
pub async fn clear(context: &Context<'_>) -> Result<Response, Error> {
    let database: &Arc<Database> = context.database;
    database.refresh().await?;
    Ok(Response::json("true"))
}
