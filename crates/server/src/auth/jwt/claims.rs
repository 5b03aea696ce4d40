//! Claims: when they hold, and for whom.

use serde_json::{Map, Value as Json};

/// What claims are checked against.
pub struct Rules {
    /// Seconds by which clocks may differ.
    pub leeway: f64,
    /// Seconds after `iat`, without an `exp`.
    pub ttl: f64,
    /// Accepted `aud`; empty means all.
    pub audiences: Vec<String>,
    /// Accepted `iss`; empty means all.
    pub issuers: Vec<String>,
}

/// The time within which claims hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    from: f64,
    until: f64,
}

impl Window {
    /// Whether the claims hold at `now`.
    pub fn contains(self, now: u64) -> bool {
        self.from <= now as f64 && now as f64 <= self.until
    }
}

impl Rules {
    /// When `claims` hold; never, if they are for others, or a time in them cannot be read.
    pub fn window(&self, claims: &Map<String, Json>) -> Option<Window> {
        if claims.is_empty()
            || !is_one_of(claims.get("aud"), &self.audiences)
            || !is_one_of(claims.get("iss"), &self.issuers)
        {
            return None;
        }
        let not_before = seconds(claims.get("nbf"))?;
        let issued = seconds(claims.get("iat"))?;
        let expires = seconds(claims.get("exp"))?;
        let from = not_before.unwrap_or(f64::MIN).max(issued.unwrap_or(f64::MIN));
        let until = expires.or(issued.map(|issued| issued + self.ttl)).unwrap_or(f64::MAX);
        Some(Window { from: from - self.leeway, until: until + self.leeway })
    }
}

/// The seconds of a claim: nothing if it is absent, and `None` around that if it is no time.
///
/// compat: issuers in PHP write times as text (002_auth/001_jwt_auth).
#[allow(clippy::option_option, reason = "absent and unreadable differ")]
fn seconds(claim: Option<&Json>) -> Option<Option<f64>> {
    let seconds = match claim {
        None => return Some(None),
        Some(Json::Number(number)) => number.as_f64()?,
        Some(Json::String(text)) => text.parse().ok()?,
        Some(_) => return None,
    };
    seconds.is_finite().then_some(Some(seconds))
}

/// Whether a claim, or an element of it, is one of `accepted`.
fn is_one_of(claim: Option<&Json>, accepted: &[String]) -> bool {
    let is_accepted =
        |value: &Json| value.as_str().is_some_and(|text| accepted.iter().any(|one| one == text));
    match claim {
        _ if accepted.is_empty() => true,
        Some(Json::Array(values)) => values.iter().any(is_accepted),
        Some(value) => is_accepted(value),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::auth::jwt::claims::Rules;

    const NOW: u64 = 1_000;

    fn hold(claims: &Json, audiences: &[&str], issuers: &[&str]) -> bool {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let rules = Rules { leeway: 5.0, ttl: 30.0, audiences: owned(audiences), issuers: owned(issuers) };
        let claims = claims.as_object().expect("claims are an object");
        rules.window(claims).is_some_and(|window| window.contains(NOW))
    }

    #[test]
    fn times_count_with_their_leeway() {
        let table = [
            (json!({"sub": 1}), true),
            (json!({"exp": 995}), true),
            (json!({"exp": 994}), false),
            (json!({"exp": "995"}), true),
            (json!({"exp": "994"}), false),
            (json!({"exp": 994.5}), false),
            (json!({"exp": 0}), false),
            (json!({"exp": -1}), false),
            (json!({"nbf": 1005}), true),
            (json!({"nbf": 1006}), false),
            (json!({"nbf": 1006, "exp": 2000}), false),
            (json!({"iat": 1005}), true),
            (json!({"iat": 1006}), false),
            (json!({"iat": 965}), true),
            (json!({"iat": 964}), false),
            (json!({"iat": 964, "exp": 1000}), true),
            (json!({"iat": 2000, "exp": 3000}), false),
            (json!({}), false),
        ];
        for (claims, expected) in table {
            assert_eq!(hold(&claims, &[], &[]), expected, "{claims}");
        }
    }

    #[test]
    fn a_time_that_cannot_be_read_is_refused() {
        let odd =
            [json!(null), json!(true), json!([9999]), json!({}), json!(""), json!("soon"), json!("NaN")];
        for value in odd.into_iter().chain([json!("inf"), json!("-inf"), json!(" 9999")]) {
            for name in ["exp", "nbf", "iat"] {
                assert!(!hold(&json!({"sub": 1, name: value}), &[], &[]), "{name}: {value}");
            }
        }
    }

    #[test]
    fn audience_and_issuer_are_compared_exactly() {
        let table = [
            (json!({"aud": "a"}), true),
            (json!({"aud": ["x", "b"]}), true),
            (json!({"aud": ["x"]}), false),
            (json!({"aud": []}), false),
            (json!({"aud": "A"}), false),
            (json!({"aud": "a "}), false),
            (json!({"aud": 0}), false),
            (json!({"aud": null}), false),
            (json!({"aud": true}), false),
            (json!({"aud": {"0": "a"}}), false),
            (json!({"sub": "a"}), false),
        ];
        for (claims, expected) in table {
            assert_eq!(hold(&claims, &["a", "b"], &[]), expected, "{claims}");
            let claims: Json = serde_json::from_str(&claims.to_string().replace("aud", "iss")).unwrap();
            assert_eq!(hold(&claims, &[], &["a", "b"]), expected, "{claims}");
        }
        assert!(!hold(&json!({"aud": "a", "iss": "x"}), &["a"], &["i"]));
    }
}
