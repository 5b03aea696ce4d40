//! The API: which path and method is answered by what.

mod account;
mod cache;
mod clean;
mod columns;
mod context;
mod controller;
mod documents;
mod explorer;
mod format;
mod geojson;
mod health;
mod ids;
mod import;
mod made_key;
mod openapi;
mod records;
mod root;
mod route;
mod status;

pub use account::{Account, answer as answer_account};
pub use context::{Context, Limits, RecordRules};
pub use controller::Controller;
pub use documents::Documents;
pub use explorer::Explorer;
pub use geojson::{features, features_of_list};
pub use health::Health;
pub use ids::Ids;
pub use import::{cleaning, document as import_document, making};
pub use records::{Listed, Written, plan_delete, plan_list, plan_read, plan_write};
pub use route::route;
