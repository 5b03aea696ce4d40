//! API keys: a header compared with a list, without telling by time or text how near a guess was.

use http::{HeaderMap, HeaderName};
use ring::digest::{Digest, SHA256, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::{Choice, ConstantTimeEq};
use treeql::error::{Code, Error};

use crate::auth::mode::Mode;
use crate::http::{header_name, list};

/// Settings of API keys that stand in the configuration.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Whether a key is `required` or `optional`.
    pub mode: String,
    /// The header that carries the key.
    pub header: String,
    /// The keys that are accepted, separated by commas.
    pub keys: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { mode: "required".to_owned(), header: "X-API-Key".to_owned(), keys: String::new() }
    }
}

/// A list of keys.
pub struct ApiKeys {
    mode: Mode,
    header: HeaderName,
    hashes: Vec<Digest>,
}

impl ApiKeys {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<ApiKeys, String> {
        let hashes: Vec<Digest> = list(&options.keys).map(hash).collect();
        if hashes.is_empty() {
            return Err("apiKeyAuth.keys is empty: no key would be accepted".to_owned());
        }
        Ok(ApiKeys {
            mode: Mode::parse("apiKeyAuth.mode", &options.mode)?,
            header: header_name("apiKeyAuth.header", &options.header)?,
            hashes,
        })
    }

    /// The key of a request, if it has one. A missing key that is required is 1011, a wrong one 1012.
    pub fn check<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a str>, Error> {
        let Some(key) = presented(headers, &self.header, self.mode)? else { return Ok(None) };
        if self.contains(key) { Ok(Some(key)) } else { Err(wrong()) }
    }

    /// Whether `key` is one of the list. All are compared, all bytes of each.
    fn contains(&self, key: &str) -> bool {
        let key = hash(key);
        let found = self
            .hashes
            .iter()
            .fold(Choice::from(0), |found, known| found | known.as_ref().ct_eq(key.as_ref()));
        found.into()
    }
}

/// The key that a request presents in `header`; it is not verified. A missing one that is required is 1011.
pub fn presented<'a>(
    headers: &'a HeaderMap,
    header: &HeaderName,
    mode: Mode,
) -> Result<Option<&'a str>, Error> {
    let Some(value) = headers.get(header) else { return absent(mode) };
    let Ok(key) = value.to_str() else { return Err(wrong()) };
    // compat: `0` is no key, as an empty one.
    if key.is_empty() || key == "0" { absent(mode) } else { Ok(Some(key)) }
}

/// The error of a key that is not known; it does not say which key.
pub fn wrong() -> Error {
    Error::new(Code::AuthenticationFailed, "API key")
}

fn absent(mode: Mode) -> Result<Option<&'static str>, Error> {
    if mode.is_required() { Err(Error::new(Code::AuthenticationRequired, "")) } else { Ok(None) }
}

/// Hashes are of one length, so that comparing them tells nothing about the length of a key either.
fn hash(key: &str) -> Digest {
    digest(&SHA256, key.as_bytes())
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};
    use treeql::error::{Code, Error};

    use crate::auth::api_key::{ApiKeys, Options};

    fn keys(mode: &str, keys: &str) -> ApiKeys {
        ApiKeys::compile(&Options { mode: mode.into(), keys: keys.into(), ..Options::default() }).unwrap()
    }

    fn check(keys: &ApiKeys, key: Option<&str>) -> Result<Option<String>, Error> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            headers.insert("x-api-key", HeaderValue::from_bytes(key.as_bytes()).unwrap());
        }
        keys.check(&headers).map(|key| key.map(str::to_owned))
    }

    #[test]
    fn a_key_of_the_list_is_accepted() {
        let keys = keys("required", "123456789abc, second key,");
        assert_eq!(check(&keys, Some("123456789abc")).unwrap().as_deref(), Some("123456789abc"));
        assert_eq!(check(&keys, Some("second key")).unwrap().as_deref(), Some("second key"));
    }

    #[test]
    fn a_key_is_compared_byte_by_byte() {
        let keys = keys("optional", "123,1000,abc");
        for wrong in ["123.0", "1e3", "0123", "+123", "123 4", "ABC", "ab", "abcd", "123,1000", "true", "ä"]
        {
            let error = check(&keys, Some(wrong)).unwrap_err();
            assert_eq!(error.code, Code::AuthenticationFailed, "{wrong}");
            assert!(!error.to_string().contains(wrong) && error.details.is_empty(), "{error}");
        }
    }

    #[test]
    fn no_key_is_an_error_if_one_is_required() {
        for none in [None, Some(""), Some("0")] {
            assert_eq!(check(&keys("optional", "a"), none), Ok(None));
            let error = check(&keys("required", "a"), none).unwrap_err();
            assert_eq!(error.code, Code::AuthenticationRequired);
        }
    }

    #[test]
    fn a_wrong_setting_is_a_sentence() {
        let error = |options: Options| ApiKeys::compile(&options).err().unwrap();
        assert!(error(Options::default()).contains("apiKeyAuth.keys is empty"));
        let mode = Options { mode: "maybe".into(), keys: "a".into(), ..Options::default() };
        assert_eq!(error(mode), "apiKeyAuth.mode is 'maybe', but takes required or optional");
        let header = Options { header: "a b".into(), keys: "a".into(), ..Options::default() };
        assert!(error(header).contains("apiKeyAuth.header"));
    }
}
