//! cors: which pages of other sites may read answers, and whether they may do so in the name of a user.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::error::{Code, Error};

use crate::http::{Body, Response, list};

/// limit: bytes of an origin; a host has 253 at most.
const ORIGIN_BYTES_MAX: usize = 300;

/// Settings of cors.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Origins whose pages may read answers, separated by commas; `*` in one stands for any text, as in
    /// `https://*.example.com`. A single `*` allows every page, but none in the name of a user.
    pub allowed_origins: String,
    /// Headers that pages may send.
    pub allow_headers: String,
    /// Methods that pages may use.
    pub allow_methods: String,
    /// Whether pages may send cookies and read what a user may read. It has no effect if every origin is allowed.
    pub allow_credentials: bool,
    /// Headers of answers that pages may read.
    pub expose_headers: String,
    /// Seconds that a browser may remember what is allowed; 0 does not say.
    pub max_age: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            allowed_origins: "*".to_owned(),
            allow_headers: "Content-Type, X-XSRF-TOKEN, X-Authorization, X-API-Key".to_owned(),
            allow_methods: "OPTIONS, GET, PUT, POST, DELETE, PATCH".to_owned(),
            allow_credentials: true,
            expose_headers: String::new(),
            max_age: 1_728_000,
        }
    }
}

/// The rules, ready to use.
pub struct Cors {
    origins: Origins,
    with_credentials: bool,
    expose: Option<HeaderValue>,
    /// All headers of the answer to OPTIONS that do not depend on the origin.
    preflight: HeaderMap,
}

enum Origins {
    /// Pages of all origins, without credentials.
    Any,
    /// Origins that match one of these, in lower case.
    Like(Vec<String>),
}

impl Cors {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<Cors, String> {
        let origins = origins(&options.allowed_origins, options.allow_credentials)?;
        let with_credentials = options.allow_credentials && matches!(origins, Origins::Like(_));
        let expose = header("cors.exposeHeaders", &options.expose_headers)?;
        let credentials = if with_credentials { "true" } else { "" };
        let max_age = if options.max_age > 0 { options.max_age.to_string() } else { String::new() };
        let mut preflight = HeaderMap::with_capacity(8);
        let lines: [(HeaderName, &str, &str); 4] = [
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "cors.allowHeaders", &options.allow_headers),
            (header::ACCESS_CONTROL_ALLOW_METHODS, "cors.allowMethods", &options.allow_methods),
            (header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "cors.allowCredentials", credentials),
            (header::ACCESS_CONTROL_MAX_AGE, "cors.maxAge", &max_age),
        ];
        for (name, setting, value) in lines {
            preflight.extend(header(setting, value)?.map(|value| (name, value)));
        }
        preflight.extend(expose.clone().map(|value| (header::ACCESS_CONTROL_EXPOSE_HEADERS, value)));
        Ok(Cors { origins, with_credentials, expose, preflight })
    }

    /// Refuses other origins (1004), and answers OPTIONS.
    pub fn check(&self, method: &Method, headers: &HeaderMap) -> Result<Option<Response>, Error> {
        if let Some(origin) = headers.get(header::ORIGIN)
            && !self.allows(origin)
        {
            let shown = String::from_utf8_lossy(origin.as_bytes());
            return Err(Error::new(Code::OriginForbidden, shown));
        }
        if method != Method::OPTIONS {
            return Ok(None);
        }
        let (headers, body) = (self.preflight.clone(), Body::Whole(Bytes::new()));
        Ok(Some(Response { status: StatusCode::OK, headers, body }))
    }

    /// Adds to any answer, those to OPTIONS and errors too, what allows the page to read it.
    pub fn finish(&self, request: &HeaderMap, response: &mut HeaderMap) {
        // A cache must not give the answer for one origin, or for none, to another.
        Response::vary(response, "Origin");
        let Some(origin) = request.get(header::ORIGIN).filter(|origin| self.allows(origin)) else { return };
        let shown = match self.origins {
            Origins::Any => HeaderValue::from_static("*"),
            Origins::Like(_) => origin.clone(),
        };
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, shown);
        if self.with_credentials {
            let yes = HeaderValue::from_static("true");
            response.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
        }
        if let Some(expose) = &self.expose {
            response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, expose.clone());
        }
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        match &self.origins {
            Origins::Any => true,
            Origins::Like(_) if origin.len() > ORIGIN_BYTES_MAX => false,
            Origins::Like(patterns) => origin.to_str().is_ok_and(|origin| {
                let origin = origin.to_ascii_lowercase();
                patterns.iter().any(|pattern| matches(pattern, &origin))
            }),
        }
    }
}

