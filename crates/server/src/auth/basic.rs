//! Basic authentication: user and password with every request, against a file.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::{HeaderMap, HeaderValue, header};
use quick_cache::sync::Cache;
use ring::hmac;
use ring::rand::SystemRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::error::{Code, Error};

use crate::auth::mode::Mode;
use crate::auth::password::{Algorithm, verify_async};
use crate::auth::password_file::PasswordFile;

/// limit: pairs of user and password that are known to be right.
const VERIFIED_MAX: usize = 1024;
/// Padding may be there or not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Settings of basic authentication.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Whether user and password are `required` or `optional`.
    pub mode: String,
    /// What a browser shows when it asks for user and password.
    pub realm: String,
    /// The file with a line `user:hash` for each user. Plain passwords in it are replaced by their hashes.
    pub password_file: String,
    /// How plain passwords are hashed: `bcrypt` or `argon2id`. Both are understood in any case.
    pub password_hash: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: "required".to_owned(),
            realm: "Username and password required".to_owned(),
            password_file: ".htpasswd".to_owned(),
            password_hash: "bcrypt".to_owned(),
        }
    }
}

/// Basic authentication, ready to use.
pub struct Basic {
    mode: Mode,
    challenge: HeaderValue,
    algorithm: Algorithm,
    file: Arc<PasswordFile>,
    /// The keyed hash of user and password to the hash that they were verified against.
    ///
    /// speed: verifying takes tens of milliseconds by design, and a client sends its password with every request.
    verified: Cache<[u8; 32], Arc<str>>,
    key: hmac::Key,
}

impl Basic {
    /// Checks the settings and reads the file. The error is a sentence.
    pub fn compile(options: &Options) -> Result<Basic, String> {
        let setting = |error: String| format!("basicAuth.passwordHash: {error}");
        let algorithm = Algorithm::parse(&options.password_hash).map_err(setting)?;
        let file = PasswordFile::open(Path::new(&options.password_file), algorithm)
            .map_err(|error| format!("basicAuth.passwordFile: {error}"))?;
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_unspecified| "the system has no random numbers".to_owned())?;
        Ok(Basic {
            mode: Mode::parse("basicAuth.mode", &options.mode)?,
            challenge: challenge(&options.realm)?,
            algorithm,
            file: Arc::new(file),
            verified: Cache::new(VERIFIED_MAX),
            key,
        })
    }

    /// Whether requests without credentials (and without a session) are refused.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The `WWW-Authenticate` header that goes with 1011.
    pub fn challenge(&self) -> HeaderValue {
        self.challenge.clone()
    }

    /// The user of a request, if it has credentials. Wrong ones are 1012 with the name.
    pub async fn check(&self, headers: &HeaderMap) -> Result<Option<String>, Error> {
        let Some((user, password)) = credentials(headers) else { return Ok(None) };
        let users = self.file.users().await;
        let hash = users.get(&user);
        let pair = self.pair(&user, &password);
        if hash.is_some_and(|hash| self.verified.get(&pair).is_some_and(|known| *known == **hash)) {
            return Ok(Some(user));
        }
        if !verify_async(password, hash.cloned(), self.algorithm).await? {
            return Err(Error::new(Code::AuthenticationFailed, user));
        }
        if let Some(hash) = hash {
            self.verified.insert(pair, Arc::from(hash.as_str()));
        }
        Ok(Some(user))
    }

    /// A name cannot contain a colon, so no two pairs are written alike.
    fn pair(&self, user: &str, password: &str) -> [u8; 32] {
        let tag = hmac::sign(&self.key, format!("{user}:{password}").as_bytes());
        tag.as_ref().try_into().expect("SHA-256 has 32 bytes")
    }
}

/// User and password of a request. Another scheme is none; what cannot be read is an empty name.
fn credentials(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("Basic") {
        return None;
    }
    let token = token.trim().replace('-', "+").replace('_', "/");
    let text = LENIENT.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let (user, password) = text.split_once(':').unwrap_or_default();
    Some((user.to_owned(), password.to_owned()))
}

