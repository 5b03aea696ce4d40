//! What is asked: a shape without values, and the values beside it.

mod body;
mod decode;
mod filter;
mod form;
mod number;
mod query;
mod shape;

pub use body::{Cell, Record, RecordBatch, cell_of_json};
pub use decode::{decode, decode_path};
pub use filter::{Filter, Operator, Spatial};
pub use form::records_of_form;
pub use number::{is_integer, is_numeric};
pub use query::{Parsed, Query, parse_query};
pub use shape::{Operation, Request, Values, Window};
