//! Verifier: from a token to its claims, or nothing.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName};
use quick_cache::sync::Cache;
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use treeql::error::{Code, Error};

use crate::auth::jwt::algorithm::Algorithm;
use crate::auth::jwt::claims::{Rules, Window};
use crate::auth::jwt::keyring::Keyring;
use crate::auth::jwt::options::Options;
use crate::auth::jwt::remote::Remote;
use crate::auth::mode::Mode;
use crate::http::{header_name, list};

/// limit: bytes of a token; a longer one is not even looked at.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// limit: tokens that are known to be right. Only good ones get in, so nobody can push them out with bad ones.
const VERIFIED_MAX: usize = 4096;

/// Verifies tokens by settings that were checked at the start.
pub struct Verifier {
    mode: Mode,
    header: HeaderName,
    keyring: Keyring,
    remote: Option<Remote>,
    /// Empty means all that the keys allow.
    algorithms: Vec<Algorithm>,
    rules: Rules,
    time: Option<u64>,
    /// The hash of a token to its claims.
    ///
    /// speed: a client sends the same token with every request until it expires.
    verified: Cache<[u8; 32], Arc<Verified>>,
}

/// Claims that somebody we trust has signed for us, and when they hold.
struct Verified {
    claims: Arc<Map<String, Json>>,
    window: Window,
    /// Of the keys that were fetched: one that was withdrawn verifies nothing any more.
    version: u64,
}

/// Why a token is worth nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is bad.
    Bad,
    /// Its key is not known, here or yet.
    UnknownKey,
}

/// The first part of a token.
#[derive(Deserialize)]
struct Header {
    typ: String,
    alg: String,
    #[serde(default)]
    kid: Option<Json>,
    /// Extensions that must be understood. There are none that are.
    #[serde(default)]
    crit: Option<Json>,
}

impl Verifier {
    /// Checks the settings and reads the keys. The error is a sentence.
    pub fn compile(options: &Options) -> Result<Verifier, String> {
        let keyring = Keyring::compile(options)?;
        let remote = match options.jwks_url.as_str() {
            "" => None,
            url => Some(Remote::start(url, Duration::from_secs(options.jwks_pause.max(1)))?),
        };
        let texts = |text: &str| list(text).map(str::to_owned).collect();
        Ok(Verifier {
            mode: Mode::parse("jwtAuth.mode", &options.mode)?,
            header: header_name("jwtAuth.header", &options.header)?,
            algorithms: algorithms(&options.algorithms, &keyring, remote.is_some())?,
            keyring,
            remote,
            rules: Rules {
                leeway: options.leeway as f64,
                ttl: options.ttl as f64,
                audiences: texts(&options.audiences),
                issuers: texts(&options.issuers),
            },
            time: (options.time > 0).then_some(options.time),
            verified: Cache::new(VERIFIED_MAX),
        })
    }

    /// Whether requests without a token (and without a session) are refused.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The present by the settings: `now`, unless tests have stopped the clock.
    pub fn time(&self, now: u64) -> u64 {
        self.time.unwrap_or(now)
    }

    /// The claims of a request, if it has a token. A bad token is 1012.
    pub async fn check(
        &self,
        headers: &HeaderMap,
        now: u64,
    ) -> Result<Option<Arc<Map<String, Json>>>, Error> {
        let value = headers.get(&self.header).and_then(|value| value.to_str().ok());
        let Some(token) = value.and_then(|value| value.strip_prefix("Bearer ")) else { return Ok(None) };
        let mut claims = self.verify(token.trim(), now);
        if let (Err(Refusal::UnknownKey), Some(remote)) = (&claims, &self.remote)
            && remote.refresh().await
        {
            claims = self.verify(token.trim(), now);
        }
        claims.map(Some).map_err(|_refusal| Error::new(Code::AuthenticationFailed, "JWT"))
    }

    /// The claims of a token that is good at `now`, in seconds since 1970.
    pub fn verify(&self, token: &str, now: u64) -> Result<Arc<Map<String, Json>>, Refusal> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Refusal::Bad);
        }
        let hash = digest(&SHA256, token.as_bytes());
        let hash: [u8; 32] = hash.as_ref().try_into().expect("SHA-256 has 32 bytes");
        let now = self.time(now);
        let version = self.remote.as_ref().map_or(0, Remote::version);
        if let Some(known) = self.verified.get(&hash).filter(|known| known.version == version) {
            let holds = known.window.contains(now);
            if !holds {
                self.verified.remove(&hash);
            }
            return if holds { Ok(known.claims.clone()) } else { Err(Refusal::Bad) };
        }
        let claims = self.signed(token)?;
        let window = self.rules.window(&claims).ok_or(Refusal::Bad)?;
        if !window.contains(now) {
            return Err(Refusal::Bad);
        }
        let claims = Arc::new(claims);
        self.verified.insert(hash, Arc::new(Verified { claims: claims.clone(), window, version }));
        Ok(claims)
    }

    /// The claims of a token whose signature is good, whatever they say.
    fn signed(&self, token: &str) -> Result<Map<String, Json>, Refusal> {
        let (message, signature) = token.rsplit_once('.').ok_or(Refusal::Bad)?;
        let (head, claims) = message.split_once('.').ok_or(Refusal::Bad)?;
        let (id, algorithm) = self.header(head).ok_or(Refusal::Bad)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_invalid| Refusal::Bad)?;
        let verify = |keys: &Keyring| keys.verify(id.as_deref(), algorithm, message.as_bytes(), &signature);
        let fetched = || self.remote.as_ref().and_then(|remote| verify(&remote.current()));
        match verify(&self.keyring).or_else(fetched) {
            Some(true) => {}
            Some(false) => return Err(Refusal::Bad),
            None => return Err(Refusal::UnknownKey),
        }
        // Nothing that is not signed gets this far; a fourth part would leave a dot here, which is no base64.
        let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_invalid| Refusal::Bad)?;
        serde_json::from_slice(&claims).map_err(|_invalid| Refusal::Bad)
    }

    /// The id of the key and the algorithm that the first part of a token names.
    fn header(&self, head: &str) -> Option<(Option<String>, Algorithm)> {
        let head = URL_SAFE_NO_PAD.decode(head).ok().filter(|head| head.starts_with(b"{"))?;
        let header: Header = serde_json::from_slice(&head).ok()?;
        if header.typ != "JWT" || header.crit.is_some() {
            return None;
        }
        let algorithm = Algorithm::parse(&header.alg)?;
        if !self.algorithms.is_empty() && !self.algorithms.contains(&algorithm) {
            return None;
        }
        let id = match header.kid {
            None => None,
            Some(Json::String(id)) => Some(id),
            Some(Json::Number(number)) => Some(number.to_string()),
            Some(_) => return None,
        };
        Some((id, algorithm))
    }
}

fn algorithms(text: &str, keyring: &Keyring, has_remote: bool) -> Result<Vec<Algorithm>, String> {
    let found: Vec<Algorithm> = list(text)
        .map(|name| {
            Algorithm::parse(name).ok_or_else(|| {
                let all: Vec<&str> = Algorithm::names().collect();
                format!("jwtAuth.algorithms: unknown '{name}'; there are {}", all.join(", "))
            })
        })
        .collect::<Result<_, _>>()?;
    if !found.is_empty() && !has_remote && !found.iter().any(|algorithm| keyring.fits(*algorithm)) {
        return Err(format!("jwtAuth.algorithms is '{text}', but no key can verify any of them"));
    }
    Ok(found)
}
