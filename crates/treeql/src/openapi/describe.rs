//! describe(): the whole document for one schema under one policy.

use serde_json::{Map, Value as Json, json};

use crate::openapi::asked::Asked;
use crate::openapi::document::Document;
use crate::openapi::{geojson, records, service};

/// A document but for the address of the server, which depends on how it was asked for.
#[derive(Clone, Debug, Hash)]
pub struct Described {
    head: String,
    tail: String,
    states_servers: bool,
}

impl Described {
    /// The text of the document, as JSON.
    pub fn text(&self, server: &str) -> String {
        let servers = json!([{"url": server}]);
        if self.states_servers {
            return format!("{{{},{}}}", self.head, self.tail);
        }
        format!("{{{},\"servers\":{servers},{}}}", self.head, self.tail)
    }
}

/// Describes what a principal may do: the members of the operator, then `openapi`, `servers`, `paths`, `components` and
/// `tags`, in the order of php-crud-api.
pub fn describe(asked: &Asked<'_>) -> Described {
    let mut document = Document::new(&asked.surface.statuses);
    // A group of paths is a file with a function like these. What is served is told by `asked.surface.groups`.
    if asked.surface.groups.records {
        records::add(&mut document, asked);
        // It shares the parameters of records.
        if asked.surface.groups.geojson {
            geojson::add(&mut document, asked);
        }
    }
    service::add(&mut document, asked);
    let surface = asked.surface;
    let mut head = surface.base.clone();
    head.insert("openapi".to_owned(), asked.version.number().into());
    let mut tail = Map::new();
    if !surface.security.is_empty() {
        tail.insert("security".to_owned(), surface.security.clone().into());
    }
    tail.extend(document.finish(&surface.security_schemes));
    Described {
        head: members(head),
        tail: members(tail),
        states_servers: surface.base.contains_key("servers"),
    }
}

/// The members of an object, without its braces.
fn members(object: Map<String, Json>) -> String {
    let text = Json::Object(object).to_string();
    text[1..text.len() - 1].to_owned()
}
