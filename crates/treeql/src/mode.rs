//! How forgiving the protocol is: our own strictness, or the leniency of the reference.

/// Strict answers what it does not understand with an error; lenient does what php-crud-api does.
///
/// The two differ only where the reference drops input in silence or hands bad values to the database.
/// `docs/protocol.md` lists every difference. Limits and access rules are the same in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Unknown names and malformed values are errors that name them.
    #[default]
    Strict,
    /// Unknown names are dropped and numbers are read leniently, as the reference does.
    Lenient,
}

impl Mode {
    /// Whether unknown names and malformed values are errors.
    pub fn is_strict(self) -> bool {
        self == Mode::Strict
    }
}
