//! How answers are spelled.

mod double;
mod error;
mod json;
mod json_columns;
mod scanner;
mod tree;
mod xml;

pub use double::{write_double, write_double_text};
pub use error::write_error;
pub use json::{key, write_cell, write_row, write_string};
pub use json_columns::{JsonColumns, collapse, expand};
pub use scanner::Malformed;
pub use tree::{push_row, write_record};
pub use xml::{XmlTypes, json_to_xml};
