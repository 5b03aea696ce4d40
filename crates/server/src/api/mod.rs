//! The API: which path and method is answered by what.

mod account;
mod cache;
mod clean;
mod columns;
mod context;
mod controller;
mod format;
mod geojson;
mod health;
mod ids;
mod import;
mod made_key;
mod records;
mod root;
mod route;
mod status;

pub use account::{Account, answer as answer_account};
pub use context::{Context, Limits, RecordRules};
pub use controller::Controller;
pub use health::Health;
pub use import::{cleaning, document as import_document, making};
pub use route::route;
