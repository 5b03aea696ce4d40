//! Template: a value of a rule that may name claims in braces, as `{customer}`.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use crate::policy::principal::Principal;

/// What stands for the address of the client.
const ADDRESS: &str = "ip";

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Claim(String),
    Address,
}

/// A value that is known only when somebody asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Vec<Part>);

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Claim(name) => write!(f, "{{{name}}}"),
            Part::Address => write!(f, "{{{ADDRESS}}}"),
        })
    }
}

impl Template {
    /// Reads text with claims in braces; `{ip}` is the address of the client. The error is a sentence.
    pub fn parse(text: &str) -> Result<Template, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, behind) = after
                .split_once('}')
                .ok_or_else(|| format!("'{text}' has an opening brace without a closing one"))?;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(if name == ADDRESS { Part::Address } else { Part::Claim(name.to_owned()) });
            rest = behind;
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Template(parts))
    }

    /// The address of the client.
    pub fn address() -> Template {
        Template(vec![Part::Address])
    }

    /// The names of its claims.
    pub fn claims(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Claim(name) => Some(name.as_str()),
            Part::Text(_) | Part::Address => None,
        })
    }

    /// The value for somebody; `None` if a claim is missing, and then nothing equals it.
    pub fn value<'a>(&'a self, principal: &'a Principal, address: &'a str) -> Option<Cow<'a, str>> {
        let part = |part: &'a Part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Claim(name) => principal.claim(name),
            Part::Address => Some(address),
        };
        match self.0.as_slice() {
            [only] => part(only).map(Cow::Borrowed),
            parts => parts.iter().map(part).collect::<Option<String>>().map(Cow::Owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::policy::principal::Principal;
    use crate::policy::template::Template;

    #[test]
    fn a_missing_claim_makes_no_value() {
        let claims = json!({"customer": 7});
        let somebody = Principal::from_claims(claims.as_object().expect("it is an object"));
        let template = Template::parse("c-{customer}").expect("it is well formed");
        assert_eq!(template.value(&somebody, "").as_deref(), Some("c-7"));
        assert_eq!(template.value(&Principal::anonymous(), ""), None);
        assert_eq!(Template::address().value(&somebody, "::1").as_deref(), Some("::1"));
        assert!(Template::parse("{x").is_err());
    }
}
