//! What a description of the API says of the server: ways to authenticate, headers that writes need, groups of paths.

use serde_json::{Map, Value as Json, json};
use treeql::openapi::{Accounts, Groups, Surface};

use crate::api::Controller;
use crate::config::middlewares::Middlewares;
use crate::config::options::Options;
use crate::http::list;

/// Methods by which something is written, as descriptions spell them.
const WRITES: [&str; 4] = ["post", "put", "patch", "delete"];

/// What is served around the tables. The error is a sentence that names the setting.
pub fn surface(options: &Options, on: &Middlewares, controllers: &[Controller]) -> Result<Surface, String> {
    let base: Map<String, Json> = serde_json::from_str(&options.open_api_base.0)
        .map_err(|error| format!("openApiBase is no JSON object: {error}"))?;
    for member in ["openapi", "paths", "components", "security"] {
        if base.contains_key(member) {
            return Err(format!("openApiBase has '{member}', which is made from the schema; leave it out"));
        }
    }
    if !["title", "version"]
        .iter()
        .all(|member| base.get("info").is_some_and(|info| info[member].is_string()))
    {
        return Err("openApiBase lacks info.title and info.version, which every description has".to_owned());
    }
    let ways = ways(options, on);
    let has = |controller| controllers.contains(&controller);
    Ok(Surface {
        base,
        groups: Groups {
            records: has(Controller::Records),
            geojson: has(Controller::GeoJson),
            status: has(Controller::Status),
            cache: has(Controller::Cache),
            health: has(Controller::Health),
        },
        opens_json: on.has("json"),
        security: security(&ways),
        security_schemes: ways.iter().map(|way| (way.name.to_owned(), way.scheme.clone())).collect(),
        statuses: statuses(options, on, &ways),
        write_headers: write_headers(options, on),
        accounts: on.has("dbAuth").then(|| Accounts {
            username: options.db_auth.username_form_field.clone(),
            password: options.db_auth.password_form_field.clone(),
            new_password: options.db_auth.new_password_form_field.clone(),
            registers: !options.db_auth.register_user.is_empty(),
        }),
    })
}

/// A way to authenticate.
struct Way {
    name: &'static str,
    scheme: Json,
    is_required: bool,
}

fn ways(options: &Options, on: &Middlewares) -> Vec<Way> {
    let key = |header: &str| json!({"type": "apiKey", "in": "header", "name": header});
    let jwt = match options.jwt_auth.header.as_str() {
        header if header.eq_ignore_ascii_case("authorization") => {
            json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"})
        }
        header => {
            let mut scheme = key(header);
            scheme["description"] = "Bearer and a JSON web token, a blank between".into();
            scheme
        }
    };
    let cookie = json!({
        "type": "apiKey", "in": "cookie", "name": options.session.session_name, "description": "set by POST /login"
    });
    let basic = json!({"type": "http", "scheme": "basic"});
    let all = [
        ("apiKeyAuth", key(&options.api_key_auth.header), &options.api_key_auth.mode),
        ("apiKeyDbAuth", key(&options.api_key_db_auth.header), &options.api_key_db_auth.mode),
        ("dbAuth", cookie, &options.db_auth.mode),
        ("jwtAuth", jwt, &options.jwt_auth.mode),
        ("basicAuth", basic, &options.basic_auth.mode),
    ];
    all.into_iter()
        .filter(|(name, ..)| on.has(name))
        .map(|(name, scheme, mode)| Way { name, scheme, is_required: mode == "required" })
        .collect()
}

/// All that are required together, alone or with one of those that are offered.
fn security(ways: &[Way]) -> Vec<Json> {
    if ways.is_empty() {
        return Vec::new();
    }
    let none: Map<String, Json> = Map::new();
    let required: Map<String, Json> = ways.iter().filter(|way| way.is_required).fold(none, |mut all, way| {
        all.insert(way.name.to_owned(), json!([]));
        all
    });
    let with = |way: &Way| {
        let mut all = required.clone();
        all.insert(way.name.to_owned(), json!([]));
        Json::Object(all)
    };
    let offered = ways.iter().filter(|way| !way.is_required).map(with);
    [Json::Object(required.clone())].into_iter().chain(offered).collect()
}

/// Statuses with which a request may be refused before it is looked at.
fn statuses(options: &Options, on: &Middlewares, ways: &[Way]) -> Vec<u16> {
    let mut statuses = Vec::new();
    if ways.iter().any(|way| way.is_required) {
        statuses.push(401);
    }
    let guards = ["firewall", "cors", "xsrf", "ajaxOnly"];
    if !ways.is_empty() || guards.iter().any(|guard| on.has(guard)) {
        statuses.push(403);
    }
    // Passwords are verified a few at a time, whoever asks.
    if options.rate_limit.requests > 0 || on.has("basicAuth") {
        statuses.push(429);
    }
    statuses
}

fn write_headers(options: &Options, on: &Middlewares) -> Vec<(Json, Vec<&'static str>)> {
    let header = |name: &str, description: &str, schema: Json| json!({"name": name, "in": "header", "schema": schema, "description": description, "required": true});
    let without = |names: &str| {
        let excluded = |method: &&str| list(names).any(|name| name.eq_ignore_ascii_case(method));
        WRITES.into_iter().filter(excluded).collect()
    };
    let mut headers = Vec::new();
    if on.has("xsrf") {
        let text = format!("the value of the cookie {}", options.xsrf.cookie_name);
        let header = header(&options.xsrf.header_name, &text, json!({"type": "string"}));
        headers.push((header, without(&options.xsrf.exclude_methods)));
    }
    if on.has("ajaxOnly") {
        let value = json!({"type": "string", "enum": [options.ajax_only.header_value]});
        let header = header(&options.ajax_only.header_name, "says that a script asks", value);
        headers.push((header, without(&options.ajax_only.exclude_methods)));
    }
    headers
}
