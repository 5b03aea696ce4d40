//! Sessions: who has logged in, in a cookie that is signed and that nobody can make but this server.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use treeql::error::{Code, Error};

use crate::auth::revoked::{Login, Revoked};
use crate::http::{Cookie, cookies};

/// limit: bytes of name and value of a cookie; browsers keep about 4096, attributes included.
const COOKIE_BYTES_MAX: usize = 3584;
/// limit: bytes of a secret; a shorter one can be guessed.
const SECRET_BYTES_MIN: usize = 32;
/// Says what a signature is for, so that one made for something else is worth nothing here.
const PURPOSE: &[u8] = b"rowcast session 1\0";

/// Settings of sessions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// The name of the cookie.
    pub session_name: String,
    /// What signs sessions: at least 32 random characters, the same on every server of a site. If it is empty, one is
    /// made at the start: sessions end when the server does.
    pub secret: String,
    /// Seconds that a session lasts after the login.
    pub lifetime: u64,
    /// Whether a token or a password of jwtAuth and basicAuth begins a session, so that its cookie will do for later
    /// requests, as in php-crud-api.
    pub remember: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            session_name: "ROWCAST_SESSION".to_owned(),
            secret: String::new(),
            lifetime: 8 * 60 * 60,
            remember: false,
        }
    }
}

/// What a session holds. A default one holds nothing: nobody is logged in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Session {
    /// The record of the user, as JSON text; of dbAuth.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Claims that were verified; of jwtAuth.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<Map<String, Json>>,
    /// The name of the user; of basicAuth.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Which login it is of; of dbAuth.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
}

impl Session {
    /// Whether nobody is logged in.
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.claims.is_none() && self.username.is_none()
    }
}

/// What is signed.
#[derive(Deserialize, Serialize)]
struct Payload<S> {
    /// Seconds since 1970 at which it ends.
    #[serde(rename = "e")]
    expires: u64,
    #[serde(rename = "s")]
    session: S,
}

/// Makes and reads the cookies of sessions.
pub struct Sessions {
    name: String,
    key: hmac::Key,
    lifetime: u64,
    /// Those that ended before their time.
    pub revoked: Revoked,
}

impl Sessions {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<Sessions, String> {
        let name = options.session_name.clone();
        if !Cookie::is_name(&name) {
            return Err(format!("sessionName is '{name}', which is no name of a cookie"));
        }
        if options.lifetime == 0 {
            return Err("session.lifetime is 0: no session would last".to_owned());
        }
        let mut random = [0; 32];
        let secret = match options.secret.as_bytes() {
            [] => {
                let failed = |_unspecified| "the system has no random numbers".to_owned();
                SystemRandom::new().fill(&mut random).map_err(failed)?;
                &random[..]
            }
            short if short.len() < SECRET_BYTES_MIN => {
                let length = short.len();
                return Err(format!(
                    "session.secret has {length} bytes, but takes at least {SECRET_BYTES_MIN}"
                ));
            }
            given => given,
        };
        let (key, lifetime) = (hmac::Key::new(hmac::HMAC_SHA256, secret), options.lifetime);
        Ok(Sessions { name, key, lifetime, revoked: Revoked::new(lifetime) })
    }

    /// The session of a request. A cookie that is tampered with, expired or of another server is no session.
    pub fn decode(&self, headers: &HeaderMap, now: u64) -> Option<Session> {
        cookies(headers, &self.name).find_map(|value| self.open(value, now))
    }

    /// The `Set-Cookie` header that begins or replaces a session. One made of claims ends with them at the latest.
    pub fn encode(&self, session: &Session, now: u64, is_secure: bool) -> Result<HeaderValue, Error> {
        let claimed = session.claims.as_ref().and_then(|claims| seconds(claims.get("exp")?));
        let expires = now.saturating_add(self.lifetime).min(claimed.unwrap_or(u64::MAX));
        let payload = serde_json::to_vec(&Payload { expires, session })
            .map_err(|error| Error::new(Code::Internal, format!("the session cannot be written: {error}")))?;
        let tag = hmac::sign(&self.key, &message(&self.name, &payload));
        let value = format!("{}.{}", URL_SAFE_NO_PAD.encode(&payload), URL_SAFE_NO_PAD.encode(tag));
        let length = self.name.len() + 1 + value.len();
        if length > COOKIE_BYTES_MAX {
            let sentence =
                format!("a session of {length} bytes, of at most {COOKIE_BYTES_MAX}, for its cookie");
            return Err(Error::new(Code::TooLarge, sentence));
        }
        Ok(self.cookie(&value, is_secure, false))
    }

    /// The `Set-Cookie` header that ends a session.
    pub fn clear(&self, is_secure: bool) -> HeaderValue {
        self.cookie("", is_secure, true)
    }

    fn cookie(&self, value: &str, is_secure: bool, is_expired: bool) -> HeaderValue {
        Cookie { name: &self.name, value, is_secure, is_http_only: true, is_expired }.header()
    }

    fn open(&self, value: &str, now: u64) -> Option<Session> {
        if value.len() > COOKIE_BYTES_MAX {
            return None;
        }
        let (payload, tag) = value.split_once('.')?;
        let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        hmac::verify(&self.key, &message(&self.name, &payload), &tag).ok()?;
        let payload: Payload<Session> = serde_json::from_slice(&payload).ok()?;
        (now < payload.expires).then_some(payload.session)
    }
}

fn message(name: &str, payload: &[u8]) -> Vec<u8> {
    [PURPOSE, name.as_bytes(), b"\0", payload].concat()
}

