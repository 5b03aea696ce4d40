//! SQLSTATE to errors of the protocol, never by message text (SPEC 13).

use tokio_postgres::error::SqlState;
use treeql::error::{Code, Error};
use treeql::sql::Statement;

use crate::driver::options::{no_room, too_slow};
use crate::driver::retry::Failure;
use crate::driver::transaction::conflict;

/// The error that a caller sees of a statement. Texts of the engine go to the log only.
pub fn convert_in(statement: &Statement, error: &tokio_postgres::Error) -> Error {
    let refused = error.code().and_then(|state| refused(state.code(), &statement.text));
    refused.unwrap_or_else(|| convert(error))
}

/// What an engine does not do with rows, as Citus changing the column that says where a row is stored. Of a change of the
/// schema the same code says that something uses what is to be changed.
fn refused(state: &str, text: &str) -> Option<Error> {
    let is_about_rows =
        ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "COPY "].iter().any(|word| text.starts_with(word));
    (state == "0A000" && is_about_rows).then(cannot)
}

fn cannot() -> Error {
    Error::new(Code::ValueNotAccepted, "the engine of this database cannot do that")
}

/// The error that a caller sees. Texts of the engine go to the log only.
pub fn convert(error: &tokio_postgres::Error) -> Error {
    let Some(state) = error.code() else {
        if failure(error) == Failure::Lost {
            return Error::new(
                Code::DatabaseUnavailable,
                "the connection to the database was lost; try again",
            );
        }
        tracing::error!(%error, "unexpected error of the PostgreSQL driver");
        return Error::new(Code::Internal, "Database error");
    };
    let code = state.code();
    match (code, &code[..2]) {
        ("23505", _) => Error::new(Code::DuplicateKey, ""),
        // a name of an object, table, column is taken
        ("42710" | "42P07" | "42701", _) => Error::new(Code::DuplicateKey, ""),
        // dependent objects, a column that a view uses, a foreign key to no key, an invalid definition of a table
        ("2BP01" | "0A000" | "42830" | "42P16", _) => Error::new(Code::DataIntegrityViolation, ""),
        // types that do not turn into each other
        ("42804" | "42846", _) => {
            Error::new(Code::ValueNotAccepted, "the type does not turn into the other one")
        }
        ("55P03", _) => Error::new(Code::DatabaseUnavailable, "others are using the table; try again"),
        (_, "23") => Error::new(Code::DataIntegrityViolation, ""),
        (_, "22") => Error::new(Code::ValueNotAccepted, "a value does not fit the type of its column"),
        ("42501", _) => Error::new(Code::OperationForbidden, "")
            .detail("database", "the database user of this server may not do that"),
        ("57014", _) => too_slow(),
        (_, "40") => conflict(),
        // postgres_fdw: the storage server of this row does not answer, others do.
        ("08001", _) => Error::new(
            Code::DatabaseUnavailable,
            "the server that holds this record does not answer; try again",
        ),
        // What a distributed engine does not do, as finding a row by a key that it does not know to be unique.
        ("42P10", _) => cannot(),
        ("53100", _) => no_room(),
        (_, "08" | "53" | "57") => {
            Error::new(Code::DatabaseUnavailable, "the database does not answer; try again")
        }
        // The transaction has failed before: the statement that failed first has the reason.
        ("25P02", _) => Error::new(Code::Internal, "Database error"),
        ("25006", _) => {
            Error::new(Code::OperationForbidden, "").detail("database", "the database is read-only")
        }
        _ => {
            tracing::error!(%error, sqlstate = code, detail = ?error.as_db_error(), "a statement failed");
            Error::new(Code::Internal, "Database error")
        }
    }
}

/// What the error says about running the statement again.
pub fn failure(error: &tokio_postgres::Error) -> Failure {
    match error.code() {
        Some(state)
            if *state == SqlState::T_R_SERIALIZATION_FAILURE || *state == SqlState::T_R_DEADLOCK_DETECTED =>
        {
            Failure::Conflict
        }
        // 08001: a connection of postgres_fdw to another server could not be opened, so nothing was done; ours is fine.
        Some(state) if matches!(state.code(), "57014" | "08001") => Failure::Final,
        Some(state) if matches!(&state.code()[..2], "08" | "57") => Failure::Lost,
        Some(_) => Failure::Final,
        None if error.is_closed() || is_io(error) => Failure::Lost,
        None => Failure::Final,
    }
}

/// Whether a prepared statement is not what this connection knows it as: the sign of a pooler in between.
pub fn is_foreign_statement(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|state| matches!(state.code(), "26000" | "42P05"))
}

/// Whether the prepared statement does not fit the table any more (`cached plan must not change result type`).
pub fn is_stale_statement(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|state| state.code() == "0A000")
}

/// Whether the server, or an extension, calls it an internal error.
pub fn is_internal(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INTERNAL_ERROR)
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.is::<std::io::Error>() {
            return true;
        }
        source = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use treeql::error::Code;

    use crate::driver::postgres::error::refused;

    #[test]
    fn what_the_engine_does_not_do_with_rows_is_a_value_that_is_not_accepted() {
        let update = r#"UPDATE "visitors" SET "site"=$1 WHERE "id"=$2"#;
        assert_eq!(refused("0A000", update).map(|error| error.code), Some(Code::ValueNotAccepted));
        assert!(refused("0A000", r#"ALTER TABLE "visitors" ALTER "site" TYPE text"#).is_none());
        assert!(refused("23505", update).is_none());
    }
}
