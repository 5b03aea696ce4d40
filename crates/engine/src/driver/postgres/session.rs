//! Session: what one request does on a connection, its own or one that it shares.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use futures_util::future::{join_all, join3};
use futures_util::{SinkExt, TryStream, TryStreamExt};
use tokio_postgres::RowStream;
use tokio_postgres::types::Type;
use treeql::error::{Code, Error};
use treeql::sql::{Args, Rows, Statement};
use treeql::value::{Row, ValueRef};

use crate::driver::connection::{Connection, loaded};
use crate::driver::pool::Lease;
use crate::driver::postgres::connect::Link;
use crate::driver::postgres::copy::CopyText;
use crate::driver::postgres::error::{
    convert, convert_in, failure, is_foreign_statement, is_internal, is_stale_statement,
};
use crate::driver::postgres::params::{Parameter, parameters};
use crate::driver::postgres::rows::{PostgresRow, WireRows};
use crate::driver::postgres::shared::Use;
use crate::driver::postgres::tap::Valve;
use crate::driver::retry::Failure;
use crate::driver::sink::{Done, Flow, Sink, Stopped};
use crate::driver::transaction::conflict;

/// speed: PostgreSQL makes up to a thousand slots for the rows of a COPY, in a time that grows with their square, and
/// forgets them at its end (docs/performance.md). Short ones avoid that; for long ones it is little.
const PIECE_ROWS: usize = 250;
const PIECES_ROWS_MAX: usize = 4000;

/// The connection of a session.
pub enum Held {
    /// Shared with other short reads of this worker; their statements follow one another without waiting.
    Shared(Use),
    /// Its own.
    Leased(Box<Lease<Link>>),
}

/// What one request does on a connection.
pub struct Session {
    held: Held,
    is_direct: bool,
    failure: Cell<Failure>,
    beside: Option<Box<Session>>,
}

impl Session {
    /// A session on a connection; named statements only if it is direct.
    pub fn new(held: Held, is_direct: bool, beside: Option<Box<Session>>) -> Session {
        Session { held, is_direct, failure: Cell::default(), beside }
    }

    /// What the last failure said about running it again.
    pub fn failure(&self) -> Failure {
        self.failure.get()
    }

    /// Runs a statement that controls transactions.
    pub async fn control(&self, text: &str) -> Result<(), Error> {
        self.begin();
        let result = self.link().client.batch_execute(text).await.map_err(|error| self.failed(&error));
        self.close();
        result
    }

    /// Says that something begins on the connection. What is dropped on a shared one ends by itself.
    pub fn begin(&self) {
        match &self.held {
            Held::Shared(shared) => shared.begin(),
            Held::Leased(lease) => lease.begin(),
        }
    }

    /// Says that what began last has ended.
    pub fn close(&self) {
        match &self.held {
            Held::Shared(shared) => shared.close(),
            Held::Leased(lease) => lease.close(),
        }
    }

    fn give_up(&self) {
        if let Held::Leased(lease) = &self.held {
            lease.give_up();
        }
    }

    /// After a conflict the transaction is lost; the server would refuse what follows.
    fn check_transaction(&self) -> Result<(), Error> {
        if self.failure.get() == Failure::Final { Ok(()) } else { Err(conflict()) }
    }

    fn link(&self) -> &Link {
        match &self.held {
            Held::Shared(shared) => shared.link(),
            Held::Leased(lease) => lease.get(),
        }
    }

    fn failed(&self, error: &tokio_postgres::Error) -> Error {
        self.note(error);
        convert(error)
    }

    /// Remembers what the error says about running the statement again.
    fn note(&self, error: &tokio_postgres::Error) {
        let failure = failure(error);
        // A conflict is told once, by the first statement of the transaction that failed.
        if !self.failure.get().may_run_again() {
            self.failure.set(failure);
        }
        if failure.ends_connection() {
            self.give_up();
        }
    }

    /// PostGIS has no code of its own for text that is no shape; it calls it an internal error.
    fn failed_in(&self, statement: &Statement, error: &tokio_postgres::Error) -> Error {
        if is_internal(error) && statement.text.contains("ST_GeomFromText(") {
            return Error::new(Code::ValueNotAccepted, "a shape is not written as well-known text");
        }
        self.note(error);
        convert_in(statement, error)
    }

