//! Rules: everything that the configuration says, made into a policy for each kind of principal once.

use std::sync::{Arc, PoisonError, RwLock};

use crate::policy::allowed::{Forced, Policy};
use crate::policy::principal::Principal;
use crate::policy::rule::Rule;
use crate::policy::secrets::Secrets;
use crate::policy::template::Template;

/// limit: rules; which of them hold for somebody is a set of bits.
pub const RULES_MAX: usize = 128;

/// A column whose value comes from who asks.
#[derive(Clone, Debug)]
pub struct Tenancy {
    /// Exposed names of the tables; empty means all that have the column.
    pub tables: Vec<String>,
    /// Exposed name of the column.
    pub column: String,
    /// Its value.
    pub value: Template,
    /// Whether only rows with this value exist, or it is only written.
    pub restricts: bool,
}

/// Everything that the configuration says about who may do what.
#[derive(Debug)]
pub struct Rules {
    base: Policy,
    rules: Option<Vec<Arc<Rule>>>,
    policies: RwLock<Vec<(u128, Arc<Policy>)>>,
}

impl Rules {
    /// Rules over a policy that holds limits; `None`: everything is allowed to everyone.
    ///
    /// # Panics
    ///
    /// If there are more than [`RULES_MAX`] rules; the configuration is checked for it.
    pub fn new(mut base: Policy, rules: Option<Vec<Rule>>, tenancies: Vec<Tenancy>) -> Rules {
        assert!(rules.as_ref().is_none_or(|rules| rules.len() <= RULES_MAX), "the configuration is checked");
        let mut forced = Vec::new();
        for tenancy in tenancies {
            let claim = u16::try_from(base.templates.len()).expect("few columns are forced");
            base.templates.push(tenancy.value);
            forced.push(Forced {
                tables: tenancy.tables,
                column: tenancy.column,
                claim,
                restricts: tenancy.restricts,
            });
        }
        base.forced = forced.into();
        let rules = rules.map(|rules| rules.into_iter().map(Arc::new).collect());
        Rules { base, rules, policies: RwLock::default() }
    }

    /// All rules, for checks against a schema.
    pub fn all(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().flatten().map(|rule| &**rule)
    }

    /// Which columns that look like passwords and keys are published.
    pub fn secrets(&self) -> &Secrets {
        &self.base.secrets
    }

    /// The columns that are forced, for checks against a schema.
    pub fn forced(&self) -> &[Forced] {
        &self.base.forced
    }

    /// The policy for somebody. People for whom the same rules hold have the same one, and so share plans.
    pub fn policy(&self, principal: &Principal) -> Arc<Policy> {
        let holds = |rule: &Arc<Rule>| rule.who.is(principal);
        let bits = self
            .rules
            .iter()
            .flatten()
            .enumerate()
            .fold(0u128, |bits, (index, rule)| bits | (u128::from(holds(rule)) << index));
        let known = self.policies.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, policy)) = known.iter().find(|(known, _)| *known == bits) {
            return Arc::clone(policy);
        }
        drop(known);
        let mut policies = self.policies.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, policy)) = policies.iter().find(|(known, _)| *known == bits) {
            return Arc::clone(policy);
        }
        let id = u32::try_from(policies.len()).expect("there are few kinds of people");
        let policy = Arc::new(self.make(id, principal));
        policies.push((bits, Arc::clone(&policy)));
        policy
    }

    fn make(&self, id: u32, principal: &Principal) -> Policy {
        let mut policy = Policy { id, ..self.base.clone() };
        policy.rules = self.rules.as_ref().map(|rules| {
            let mut held = Vec::new();
            for rule in rules.iter().filter(|rule| rule.who.is(principal)) {
                let first = u16::try_from(policy.templates.len()).expect("rules have few values");
                policy.templates.extend(rule.values.iter().cloned());
                held.push((Arc::clone(rule), first));
            }
            held
        });
        policy
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::policy::allowed::Policy;
    use crate::policy::principal::Principal;
    use crate::policy::rule::{Rule, Who};
    use crate::policy::rules::Rules;

    #[test]
    fn people_with_the_same_rules_share_a_policy() {
        let editors = Rule { who: Who::parse("role=editor").expect("it is well formed"), ..Rule::open() };
        let rules = Rules::new(Policy::default(), Some(vec![editors, Rule::open()]), Vec::new());
        let somebody = |role: &str| {
            Principal::from_claims(json!({"role": role, "name": "x"}).as_object().expect("it is an object"))
        };
        assert_eq!(rules.policy(&somebody("reader")).id, rules.policy(&Principal::anonymous()).id);
        assert_ne!(rules.policy(&somebody("editor")).id, rules.policy(&somebody("reader")).id);
    }
}
