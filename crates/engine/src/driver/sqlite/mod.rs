//! The embedded SQLite: readers on every worker, reader threads for what is long, one writer.

mod budget;
mod checkpoints;
mod connect;
mod error;
mod file;
pub mod loader;
mod opened;
mod place;
mod readers;
mod reflect;
mod rows;
mod session;
mod turn;
mod writer;

pub use opened::Driver;
pub use session::Session;
pub use turn::end_turn;
