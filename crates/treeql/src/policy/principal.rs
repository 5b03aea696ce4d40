//! Principal: who asks, as far as it has been proved.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// Who asks. It is made of nothing, or of claims that somebody verified; there is no other way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Principal {
    /// Whether anyone vouches for the caller.
    pub is_authenticated: bool,
    claims: BTreeMap<String, String>,
}

impl Principal {
    /// A caller that nobody vouches for, without any claim.
    pub fn anonymous() -> Principal {
        Principal::default()
    }

    /// A caller with claims that have been verified: of a token, of a session, of a user's record.
    ///
    /// Members of objects are reached by dots, elements of lists by their number: `realm.roles.0`. Numbers, true
    /// and false are their JSON text; null is as good as absent.
    pub fn from_claims(claims: &Map<String, Json>) -> Principal {
        let mut flat = BTreeMap::new();
        // Level by level, and the first of a name stays: what an issuer states at the top cannot be overruled by an
        // object further down, which is where issuers keep what users say about themselves.
        let mut level: Vec<(String, &Json)> =
            claims.iter().map(|(name, value)| (name.clone(), value)).collect();
        while !level.is_empty() {
            let mut below = Vec::new();
            for (path, value) in level {
                match value {
                    Json::Null => {}
                    Json::String(text) => put(&mut flat, path, text.clone()),
                    Json::Bool(_) | Json::Number(_) => put(&mut flat, path, value.to_string()),
                    Json::Array(items) => {
                        below.extend(items.iter().enumerate().map(|(n, item)| (format!("{path}.{n}"), item)));
                    }
                    Json::Object(members) => {
                        below.extend(members.iter().map(|(name, item)| (format!("{path}.{name}"), item)));
                    }
                }
            }
            level = below;
        }
        Principal { is_authenticated: true, claims: flat }
    }

    /// The text of a claim.
    pub fn claim(&self, name: &str) -> Option<&str> {
        self.claims.get(name).map(String::as_str)
    }

    /// All claims, in the order of their names.
    pub fn claims(&self) -> impl Iterator<Item = (&str, &str)> {
        self.claims.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

fn put(flat: &mut BTreeMap<String, String>, path: String, text: String) {
    flat.entry(path).or_insert(text);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::policy::principal::Principal;

    fn principal(claims: &Json) -> Principal {
        Principal::from_claims(claims.as_object().expect("claims are an object"))
    }

    #[test]
    fn nobody_has_no_claims() {
        let nobody = Principal::anonymous();
        assert!(!nobody.is_authenticated);
        assert_eq!(nobody.claims().count(), 0);
    }

    #[test]
    fn claims_are_flat_text() {
        let who = principal(&json!({
            "name": "Ann", "id": 7, "rate": 1.5, "admin": true, "nick": null, "empty": "",
            "realm": {"roles": ["editor", "author"], "unit": {"id": -1}}
        }));
        assert!(who.is_authenticated);
        let expected = [
            ("admin", "true"),
            ("empty", ""),
            ("id", "7"),
            ("name", "Ann"),
            ("rate", "1.5"),
            ("realm.roles.0", "editor"),
            ("realm.roles.1", "author"),
            ("realm.unit.id", "-1"),
        ];
        assert_eq!(who.claims().collect::<Vec<_>>(), expected);
        assert_eq!(who.claim("nick"), None);
        assert_eq!(who.claim("realm"), None);
    }

    #[test]
    fn a_nested_claim_does_not_overrule_one_above() {
        for text in
            [r#"{"app":{"role":"admin"},"app.role":"user"}"#, r#"{"app.role":"user","app":{"role":"admin"}}"#]
        {
            let who = principal(&serde_json::from_str(text).expect("it is JSON"));
            assert_eq!(who.claim("app.role"), Some("user"));
        }
    }
}
