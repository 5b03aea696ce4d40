//! Transfer: tables into files and files into tables, from the command line.

mod create;
mod export;
mod import;
mod options;
mod progress;
mod session;

pub use export::{ExportOptions, export};
pub use import::import;
pub use options::ImportOptions;
