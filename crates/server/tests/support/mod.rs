//! What the transcripts need: their format, fresh databases, the server's process and a plain HTTP client.

pub mod client;
pub mod database;
pub mod pattern;
pub mod play;
pub mod process;
pub mod suite;
pub mod transcript;
