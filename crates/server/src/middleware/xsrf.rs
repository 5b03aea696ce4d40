//! xsrf: writes repeat in a header what a cookie says, which pages of other sites cannot read.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use ring::rand::{SecureRandom, SystemRandom};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use treeql::error::{Code, Error};

use crate::http::{Cookie, cookies, header_name};
use crate::middleware::method::{contains, methods};

/// Settings of xsrf.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Methods that do not need the header, separated by commas. HEAD counts as GET.
    pub exclude_methods: String,
    /// The cookie that carries the token.
    pub cookie_name: String,
    /// The header that must repeat it.
    pub header_name: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            exclude_methods: "OPTIONS,GET".to_owned(),
            cookie_name: "XSRF-TOKEN".to_owned(),
            header_name: "X-XSRF-TOKEN".to_owned(),
        }
    }
}

/// The check, ready to use.
pub struct Xsrf {
    excluded: Vec<Method>,
    cookie: String,
    header: HeaderName,
}

impl Xsrf {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<Xsrf, String> {
        if !Cookie::is_name(&options.cookie_name) {
            return Err(format!(
                "xsrf.cookieName is '{}', which is no name of a cookie",
                options.cookie_name
            ));
        }
        Ok(Xsrf {
            excluded: methods("xsrf.excludeMethods", &options.exclude_methods)?,
            cookie: options.cookie_name.clone(),
            header: header_name("xsrf.headerName", &options.header_name)?,
        })
    }

    /// Refuses a request whose header does not repeat the cookie: 1017.
    pub fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), Error> {
        if contains(&self.excluded, method) {
            return Ok(());
        }
        match (self.token(headers), headers.get(&self.header)) {
            (Some(token), Some(header)) if bool::from(token.as_bytes().ct_eq(header.as_bytes())) => Ok(()),
            _ => Err(Error::new(Code::BadXsrfToken, "")),
        }
    }

    /// Gives a client that has no token one, with whatever answer it gets.
    pub fn finish(&self, request: &HeaderMap, is_secure: bool, response: &mut HeaderMap) {
        if self.token(request).is_some() {
            return;
        }
        // Without random numbers the client stays without a token, and cannot write.
        if let Some(token) = random_token() {
            response.append(header::SET_COOKIE, self.set_cookie(&token, is_secure));
        }
    }

    fn token<'a>(&'a self, headers: &'a HeaderMap) -> Option<&'a str> {
        cookies(headers, &self.cookie).next().filter(|token| !token.is_empty())
    }

    /// Scripts of our own pages must be able to read it.
    fn set_cookie(&self, token: &str, is_secure: bool) -> HeaderValue {
        Cookie { name: &self.cookie, value: token, is_secure, is_http_only: false, is_expired: false }
            .header()
    }
}

fn random_token() -> Option<String> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, Method, header};
    use treeql::error::Code;

    use crate::middleware::xsrf::{Options, Xsrf};

    fn request(cookie: &'static str, token: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !cookie.is_empty() {
            headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
        }
        if !token.is_empty() {
            headers.insert("x-xsrf-token", HeaderValue::from_static(token));
        }
        headers
    }

    #[test]
    fn a_write_repeats_the_cookie() {
        let xsrf = Xsrf::compile(&Options::default()).unwrap();
        let table = [
            ("", "", false),
            ("", "abc", false),
            ("XSRF-TOKEN=abc", "", false),
            ("XSRF-TOKEN=abc", "abd", false),
            ("XSRF-TOKEN=abc", "ab", false),
            ("XSRF-TOKEN=", "abc", false),
            ("xsrf-token=abc", "abc", false),
            ("XSRF-TOKEN=abc", "abc", true),
            ("a=b; XSRF-TOKEN=abc", "abc", true),
        ];
        for (cookie, token, expected) in table {
            let result = xsrf.check(&Method::POST, &request(cookie, token));
            assert_eq!(result.is_ok(), expected, "{cookie} {token}");
            assert!(result.is_ok() || result.unwrap_err().code == Code::BadXsrfToken);
            assert_eq!(xsrf.check(&Method::GET, &request(cookie, token)), Ok(()));
            assert_eq!(xsrf.check(&Method::HEAD, &request(cookie, token)), Ok(()));
        }
    }

    #[test]
    fn a_client_without_a_token_gets_one() {
        let xsrf = Xsrf::compile(&Options::default()).unwrap();
        let set = |cookie, is_secure| {
            let mut response = HeaderMap::new();
            xsrf.finish(&request(cookie, ""), is_secure, &mut response);
            response.get(header::SET_COOKIE).map(|value| value.to_str().unwrap().to_owned())
        };
        let (one, two) = (set("", false).unwrap(), set("XSRF-TOKEN=", true).unwrap());
        assert_ne!(one, two);
        assert_eq!(one.len(), "XSRF-TOKEN=; Path=/; SameSite=Lax".len() + 32);
        assert!(one.ends_with("; Path=/; SameSite=Lax") && two.ends_with("; Path=/; Secure; SameSite=Lax"));
        assert_eq!(set("XSRF-TOKEN=abc", false), None);
    }

    #[test]
    fn a_wrong_setting_is_a_sentence() {
        let options = Options { cookie_name: "a b".into(), ..Options::default() };
        assert!(Xsrf::compile(&options).err().unwrap().contains("xsrf.cookieName is 'a b'"));
    }
}