fn origins(text: &str, with_credentials: bool) -> Result<Origins, String> {
    let patterns: Vec<String> = list(text).map(str::to_ascii_lowercase).collect();
    if patterns.iter().any(|pattern| pattern == "*") {
        return Ok(Origins::Any);
    }
    for pattern in &patterns {
        let Some((_, host)) = pattern.split_once("://") else {
            return Err(format!(
                "cors.allowedOrigins has '{pattern}', but takes origins such as https://example.com, or *"
            ));
        };
        if host.contains('/') {
            return Err(format!("cors.allowedOrigins has '{pattern}', but an origin has no path"));
        }
        if with_credentials && is_open(host) {
            return Err(format!(
                "cors.allowedOrigins has '{pattern}', which sites of strangers match; name a domain as in \
                 https://*.example.com, write * for pages that act for nobody, or set cors.allowCredentials to false"
            ));
        }
    }
    Ok(Origins::Like(patterns))
}

/// Whether somebody could register a host that matches: what is fixed at the end is no domain, or its first label is
/// fixed in part only.
fn is_open(host: &str) -> bool {
    let is_port = |text: &str| text == "*" || text.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    let Some((_, end)) = name.rsplit_once('*') else { return false };
    !end.strip_prefix('.').is_some_and(|domain| domain.trim_matches('.').contains('.'))
}

/// Whether `text` is like `pattern`, in which `*` stands for any text without a slash.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    let ends = text.find('/').unwrap_or(text.len());
    (0..=ends).any(|skipped| text.is_char_boundary(skipped) && matches(rest, &text[skipped..]))
}

