//! Configuration: flags, then environment, then file, then defaults; checked before anything starts.

mod checked;
mod dangers;
mod existing;
mod keys;
mod middlewares;
mod options;
mod page;
mod place;
mod policy_options;
mod record_options;
mod reference;
mod rules;
mod sources;
mod stations;
mod surface;

pub use checked::Config;
pub use page::page;
pub use sources::Sources;
