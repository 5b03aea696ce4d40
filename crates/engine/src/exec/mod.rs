//! Runs plans: rows to encoder, joins level by level, writes in one transaction.

mod join;
mod list;
mod merge;
mod read;
mod remodel;
mod sinks;
mod write;

pub use list::{Answer, list};
pub use read::{Found, read};
pub use remodel::remodel;
pub use write::{Results, Step, write};
