//! sslRedirect: plain requests are sent to https, and what counts as encrypted.

use bytes::Bytes;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use treeql::error::{Code, Error};

use crate::http::{Body, Response};

/// Whether a request came encrypted: by what a proxy says (`X-Forwarded-Proto`), else by our own connection.
pub fn is_secure(headers: &HeaderMap, is_tls: bool) -> bool {
    match headers.get("x-forwarded-proto") {
        Some(scheme) => scheme.as_bytes().eq_ignore_ascii_case(b"https"),
        None => is_tls,
    }
}

/// Sends a plain request for `path_and_query` to the same place with https.
pub fn check(headers: &HeaderMap, is_tls: bool, path_and_query: &str) -> Result<Option<Response>, Error> {
    if is_secure(headers, is_tls) {
        return Ok(None);
    }
    let unreadable = || Error::new(Code::HttpMessageNotReadable, "").detail("Host", "is missing or no host");
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).ok_or_else(unreadable)?;
    // A user in it would make the rest of the text a host of somebody else's choice in the reader's eyes.
    let host: Authority = host.parse().map_err(|_invalid| unreadable())?;
    if host.as_str().contains('@') || !path_and_query.starts_with('/') {
        return Err(unreadable());
    }
    let location = HeaderValue::from_str(&format!("https://{host}{path_and_query}"));
    let location = location.map_err(|_invalid| unreadable())?;
    let headers = HeaderMap::from_iter([(header::LOCATION, location)]);
    Ok(Some(Response { status: StatusCode::MOVED_PERMANENTLY, headers, body: Body::Whole(Bytes::new()) }))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};

    use crate::middleware::ssl_redirect::{check, is_secure};

    fn request(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        headers.iter().map(pair).collect()
    }

    #[test]
    fn a_proxy_knows_the_scheme() {
        let forwarded = |scheme| request(&[("x-forwarded-proto", scheme)]);
        assert!(is_secure(&forwarded("https"), false) && is_secure(&forwarded("HTTPS"), false));
        assert!(!is_secure(&forwarded("http"), true) && !is_secure(&forwarded("http, https"), true));
        assert!(is_secure(&HeaderMap::new(), true) && !is_secure(&HeaderMap::new(), false));
    }

    #[test]
    fn a_plain_request_is_sent_to_https() {
        let location = |host: &'static str, path: &str| {
            let response = check(&request(&[("host", host)]), false, path).unwrap().expect("it is plain");
            assert_eq!((response.status.as_u16(), response.headers.len()), (301, 1));
            response.headers["location"].to_str().unwrap().to_owned()
        };
        assert_eq!(location("localhost", "/records/posts"), "https://localhost/records/posts");
        assert_eq!(location("example.com:8080", "/a%20b?c=d&e"), "https://example.com:8080/a%20b?c=d&e");
        assert_eq!(location("[::1]:80", "/"), "https://[::1]:80/");
        assert!(check(&request(&[("host", "a")]), true, "/").unwrap().is_none());
    }

    #[test]
    fn a_host_that_is_none_is_an_error() {
        for host in ["", "a/b", "a@b", "user:x@b", "a b", "a\\b", "//b", "a?b", "a#b"] {
            assert!(check(&request(&[("host", host)]), false, "/").is_err(), "{host}");
        }
        assert!(check(&HeaderMap::new(), false, "/").is_err());
        assert!(check(&request(&[("host", "a")]), false, "*").is_err());
    }
}
