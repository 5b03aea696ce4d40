//! Explorer: a page at `/` for people: what there is, requests to try, and the reference (SPEC 2.6).
//!
//! Page, script and style hold no data: what the script shows it asks the API for, as whoever looks at it. So they are
//! answered to everyone whom the firewall lets in, and can be kept for ever under the name of their version.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use crate::http::{Body, Head, Response};

const PAGE: &str = include_str!("../../explorer/index.html");
/// Stands in the page for the version of the assets.
const VERSION: &str = "{{version}}";
/// Nothing but what is served here runs, and nobody frames it. Pictures in styles are data.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

struct Asset {
    name: &'static str,
    kind: &'static str,
    is_gzip: bool,
    bytes: &'static [u8],
}

const ASSETS: [Asset; 4] = [
    Asset {
        name: "app.js",
        kind: "text/javascript; charset=utf-8",
        is_gzip: false,
        bytes: include_bytes!("../../explorer/app.js"),
    },
    Asset {
        name: "app.css",
        kind: "text/css; charset=utf-8",
        is_gzip: false,
        bytes: include_bytes!("../../explorer/app.css"),
    },
    Asset {
        name: "swagger-ui-bundle.js",
        kind: "text/javascript; charset=utf-8",
        is_gzip: true,
        bytes: include_bytes!("../../explorer/vendor/swagger-ui-bundle.js.gz"),
    },
    Asset {
        name: "swagger-ui.css",
        kind: "text/css; charset=utf-8",
        is_gzip: true,
        bytes: include_bytes!("../../explorer/vendor/swagger-ui.css.gz"),
    },
];

/// The page and what belongs to it.
#[derive(Clone)]
pub struct Explorer {
    page: Bytes,
    /// The path of the page. Its links are relative, so it must end with a slash.
    home: Option<HeaderValue>,
}

impl Explorer {
    /// The page of an API below `base_path`.
    pub fn new(base_path: &str) -> Explorer {
        let mut hasher = DefaultHasher::new();
        ASSETS.iter().for_each(|asset| asset.bytes.hash(&mut hasher));
        let version = format!("{:016x}", hasher.finish());
        Explorer {
            page: PAGE.replace(VERSION, &version).into(),
            home: HeaderValue::from_str(&format!("{base_path}/")).ok(),
        }
    }

    /// The answer to a request for the page or an asset; `None` if it asks for something else, or for JSON.
    pub fn answer(&self, head: &Head, path: &str) -> Option<Response> {
        if *head.method() != Method::GET {
            return None;
        }
        if matches!(path, "" | "/") {
            return prefers_page(head.header(header::ACCEPT)?).then(|| self.page(path));
        }
        let name = path.strip_prefix("/explorer/")?;
        ASSETS.iter().find(|asset| asset.name == name).map(asset)
    }

    fn page(&self, path: &str) -> Response {
        let mut response = match &self.home {
            Some(home) if path.is_empty() => {
                let mut response = answer(StatusCode::PERMANENT_REDIRECT, "text/html", Bytes::new());
                response.headers.insert(header::LOCATION, home.clone());
                response
            }
            _ => answer(StatusCode::OK, "text/html; charset=utf-8", self.page.clone()),
        };
        response.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response.headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
        response.headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        vary_by_accept(&mut response.headers);
        response
    }
}

/// Says to caches that `/` is a page or JSON.
pub fn vary_by_accept(headers: &mut HeaderMap) {
    headers.insert(header::VARY, HeaderValue::from_name(HeaderName::from_static("accept")));
}

fn asset(asset: &Asset) -> Response {
    let mut response = answer(StatusCode::OK, asset.kind, Bytes::from_static(asset.bytes));
    response.headers.insert(header::CACHE_CONTROL, FOR_EVER);
    if asset.is_gzip {
        // Every browser reads it, and nobody else asks for these files.
        response.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn answer(status: StatusCode, kind: &'static str, bytes: Bytes) -> Response {
    let mut response = Response::with_status(status, Body::Whole(bytes));
    response.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether a page is named in `Accept`, and JSON is not named before it.
fn prefers_page(accept: &str) -> bool {
    let mut kinds = accept.split(',').map(|kind| kind.split(';').next().unwrap_or_default().trim());
    kinds.find(|kind| matches!(*kind, "text/html" | "application/json")) == Some("text/html")
}

#[cfg(test)]
mod tests {
    use crate::api::explorer::prefers_page;

    #[test]
    fn a_browser_gets_the_page_and_others_get_json() {
        assert!(prefers_page("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
        assert!(!prefers_page("application/json, text/html;q=0.5"));
        assert!(!prefers_page("*/*"));
    }
}
