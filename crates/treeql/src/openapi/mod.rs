//! OpenAPI: what one principal may do with one schema, as a document that tools read (SPEC 16).

mod asked;
mod column;
mod components;
mod describe;
mod document;
mod geojson;
mod names;
mod operation;
mod parameters;
mod record;
mod records;
mod reference;
mod service;

pub use asked::{Accounts, Asked, Groups, Surface, Version};
pub use describe::{Described, describe};
