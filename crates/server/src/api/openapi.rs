//! `/openapi`: what the caller may do, described for tools; kept for each schema and policy (SPEC 16).

use std::hash::{DefaultHasher, Hash, Hasher};

use http::uri::Authority;
use http::{HeaderValue, StatusCode, header};
use treeql::error::Error;
use treeql::nearest::shown;
use treeql::openapi::Version;

use crate::api::context::Context;
use crate::http::{Body, Response};
use crate::middleware::ssl_redirect::is_secure;

/// `GET /openapi` and `/openapi.json`, with `version=3.1` for the newer edition.
pub async fn document(context: &Context<'_>) -> Result<Response, Error> {
    let version = version(context.head.query())?;
    let (described, hash) = context.documents.get(&context.snapshot, &context.policy, version).await?;
    let server = server(context);
    let mut hasher = DefaultHasher::new();
    (hash, &server).hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let is_known = context.head.header(header::IF_NONE_MATCH).is_some_and(|sent| has_tag(sent, &tag));
    let mut response = if is_known {
        let mut response = Response::with_status(StatusCode::NOT_MODIFIED, Body::Whole(Default::default()));
        response.headers.remove(header::CONTENT_TYPE);
        response
    } else {
        Response::json(described.text(&server))
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers.insert(header::ETAG, tag);
    }
    // It depends on who asks: no cache that is shared may keep it, and one's own asks before it is used.
    response.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}

fn version(query: &str) -> Result<Version, Error> {
    let asked = query.split('&').find_map(|pair| pair.strip_prefix("version="));
    let Some(text) = asked else { return Ok(Version::V3_0) };
    Version::parse(text).ok_or_else(|| {
        Error::invalid(
            "openapi",
            "version",
            format!("'{}' is not served; there are 3.0 and 3.1", shown(text)),
        )
    })
}

/// Where the API is, as the caller has reached it; only its path if the request does not say.
fn server(context: &Context<'_>) -> String {
    let path = context.base_path;
    let host = context.head.header(header::HOST).filter(|host| !host.contains('@'));
    match host.and_then(|host| host.parse::<Authority>().ok()) {
        Some(host) => {
            let scheme =
                if is_secure(context.head.headers(), context.head.is_tls()) { "https" } else { "http" };
            format!("{scheme}://{host}{path}")
        }
        None if path.is_empty() => "/".to_owned(),
        None => path.to_owned(),
    }
}

/// Whether a header `If-None-Match` has a tag (RFC 9110, 13.1.2).
fn has_tag(sent: &str, tag: &str) -> bool {
    sent.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}

#[cfg(test)]
mod tests {
    use crate::api::openapi::has_tag;

    #[test]
    fn a_known_tag_is_found_in_a_list() {
        assert!(has_tag("\"a\", W/\"b\"", "\"b\""));
        assert!(has_tag("*", "\"b\""));
        assert!(!has_tag("\"a\"", "\"b\""));
    }
}
