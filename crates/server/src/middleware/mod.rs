//! Middlewares: what looks at the head of a message, or spells its body otherwise, each in a file with its settings.

pub mod ajax_only;
pub mod buckets;
pub mod cors;
pub mod exposition;
pub mod firewall;
pub mod json;
mod method;
pub mod metrics;
pub mod path_rules;
pub mod rate_limit;
pub mod reconnect;
pub mod ssl_redirect;
mod stations;
pub mod xml;
pub mod xsrf;

pub use stations::Stations;
