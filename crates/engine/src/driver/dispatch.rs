//! Driver and Session: one enum each over the databases, one match per method.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use treeql::error::Error;
use treeql::schema::{Publication, Schema};
use treeql::sql::{Args, Dialect, Rows, Statement};

use crate::driver::address::Address;
use crate::driver::connection::{Change, Connection, Job};
use crate::driver::mysql;
use crate::driver::options::Options;
use crate::driver::postgres;
use crate::driver::sink::{Done, Sink, Stopped};
use crate::driver::sqlite;

/// How often a file is looked at.
const WATCH_FILE: Duration = Duration::from_millis(250);

/// A way to a database, shared by all workers.
#[derive(Clone)]
pub enum Driver {
    /// The embedded SQLite.
    Sqlite(Arc<sqlite::Driver>),
    /// A MySQL or MariaDB server.
    MySql(Arc<mysql::Driver>),
    /// A PostgreSQL server.
    Postgres(Arc<postgres::Driver>),
}

/// One connection, used by one request at a time.
pub enum Session {
    /// A connection to a SQLite file.
    Sqlite(Rc<sqlite::Session>),
    /// A connection to MySQL or MariaDB.
    MySql(mysql::Session),
    /// A connection to PostgreSQL.
    Postgres(postgres::Session),
}

impl Driver {
    /// Connects. The error is a sentence for the operator.
    pub fn open(address: &Address, password: Option<&str>, options: Options) -> Result<Driver, String> {
        match address {
            Address::Sqlite(path) => sqlite::Driver::open(path, options).map(Driver::Sqlite),
            Address::MySql(url) => mysql::Driver::open(url, password, options).map(Driver::MySql),
            Address::Postgres(url) => postgres::Driver::open(url, password, options).map(Driver::Postgres),
        }
    }

    /// How the database is spelled.
    pub fn dialect(&self) -> Dialect {
        match self {
            Driver::Sqlite(_) => Dialect::Sqlite,
            Driver::MySql(_) => Dialect::MySql,
            Driver::Postgres(_) => Dialect::Postgres,
        }
    }

    /// The engine and its version, for people.
    pub fn version(&self) -> String {
        match self {
            Driver::Sqlite(driver) => driver.version(),
            Driver::MySql(driver) => driver.version(),
            Driver::Postgres(driver) => driver.version(),
        }
    }

    /// How often changes by others are looked for: a file often, because it may be taken away; a server as configured.
    pub fn watch_interval(&self, configured: Duration) -> Duration {
        match self {
            Driver::Sqlite(_) => WATCH_FILE.min(configured),
            Driver::MySql(_) | Driver::Postgres(_) => configured,
        }
    }

    /// Reads the catalog.
    pub fn reflect(&self, publication: &Publication) -> Result<Schema, Error> {
        match self {
            Driver::Sqlite(driver) => driver.reflect(publication),
            Driver::MySql(driver) => driver.reflect(publication),
            Driver::Postgres(driver) => driver.reflect(publication),
        }
    }

    /// A number that changes when the schema does.
    pub fn schema_version(&self) -> Result<u64, Error> {
        match self {
            Driver::Sqlite(driver) => driver.schema_version(),
            Driver::MySql(driver) => driver.schema_version(),
            Driver::Postgres(driver) => driver.schema_version(),
        }
    }

    /// Whether the database behind the address is another one than was opened, so that it must be opened anew.
    pub fn is_replaced(&self) -> bool {
        match self {
            Driver::Sqlite(driver) => driver.is_replaced(),
            // A server is found again by its address.
            Driver::MySql(_) | Driver::Postgres(_) => false,
        }
    }

    /// Leaves the database as others like to find it.
    pub fn close(&self) {
        match self {
            Driver::Sqlite(driver) => driver.close(),
            // A server keeps nothing beside itself.
            Driver::MySql(_) | Driver::Postgres(_) => {}
        }
    }

    /// A session for reads that are known to be short.
    pub async fn session(&self) -> Result<Session, Error> {
        match self {
            Driver::Sqlite(driver) => driver.session().map(Session::Sqlite),
            Driver::MySql(driver) => Box::pin(driver.session()).await.map(Session::MySql),
            Driver::Postgres(driver) => Box::pin(driver.session()).await.map(Session::Postgres),
        }
    }

    /// Whether any list may be tried beside other requests, because it can be given up without a trace when it turns
    /// out to be long.
    pub fn can_give_up(&self) -> bool {
        match self {
            Driver::Sqlite(_) => true,
            // The rows that were asked for would still arrive.
            Driver::MySql(_) | Driver::Postgres(_) => false,
        }
    }

    /// Runs a job that may take long; it ends early when `cancelled` is set.
    pub async fn run(&self, job: impl Job, cancelled: Arc<AtomicBool>) -> Result<(), Error> {
        match self {
            Driver::Sqlite(driver) => driver.run(job, cancelled),
            Driver::MySql(driver) => Box::pin(driver.run(job, cancelled)).await,
            Driver::Postgres(driver) => Box::pin(driver.run(job, cancelled)).await,
        }
    }

    /// Runs a change in a transaction and answers when it is durable.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output, Error> {
        match self {
            Driver::Sqlite(driver) => driver.change(change).await,
            Driver::MySql(driver) => Box::pin(driver.change(change)).await,
            Driver::Postgres(driver) => Box::pin(driver.change(change)).await,
        }
    }

    /// How long a trivial query takes.
    pub async fn ping(&self) -> Result<Duration, Error> {
        match self {
            Driver::Sqlite(driver) => driver.ping(),
            Driver::MySql(driver) => Box::pin(driver.ping()).await,
            Driver::Postgres(driver) => Box::pin(driver.ping()).await,
        }
    }
}

impl Session {
    /// Whether the last failure was the loss of the connection, so that a read may be tried on another one.
    pub fn is_lost(&self) -> bool {
        match self {
            Session::Sqlite(_) => false,
            Session::MySql(session) => session.failure().ends_connection(),
            Session::Postgres(session) => session.failure().ends_connection(),
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
            Session::MySql(session) => Box::pin(session.query(statement, args, sink)).await,
            Session::Postgres(session) => Box::pin(session.query(statement, args, sink)).await,
        }
    }

    async fn execute(&self, statement: &Statement, args: Args<'_>) -> Result<Done, Error> {
        match self {
            Session::Sqlite(session) => session.execute(statement, args).await,
            Session::MySql(session) => Box::pin(session.execute(statement, args)).await,
            Session::Postgres(session) => Box::pin(session.execute(statement, args)).await,
        }
    }

    async fn load(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<u64, Error> {
        match self {
            Session::Sqlite(session) => session.load(rows, args, count).await,
            Session::MySql(session) => session.load(rows, args, count).await,
            Session::Postgres(session) => session.load(rows, args, count).await,
        }
    }

    async fn load_alone(&self, rows: &Rows, args: Args<'_>, count: usize) -> Option<Result<u64, Error>> {
        match self {
            Session::Sqlite(session) => session.load_alone(rows, args, count).await,
            Session::MySql(session) => session.load_alone(rows, args, count).await,
            Session::Postgres(session) => session.load_alone(rows, args, count).await,
        }
    }

    async fn load_made(&self, rows: &Rows, args: Args<'_>, count: usize) -> Result<Option<Vec<i64>>, Error> {
        match self {
            Session::Sqlite(session) => session.load_made(rows, args, count).await,
            Session::MySql(session) => session.load_made(rows, args, count).await,
            Session::Postgres(session) => session.load_made(rows, args, count).await,
        }
    }
}
