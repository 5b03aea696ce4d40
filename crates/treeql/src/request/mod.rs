//! What is asked: a shape without values, and the values beside it.

mod address;
mod base64;
mod body;
mod bound;
mod decode;
mod features;
mod filter;
mod form;
mod multipart;
mod node;
mod number;
mod query;
mod record;
mod shape;
mod values;
mod xml;

pub use address::{composite_address, composite_ids};
pub use base64::{decode_base64, standard_base64};
pub use body::{BodyKind, cell_of_json};
pub use decode::{decode, decode_path};
pub use features::Features;
pub use filter::{Filter, Operator, Spatial};
pub use form::records_of_form;
pub use number::{is_integer, is_numeric, leading_integer};
pub use query::{Parsed, Query, parameter, parameter_names, parameters, parse_query};
pub use record::{Cell, Record, RecordBatch};
pub use shape::{Operation, Request, Window};
pub use values::Values;
pub use xml::records_of_xml;
