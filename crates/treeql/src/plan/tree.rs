//! Plan: everything that is known about a shape of request before its values are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::encode::{
    FeatureLayout, GeometryError, write_feature, write_joined_feature, write_record, write_row,
};
use crate::plan::merged::MergedPlan;
use crate::row::{Layout, RowSet};
use crate::schema::TableId;
use crate::sql::{KeyedStatement, Rows, Statement};
use crate::value::Row;

/// How a shape of request is answered.
#[derive(Debug)]
pub enum Plan {
    /// Many records.
    List(ListPlan),
    /// Single records, by id.
    Read(SelectPlan),
    /// A change.
    Write(WritePlan),
}

/// The planner answers each operation with a plan of its kind; that of another is a mistake in the program, and panics.
impl Plan {
    /// The plan of a list.
    pub fn list(&self) -> &ListPlan {
        match self {
            Plan::List(list) => list,
            Plan::Read(_) | Plan::Write(_) => unreachable!("a list request has a list plan"),
        }
    }

    /// The plan of a read.
    pub fn read(&self) -> &SelectPlan {
        match self {
            Plan::Read(select) => select,
            Plan::List(_) | Plan::Write(_) => unreachable!("a read request has a read plan"),
        }
    }

    /// The plan of a change.
    pub fn write(&self) -> &WritePlan {
        match self {
            Plan::Write(write) => write,
            Plan::List(_) | Plan::Read(_) => unreachable!("a write request has a write plan"),
        }
    }
}

/// A list and, if asked for, the number of all matching rows.
#[derive(Debug)]
pub struct ListPlan {
    /// The rows.
    pub select: SelectPlan,
    /// The count.
    pub count: Option<Statement>,
    /// Whether a run of this plan has been found to take long, so that the next starts beside the others.
    heavy: AtomicBool,
}

impl ListPlan {
    /// A plan that is not known to take long.
    pub fn new(select: SelectPlan, count: Option<Statement>) -> ListPlan {
        ListPlan { select, count, heavy: AtomicBool::new(false) }
    }

    /// Whether a run of this plan has been found to take long.
    pub fn is_heavy(&self) -> bool {
        self.heavy.load(Ordering::Relaxed)
    }

    /// Remembers that a run of this plan took long.
    pub fn mark_heavy(&self) {
        self.heavy.store(true, Ordering::Relaxed);
    }
}

/// Rows of one table, with joins.
#[derive(Debug)]
pub struct SelectPlan {
    /// The table.
    pub table: TableId,
    /// The query.
    pub statement: Statement,
    /// What its cells are.
    pub layout: Arc<Layout>,
    /// Which cells make a row a feature, if features are asked for.
    pub feature: Option<FeatureLayout>,
    /// What is joined to them, one query each.
    pub joins: Vec<JoinPlan>,
    /// How several requests of this plan are answered by one statement, if they can be.
    pub merged: Option<MergedPlan>,
}

impl SelectPlan {
    /// Appends a row as what is asked for; if its geometry cannot be written, nothing.
    pub fn write_row(&self, out: &mut Vec<u8>, row: &impl Row) -> Result<(), GeometryError> {
        match self.feature {
            None => {
                write_row(out, &self.layout, row);
                Ok(())
            }
            Some(feature) => write_feature(out, &self.layout, feature, row),
        }
    }

    /// Appends the record at `row` and what is joined to it as what is asked for; if its geometry cannot be written,
    /// nothing.
    pub fn write_record(&self, out: &mut Vec<u8>, set: &RowSet, row: usize) -> Result<(), GeometryError> {
        match self.feature {
            None => {
                write_record(out, &self.layout, set, row);
                Ok(())
            }
            Some(feature) => write_joined_feature(out, &self.layout, feature, set, row),
        }
    }

    /// What stands before the records of a list; `]` and `}` follow them.
    pub fn list_head(&self) -> &'static [u8] {
        match self.feature {
            None => b"{\"records\":[",
            Some(_) => b"{\"type\":\"FeatureCollection\",\"features\":[",
        }
    }
}

/// Rows that belong to the keys of the rows outside.
#[derive(Debug)]
pub struct JoinPlan {
    /// The link of the rows outside whose keys are bound.
    pub parent_link: usize,
    /// The query; the first link of its layout is the key by which rows are grouped.
    pub statement: KeyedStatement,
    /// What its cells are.
    pub layout: Arc<Layout>,
    /// limit: how many rows belong to one key; the others are left out.
    pub rows_max: Option<usize>,
    /// What is joined to these rows in turn.
    pub joins: Vec<JoinPlan>,
}

/// What a create answers with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// The member of the record at this place, unless it is null.
    Sent(usize),
    /// The address of the record: the columns of its key, with the places of their members.
    Address(Vec<(Box<str>, usize)>),
    /// What the database made.
    Generated,
}

/// What becomes of a new record whose key is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is an error of the database.
    Error,
    /// It is left out.
    Ignored,
    /// The record that is there is changed; one that may not be changed is left alone, which is an error.
    Updated,
}

/// A change of one row.
#[derive(Debug)]
pub struct WritePlan {
    /// The table.
    pub table: TableId,
    /// The statement; `None` if no column is left to change, which changes nothing.
    pub statement: Option<Statement>,
    /// For a create, what it answers with.
    pub key: Key,
    /// Whether a generated key is a number on the wire.
    pub key_is_number: bool,
    /// Whether that number is spelled as a string.
    pub key_is_quoted: bool,
    /// Claims that are written; without one of them nothing may be.
    pub claims: Vec<u16>,
    /// Whether the statement answers with the key as a row.
    pub returns_key: bool,
    /// What becomes of a new record whose key is taken.
    pub taken: Taken,
    /// For a create: the same for many rows.
    pub rows: Option<Box<Rows>>,
    /// Whether the statement answers with a row for each that it changed, because the engine does not count them.
    pub counts_rows: bool,
}
