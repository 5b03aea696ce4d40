//! Settings of JSON web tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of JSON web tokens.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Whether a token is `required` or `optional`.
    pub mode: String,
    /// The header that carries `Bearer` and the token.
    pub header: String,
    /// Seconds by which the clock of the issuer may differ from ours.
    pub leeway: u64,
    /// Seconds that a token is good for after it was issued (`iat`), if it does not say when it expires (`exp`).
    pub ttl: u64,
    /// Keys that verify tokens, separated by commas, each with or without its id: `KEY` or `ID:KEY`. A key in PEM, of a
    /// public key or a certificate, verifies RS256, RS384, RS512 or ES256, any other one HS256, HS384 and HS512.
    pub secrets: String,
    /// One more key, without an id.
    pub secret: String,
    /// A file with public keys in the JSON format of RFC 7517 (JWKS).
    pub jwks_file: String,
    /// Where an issuer publishes its keys in that format, beginning with `https://`; on this machine `http://` will do, too.
    pub jwks_url: String,
    /// The least seconds between two fetches of `jwksUrl`: a token with a key that is not known has it fetched again.
    pub jwks_pause: u64,
    /// The algorithms that are accepted, separated by commas; empty means all that the keys allow.
    pub algorithms: String,
    /// The audiences that are accepted (`aud`), separated by commas; empty means all.
    pub audiences: String,
    /// The issuers that are accepted (`iss`), separated by commas; empty means all.
    pub issuers: String,
    /// Seconds since 1970 to take for the present, for tests; 0 means the clock.
    pub time: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: "required".to_owned(),
            header: "X-Authorization".to_owned(),
            leeway: 5,
            ttl: 30,
            secrets: String::new(),
            secret: String::new(),
            jwks_file: String::new(),
            jwks_url: String::new(),
            jwks_pause: 30,
            algorithms: String::new(),
            audiences: String::new(),
            issuers: String::new(),
            time: 0,
        }
    }
}
