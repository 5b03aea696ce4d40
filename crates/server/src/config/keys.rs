//! The keys of the configuration, read off the types: path, kind and description of each.

use serde_json::Value as Json;

use crate::config::options::Options;

/// What kind of value a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A number, with a fraction or without.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts.
    List,
}

/// A key of the configuration.
#[derive(Clone, Debug)]
pub struct ConfigKey {
    /// Its path: `listen`, `limits.bodyBytes`.
    pub path: String,
    /// The kind of its value.
    pub kind: Kind,
    /// What it means, for docs/configuration.md.
    pub description: String,
}

impl ConfigKey {
    /// Whether it belongs to an entry of a list, as `authorization.rules[].who`; such keys stand in the file only.
    pub fn is_entry(&self) -> bool {
        self.path.contains("[]")
    }

    /// The environment variable that sets it: `ROWCAST_LIMITS_BODY_BYTES`.
    pub fn variable(&self) -> String {
        format!("ROWCAST_{}", upper_snake(&self.path))
    }
}

/// `limits.bodyBytes` as `LIMITS_BODY_BYTES`.
pub fn upper_snake(path: &str) -> String {
    let mut name = String::new();
    for character in path.chars() {
        match character {
            '.' => name.push('_'),
            upper if upper.is_ascii_uppercase() => {
                name.push('_');
                name.push(upper);
            }
            other => name.push(other.to_ascii_uppercase()),
        }
    }
    name
}

/// Every key, in the order of the types.
pub fn keys() -> Vec<ConfigKey> {
    let schema = schemars::schema_for!(Options).to_value();
    let mut keys = Vec::new();
    collect(&schema, &schema, "", &mut keys);
    keys
}

fn collect(root: &Json, schema: &Json, prefix: &str, keys: &mut Vec<ConfigKey>) {
    let properties = schema.get("properties").and_then(Json::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let target = property
            .get("$ref")
            .and_then(Json::as_str)
            .and_then(|reference| root.pointer(reference.trim_start_matches('#')));
        if let Some(section) = target {
            collect(root, section, &path, keys);
            continue;
        }
        if let Some(items) = property.pointer("/items/$ref").and_then(Json::as_str) {
            if let Some(entry) = root.pointer(items.trim_start_matches('#')) {
                collect(root, entry, &format!("{path}[]"), keys);
            }
            continue;
        }
        let description = property.get("description").and_then(Json::as_str).unwrap_or_default().to_owned();
        // A setting that may be left out has a list of types, the first of which counts.
        let kind = property.get("type").map(|kind| kind.get(0).unwrap_or(kind));
        let kind = match kind.and_then(Json::as_str) {
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            Some("array") => Kind::List,
            _ => Kind::Text,
        };
        keys.push(ConfigKey { path, kind, description });
    }
}

#[cfg(test)]
mod tests {
    use crate::config::keys::{Kind, keys};

    #[test]
    fn every_key_has_a_kind_a_description_and_a_variable() {
        let keys = keys();
        let body = keys.iter().find(|key| key.path == "limits.bodyBytes").expect("it is a key");
        assert_eq!((body.kind, body.variable().as_str()), (Kind::Integer, "ROWCAST_LIMITS_BODY_BYTES"));
        let strict = keys.iter().find(|key| key.path == "strict").expect("it is a key");
        assert_eq!(strict.kind, Kind::Boolean);
        assert!(keys.iter().all(|key| !key.description.is_empty()), "{keys:?}");
    }
}
