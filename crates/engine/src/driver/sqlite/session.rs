//! Session: one connection, its prepared statements, and the read transaction of a turn.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection as Native;
use treeql::error::{Code, Error};
use treeql::sql::{Args, Rows, Statement};

use crate::driver::connection::{Connection, loaded};
use crate::driver::options::too_slow;
use crate::driver::sink::{Done, Flow, Sink, Stopped};
use crate::driver::sqlite::budget::Budget;
use crate::driver::sqlite::connect::Access;
use crate::driver::sqlite::error::{convert, convert_run, is_interrupted};
use crate::driver::sqlite::file::OpenFile;
use crate::driver::sqlite::place::Place;
use crate::driver::sqlite::rows::{SqliteRow, bind};

/// limit: instructions of SQLite's virtual machine for a read beside other requests, about a millisecond.
const INLINE_INSTRUCTIONS: i64 = 100_000;
/// limit: reads that share one transaction, so that a busy worker does not keep the log from being checkpointed.
const TURN_READS_MAX: u32 = 512;

/// One connection.
pub struct Session {
    connection: Native,
    budget: Arc<Budget>,
    /// How many commits this process has made to the file.
    commits: Arc<AtomicU64>,
    /// How many of them the open transaction can see.
    seen: Cell<u64>,
    is_open: Cell<bool>,
    reads: Cell<u32>,
    /// Closed after the connection.
    _file: OpenFile,
}

impl Session {
    /// A session over a new connection, if the path of the place still leads to its file.
    pub fn open(place: &Place, access: Access, commits: &Arc<AtomicU64>) -> Result<Session, Error> {
        Session::new(place.connect(access)?, place.file(), Arc::clone(commits))
            .map_err(|error| convert(&error))
    }

    /// A session over a connection of its own to a file.
    pub fn new(
        mut connection: Native,
        file: &OpenFile,
        commits: Arc<AtomicU64>,
    ) -> rusqlite::Result<Session> {
        let budget = Budget::watch(&mut connection)?;
        budget.allow_until(None, None);
        // The schema is parsed now and not by the first request.
        connection.prepare("SELECT 1 FROM sqlite_schema")?;
        Ok(Session {
            connection,
            budget,
            commits,
            seen: Cell::new(0),
            is_open: Cell::new(false),
            reads: Cell::new(0),
            _file: file.clone(),
        })
    }

    /// Makes ready for a short read: the transaction of this turn is opened, or renewed if this process has
    /// committed since, so that everyone reads their own writes.
    ///
    /// speed: the locks of a transaction cost more than a point read; shared by the reads of a turn they cost
    /// nothing (docs/performance.md).
    pub fn begin_turn(&self) -> Result<(), Error> {
        let commits = self.commits.load(Ordering::Acquire);
        let is_stale = self.seen.get() != commits || self.reads.get() >= TURN_READS_MAX;
        if self.is_open.get() && is_stale {
            self.end_turn();
        }
        if !self.is_open.get() {
            self.control("BEGIN")?;
            self.is_open.set(true);
            self.seen.set(commits);
            self.reads.set(0);
        }
        self.reads.set(self.reads.get() + 1);
        self.budget.allow(INLINE_INSTRUCTIONS);
        Ok(())
    }

    /// Ends the transaction of this turn, if one is open.
    pub fn end_turn(&self) {
        if self.is_open.replace(false)
            && let Err(error) = self.control("COMMIT")
        {
            tracing::error!(%error, "a read transaction could not be ended");
        }
    }

    /// Lets queries run until the flag is set or the time is over, or as long as they take.
    pub fn allow_until(&self, cancelled: Option<Arc<AtomicBool>>, patience: Option<Duration>) {
        self.budget.allow_until(cancelled, patience);
    }

    /// Runs a statement that controls transactions.
    pub fn control(&self, text: &'static str) -> Result<(), Error> {
        let run = || self.connection.prepare_cached(text)?.execute([]).map(|_| ());
        run().map_err(|error: rusqlite::Error| convert(&error))
    }

