//! Session: what one request does on a connection, its own or one that it shares.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::{SinkExt, TryStreamExt};
use tokio_postgres::RowStream;
use tokio_postgres::types::Type;
use treeql::error::{Code, Error};
use treeql::sql::{Args, Rows, Statement};

use crate::driver::connection::{Connection, loaded};
use crate::driver::pool::Lease;
use crate::driver::postgres::connect::Link;
use crate::driver::postgres::copy::copy_text;
use crate::driver::postgres::error::{
    convert, failure, is_foreign_statement, is_internal, is_stale_statement,
};
use crate::driver::postgres::params::{Parameter, parameters};
use crate::driver::postgres::rows::PostgresRow;
use crate::driver::postgres::shared::Shared;
use crate::driver::retry::Failure;
use crate::driver::sink::{Done, Flow, Sink, Stopped};
use crate::driver::transaction::conflict;

/// The connection of a session.
pub enum Held {
    /// Shared with other short reads of this worker; their statements follow one another without waiting.
    Shared(Rc<Shared>),
    /// Its own.
    Leased(Box<Lease<Link>>),
}

/// What one request does on a connection.
pub struct Session {
    held: Held,
    is_direct: bool,
    failure: Cell<Failure>,
    /// How many statements have begun and not ended.
    open: Cell<u32>,
    beside: Option<Box<Session>>,
}

impl Session {
    /// A session on a connection; named statements only if it is direct.
    pub fn new(held: Held, is_direct: bool, beside: Option<Box<Session>>) -> Session {
        Session { held, is_direct, failure: Cell::default(), open: Cell::new(0), beside }
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
        self.open.set(self.open.get() + 1);
        match &self.held {
            Held::Shared(shared) => shared.begin(),
            Held::Leased(lease) => lease.begin(),
        }
    }

    /// Says that what began last has ended.
    pub fn close(&self) {
        self.open.set(self.open.get().saturating_sub(1));
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
            Held::Shared(shared) => &shared.link,
            Held::Leased(lease) => lease.get(),
        }
    }

    fn failed(&self, error: &tokio_postgres::Error) -> Error {
        let failure = failure(error);
        // A conflict is told once, by the first statement of the transaction that failed.
        if !self.failure.get().may_run_again() {
            self.failure.set(failure);
        }
        if failure.ends_connection() {
            self.give_up();
        }
        convert(error)
    }

    /// PostGIS has no code of its own for text that is no shape; it calls it an internal error.
    fn failed_in(&self, statement: &Statement, error: &tokio_postgres::Error) -> Error {
        if is_internal(error) && statement.text.contains("ST_GeomFromText(") {
            return Error::new(Code::ValueNotAccepted, "a shape is not written as well-known text");
        }
        self.failed(error)
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

    /// A failed statement would end the transaction, but for the savepoint.
    async fn load_in_savepoint(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<u64, Error> {
        self.control("SAVEPOINT load").await?;
        let written = match &rows.copy {
            // Through a pooler nothing is prepared, as copying needs it.
            Some(copy) if self.is_direct && count > 1 => self.copy(copy, copy_text(rows, args, count)?).await,
            _ => self.done(&rows.of(count), args).await.map(|done| done.rows),
        };
        let result = written.and_then(|written| loaded(rows, written, count));
        let end = if result.is_ok() { "RELEASE load" } else { "ROLLBACK TO load; RELEASE load" };
        self.control(end).await.and(result)
    }

    async fn copy(&self, statement: &Statement, text: Vec<u8>) -> Result<u64, Error> {
        let link = self.link();
        let copied = async {
            let prepared = link.prepared(statement).await?;
            let mut sink = pin!(link.client.copy_in::<_, Bytes>(&prepared).await?);
            sink.send(text.into()).await?;
            sink.finish().await
        };
        copied.await.map_err(|error| self.failed(&error))
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

impl Drop for Session {
    fn drop(&mut self) {
        if let Held::Shared(shared) = &self.held {
            shared.forget(self.open.get());
        }
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
        self.check_transaction()?;
        self.begin();
        let result = self.load_in_savepoint(rows, args, count).await;
        self.close();
        result
    }

    fn beside(&self) -> &Session {
        self.beside.as_deref().unwrap_or(self)
    }
}