fn header(setting: &str, value: &str) -> Result<Option<HeaderValue>, String> {
    if value.trim().is_empty() {
        return Ok(None);
    }
    HeaderValue::from_str(value.trim())
        .map(Some)
        .map_err(|_invalid| format!("{setting} has characters that no header can carry"))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, Method, header};
    use treeql::error::Code;

    use crate::middleware::cors::{Cors, Options};

    fn cors(allowed_origins: &str) -> Cors {
        let options = Options { allowed_origins: allowed_origins.into(), ..Options::default() };
        Cors::compile(&options).unwrap_or_else(|error| panic!("{error}"))
    }

    fn from(origin: Option<&str>) -> HeaderMap {
        let value = |origin| HeaderValue::from_str(origin).expect("it is a header");
        origin.map(|origin| (header::ORIGIN, value(origin))).into_iter().collect()
    }

    /// `origin/credentials` of the answer to a GET, or `refused`.
    fn answer(cors: &Cors, origin: Option<&str>) -> String {
        let request = from(origin);
        let result = cors.check(&Method::GET, &request);
        let mut response = HeaderMap::new();
        cors.finish(&request, &mut response);
        assert_eq!(response[header::VARY], "Origin");
        let text = |name| response.get(name).map_or("-", |value: &HeaderValue| value.to_str().unwrap());
        let shown = text(header::ACCESS_CONTROL_ALLOW_ORIGIN).to_owned();
        let line = format!("{shown} {}", text(header::ACCESS_CONTROL_ALLOW_CREDENTIALS));
        match result {
            Ok(None) => line,
            Ok(Some(_)) => panic!("only OPTIONS is answered"),
            Err(error) => {
                assert_eq!((error.code, &*error.argument), (Code::OriginForbidden, origin.unwrap()));
                assert_eq!(line, "- -");
                "refused".to_owned()
            }
        }
    }

    #[test]
    fn any_origin_reads_without_credentials() {
        let any = cors("*");
        for origin in ["https://evil.example", "http://localhost:1", "null", "https://*"] {
            assert_eq!(answer(&any, Some(origin)), "* -", "{origin}");
        }
        assert_eq!(answer(&any, None), "- -");
        assert_eq!(answer(&cors("https://a.example, *"), Some("https://a.example")), "* -");
    }

    #[test]
    fn a_listed_origin_reads_with_credentials() {
        let table = [
            ("http://example.com", "http://example.com", true),
            ("http://Example.com", "http://example.com", true),
            ("http://example.com", "https://example.com", false),
            ("http://example.com", "http://example.com:8080", false),
            ("http://example.com", "http://example.com.evil.example", false),
            ("http://example.com", "http://a.example.com", false),
            ("http://example.com", "null", false),
            ("http://example.com", "", false),
            ("https://*.example.com", "https://a.example.com", true),
            ("https://*.example.com", "https://a.b.example.com", true),
            ("https://*.example.com", "https://example.com", false),
            ("https://*.example.com", "https://evilexample.com", false),
            ("https://*.example.com", "https://evil.example/.example.com", false),
            ("https://*.example.com", "http://a.example.com", false),
            ("http://localhost:*", "http://localhost:3000", true),
            ("http://localhost:*", "http://localhost", false),
            ("*://a.example:*", "https://a.example:1", true),
            ("https://a.example,https://b.example", "https://b.example", true),
            ("https://a.example,https://b.example", "https://c.example", false),
            ("", "https://a.example", false),
        ];
        for (allowed, origin, expected) in table {
            let expected = if expected { format!("{origin} true") } else { "refused".to_owned() };
            assert_eq!(answer(&cors(allowed), Some(origin)), expected, "{origin} in {allowed}");
        }
        assert_eq!(answer(&cors("http://example.com"), None), "- -");
        let long = format!("https://{}.example.com", "a".repeat(300));
        assert_eq!(answer(&cors("https://*.example.com"), Some(&long)), "refused");
    }

    #[test]
    fn strangers_never_act_for_a_user() {
        let open = [
            "https://*",
            "*://*",
            "http://*:*",
            "https://*.com",
            "https://*example.com",
            "http://localhost*",
        ];
        for pattern in
            open.into_iter().chain(["https://example.*", "https://*.*", "https://*.:80", "https://**"])
        {
            let options = Options { allowed_origins: pattern.into(), ..Options::default() };
            let error = Cors::compile(&options).err().unwrap_or_else(|| panic!("{pattern}"));
            assert!(error.contains("sites of strangers"), "{error}");
            let without = Cors::compile(&Options { allow_credentials: false, ..options });
            assert!(without.is_ok(), "{pattern}");
        }
        for pattern in ["null", "example.com", "https://a.example/", "https://a.example/b"] {
            let options = Options { allowed_origins: pattern.into(), ..Options::default() };
            assert!(Cors::compile(&options).err().unwrap().contains("cors.allowedOrigins"), "{pattern}");
        }
    }

    #[test]
    fn options_is_answered_for_every_path() {
        let lines = |cors: &Cors, origin| {
            let response = cors.check(&Method::OPTIONS, &from(origin)).unwrap().unwrap();
            assert_eq!(response.status.as_u16(), 200);
            let line = |(name, value): (&http::HeaderName, &HeaderValue)| {
                format!("{name}: {}", value.to_str().unwrap())
            };
            let mut lines: Vec<String> = response.headers.iter().map(line).collect();
            lines.sort();
            lines
        };
        let expected = [
            "access-control-allow-credentials: true",
            "access-control-allow-headers: Content-Type, X-XSRF-TOKEN, X-Authorization, X-API-Key",
            "access-control-allow-methods: OPTIONS, GET, PUT, POST, DELETE, PATCH",
            "access-control-max-age: 1728000",
        ];
        assert_eq!(lines(&cors("http://example.com"), None), expected);
        assert_eq!(lines(&cors("http://example.com"), Some("http://example.com")), expected);
        assert_eq!(lines(&cors("*"), Some("http://example.com")), expected[1..]);
        assert!(cors("http://a.example").check(&Method::OPTIONS, &from(Some("http://b.example"))).is_err());
        let bare = Options {
            allow_headers: String::new(),
            allow_methods: " ".into(),
            expose_headers: "X-Time-Taken".into(),
            max_age: 0,
            ..Options::default()
        };
        let bare = Cors::compile(&bare).unwrap();
        assert_eq!(lines(&bare, None), ["access-control-expose-headers: X-Time-Taken"]);
        let mut response = HeaderMap::new();
        bare.finish(&from(Some("http://a.example")), &mut response);
        assert_eq!(response[header::ACCESS_CONTROL_EXPOSE_HEADERS], "X-Time-Taken");
    }

    #[test]
    fn other_vary_headers_stay() {
        let mut response =
            HeaderMap::from_iter([(header::VARY, HeaderValue::from_static("Accept-Encoding"))]);
        cors("*").finish(&HeaderMap::new(), &mut response);
        assert_eq!(response[header::VARY], "Accept-Encoding, Origin");
    }
}
