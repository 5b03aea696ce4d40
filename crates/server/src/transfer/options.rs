//! ImportOptions: what is to be imported, and how.

use std::collections::HashMap;

use treeql::encode::Format;
use treeql::request::Conflict;

/// What is to be imported, and how.
#[derive(Debug, Default)]
pub struct ImportOptions {
    /// The exposed name of the table.
    pub table: String,
    /// The file, or `-`.
    pub file: String,
    /// The format; `None`: what the ending of the file says, CSV for standard input.
    pub format: Option<Format>,
    /// Columns that are written; `None`: all.
    pub include: Option<String>,
    /// Columns that are left out.
    pub exclude: Option<String>,
    /// What becomes of records whose key is taken.
    pub conflict: Conflict<'static>,
    /// Names in the file and the columns they mean.
    pub names: HashMap<String, String>,
    /// Whether records that are refused are left out.
    pub is_skipping: bool,
    /// Whether nothing is to stay.
    pub is_dry_run: bool,
    /// Whether the table is made first.
    pub is_new: bool,
    /// Whether that needs no question.
    pub is_agreed: bool,
    /// Whether the result is told as JSON.
    pub is_json: bool,
    /// Whether a line says how far it has come.
    pub is_shown: bool,
}
