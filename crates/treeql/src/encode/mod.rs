//! How answers are spelled.

mod double;
mod error;
mod json;
mod tree;

pub use double::write_double;
pub use error::write_error;
pub use json::{key, write_cell, write_row, write_string};
pub use tree::{push_row, write_record};
