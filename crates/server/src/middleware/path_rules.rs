//! Path rules: which methods and paths exist for whom, decided before anything is planned.

use http::Method;
use treeql::error::{Code, Error};
use treeql::nearest::unknown;
use treeql::policy::{Principal, Who};
use treeql::request::decode_path;

use crate::http::list;

/// limit: path rules; each is compared with every request.
pub const PATH_RULES_MAX: usize = 128;

/// A rule about paths.
pub struct PathRule {
    who: Who,
    /// Empty means all.
    methods: Vec<Method>,
    pattern: Vec<Segment>,
    allow: bool,
}

enum Segment {
    Name(String),
    Any,
    Rest,
}

impl PathRule {
    /// Reads a rule. In `pattern` a `*` stands for one segment and a `**` at the end for all that follow, if any. The
    /// error is a sentence.
    pub fn parse(who: &str, method_names: &str, pattern: &str, allow: bool) -> Result<PathRule, String> {
        if !pattern.starts_with('/') && pattern != "**" {
            return Err(format!("path is '{pattern}', but begins with a slash, for example /records/*"));
        }
        let names: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty()).collect();
        if names.iter().rev().skip(1).any(|name| *name == "**") {
            return Err(format!("path is '{pattern}', but ** stands at the end only"));
        }
        let segment = |name: &str| match name {
            "*" => Segment::Any,
            "**" => Segment::Rest,
            name => Segment::Name(name.to_owned()),
        };
        Ok(PathRule {
            who: Who::parse(who)?,
            methods: list(method_names).map(method).collect::<Result<_, _>>()?,
            pattern: names.into_iter().map(segment).collect(),
            allow,
        })
    }

    fn fits(&self, principal: &Principal, method: &Method, segments: &[&str]) -> bool {
        (self.methods.is_empty() || self.methods.contains(method))
            && self.who.is(principal)
            && matches(&self.pattern, segments)
    }
}

/// Rules in their order: the first that fits who asks, the method and the path decides; without one, the path does
/// not exist.
pub struct PathRules(pub Vec<PathRule>);

impl PathRules {
    /// 1000 if the path does not exist for `principal`. Paths are compared as the router sees them: decoded.
    pub fn check(&self, principal: &Principal, method: &Method, path: &str) -> Result<(), Error> {
        let not_found = || Error::new(Code::RouteNotFound, path);
        let decoded = decode_path(path).ok_or_else(not_found)?;
        let segments: Vec<&str> = decoded.iter().map(AsRef::as_ref).collect();
        let rule = self.0.iter().find(|rule| rule.fits(principal, method, &segments));
        if rule.is_some_and(|rule| rule.allow) { Ok(()) } else { Err(not_found()) }
    }
}

fn method(name: &str) -> Result<Method, String> {
    const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let found = METHODS.into_iter().find(|method| method.as_str() == name);
    found.ok_or_else(|| format!("methods: {}", unknown("method", name, METHODS.iter().map(Method::as_str))))
}

fn matches(pattern: &[Segment], segments: &[&str]) -> bool {
    match (pattern.split_first(), segments.split_first()) {
        (Some((Segment::Rest, _)), _) | (None, None) => true,
        (Some((Segment::Any, pattern)), Some((_, segments))) => matches(pattern, segments),
        (Some((Segment::Name(name), pattern)), Some((first, segments))) => {
            name == first && matches(pattern, segments)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use http::Method;
    use serde_json::json;
    use treeql::policy::Principal;

    use crate::middleware::path_rules::{PathRule, PathRules};

    fn rules(rules: &[(&str, &str, &str, bool)]) -> PathRules {
        let rule = |(who, methods, path, allow): &(&str, &str, &str, bool)| {
            PathRule::parse(who, methods, path, *allow).unwrap()
        };
        PathRules(rules.iter().map(rule).collect())
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = rules(&[
            ("role=admin", "", "**", true),
            ("", "", "/records/secrets/**", false),
            ("", "GET", "/records/*", true),
            ("authenticated", "POST,PUT", "/records/*/**", true),
        ]);
        let claims = json!({"role": "admin"});
        let admin = Principal::from_claims(claims.as_object().unwrap());
        let user = Principal::from_claims(&serde_json::Map::new());
        let nobody = Principal::anonymous();
        let is = |who: &Principal, method: Method, path: &str| rules.check(who, &method, path).is_ok();
        assert!(is(&admin, Method::DELETE, "/records/secrets/1") && is(&admin, Method::GET, "/"));
        assert!(is(&nobody, Method::GET, "/records/posts"));
        assert!(!is(&nobody, Method::GET, "/records/posts/1") && !is(&nobody, Method::GET, "/"));
        assert!(!is(&nobody, Method::POST, "/records/posts") && is(&user, Method::POST, "/records/posts"));
        assert!(is(&user, Method::PUT, "/records/posts/1") && !is(&user, Method::DELETE, "/records/posts/1"));
    }

    #[test]
    fn spelling_a_path_otherwise_is_no_way_around() {
        let rules = rules(&[("", "", "/records/secrets/**", false), ("", "", "**", true)]);
        let is = |path: &str| rules.check(&Principal::anonymous(), &Method::GET, path).is_ok();
        assert!(is("/records/posts"));
        for path in [
            "/records/secrets",
            "//records/secrets/",
            "/%72ecords/secret%73/1",
            "/records/secrets//x",
            "/%ff",
        ] {
            assert!(!is(path), "{path}");
        }
    }

    #[test]
    fn a_wrong_rule_is_a_sentence() {
        let error =
            |who: &str, methods: &str, path: &str| PathRule::parse(who, methods, path, true).err().unwrap();
        assert!(error("", "", "records").contains("begins with a slash"));
        assert!(error("", "", "/**/x").contains("at the end"));
        assert!(error("every", "", "/x").contains("everyone"));
        assert!(error("", "GRAB", "/x").contains("GRAB"));
    }
}