    async fn start(&self, statement: &Statement, args: Args<'_>) -> Result<RowStream, Stopped> {
        let link = self.link();
        if !self.is_direct {
            let typed = parameters(statement, args)?.into_iter().map(|parameter| (parameter, Type::UNKNOWN));
            return link
                .client
                .query_typed_raw(&statement.text, typed)
                .await
                .map_err(|error| self.failed_in(statement, &error).into());
        }
        for is_last in [false, true] {
            let started = match link.prepared(statement).await {
                Ok(prepared) => {
                    link.client.query_raw::<_, Parameter, _>(&prepared, parameters(statement, args)?).await
                }
                Err(error) => Err(error),
            };
            match started {
                Ok(stream) => return Ok(stream),
                Err(error) if !is_last && (is_stale_statement(&error) || is_foreign_statement(&error)) => {
                    link.forget(statement);
                }
                Err(error) => return Err(self.failed_in(statement, &error).into()),
            }
        }
        unreachable!("the last round returns")
    }

    async fn rows(&self, statement: &Statement, args: Args<'_>, sink: &mut impl Sink) -> Result<(), Stopped> {
        let mut rows = pin!(self.start(statement, args).await?);
        let ended = loop {
            match rows.try_next().await {
                Ok(Some(row)) => match sink.row(&PostgresRow(&row)) {
                    Ok(Flow::More) => {}
                    Ok(Flow::Flush) => {
                        if let Err(stopped) = sink.flush().await {
                            break Err(stopped);
                        }
                    }
                    Err(stopped) => break Err(stopped),
                },
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.failed_in(statement, &error).into()),
            }
        };
        // The rest of the rows is on its way: a connection of one's own is closed rather than emptied.
        self.give_up();
        ended
    }

    /// The same with the rows taken off a tap.
    async fn tapped_rows(
        &self,
        valve: &Valve,
        statement: &Statement,
        args: Args<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        let link = self.link();
        // Before the valve is open: the library may look types up, and those rows are its own.
        let prepared = link.prepared(statement).await.map_err(|error| self.failed_in(statement, &error))?;
        let open = valve.open();
        let started = link.client.query_raw::<_, Parameter, _>(&prepared, parameters(statement, args)?).await;
        let mut ending = match started {
            Ok(ending) => pin!(ending),
            Err(error) if is_stale_statement(&error) || is_foreign_statement(&error) => {
                drop(open);
                link.forget(statement);
                return self.rows(statement, args, sink).await;
            }
            Err(error) => return Err(self.failed_in(statement, &error).into()),
        };
        let mut rows = WireRows::new(prepared.columns());
        loop {
            let piece = poll_fn(|context| {
                if let Poll::Ready(piece) = open.poll_piece(context) {
                    return Poll::Ready(Ok(Some(piece)));
                }
                // What ends the rows comes after all of them.
                ending.as_mut().try_poll_next(context).map(|end| end.transpose().map(|_end| None))
            });
            let piece = match piece.await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.failed_in(statement, &error).into()),
            };
            if let Err(stopped) = write_piece(&mut rows, &piece, sink).await {
                self.give_up();
                return Err(stopped);
            }
        }
    }

    /// A failed statement would end the transaction, but for the savepoint.
    async fn load_in_savepoint(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<u64, Error> {
        self.control("SAVEPOINT load").await?;
        let written = self.insert(rows, args, count).await;
        let result = written.and_then(|written| loaded(rows, written, count));
        let end = if result.is_ok() { "RELEASE load" } else { "ROLLBACK TO load; RELEASE load" };
        self.control(end).await.and(result)
    }

    /// The rows are inserted in the order of the statement's ORDER BY, each with the next number of a sequence: so the
    /// keys of the records are ascending, whatever the order in which they are answered with. Keys that come
    /// otherwise were made in another way (a descending sequence, a trigger), so nothing follows from their order.
    async fn keys_in_savepoint(
        &self,
        rows: &Rows,
        args: Args<'_>,
        count: usize,
    ) -> Result<Option<Vec<i64>>, Error> {
        self.control("SAVEPOINT load").await?;
        let mut keys = Integers(Vec::with_capacity(count));
        let result = self.rows(&rows.in_order(count), args, &mut keys).await;
        let Integers(keys) = keys;
        let is_known = result.is_ok() && keys.len() == count && keys.is_sorted_by(|one, next| one < next);
        self.control(if is_known { "RELEASE load" } else { "ROLLBACK TO load; RELEASE load" }).await?;
        Ok(is_known.then_some(keys))
    }

    async fn insert(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<u64, Error> {
        match &rows.copy {
            // Through a pooler nothing is prepared, as copying needs it.
            Some(copy) if self.is_direct && count > 1 => {
                self.copy(copy, CopyText::new(rows, args, count)).await
            }
            _ => {
                let mut written = 0;
                for first in (0..count).step_by(rows.rows_max) {
                    let count = rows.rows_max.min(count - first);
                    written += self.done(&rows.of(count), rows.part(args, first, count)).await?.rows;
                }
                Ok(written)
            }
        }
    }

    /// All pieces follow one another without waiting: what is polled first is sent first. After one that fails the server
    /// refuses the others, and takes COMMIT for ROLLBACK.
    async fn copy_in_pieces(
        &self,
        copy: &Statement,
        rows: &Rows,
        args: Args<'_>,
        count: usize,
    ) -> Result<u64, Error> {
        // Else it would be prepared between BEGIN and COMMIT, after COMMIT has been sent.
        self.link().prepared(copy).await.map_err(|error| self.failed(&error))?;
        let pieces = (0..count).step_by(PIECE_ROWS).map(|first| {
            let count = PIECE_ROWS.min(count - first);
            self.copy(copy, CopyText::new(rows, rows.part(args, first, count), count))
        });
        let (begun, copied, committed) =
            join3(self.control("BEGIN"), join_all(pieces), self.control("COMMIT")).await;
        begun?;
        let written = copied.into_iter().sum::<Result<u64, Error>>()?;
        committed.map(|()| written)
    }

    async fn copy(&self, statement: &Statement, text: CopyText<'_>) -> Result<u64, Error> {
        let link = self.link();
        let started = async {
            let prepared = link.prepared(statement).await?;
            link.client.copy_in::<_, Bytes>(&prepared).await
        };
        let mut sink = pin!(started.await.map_err(|error| self.failed(&error))?);
        for piece in text {
            sink.feed(piece?).await.map_err(|error| self.failed(&error))?;
        }
        sink.finish().await.map_err(|error| self.failed(&error))
    }

    async fn done(&self, statement: &Statement, args: Args<'_>) -> Result<Done, Error> {
        let mut rows = match self.start(statement, args).await {
            Ok(rows) => pin!(rows),
            Err(Stopped::Failed(error)) => return Err(error),
            Err(Stopped::TooLong | Stopped::Abandoned) => return Ok(Done::default()),
        };
        while rows.try_next().await.map_err(|error| self.failed_in(statement, &error))?.is_some() {}
        Ok(Done { rows: rows.rows_affected().unwrap_or(0), key: 0, duplicates: 0 })
    }
}

async fn write_piece(rows: &mut WireRows, piece: &[u8], sink: &mut impl Sink) -> Result<(), Stopped> {
    let mut rest = piece;
    while !rest.is_empty() {
        let row = rows.next(&mut rest).ok_or_else(|| Error::new(Code::Internal, "a row is cut off"))?;
        if sink.row(&row)? == Flow::Flush {
            sink.flush().await?;
        }
    }
    Ok(())
}

/// Keeps the first cell of each row.
struct Integers(Vec<i64>);

impl Sink for Integers {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        if let ValueRef::Int(int) = row.get(0) {
            self.0.push(int);
        }
        Ok(Flow::More)
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
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
        let result = match self.link().valve() {
            Some(valve) if self.is_direct => self.tapped_rows(valve, statement, args, sink).await,
            _ => self.rows(statement, args, sink).await,
        };
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
        self.check_transaction()?;
        self.begin();
        let result = self.load_in_savepoint(rows, args, count).await;
        self.close();
        result
    }

    async fn load_alone(&self, rows: &Rows, args: Args<'_>, count: usize) -> Option<Result<u64, Error>> {
        // Through a pooler, and of some hundred thousand cells, it would be several statements.
        let copy = rows.copy.as_ref().filter(|_| self.is_direct)?;
        self.begin();
        let result = match count {
            ..=PIECE_ROWS | PIECES_ROWS_MAX.. => self.insert(rows, args, count).await,
            _ => self.copy_in_pieces(copy, rows, args, count).await,
        };
        self.close();
        Some(result)
    }

    async fn load_made(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<Option<Vec<i64>>, Error> {
        self.check_transaction()?;
        self.begin();
        let result = self.keys_in_savepoint(rows, args, count).await;
        self.close();
        result
    }

    fn beside(&self) -> &Session {
        self.beside.as_deref().unwrap_or(self)
    }
}