    /// Switches the checking of foreign keys on or off, outside of a transaction. Tables are renamed as everywhere again.
    pub fn set_foreign_keys(&self, is_on: bool) -> Result<(), Error> {
        let set = || {
            self.connection.pragma_update(None, "legacy_alter_table", false)?;
            self.connection.pragma_update(None, "foreign_keys", is_on)?;
            self.connection.pragma_query_value(None, "foreign_keys", |row| row.get::<_, bool>(0))
        };
        match set() {
            Ok(found) if found == is_on => Ok(()),
            Ok(_) => Err(Error::new(Code::Internal, "Database error")),
            Err(error) => Err(convert(&error)),
        }
    }

    /// Puts everything that is in the log into the file; whether all of it was.
    pub fn checkpoint(&self) -> Result<bool, Error> {
        let query = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy = self.connection.query_row(query, [], |row| row.get::<_, bool>(0));
        is_busy.map(|is_busy| !is_busy).map_err(|error| convert(&error))
    }

    /// Whether a transaction is open; SQLite ends it by itself after some errors.
    pub fn is_in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// speed: one prepared statement, a row at a time; statements of many rows are no faster (docs/performance.md).
    fn insert(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<u64, Error> {
        let statement = rows.of(1);
        let mut prepared =
            self.connection.prepare_cached(&statement.text).map_err(|error| convert(&error))?;
        let mut written = 0;
        for row in 0..count {
            bind(&mut prepared, &statement, rows.part(args, row, 1)).map_err(bound)?;
            written += prepared.raw_execute().map_err(|error| convert_run(&error))? as u64;
        }
        Ok(written)
    }

    fn stopped(&self, error: &rusqlite::Error) -> Stopped {
        if !is_interrupted(error) {
            return Stopped::Failed(convert(error));
        }
        if self.budget.is_cancelled() {
            return Stopped::Abandoned;
        }
        if self.budget.is_late() { Stopped::Failed(too_slow()) } else { Stopped::TooLong }
    }
}

/// The error of a value that cannot be bound.
fn bound(stopped: Stopped) -> Error {
    match stopped {
        Stopped::Failed(error) => error,
        Stopped::TooLong | Stopped::Abandoned => Error::new(Code::Internal, "Database error"),
    }
}

impl Connection for Session {
    async fn query(
        &self,
        statement: &Statement,
        args: Args<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        let mut prepared =
            self.connection.prepare_cached(&statement.text).map_err(|error| self.stopped(&error))?;
        bind(&mut prepared, statement, args)?;
        let mut rows = prepared.raw_query();
        while let Some(row) = rows.next().map_err(|error| self.stopped(&error))? {
            if sink.row(&SqliteRow(row))? == Flow::Flush {
                let waiting = Instant::now();
                sink.flush().await?;
                self.budget.pause(waiting.elapsed());
            }
        }
        Ok(())
    }

    async fn execute(&self, statement: &Statement, args: Args<'_>) -> Result<Done, Error> {
        let mut prepared =
            self.connection.prepare_cached(&statement.text).map_err(|error| convert(&error))?;
        bind(&mut prepared, statement, args).map_err(bound)?;
        let rows = prepared.raw_execute().map_err(|error| convert_run(&error))?;
        Ok(Done { rows: rows as u64, key: self.connection.last_insert_rowid(), duplicates: 0 })
    }

    async fn load(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<u64, Error> {
        self.control("SAVEPOINT load")?;
        let loaded = self.insert(rows, args, count).and_then(|written| loaded(rows, written, count));
        // After a full disk the transaction is gone, and the savepoint with it.
        if loaded.is_err() && self.is_in_transaction() {
            self.control("ROLLBACK TO load")?;
        }
        if self.is_in_transaction() {
            self.control("RELEASE load")?;
        }
        loaded
    }
}
