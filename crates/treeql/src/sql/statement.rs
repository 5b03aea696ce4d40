//! Statement: SQL text with parameters, and where each parameter comes from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::schema::{Column, ColumnType};

/// Where the value of a parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A value of a filter, by number.
    Slot(u16),
    /// A value of the id of the path that this run is about, by number.
    Id(u16),
    /// The most rows.
    Limit,
    /// The rows passed over.
    Offset,
    /// A member of the record, by its place in the record.
    Cell(u16),
    /// Something known about who asks, by number.
    Claim(u16),
    /// A key of the rows that are joined to, by number.
    Key(u16),
}

/// What is put around a value before it is bound; in all but `None` its wildcards are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Nothing.
    None,
    /// `%value%`.
    Contains,
    /// `value%`.
    StartsWith,
    /// `%value`.
    EndsWith,
}

/// What a parameter is compared with or stored in, for conversions and for error texts.
#[derive(Debug, PartialEq)]
pub struct About {
    /// The exposed name of the table.
    pub table: Box<str>,
    /// The exposed name of the column.
    pub column: Box<str>,
    /// The type of the column.
    pub kind: ColumnType,
}

impl About {
    /// The column of a table.
    pub fn new(table: &str, column: &Column) -> Arc<About> {
        Arc::new(About { table: table.into(), column: column.alias.clone(), kind: column.kind })
    }
}

/// A hole in a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Where the value comes from.
    pub source: Source,
    /// What is put around it.
    pub wrap: Wrap,
    /// The column it belongs to, if it belongs to one.
    pub about: Option<Arc<About>>,
}

impl Param {
    /// A parameter for `about`, bound as it is.
    pub fn of(source: Source, about: Arc<About>) -> Param {
        Param { source, wrap: Wrap::None, about: Some(about) }
    }

    /// A parameter that belongs to no column.
    pub fn bare(source: Source) -> Param {
        Param { source, wrap: Wrap::None, about: None }
    }
}

/// SQL text of one dialect with its parameters in order.
#[derive(Debug)]
pub struct Statement {
    /// Unique in the process: what drivers find their prepared form by.
    pub id: u64,
    /// The text; it holds quoted identifiers and placeholders, never a value.
    pub text: Box<str>,
    /// The parameters in the order of the placeholders.
    pub params: Vec<Param>,
}

impl Statement {
    /// A statement with a new id.
    pub fn new(text: String, params: Vec<Param>) -> Statement {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Statement { id: NEXT.fetch_add(1, Ordering::Relaxed), text: text.into(), params }
    }
}