/// A time as tokens write it: a number, or its text.
fn seconds(time: &Json) -> Option<u64> {
    match time {
        Json::Number(number) => number.as_u64().or_else(|| number.as_f64().map(|seconds| seconds as u64)),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use http::{HeaderMap, HeaderValue, header};
    use serde_json::json;
    use treeql::error::Code;

    use crate::auth::session::{Options, Session, Sessions};

    const NOW: u64 = 1_700_000_000;

    fn sessions(secret: &str, name: &str) -> Sessions {
        let options =
            Options { secret: secret.into(), session_name: name.into(), lifetime: 60, remember: false };
        Sessions::compile(&options).unwrap()
    }

    fn ours() -> Sessions {
        sessions("0123456789abcdef0123456789abcdef", "S")
    }

    fn ann() -> Session {
        Session {
            user: Some(r#"{"id":1,"username":"Ann \"A\" Ä"}"#.into()),
            claims: json!({"role": "editor", "n": [1, 2.5]}).as_object().cloned(),
            username: Some("ann".into()),
            login: None,
        }
    }

    /// The `name=value` of a cookie that was set.
    fn pair(cookie: &HeaderValue) -> String {
        cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
    }

    fn request(cookie: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_str(cookie).unwrap())])
    }

    #[test]
    fn a_session_comes_back_until_it_expires() {
        let cookie = ours().encode(&ann(), NOW, true).unwrap();
        assert!(cookie.to_str().unwrap().ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax"));
        let request = request(&format!("a=b; {}", pair(&cookie)));
        assert_eq!(ours().decode(&request, NOW), Some(ann()));
        assert_eq!(ours().decode(&request, NOW + 59), Some(ann()));
        assert_eq!(ours().decode(&request, NOW + 60), None);
    }

    #[test]
    fn a_session_of_a_token_ends_with_it() {
        for exp in [json!(NOW + 10), json!((NOW + 10).to_string())] {
            let session = Session { claims: json!({"exp": exp}).as_object().cloned(), ..Session::default() };
            let request = request(&pair(&ours().encode(&session, NOW, false).unwrap()));
            assert!(ours().decode(&request, NOW + 9).is_some());
            assert_eq!(ours().decode(&request, NOW + 10), None);
        }
    }

    #[test]
    fn a_tampered_cookie_is_no_session() {
        let cookie = pair(&ours().encode(&ann(), NOW, false).unwrap());
        let (name, value) = cookie.split_once('=').unwrap();
        let (payload, tag) = value.split_once('.').unwrap();
        for position in 0..value.len() {
            let mut bytes = value.as_bytes().to_vec();
            bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
            let request = request(&format!("{name}={}", String::from_utf8(bytes).unwrap()));
            assert_eq!(ours().decode(&request, NOW), None, "byte {position}");
        }
        let forged = URL_SAFE_NO_PAD.encode(r#"{"e":99999999999,"s":{"n":"admin"}}"#);
        let others = [
            format!("{forged}.{tag}"),
            format!("{forged}."),
            forged,
            format!("{payload}."),
            format!("{payload}.{}", &tag[..20]),
            format!("{value}.{tag}"),
            format!("{value}="),
            payload.to_owned(),
            ".".to_owned(),
            String::new(),
            "A".repeat(100_000),
        ];
        for other in others {
            assert_eq!(ours().decode(&request(&format!("{name}={other}")), NOW), None, "{other}");
        }
    }

    #[test]
    fn a_cookie_of_another_secret_or_name_is_no_session() {
        let cookie = pair(&ours().encode(&ann(), NOW, false).unwrap());
        let stranger = sessions("another secret, just as long as it", "S");
        assert_eq!(stranger.decode(&request(&cookie), NOW), None);
        let renamed = sessions("0123456789abcdef0123456789abcdef", "T");
        assert_eq!(renamed.decode(&request(&cookie.replacen("S=", "T=", 1)), NOW), None);
        let (one, two) = (sessions("", "S"), sessions("", "S"));
        let cookie = pair(&one.encode(&ann(), NOW, false).unwrap());
        assert_eq!(one.decode(&request(&cookie), NOW), Some(ann()));
        assert_eq!(two.decode(&request(&cookie), NOW), None);
    }

    #[test]
    fn a_bad_cookie_before_the_good_one_does_not_hide_it() {
        let cookie = pair(&ours().encode(&ann(), NOW, false).unwrap());
        assert_eq!(ours().decode(&request(&format!("S=planted; {cookie}")), NOW), Some(ann()));
    }

    #[test]
    fn a_session_that_browsers_would_drop_is_an_error() {
        let large = Session { user: Some("x".repeat(3000)), ..Session::default() };
        assert_eq!(ours().encode(&large, NOW, false).unwrap_err().code, Code::TooLarge);
    }

    #[test]
    fn logging_out_clears_the_cookie() {
        assert_eq!(ours().clear(false), "S=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
        assert!(Session::default().is_empty() && !ann().is_empty());
    }

    #[test]
    fn a_wrong_setting_is_a_sentence() {
        let error = |options: Options| Sessions::compile(&options).err().unwrap();
        assert!(error(Options { secret: "short".into(), ..Options::default() }).contains("at least 32"));
        assert!(error(Options { session_name: "a;b".into(), ..Options::default() }).contains("'a;b'"));
        assert!(error(Options { lifetime: 0, ..Options::default() }).contains("session.lifetime"));
    }
}
