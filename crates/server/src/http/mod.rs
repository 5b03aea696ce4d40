//! HTTP: sockets, connections, messages and bodies. Nothing above knows which library speaks it.

mod body;
mod coding;
mod compress;
mod connection;
mod cookie;
mod cork;
mod listener;
mod message;
mod secure;
mod setting;
pub mod tls;

pub use body::{Body, Incoming};
pub use compress::compress;
pub use connection::{Answer, serve_connection};
pub use cookie::{Cookie, cookies};
pub use listener::{bind, check_free};
pub use message::{Head, Peer, Response};
pub use secure::serve_encrypted;
pub use setting::{header_name, list};
pub use tls::Tls;
