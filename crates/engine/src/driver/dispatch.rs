//! Driver and Session: one enum each over the databases, one match per method.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use treeql::error::Error;
use treeql::schema::{Publication, Schema};
use treeql::sql::{Args, Dialect, Statement};

use crate::driver::address::Address;
use crate::driver::connection::{Change, Connection, Job};
use crate::driver::sink::{Done, Sink, Stopped};
use crate::driver::sqlite;

/// A way to a database, shared by all workers.
#[derive(Clone)]
pub enum Driver {
    /// The embedded SQLite.
    Sqlite(Arc<sqlite::Driver>),
}

/// One connection, used by one request at a time.
pub enum Session {
    /// A connection to a SQLite file.
    Sqlite(Rc<sqlite::Session>),
}

impl Driver {
    /// Connects. The error is a sentence for the operator.
    pub fn open(address: &Address) -> Result<Driver, String> {
        match address {
            Address::Sqlite(path) => sqlite::Driver::open(path).map(Driver::Sqlite),
        }
    }

    /// How the database is spelled.
    pub fn dialect(&self) -> Dialect {
        match self {
            Driver::Sqlite(_) => Dialect::Sqlite,
        }
    }

    /// The engine and its version, for people.
    pub fn version(&self) -> String {
        match self {
            Driver::Sqlite(driver) => driver.version(),
        }
    }

    /// Reads the catalog.
    pub fn reflect(&self, publication: &Publication) -> Result<Schema, Error> {
        match self {
            Driver::Sqlite(driver) => driver.reflect(publication),
        }
    }

    /// A number that changes when the schema does.
    pub fn schema_version(&self) -> Result<u64, Error> {
        match self {
            Driver::Sqlite(driver) => driver.schema_version(),
        }
    }

    /// Whether the database behind the address is another one than was opened, so that it must be opened anew.
    pub fn is_replaced(&self) -> bool {
        match self {
            Driver::Sqlite(driver) => driver.is_replaced(),
        }
    }

    /// A session for reads on this worker that are known to be short, if this database is read that way.
    pub fn session(&self) -> Result<Session, Error> {
        match self {
            Driver::Sqlite(driver) => driver.session().map(Session::Sqlite),
        }
    }

    /// Runs a job that may take long; it ends early when `cancelled` is set.
    pub fn run(&self, job: impl Job, cancelled: Arc<AtomicBool>) -> Result<(), Error> {
        match self {
            Driver::Sqlite(driver) => driver.run(job, cancelled),
        }
    }

    /// Runs a change in a transaction and answers when it is durable.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output, Error> {
        match self {
            Driver::Sqlite(driver) => driver.change(change).await,
        }
    }

    /// How long a trivial query takes.
    pub async fn ping(&self) -> Result<std::time::Duration, Error> {
        match self {
            Driver::Sqlite(driver) => driver.ping(),
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
        match self {
            Session::Sqlite(session) => session.query(statement, args, sink).await,
        }
    }

    async fn execute(&self, statement: &Statement, args: Args<'_>) -> Result<Done, Error> {
        match self {
            Session::Sqlite(session) => session.execute(statement, args).await,
        }
    }
}
