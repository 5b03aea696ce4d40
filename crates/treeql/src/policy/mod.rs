//! Policy: what the one who asks may see and touch. There is no plan without one.

pub mod principal;

use crate::request::Operation;
use crate::schema::Table;

/// What a principal may see and touch, and how much at once.
///
/// Plans are kept by policy: two requests share a plan only if their policies have the same id.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Which policy this is, among those of the process.
    pub id: u32,
    /// limit: how many tables a path of a join or a filter may have after the first.
    pub join_depth_max: usize,
    /// limit: how many tables all joins of a request may name together.
    pub join_tables_max: usize,
    /// limit: the most rows of one list; `None` means as many as there are, streamed.
    pub rows_max: Option<i64>,
}

impl Default for Policy {
    /// Everything may be done; joins are bounded because each table is a query.
    fn default() -> Policy {
        Policy { id: 0, join_depth_max: 8, join_tables_max: 32, rows_max: None }
    }
}

impl Policy {
    /// Whether `table` exists for this principal and `operation`.
    pub fn shows_table(&self, _operation: Operation, _table: &Table) -> bool {
        true
    }

    /// Whether the column at `column` of `table` exists for this principal and `operation`.
    pub fn shows_column(&self, _operation: Operation, _table: &Table, _column: usize) -> bool {
        true
    }
}
