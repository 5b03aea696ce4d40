//! Configuration: flags, then environment, then file, then defaults; checked before anything starts.

mod checked;
mod keys;
mod options;
mod sources;

pub use checked::Config;
pub use sources::Sources;
