//! `/`: what is here, for whoever comes by without knowing.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use treeql::error::Error;
use treeql::request::Operation;
use treeql::schema::TableKind;

use crate::api::context::Context;
use crate::api::controller::Controller;
use crate::api::explorer::vary_by_accept;
use crate::http::Response;

/// What is escaped in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// `GET /`: the tables with their addresses, and where to read on.
pub fn overview(context: &Context<'_>, controllers: &[Controller]) -> Result<Response, Error> {
    let tables: Vec<_> = context
        .snapshot
        .schema
        .tables()
        .filter(|(_, table)| context.policy.shows_table(Operation::List, table))
        .filter(|_| controllers.contains(&Controller::Records))
        .map(|(_, table)| {
            json!({
                "name": table.alias,
                "type": if table.kind == TableKind::View { "view" } else { "table" },
                "records": format!("{}/records/{}", context.base_path, utf8_percent_encode(&table.alias, SEGMENT)),
            })
        })
        .collect();
    let document = json!({
        "name": "Rowcast",
        "version": env!("CARGO_PKG_VERSION"),
        "database": context.snapshot.setting.dialect.name(),
        "protocol": "TreeQL (php-crud-api)",
        "tables": tables,
        "try": "GET /records/{table}?filter={column},eq,{value}&order={column},desc&size=10",
    });
    let mut response = Response::json(document.to_string());
    vary_by_accept(&mut response.headers);
    Ok(response)
}
