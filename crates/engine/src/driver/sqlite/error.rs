//! Native result codes to errors of the protocol, never by message text (SPEC 13).

use rusqlite::ErrorCode;
use rusqlite::ffi;
use treeql::error::{Code, Error};

use crate::driver::options::no_room;

/// The error that a caller sees. Texts of the engine go to the log only.
pub fn convert(error: &rusqlite::Error) -> Error {
    let rusqlite::Error::SqliteFailure(native, message) = error else {
        tracing::error!(%error, "unexpected error of the SQLite driver");
        return Error::new(Code::Internal, "Database error");
    };
    match native.extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            return Error::new(Code::DuplicateKey, "");
        }
        _ => {}
    }
    match native.code {
        ErrorCode::ConstraintViolation => Error::new(Code::DataIntegrityViolation, ""),
        ErrorCode::ReadOnly => Error::new(Code::OperationForbidden, "")
            .detail("database", "the database file is read-only for this server"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Error::new(Code::DatabaseUnavailable, "another program holds a lock on the file; try again")
        }
        ErrorCode::DiskFull => no_room(),
        ErrorCode::CannotOpen
        | ErrorCode::NotADatabase
        | ErrorCode::DatabaseCorrupt
        | ErrorCode::SystemIoFailure => {
            tracing::error!(code = native.extended_code, message, "the database file cannot be read");
            Error::new(Code::DatabaseUnavailable, "the database file cannot be read")
        }
        ErrorCode::TooBig => Error::new(Code::TooLarge, "a value is larger than the database stores"),
        _ => {
            tracing::error!(code = native.extended_code, message, "a statement failed");
            Error::new(Code::Internal, "Database error")
        }
    }
}

/// The error of a statement that was prepared well and failed while it ran: a plain SQLITE_ERROR then comes from a
/// function that could not take a value, as `abs` of an integer that overflows.
pub fn convert_run(error: &rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(native, _) if native.extended_code == ffi::SQLITE_ERROR => {
            Error::new(Code::ValueNotAccepted, "a value does not fit into its column")
        }
        other => convert(other),
    }
}

/// Whether a query ended because the progress handler said so.
pub fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}
