//! What the tests need: transcripts, fresh databases, servers of databases, the process and HTTP clients.

pub mod client;
pub mod database;
pub mod pattern;
pub mod play;
pub mod process;
pub mod proxy;
pub mod scratch;
pub mod servers;
pub mod suite;
pub mod transcript;
pub mod wire;
