//! The API: which path and method is answered by what.

mod account;
mod cache;
mod context;
mod controller;
mod geojson;
mod health;
mod ids;
mod records;
mod root;
mod route;
mod status;

pub use account::{Account, answer as answer_account};
pub use context::{Context, Limits, RecordRules};
pub use controller::Controller;
pub use health::Health;
pub use route::route;
