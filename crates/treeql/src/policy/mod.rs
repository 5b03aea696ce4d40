//! Policy: what the one who asks may see and touch. There is no plan without one.

mod allowed;
mod principal;
mod rule;
mod rules;
mod template;

pub use allowed::{Forced, Policy, Verdict};
pub use principal::Principal;
pub use rule::{Names, Operations, Rule, Who};
pub use rules::{RULES_MAX, Rules, Tenancy};
pub use template::Template;
