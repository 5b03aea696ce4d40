//! Middlewares: what looks at the head of a message only, each in a file with its settings.

pub mod ajax_only;
pub mod buckets;
pub mod cors;
pub mod firewall;
mod method;
pub mod path_rules;
pub mod rate_limit;
pub mod ssl_redirect;
mod stations;
pub mod xsrf;

pub use stations::Stations;
