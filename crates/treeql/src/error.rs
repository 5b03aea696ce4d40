//! What a caller sees when something is wrong: the numbered table of the wire protocol.

use std::fmt::{self, Display, Formatter};

/// The number of an error, with its HTTP status and its message.
///
/// Numbers up to 1023 and 9999 are the protocol's (php-crud-api); those from 2000 on are ours, for what the
/// reference answers with 9999 or does not know. `docs/protocol.md` has a row for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// An element of a batch that worked.
    Success,
    /// No such path and method.
    RouteNotFound,
    /// No such table, or none that the caller may see.
    TableNotFound,
    /// The number of ids differs from the number of records.
    ArgumentCountMismatch,
    /// No such record, or none that the caller may see.
    RecordNotFound,
    /// The Origin header is not allowed.
    OriginForbidden,
    /// No such column, or none that the caller may see.
    ColumnNotFound,
    /// A table of that name exists.
    TableAlreadyExists,
    /// A column of that name exists.
    ColumnAlreadyExists,
    /// The body is no record in a known format.
    HttpMessageNotReadable,
    /// A unique or primary key clashes.
    DuplicateKey,
    /// A foreign key, NOT NULL or check constraint is violated.
    DataIntegrityViolation,
    /// Who asks is not known.
    AuthenticationRequired,
    /// The credentials are wrong.
    AuthenticationFailed,
    /// A value or parameter is not acceptable; the details say which.
    InputValidationFailed,
    /// The operation is not allowed.
    OperationForbidden,
    /// The operation does not exist for this kind of table.
    OperationNotSupported,
    /// The address is blocked.
    Blocked,
    /// The XSRF token is bad or missing.
    BadXsrfToken,
    /// Only AJAX requests are allowed.
    OnlyAjaxAllowed,
    /// The page is beyond what may be read.
    PaginationForbidden,
    /// A user of that name exists.
    UserAlreadyExists,
    /// The password is too short.
    PasswordTooShort,
    /// The user name is empty.
    UsernameEmpty,
    /// The table has no primary key.
    PrimaryKeyNotFound,
    /// The request is larger than a named limit allows.
    TooLarge,
    /// The database cannot be reached now; trying again later may work.
    DatabaseUnavailable,
    /// The database took longer than allowed.
    DatabaseTimeout,
    /// The database does not accept a value for its column.
    ValueNotAccepted,
    /// The caller asked too often; the argument says in how many seconds to come back.
    TooManyRequests,
    /// Anything else; the log knows more.
    Internal,
}

impl Code {
    /// Every code, in the order of the numbers.
    pub const ALL: [Code; 31] = [
        Code::Success,
        Code::RouteNotFound,
        Code::TableNotFound,
        Code::ArgumentCountMismatch,
        Code::RecordNotFound,
        Code::OriginForbidden,
        Code::ColumnNotFound,
        Code::TableAlreadyExists,
        Code::ColumnAlreadyExists,
        Code::HttpMessageNotReadable,
        Code::DuplicateKey,
        Code::DataIntegrityViolation,
        Code::AuthenticationRequired,
        Code::AuthenticationFailed,
        Code::InputValidationFailed,
        Code::OperationForbidden,
        Code::OperationNotSupported,
        Code::Blocked,
        Code::BadXsrfToken,
        Code::OnlyAjaxAllowed,
        Code::PaginationForbidden,
        Code::UserAlreadyExists,
        Code::PasswordTooShort,
        Code::UsernameEmpty,
        Code::PrimaryKeyNotFound,
        Code::TooLarge,
        Code::DatabaseUnavailable,
        Code::DatabaseTimeout,
        Code::ValueNotAccepted,
        Code::TooManyRequests,
        Code::Internal,
    ];

