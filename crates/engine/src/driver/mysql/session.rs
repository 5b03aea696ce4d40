//! Session: what one request does on its connection.

use std::cell::Cell;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params};
use tokio::sync::MutexGuard;
use treeql::error::{Code, Error};
use treeql::sql::{Args, Rows, Statement};

use crate::driver::connection::Connection;
use crate::driver::mysql::connect::Link;
use crate::driver::mysql::error::{convert, failure};
use crate::driver::mysql::rows::{MySqlRow, parameters};
use crate::driver::pool::Lease;
use crate::driver::retry::Failure;
use crate::driver::sink::{Done, Flow, Sink, Stopped};
use crate::driver::transaction::conflict;

/// What one request does on its connection.
pub struct Session {
    lease: Lease<Link>,
    failure: Cell<Failure>,
    beside: Option<Box<Session>>,
}

impl Session {
    /// A session on a leased connection.
    pub fn new(lease: Lease<Link>, beside: Option<Box<Session>>) -> Session {
        Session { lease, failure: Cell::default(), beside }
    }

    /// What the last failure said about running it again.
    pub fn failure(&self) -> Failure {
        self.failure.get()
    }

    /// Runs a statement that controls transactions.
    pub async fn control(&self, text: &str) -> Result<(), Error> {
        self.begin();
        let result = self.conn().await.query_drop(text).await.map_err(|error| self.failed(&error));
        self.close();
        result
    }

    async fn conn(&self) -> MutexGuard<'_, Conn> {
        match self.lease.get() {
            Link::Library(conn) => conn.lock().await,
            Link::Wire(_) => unreachable!("a session is given a connection of the library"),
        }
    }

    /// Says that something begins on the connection.
    pub fn begin(&self) {
        self.lease.begin();
    }

    /// Says that what began last has ended.
    pub fn close(&self) {
        self.lease.close();
    }

    /// After a conflict the engine has undone the transaction: what follows would be made outside of it, and stay.
    fn check_transaction(&self) -> Result<(), Error> {
        if self.failure.get() == Failure::Final { Ok(()) } else { Err(conflict()) }
    }

    fn failed(&self, error: &mysql_async::Error) -> Error {
        let failure = failure(error);
        if !self.failure.get().may_run_again() {
            self.failure.set(failure);
        }
        if failure.ends_connection() {
            self.lease.give_up();
        }
        convert(error)
    }

    async fn rows(&self, statement: &Statement, args: Args<'_>, sink: &mut impl Sink) -> Result<(), Stopped> {
        let values = parameters(statement, args)?;
        let mut conn = self.conn().await;
        let mut result =
            conn.exec_iter(&*statement.text, params(values)).await.map_err(|error| self.failed(&error))?;
        let ended = loop {
            match result.next().await {
                Ok(Some(row)) => match sink.row(&MySqlRow::read(row)) {
                    Ok(Flow::More) => {}
                    Ok(Flow::Flush) => {
                        if let Err(stopped) = sink.flush().await {
                            break Err(stopped);
                        }
                    }
                    Err(stopped) => break Err(stopped),
                },
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.failed(&error).into()),
            }
        };
        // The rest of the rows is on its way: the connection is closed rather than emptied.
        self.lease.give_up();
        ended
    }

    /// How far apart the numbers are that the server makes. Clusters change it while they run.
    async fn increment(&self) -> Result<i64, Error> {
        self.check_transaction()?;
        self.begin();
        let result = self.conn().await.query_first("SELECT @@auto_increment_increment").await;
        self.close();
        let increment: Option<i64> = result.map_err(|error| self.failed(&error))?;
        increment.ok_or_else(|| Error::new(Code::Internal, "the server has no auto_increment_increment"))
    }

    async fn done(&self, statement: &Statement, args: Args<'_>) -> Result<Done, Error> {
        let values = parameters(statement, args)?;
        let mut conn = self.conn().await;
        let result = conn.exec_iter(&*statement.text, params(values)).await;
        let result = result.map_err(|error| self.failed(&error))?;
        let (rows, key) = (result.affected_rows(), result.last_insert_id().unwrap_or(0));
        let duplicates = duplicates(&result.info());
        result.drop_result().await.map_err(|error| self.failed(&error))?;
        // The number that no row has: there was a row, and it was left as it is (treeql sql/insert.rs).
        let (rows, key) = if key == u64::MAX && rows <= 1 { (0, 0) } else { (rows, key) };
        Ok(Done { rows, key: key.cast_signed(), duplicates })
    }
}

/// How many rows met another with their key, of what the server says about an INSERT of several rows: `Records: 3
/// Duplicates: 1  Warnings: 0`, the same words in every language.
fn duplicates(info: &str) -> u64 {
    let count = info.split_once("Duplicates: ").and_then(|(_, rest)| rest.split(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

fn params(values: Vec<mysql_async::Value>) -> Params {
    if values.is_empty() { Params::Empty } else { Params::Positional(values) }
}

impl Connection for Session {
    async fn query(
        &self,
        statement: &Statement,
        args: Args<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        self.check_transaction()?;
        self.begin();
        let result = self.rows(statement, args, sink).await;
        self.close();
        result
    }

    async fn execute(&self, statement: &Statement, args: Args<'_>) -> Result<Done, Error> {
        self.check_transaction()?;
        self.begin();
        let result = self.done(statement, args).await;
        self.close();
        result
    }

    async fn load(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<u64, Error> {
        // A statement that fails undoes itself.
        let done = self.execute(&rows.of(count), args).await?;
        Ok(match (rows.is_ignoring(), count) {
            (false, _) => count as u64,
            (true, 1) => done.rows,
            (true, _) => (count as u64).saturating_sub(done.duplicates),
        })
    }

    /// The server numbers the rows of an INSERT whose rows it can count one after the other, `auto_increment_increment`
    /// apart, and tells the first number (MySQL's manual, "AUTO_INCREMENT Handling in InnoDB": simple inserts, in every
    /// lock mode). It is 0 if it made none, as for a single row.
    async fn load_made(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<Option<Vec<i64>>, Error> {
        let increment = self.increment().await?;
        // A statement that fails undoes itself.
        let done = self.execute(&rows.of(count), args).await?;
        let increment = if done.key == 0 { 0 } else { increment };
        let keys = std::iter::successors(Some(done.key), |key| Some(key.wrapping_add(increment)));
        Ok(Some(keys.take(count).collect()))
    }

    fn beside(&self) -> &Session {
        self.beside.as_deref().unwrap_or(self)
    }
}
