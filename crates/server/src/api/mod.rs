//! The API: which path and method is answered by what.

mod context;
mod controller;
mod ids;
mod records;
mod root;
mod route;
mod status;

pub use context::{Context, Limits, RecordRules};
pub use controller::Controller;
pub use route::route;