    /// Number, HTTP status and message; `%s` in the message is the argument.
    fn row(self) -> (u16, u16, &'static str) {
        match self {
            Code::Success => (0, 200, "Success"),
            Code::RouteNotFound => (1000, 404, "Route '%s' not found"),
            Code::TableNotFound => (1001, 404, "Table '%s' not found"),
            Code::ArgumentCountMismatch => (1002, 422, "Argument count mismatch in '%s'"),
            Code::RecordNotFound => (1003, 404, "Record '%s' not found"),
            Code::OriginForbidden => (1004, 403, "Origin '%s' is forbidden"),
            Code::ColumnNotFound => (1005, 404, "Column '%s' not found"),
            Code::TableAlreadyExists => (1006, 409, "Table '%s' already exists"),
            Code::ColumnAlreadyExists => (1007, 409, "Column '%s' already exists"),
            Code::HttpMessageNotReadable => (1008, 422, "Cannot read HTTP message"),
            Code::DuplicateKey => (1009, 409, "Duplicate key exception"),
            Code::DataIntegrityViolation => (1010, 409, "Data integrity violation"),
            Code::AuthenticationRequired => (1011, 401, "Authentication required"),
            Code::AuthenticationFailed => (1012, 403, "Authentication failed for '%s'"),
            Code::InputValidationFailed => (1013, 422, "Input validation failed for '%s'"),
            Code::OperationForbidden => (1014, 403, "Operation forbidden"),
            Code::OperationNotSupported => (1015, 405, "Operation '%s' not supported"),
            Code::Blocked => (1016, 403, "Temporary or permanently blocked"),
            Code::BadXsrfToken => (1017, 403, "Bad or missing XSRF token"),
            Code::OnlyAjaxAllowed => (1018, 403, "Only AJAX requests allowed for '%s'"),
            Code::PaginationForbidden => (1019, 403, "Pagination forbidden"),
            Code::UserAlreadyExists => (1020, 409, "User '%s' already exists"),
            Code::PasswordTooShort => (1021, 422, "Password too short (<%s characters)"),
            Code::UsernameEmpty => (1022, 422, "Username is empty or only whitespaces"),
            Code::PrimaryKeyNotFound => (1023, 404, "Primary key for table '%s' not found"),
            Code::TooLarge => (2000, 413, "Request too large: %s"),
            Code::DatabaseUnavailable => (2001, 503, "Database unavailable: %s"),
            Code::DatabaseTimeout => (2002, 504, "Database timeout: %s"),
            Code::ValueNotAccepted => (2003, 422, "Value not accepted: %s"),
            Code::TooManyRequests => (2004, 429, "Too many requests, try again in %s s"),
            Code::Internal => (9999, 500, "%s"),
        }
    }

    /// The number on the wire.
    pub fn number(self) -> u16 {
        self.row().0
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        self.row().1
    }

    /// The message, with `%s` where the argument goes.
    pub fn message(self) -> &'static str {
        self.row().2
    }
}

/// An error as the caller sees it: a code, its argument, and details that say where and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// Which row of the table.
    pub code: Code,
    /// What stands in the message in place of `%s`.
    pub argument: Box<str>,
    /// Parameter or member name to a sentence, in the order found.
    pub details: Vec<(Box<str>, Box<str>)>,
}

impl Error {
    /// An error without details.
    pub fn new(code: Code, argument: impl Into<Box<str>>) -> Error {
        Error { code, argument: argument.into(), details: Vec::new() }
    }

    /// The same error with one more detail: what it is about, and a sentence.
    pub fn detail(mut self, about: impl Into<Box<str>>, sentence: impl Into<Box<str>>) -> Error {
        self.details.push((about.into(), sentence.into()));
        self
    }

    /// An invalid parameter of a request to `table`: 1013 with one detail.
    pub fn invalid(table: &str, about: &str, sentence: impl Into<Box<str>>) -> Error {
        Error::new(Code::InputValidationFailed, table).detail(about, sentence)
    }

    /// The message with its argument.
    pub fn message(&self) -> String {
        self.code.message().replacen("%s", &self.argument, 1)
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code.number(), self.message())?;
        for (about, sentence) in &self.details {
            write!(f, "; {about}: {sentence}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
