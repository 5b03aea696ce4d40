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
        let mut principal = Principal { is_authenticated: true, claims: BTreeMap::new() };
        principal.add(claims, "", 0);
        principal
    }

    /// The claim called `name`.
    pub fn claim(&self, name: &str) -> Option<&str> {
        self.claims.get(name).map(String::as_str)
    }

    fn add(&mut self, claims: &Map<String, Value>, prefix: &str, depth: usize) {
        for (name, value) in claims {
            let name = format!("{prefix}{name}");
            match value {
                Value::Null | Value::Array(_) => {}
                Value::Bool(truth) => {
                    self.claims.insert(name, truth.to_string());
                }
                Value::Number(number) => {
                    self.claims.insert(name, number.to_string());
                }
                Value::String(text) => {
                    self.claims.insert(name, text.clone());
                }
                Value::Object(inner) if depth < DEPTH_MAX => self.add(inner, &format!("{name}."), depth + 1),
                Value::Object(_) => {}
            }
        }
    }
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
}
