//! Sink: where rows go as they arrive.

use treeql::error::Error;
use treeql::value::Row;

/// Whether a sink can take another row at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    More,
    /// Call `flush` before the next row.
    Flush,
}

/// Why a query ended early.
#[derive(Debug)]
pub enum Stopped {
    /// Something is wrong; the caller is told.
    Failed(Error),
    /// It takes longer, or answers more, than may be done beside other requests; it must be run elsewhere.
    TooLong,
    /// Nobody waits for the answer any more.
    Abandoned,
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        Stopped::Failed(error)
    }
}

/// A receiver of rows. Rows are lent for the time of one call, so nothing is copied that is not kept.
pub trait Sink {
    /// Takes one row.
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped>;

    /// Makes room, waiting for whoever reads at the other end.
    fn flush(&mut self) -> impl Future<Output = Result<(), Stopped>>;
}

/// What a statement without rows did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// How many rows matched.
    pub rows: u64,
    /// The key that the database made for an inserted row.
    pub key: i64,
    /// Of several rows that were inserted, how many had a key that was taken, where the engine counts them.
    pub duplicates: u64,
}
