//! What is written: members of a record made into values of their columns.

mod convert;
mod prepare;

pub use convert::convert;
pub use prepare::prepare;
