//! Middlewares: what looks at the head of a message only, each in a file with its settings.

pub mod ajax_only;
pub mod cors;
pub mod firewall;
pub mod rate_limit;
mod setting;
pub mod ssl_redirect;
pub mod xsrf;
