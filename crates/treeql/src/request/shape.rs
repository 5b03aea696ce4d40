//! Request: what is asked, its values parted from it at the door.

use std::borrow::Cow;

use crate::request::query::Query;

/// What is done with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Many records, by filter.
    List,
    /// One record or several, by id.
    Read,
    /// New records.
    Create,
    /// Changes to records, by id.
    Update,
    /// Additions to numbers in records, by id.
    Increment,
    /// Removal of records, by id.
    Delete,
    /// Reading what tables and columns are.
    Reflect,
    /// Changing what tables and columns are.
    Remodel,
}

impl Operation {
    /// The name on the wire (SPEC 2.4).
    pub fn name(self) -> &'static str {
        match self {
            Operation::List => "list",
            Operation::Read => "read",
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Increment => "increment",
            Operation::Delete => "delete",
            Operation::Reflect => "reflect",
            Operation::Remodel => "remodel",
        }
    }
}

/// Which part of a list is asked for; the numbers are values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Window {
    /// Everything.
    #[default]
    All,
    /// The first so many.
    Limit,
    /// So many after so many.
    LimitOffset,
}

impl Window {
    /// The window that these values make.
    pub fn of(limit: Option<i64>, offset: i64) -> Window {
        match (limit, offset) {
            (None, _) => Window::All,
            (Some(_), 0) => Window::Limit,
            (Some(_), _) => Window::LimitOffset,
        }
    }
}

/// What becomes of a record whose key is taken (SPEC 7.7).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Conflict<'a> {
    /// It is an error.
    #[default]
    Error,
    /// It is left out.
    Ignore(ConflictKey<'a>),
    /// The record that is there is changed.
    Update(ConflictKey<'a>),
}

/// The unique key that is meant: columns with commas between, or the primary key.
pub type ConflictKey<'a> = Option<Cow<'a, str>>;

impl Conflict<'_> {
    /// The same, independent of the bytes it was read from.
    pub fn into_owned(self) -> Conflict<'static> {
        let own = |key: ConflictKey<'_>| key.map(|key| Cow::Owned(key.into_owned()));
        match self {
            Conflict::Error => Conflict::Error,
            Conflict::Ignore(key) => Conflict::Ignore(own(key)),
            Conflict::Update(key) => Conflict::Update(own(key)),
        }
    }
}

/// What is asked, without its values: the key of the plan cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request<'a> {
    /// What is done.
    pub operation: Operation,
    /// The exposed name of the table.
    pub table: Cow<'a, str>,
    /// Filters, columns, joins, order; of these a write uses include and exclude only.
    pub query: Query<'a>,
    /// Which part of a list.
    pub window: Window,
    /// Whether the number of all matching rows is asked for too.
    pub counted: bool,
    /// Whether the ids of the path are values of all columns of the primary key.
    pub composite: bool,
    /// What becomes of a new record whose key is taken.
    pub conflict: Conflict<'a>,
    /// Whether the server made the key among the members, so that the caller need not be allowed to write it.
    pub key_is_made: bool,
    /// The members of the record, in its order, for writes.
    pub members: Vec<Cow<'a, str>>,
}

impl<'a> Request<'a> {
    /// A request for `operation` on `table` with nothing else said.
    pub fn new(operation: Operation, table: impl Into<Cow<'a, str>>) -> Request<'a> {
        Request {
            operation,
            table: table.into(),
            query: Query::default(),
            window: Window::All,
            counted: false,
            composite: false,
            conflict: Conflict::Error,
            key_is_made: false,
            members: Vec::new(),
        }
    }

    /// The same request, independent of the bytes it was read from.
    pub fn into_owned(self) -> Request<'static> {
        Request {
            operation: self.operation,
            table: Cow::Owned(self.table.into_owned()),
            query: self.query.into_owned(),
            window: self.window,
            counted: self.counted,
            composite: self.composite,
            conflict: self.conflict.into_owned(),
            key_is_made: self.key_is_made,
            members: self.members.into_iter().map(|name| Cow::Owned(name.into_owned())).collect(),
        }
    }
}