fn challenge(realm: &str) -> Result<HeaderValue, String> {
    let quoted = realm.replace('\\', "\\\\").replace('"', "\\\"");
    HeaderValue::from_str(&format!("Basic realm=\"{quoted}\""))
        .map_err(|_invalid| "basicAuth.realm has characters that no header can carry".to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use http::{HeaderMap, HeaderValue, header};
    use tempfile::TempDir;
    use treeql::error::{Code, Error};

    use crate::auth::basic::{Basic, Options, credentials};

    const LINE: &str = "username1:$2y$10$YkoiP6lfiEsEU9NvuGYhzuHln8FtSkkxxue0CQUufWL6tk/svoQBS";

    fn basic() -> (Basic, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        fs::write(&path, LINE).unwrap();
        let options = Options { password_file: path.to_str().unwrap().to_owned(), ..Options::default() };
        (Basic::compile(&options).unwrap(), folder)
    }

    fn request(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap())])
    }

    async fn check(basic: &Basic, pair: &str) -> Result<Option<String>, Error> {
        basic.check(&request(&format!("Basic {}", STANDARD.encode(pair)))).await
    }

    #[test]
    fn credentials_are_read_in_both_alphabets() {
        let pair = "ann:ÿ?>~:b";
        let expected = Some(("ann".to_owned(), "ÿ?>~:b".to_owned()));
        for encoded in [STANDARD.encode(pair), URL_SAFE_NO_PAD.encode(pair)] {
            assert_eq!(credentials(&request(&format!("Basic {encoded}"))), expected, "{encoded}");
            assert_eq!(credentials(&request(&format!("basic {encoded}"))), expected);
        }
        assert_eq!(
            credentials(&request(&format!("Basic {}", STANDARD.encode("a:")))),
            Some(("a".to_owned(), String::new()))
        );
        for unreadable in ["Basic !", "Basic YW5u", "Basic /w==", "Basic "] {
            assert_eq!(
                credentials(&request(unreadable)),
                Some((String::new(), String::new())),
                "{unreadable}"
            );
        }
        for none in ["Bearer YTpi", "Basic", "BasicYTpi"] {
            assert_eq!(credentials(&request(none)), None, "{none}");
        }
        assert_eq!(credentials(&HeaderMap::new()), None);
    }

    #[tokio::test]
    async fn a_user_of_the_file_is_let_in() {
        let (basic, _folder) = basic();
        assert_eq!(basic.check(&HeaderMap::new()).await, Ok(None));
        assert_eq!(check(&basic, "username1:password1").await.unwrap().as_deref(), Some("username1"));
        let start = Instant::now();
        for _ in 0..20 {
            assert!(check(&basic, "username1:password1").await.is_ok());
        }
        assert!(start.elapsed() < Duration::from_millis(500), "what has been verified is not verified again");
        for wrong in ["username1:password2", "username1:", "username2:password1", ":", "Username1:password1"]
        {
            let error = check(&basic, wrong).await.unwrap_err();
            assert_eq!(error, Error::new(Code::AuthenticationFailed, wrong.split(':').next().unwrap()));
        }
    }

    #[tokio::test]
    async fn a_changed_password_is_forgotten() {
        let (basic, folder) = basic();
        assert!(check(&basic, "username1:password1").await.is_ok());
        fs::write(folder.path().join("users"), "username1:other").unwrap();
        basic.file.expire();
        assert!(check(&basic, "username1:password1").await.is_err());
        assert!(check(&basic, "username1:other").await.is_ok());
    }

    #[test]
    fn the_challenge_quotes_the_realm() {
        let (basic, _folder) = basic();
        assert_eq!(basic.challenge(), "Basic realm=\"Username and password required\"");
        assert_eq!(super::challenge("a\"b\\").unwrap(), "Basic realm=\"a\\\"b\\\\\"");
        assert!(super::challenge("a\r\nb").is_err());
    }
}
