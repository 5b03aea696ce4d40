//! Connection: what every driver's session can do, so that work on it is written once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use treeql::error::{Code, Error};
use treeql::sql::{Args, Rows, Statement};

use crate::driver::sink::{Done, Sink, Stopped};

/// A session of one database, used by one request at a time.
///
/// The set of implementations is closed (one a driver, and the enum over them); it is a trait so that the folders of
/// the drivers, which lie below that enum, can run work that is written above it.
pub trait Connection {
    /// Runs a query; its rows go to `sink`.
    fn query(
        &self,
        statement: &Statement,
        args: Args<'_>,
        sink: &mut impl Sink,
    ) -> impl Future<Output = Result<(), Stopped>>;

    /// Runs a statement without rows.
    fn execute(&self, statement: &Statement, args: Args<'_>) -> impl Future<Output = Result<Done, Error>>;

    /// Inserts `count` rows, as [`Rows::batch`] says, whose cells stand one row after the other: all of them or, with an error,
    /// none; in a transaction that goes on either way. Answers how many were written: fewer only if those whose key is
    /// taken are ignored.
    fn load(&self, rows: &Rows, args: Args<'_>, count: usize) -> impl Future<Output = Result<u64, Error>>;

    /// The same outside of a transaction, where that costs less: they are committed, or nothing was done. `None` where it
    /// does not.
    fn load_alone(
        &self,
        _rows: &Rows,
        _args: Args<'_>,
        _count: usize,
    ) -> impl Future<Output = Option<Result<u64, Error>>> {
        async { None }
    }

    /// The same of rows whose keys the database makes: answers these in the order of the rows. `None`, and nothing was
    /// done, where that order cannot be known, or something was refused: then they are inserted one by one.
    fn load_made(
        &self,
        _rows: &Rows,
        _args: Args<'_>,
        _count: usize,
    ) -> impl Future<Output = Result<Option<Vec<i64>>, Error>> {
        async { Ok(None) }
    }

    /// Where queries can be run while the rows of another one are still arriving: a second connection where an
    /// engine needs one, else this one.
    fn beside(&self) -> &Self {
        self
    }
}

/// The rows that a statement for `count` wrote, or the error of one that was left alone because it may not be changed.
pub fn loaded(rows: &Rows, written: u64, count: usize) -> Result<u64, Error> {
    if written < count as u64 && !rows.is_ignoring() {
        return Err(Error::new(Code::DuplicateKey, ""));
    }
    Ok(written)
}

/// A query that may take long, run where it disturbs nobody.
pub trait Job: Send + 'static {
    /// Whether it runs queries while the rows of another one are still arriving.
    fn needs_two(&self) -> bool;

    /// Runs it; the answer goes to where it was told to.
    fn run(self, connection: &impl Connection) -> impl Future<Output = ()>;
}

/// Runs a job beside the requests of this worker, unless nobody waits for it any more.
pub fn run_beside(connection: impl Connection + 'static, job: impl Job, cancelled: Arc<AtomicBool>) {
    tokio::task::spawn_local(async move {
        if !cancelled.load(Ordering::Relaxed) {
            job.run(&connection).await;
        }
    });
}

/// Whether what a change did is to stay.
#[derive(Debug)]
pub enum Outcome<T> {
    /// Keep it and answer.
    Commit(T),
    /// Undo it and answer.
    Rollback(T),
}

/// The writes of one request. A driver runs it in a transaction, perhaps together with others, and perhaps more
/// than once: each run starts from the beginning.
pub trait Change: Send + 'static {
    /// What the request is answered with.
    type Output: Send + 'static;

    /// Whether it is more than one statement, so that it needs a place to roll back to.
    fn is_batch(&self) -> bool;

    /// Does all of it by one statement outside of a transaction, if it is such a change and the connection has a way for
    /// it. An error says that nothing was done: it is run in a transaction then.
    fn run_alone(
        &mut self,
        _connection: &impl Connection,
    ) -> impl Future<Output = Option<Result<Self::Output, Error>>> {
        async { None }
    }

    /// Whether it changes tables: where others share a transaction, it needs one for itself, and foreign keys are
    /// looked at when it has ended.
    fn alters_schema(&self) -> bool {
        false
    }

    /// Runs it.
    fn run(
        &mut self,
        connection: &impl Connection,
    ) -> impl Future<Output = Result<Outcome<Self::Output>, Error>>;
}
