//! Principal: who asks, and what is known about them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// limit: how deep the claims of a token are looked into.
const DEPTH_MAX: usize = 4;

/// Who asks. Only what has been verified becomes a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Principal {
    /// Whether somebody has shown credentials.
    pub is_authenticated: bool,
    claims: BTreeMap<String, String>,
}

impl Principal {
    /// Somebody nothing is known about.
    pub fn anonymous() -> Principal {
        Principal::default()
    }

    /// Somebody with verified claims; nested ones are named with dots, numbers and booleans become text.
    pub fn authenticated(claims: &Map<String, Value>) -> Principal {
        let mut flat = BTreeMap::new();
        let mut level: Vec<(String, &Value)> = named("", claims).collect();
        // Level by level, and the first of a name stays: what an issuer states at the top is not overruled by what
        // stands further down, where issuers keep what users say about themselves.
        for _ in 0..=DEPTH_MAX {
            let mut below = Vec::new();
            for (name, value) in level {
                let text = match value {
                    Value::Bool(truth) => truth.to_string(),
                    Value::Number(number) => number.to_string(),
                    Value::String(text) => text.clone(),
                    Value::Object(inner) => {
                        below.extend(named(&format!("{name}."), inner));
                        continue;
                    }
                    Value::Null | Value::Array(_) => continue,
                };
                flat.entry(name).or_insert(text);
            }
            level = below;
        }
        Principal { is_authenticated: true, claims: flat }
    }

    /// The claim called `name`.
    pub fn claim(&self, name: &str) -> Option<&str> {
        self.claims.get(name).map(String::as_str)
    }
}

fn named<'a>(prefix: &str, claims: &'a Map<String, Value>) -> impl Iterator<Item = (String, &'a Value)> {
    claims.iter().map(move |(name, value)| (format!("{prefix}{name}"), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::policy::principal::Principal;

    #[test]
    fn nested_claims_are_named_with_dots() {
        let claims = json!({"role": "editor", "level": 3, "app": {"tenant": 7}, "list": [1]});
        let principal = Principal::authenticated(claims.as_object().expect("it is an object"));
        assert_eq!(principal.claim("role"), Some("editor"));
        assert_eq!(principal.claim("level"), Some("3"));
        assert_eq!(principal.claim("app.tenant"), Some("7"));
        assert_eq!(principal.claim("list"), None);
    }

    #[test]
    fn a_nested_claim_does_not_overrule_one_above() {
        let orders = [
            r#"{"app":{"role":"admin"},"app.role":"user"}"#,
            r#"{"app.role":"user","app":{"role":"admin"}}"#,
        ];
        for text in orders {
            let claims = serde_json::from_str(text).expect("it is an object");
            assert_eq!(Principal::authenticated(&claims).claim("app.role"), Some("user"));
        }
    }
}
