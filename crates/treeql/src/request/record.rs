//! Records as callers send them, before their types are known.

use std::borrow::Cow;

/// A value of a record, still as the caller spelled it.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// JSON null.
    Null,
    /// JSON true or false.
    Bool(bool),
    /// A JSON number in the digits that were sent, so that none is lost.
    Number(Cow<'a, str>),
    /// A JSON string, or any value of a form.
    Text(Cow<'a, str>),
    /// A JSON array or object, as its text.
    Json(Cow<'a, str>),
}

/// limit: members of a record; more columns than any of the databases allows. Equal names are found by comparing all,
/// so that a body of millions of names would keep a worker busy for minutes.
pub const MEMBERS_MAX: usize = 4096;

/// Members and their values, in the order sent; of equal names the last value counts.
pub type Record<'a> = Vec<(Cow<'a, str>, Cell<'a>)>;

/// One record, or several to be treated as one.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordBatch<'a> {
    /// The records in the order sent.
    pub records: Vec<Record<'a>>,
    /// Whether the caller sent an array, and so gets one back.
    pub batch: bool,
}

/// Adds a member. One more than may be is kept, for whoever checks the number in the end.
pub fn put<'a>(record: &mut Record<'a>, name: Cow<'a, str>, cell: Cell<'a>) {
    if record.len() > MEMBERS_MAX {
        return;
    }
    match record.iter_mut().find(|(known, _)| *known == name) {
        Some((_, last)) => *last = cell,
        None => record.push((name, cell)),
    }
}
