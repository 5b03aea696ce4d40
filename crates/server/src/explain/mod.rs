//! `rowcast policy explain`: what the rules make of a request, without running it.

mod asked;
mod explanation;
mod page;
mod statements;
mod tables;

pub use asked::{Asked, explain};
pub use page::page;
