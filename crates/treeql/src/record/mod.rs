//! What is written: members of a record cleaned, checked and made into values of their columns.

mod calendar;
mod clock_text;
mod convert;
mod date_text;
mod datetime;
mod decimal;
mod normalize;
mod prepare;
mod rule;
#[cfg(test)]
mod sample;
mod sanitize;
mod scan;
mod selection;
mod strip_tags;
mod type_problem;
mod validate;

pub use convert::convert;
pub use datetime::Moment;
pub use normalize::normalize;
pub use prepare::{prepare, prepare_cells};
pub use rule::{Check, ValidationRule};
pub use sanitize::{LetterCase, Sanitation, SanitationRule};
pub use selection::Selection;
pub use strip_tags::strip_tags;
pub use type_problem::type_problem;
pub use validate::Validation;
