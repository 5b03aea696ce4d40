//! Head and Response: a request without its body, and an answer.

use std::net::IpAddr;
use std::rc::Rc;

use bytes::Bytes;
use engine::driver::Chunks;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use treeql::encode::{Malformed, Rewriter, write_error};
use treeql::error::{Code, Error};
use treeql::mode::Mode;

use crate::http::body::Body;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// A request without its body.
pub struct Head {
    parts: Parts,
    peer: Rc<Peer>,
    is_tls: bool,
}

/// Where a connection comes from.
pub struct Peer {
    /// The address; none if it cannot be found out.
    pub address: Option<IpAddr>,
    /// The same as text, empty without one.
    pub text: Box<str>,
}

impl Peer {
    /// The end at `address`, an IPv4 address as such even if it came by way of IPv6.
    pub fn new(address: Option<IpAddr>) -> Rc<Peer> {
        let address = address.map(|address| address.to_canonical());
        let text = address.map_or_else(String::new, |address| address.to_string());
        Rc::new(Peer { address, text: text.into() })
    }
}

impl Head {
    /// The head of a request that came from `peer`.
    pub fn new(parts: Parts, peer: Rc<Peer>, is_tls: bool) -> Head {
        Head { parts, peer, is_tls }
    }

    /// Where the request came from.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.parts.method
    }

    /// All headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Path and query as sent.
    pub fn target(&self) -> &str {
        self.parts.uri.path_and_query().map_or("/", |target| target.as_str())
    }

    /// The path as sent.
    pub fn path(&self) -> &str {
        self.parts.uri.path()
    }

    /// The query string as sent, without the question mark.
    pub fn query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }

    /// A header, if it is there and is text.
    pub fn header(&self, name: HeaderName) -> Option<&str> {
        self.parts.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// An answer.
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
}

impl Response {
    /// 200 with a JSON document.
    pub fn json(document: impl Into<Bytes>) -> Response {
        Response::with_status(StatusCode::OK, Body::Whole(document.into()))
    }

    /// 200 with a JSON document that is still being made.
    pub fn stream(first: Bytes, rest: Chunks) -> Response {
        Response::with_status(StatusCode::OK, Body::stream(first, rest))
    }

    /// Says that the answer depends on a header of the request, so that a cache keeps others apart.
    pub fn vary(headers: &mut HeaderMap, name: &'static str) {
        let joined = headers.get(header::VARY).and_then(|known| known.to_str().ok());
        let joined = joined.and_then(|known| HeaderValue::from_str(&format!("{known}, {name}")).ok());
        headers.insert(header::VARY, joined.unwrap_or(HeaderValue::from_static(name)));
    }

    /// The same answer, of another type than JSON.
    pub fn of_type(mut self, content_type: &'static str) -> Response {
        self.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        self
    }

    /// An error document. Details stand where the reference has them, and in the strict mode everywhere.
    pub fn error(error: &Error, mode: Mode) -> Response {
        let mut shown = error.clone();
        // compat: what the database does not accept is 9999 in the reference (SPEC 13).
        if !mode.is_strict() && error.code == Code::ValueNotAccepted {
            shown = Error::new(Code::Internal, error.message());
        }
        if !mode.is_strict() && error.code != Code::InputValidationFailed {
            shown.details.clear();
        }
        let mut document = Vec::with_capacity(128);
        write_error(&mut document, &shown);
        let status = StatusCode::from_u16(shown.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Response::with_status(status, Body::Whole(document.into()));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let (Code::TooManyRequests, Ok(seconds)) = (error.code, HeaderValue::from_str(&error.argument)) {
            response.headers.insert(header::RETRY_AFTER, seconds);
        }
        response
    }

    /// Whether the body is a JSON document.
    pub fn is_json(&self) -> bool {
        self.headers.get(header::CONTENT_TYPE) == Some(&JSON)
    }

    /// Whether there is no body.
    pub fn is_empty(&self) -> bool {
        matches!(&self.body, Body::Whole(bytes) if bytes.is_empty())
    }

    /// The same answer, its body rewritten.
    pub fn rewritten(self, rewriter: Rewriter) -> Result<Response, Malformed> {
        Ok(Response { body: self.body.rewritten(rewriter)?, ..self })
    }

    /// JSON with another status.
    pub fn with_status(status: StatusCode, body: Body) -> Response {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(header::CONTENT_TYPE, JSON);
        Response { status, headers, body }
    }
}
