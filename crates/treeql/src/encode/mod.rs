//! How answers are spelled.

mod csv;
mod double;
mod error;
mod format;
mod geojson;
mod json;
mod json_columns;
mod polygon;
mod rewriter;
mod scanner;
mod tree;
mod wkt;
mod xml;

pub use csv::{write_csv_header, write_csv_row};
pub use double::{write_double, write_double_text};
pub use error::write_error;
pub use format::Format;
pub use geojson::{FeatureLayout, write_feature, write_joined_feature};
pub use json::{key, write_cell, write_row, write_string};
pub use json_columns::{JsonColumns, collapse, expand};
pub use polygon::{bbox_polygon, tile_polygon};
pub use rewriter::Rewriter;
pub use scanner::Malformed;
pub use tree::{push_row, write_record};
pub use wkt::{GeometryError, write_geometry};
pub use xml::{XmlTypes, json_to_xml};
