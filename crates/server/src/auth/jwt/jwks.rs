//! Sets of public keys in JSON (RFC 7517), as issuers publish them.

use std::fs::File;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::auth::jwt::algorithm::Algorithm;
use crate::auth::jwt::key::Key;

/// limit: bytes of a set; a key has about 400.
pub const BYTES_MAX: u64 = 256 * 1024;

/// A key of a set, with what the set says about it.
pub struct Published {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The only algorithm that it is for, if the set says so.
    pub algorithm: Option<Algorithm>,
    /// The key.
    pub key: Key,
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<Member>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Member {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    kid: Option<String>,
    alg: Option<String>,
    crv: String,
    n: String,
    e: String,
    x: String,
    y: String,
}

/// Reads a file. The error is a sentence.
pub fn read(path: &str) -> Result<Vec<Published>, String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(BYTES_MAX + 1).read_to_string(&mut text))
        .map_err(|error| format!("{path} cannot be read: {error}"))?;
    if text.len() as u64 > BYTES_MAX {
        return Err(format!("{path} has more than {BYTES_MAX} bytes"));
    }
    parse(&text).map_err(|error| format!("{path}: {error}"))
}

/// The keys of a set that can verify tokens. Others are passed over: issuers publish keys for other uses beside them.
pub fn parse(text: &str) -> Result<Vec<Published>, String> {
    let set: Set = serde_json::from_str(text).map_err(|error| format!("it is no set of keys: {error}"))?;
    let mut found = Vec::new();
    for member in set.keys {
        if member.usage.as_deref().is_some_and(|usage| usage != "sig") {
            continue;
        }
        let algorithm = member.alg.as_deref().map(Algorithm::parse);
        let Some(key) = key(&member)? else { continue };
        match algorithm {
            // Of an algorithm that we do not speak, or that is not one of this kind of key.
            Some(None) => {}
            Some(Some(algorithm)) if !key.fits(algorithm) => {}
            _ => found.push(Published { id: member.kid, algorithm: algorithm.flatten(), key }),
        }
    }
    if found.is_empty() {
        return Err("there is no RSA key and no key on P-256 in it".to_owned());
    }
    Ok(found)
}

fn key(member: &Member) -> Result<Option<Key>, String> {
    match (member.kty.as_str(), member.crv.as_str()) {
        ("RSA", _) => Key::rsa(&decode(&member.n)?, &decode(&member.e)?).map(Some),
        ("EC", "P-256") => {
            let point = [&[4], &*decode(&member.x)?, &*decode(&member.y)?].concat();
            Key::p256(&point).map(Some)
        }
        ("oct", _) => Err("a secret is in it; secrets belong into jwtAuth.secrets".to_owned()),
        _ => Ok(None),
    }
}

fn decode(text: &str) -> Result<Vec<u8>, String> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_invalid| "a number of a key is no base64url".to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use crate::auth::jwt::algorithm::Algorithm;
    use crate::auth::jwt::jwks::{BYTES_MAX, parse, read};
    use crate::auth::jwt::key::Key;

    const SET: &str = include_str!("../../../tests/fixtures/jwt/jwks.json");

    #[test]
    fn keys_that_we_can_use_are_found() {
        let keys = parse(SET).unwrap();
        let found: Vec<_> = keys.iter().map(|key| (key.id.as_deref(), key.algorithm)).collect();
        assert_eq!(found, [(Some("rsa-1"), Some(Algorithm::Rs256)), (Some("p256-1"), None)]);
        assert!(matches!((&keys[0].key, &keys[1].key), (Key::Rsa(_), Key::P256(_))));
    }

    #[test]
    fn a_set_without_a_usable_key_is_a_sentence() {
        let error = |text: &str| parse(text).err().unwrap();
        assert!(error("{").contains("no set of keys"));
        assert!(error(r#"{"keys":[]}"#).contains("no RSA key"));
        assert!(error(r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}"#).contains("no RSA key"));
        assert!(error(r#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#).contains("jwtAuth.secrets"));
        assert!(error(r#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#).contains("bits"));
        assert!(error(r#"{"keys":[{"kty":"RSA","n":"!","e":"AQAB"}]}"#).contains("base64url"));
        assert!(error(&SET.replace("RS256", "HS256").replace("P-256", "P-521")).contains("no RSA key"));
    }

    #[test]
    fn a_file_has_an_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(SET.as_bytes()).unwrap();
        assert_eq!(read(file.path().to_str().unwrap()).unwrap().len(), 2);
        file.write_all(&vec![b' '; usize::try_from(BYTES_MAX).unwrap()]).unwrap();
        assert!(read(file.path().to_str().unwrap()).err().unwrap().contains("more than"));
        assert!(read("/dev/zero").err().unwrap().contains("more than"));
        assert!(read("/nowhere").err().unwrap().contains("cannot be read"));
    }
}
