//! What is asked: a shape without values, and the values beside it.

mod address;
mod body;
mod csv;
mod decode;
mod elements;
mod features;
mod filter;
mod form;
mod multipart;
mod node;
mod number;
mod piece;
mod query;
mod record;
mod shape;
mod values;
mod writing;
mod xml;

pub use address::{composite_address, composite_ids};
pub use body::{BodyKind, cell_of_json, record_of_text};
pub use csv::{Fields, read_fields};
pub use decode::{decode, decode_path};
pub use elements::Elements;
pub use features::Features;
pub use filter::{Filter, Operator, Spatial};
pub use form::records_of_form;
pub use number::{is_integer, is_numeric, leading_integer};
pub use piece::Piece;
pub use query::{Parsed, Query, parameter, parameter_names, parameters, parse_query};
pub use record::{Cell, MEMBERS_MAX, Record, RecordBatch};
pub use shape::{Conflict, ConflictKey, Operation, Request, Window};
pub use values::Values;
pub use writing::Writing;
pub use xml::records_of_xml;
