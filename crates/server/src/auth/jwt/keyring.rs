//! Keyring: the keys that a server trusts, by their ids.

use crate::auth::jwt::algorithm::Algorithm;
use crate::auth::jwt::jwks::{self, Published};
use crate::auth::jwt::key::Key;
use crate::auth::jwt::options::Options;
use crate::http::list;

/// Keys by their ids.
#[derive(Default)]
pub struct Keyring {
    entries: Vec<Entry>,
}

struct Entry {
    id: String,
    /// The only algorithm that the key is for, if that is known.
    algorithm: Option<Algorithm>,
    key: Key,
}

impl Keyring {
    /// Collects the keys of the settings. The error is a sentence that shows no secret.
    pub fn compile(options: &Options) -> Result<Keyring, String> {
        let mut keyring = Keyring { entries: Vec::new() };
        // compat: keys without an id are numbered, and a token without one means number 0.
        let mut number = 0;
        let mut next = || {
            number += 1;
            (number - 1).to_string()
        };
        if !options.secret.is_empty() {
            keyring.add("jwtAuth.secret", next(), None, Key::parse(&options.secret))?;
        }
        for pair in list(&options.secrets) {
            let (id, text) = match pair.split_once(':') {
                Some((id, text)) => (id.trim().to_owned(), text.trim()),
                None => (next(), pair),
            };
            keyring.add("jwtAuth.secrets", id, None, Key::parse(text))?;
        }
        if !options.jwks_file.is_empty() {
            let published =
                jwks::read(&options.jwks_file).map_err(|error| format!("jwtAuth.jwksFile: {error}"))?;
            for Published { id, algorithm, key } in published {
                keyring.add("jwtAuth.jwksFile", id.unwrap_or_else(&mut next), algorithm, Ok(key))?;
            }
        }
        if keyring.entries.is_empty() && options.jwks_url.is_empty() {
            return Err(
                "jwtAuth has no key; set jwtAuth.secrets, jwtAuth.jwksFile or jwtAuth.jwksUrl".to_owned()
            );
        }
        Ok(keyring)
    }

    /// The keys of a set. The error is a sentence.
    pub fn published(keys: Vec<Published>) -> Result<Keyring, String> {
        let mut keyring = Keyring::default();
        for (number, Published { id, algorithm, key }) in keys.into_iter().enumerate() {
            keyring.add("jwtAuth.jwksUrl", id.unwrap_or_else(|| number.to_string()), algorithm, Ok(key))?;
        }
        Ok(keyring)
    }

    /// Whether the key called `id` made `signature` of `message`; `None` if there is no such key. A token without an id
    /// means key 0, or the only one.
    pub fn verify(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Option<bool> {
        let entry = match id {
            None if self.entries.len() == 1 => self.entries.first(),
            _ => self.entries.iter().find(|entry| entry.id == id.unwrap_or("0")),
        };
        entry.map(|entry| {
            entry.algorithm.is_none_or(|only| only == algorithm)
                && entry.key.verify(algorithm, message, signature)
        })
    }

    /// Whether any key can verify signatures of `algorithm`.
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        self.entries.iter().any(|entry| entry.key.fits(algorithm))
    }

    fn add(
        &mut self,
        setting: &str,
        id: String,
        algorithm: Option<Algorithm>,
        key: Result<Key, String>,
    ) -> Result<(), String> {
        let key = key.map_err(|error| format!("{setting}: {error}"))?;
        if id.is_empty() {
            return Err(format!("{setting}: a key has an empty id before its colon"));
        }
        if self.entries.iter().any(|entry| entry.id == id) {
            return Err(format!("{setting}: two keys have the same id or place"));
        }
        self.entries.push(Entry { id, algorithm, key });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::auth::jwt::keyring::Keyring;
    use crate::auth::jwt::options::Options;

    const SET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/jwt/jwks.json");

    fn compile(secret: &str, secrets: &str, jwks_file: &str) -> Result<Vec<String>, String> {
        let options = Options {
            secret: secret.into(),
            secrets: secrets.into(),
            jwks_file: jwks_file.into(),
            ..Options::default()
        };
        let keyring = Keyring::compile(&options)?;
        Ok(keyring.entries.into_iter().map(|entry| entry.id).collect())
    }

    #[test]
    fn keys_have_the_ids_given_or_their_numbers() {
        assert_eq!(compile("a:b,c", "", "").unwrap(), ["0"]);
        assert_eq!(compile("", "a, k1 : b ,c,", "").unwrap(), ["0", "k1", "1"]);
        assert_eq!(compile("a", "b", SET).unwrap(), ["0", "1", "rsa-1", "p256-1"]);
    }

    #[test]
    fn a_wrong_setting_is_a_sentence_without_the_secret() {
        let wrong = [
            (compile("", "", ""), "has no key"),
            (compile("", " , ,", ""), "has no key"),
            (compile("", "k1:", ""), "empty"),
            (compile("", ":s3cret", ""), "empty id"),
            (compile("", "a:s3cret,a:s4cret", ""), "the same id"),
            (compile("", "0:s3cret,s4cret", ""), "the same id"),
            (compile("-----BEGIN PUBLIC KEY-----s3cret", "", ""), "jwtAuth.secret: a key in PEM"),
            (compile("", "", "/nowhere"), "jwtAuth.jwksFile: /nowhere"),
        ];
        for (result, part) in wrong {
            let error = result.unwrap_err();
            assert!(error.contains(part) && !error.contains("s3cret"), "{error}");
        }
    }
}
