//! Transfer: tables into files and files into tables, from the command line.

mod export;
mod import;
mod progress;
mod session;

pub use export::{ExportOptions, export};
pub use import::{ImportOptions, import};
