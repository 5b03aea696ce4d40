//! Runs plans: rows to encoder, joins level by level, writes in one transaction.

mod intake;
mod join;
mod list;
mod load;
mod merge;
mod read;
mod recipe;
mod remodel;
mod shape;
mod sinks;
mod spool;
mod write;

pub use list::{Answer, list};
pub use load::{Report, load};
pub use read::{Found, read};
pub use recipe::{Clean, MakeKey, Progress, Recipe, Syntax};
pub use remodel::remodel;
pub use spool::{Spool, Spooled};
pub use write::{Results, Step, write};
