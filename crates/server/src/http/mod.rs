//! HTTP: sockets, connections, messages and bodies. Nothing above knows which library speaks it.

mod body;
mod connection;
mod cork;
mod cookie;
mod list;
mod listener;
mod message;

pub use body::{Body, Incoming};
pub use connection::{Answer, serve_connection};
pub use cookie::{Cookie, cookies};
pub use list::list;
pub use listener::{bind, check_free};
pub use message::{Head, Response};
