//! Recipe: everything that is known about an import but its bytes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use treeql::error::{Code, Error};
use treeql::policy::Policy;
use treeql::request::{Record, Request, Values};

use crate::database::Snapshot;

/// How records follow one another in what is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// CSV with the names of the columns in the first record.
    Csv,
    /// A JSON object in each line.
    Ndjson,
    /// A JSON array of objects, or a single one.
    Json,
}

/// What is done to a record before its types are looked at.
pub type Clean = Arc<dyn Fn(&mut Record<'_>) -> Result<(), Error> + Send + Sync>;

/// Adds a key to a record; whether it did.
pub type Make = Arc<dyn Fn(&mut Record<'_>) -> Result<bool, Error> + Send + Sync>;

/// How records get the keys that the server makes.
#[derive(Clone)]
pub struct MakeKey {
    /// The exposed name of the key.
    pub column: Box<str>,
    /// Adds the key to a record that has none; whether it did.
    pub make: Make,
}

/// Everything that is known about an import but its bytes.
pub struct Recipe {
    /// The database.
    pub snapshot: Arc<Snapshot>,
    /// What the caller may do.
    pub policy: Arc<Policy>,
    /// The table, the selected columns, and what becomes of records whose key is taken.
    pub request: Request<'static>,
    /// What is known about the caller.
    pub values: Values<'static>,
    /// How records are spelled.
    pub syntax: Syntax,
    /// Names of fields and the columns they mean.
    pub names: HashMap<String, String>,
    /// How keys are made, if the server makes those of the table.
    pub make_key: Option<MakeKey>,
    /// Sanitation and validation, if there are any.
    pub clean: Option<Clean>,
    /// Whether records that are refused are left out, or end it all.
    pub is_skipping: bool,
    /// Whether nothing is to stay.
    pub is_dry_run: bool,
    /// limit: bytes of one record.
    pub record_bytes_max: usize,
    /// limit: how long it may take, because others may wait for it.
    pub patience: Duration,
    /// What others may watch.
    pub progress: Arc<Progress>,
}

/// How far an import has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// Records that were read.
    pub records: AtomicU64,
    /// Bytes of them.
    pub bytes: AtomicU64,
}

/// Whether an error is about one record, so that others may be fine.
pub fn is_about_a_record(error: &Error) -> bool {
    matches!(
        error.code,
        Code::HttpMessageNotReadable
            | Code::InputValidationFailed
            | Code::ColumnNotFound
            | Code::DuplicateKey
            | Code::DataIntegrityViolation
            | Code::ValueNotAccepted
            | Code::TooLarge
    )
}

/// The same error, its details saying where the record stands.
pub fn in_place(syntax: Syntax, place: u64, mut error: Error) -> Error {
    let what = if syntax == Syntax::Json { "record" } else { "line" };
    if error.details.is_empty() {
        let sentence = match error.code {
            Code::DuplicateKey => "another record has its key",
            Code::DataIntegrityViolation => "violates a constraint of the table",
            _ => "is refused",
        };
        error = error.detail("body", sentence);
    }
    for (_, sentence) in &mut error.details {
        *sentence = format!("{what} {place}: {sentence}").into();
    }
    error
}
