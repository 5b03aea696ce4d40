//! Policy: what the one who asks may see and touch. There is no plan without one.

mod allowed;
mod principal;
mod reasons;
mod rule;
mod rules;
mod secrets;
mod template;

pub use allowed::{Forced, Policy, Verdict};
pub use principal::Principal;
pub use reasons::Reason;
pub use rule::{Names, Operations, Rule, Who};
pub use rules::{RULES_MAX, Rules, Tenancy};
pub use secrets::{ENDINGS as SECRET_ENDINGS, Secrets, is_secret, names_secret};
pub use template::Template;
