//! Driver: a MySQL or MariaDB database, with the connections of each worker.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::runtime::Runtime;
use treeql::error::{Code, Error};
use treeql::schema::{Publication, Schema};

use crate::driver::connection::{Change, Job, run_beside};
use crate::driver::kept::{Identity, Kept};
use crate::driver::mysql::connect::{Link, Target};
use crate::driver::mysql::error::convert;
use crate::driver::mysql::reflect;
use crate::driver::mysql::session::Session;
use crate::driver::mysql::stream::Stream;
use crate::driver::options::Options;
use crate::driver::pool::Pool;
use crate::driver::retry::Failure;
use crate::driver::transaction::{self, Transactional};

/// Connections that each worker needs at least: two for a list with joins.
const PER_WORKER_MIN: u32 = 2;

/// A MySQL or MariaDB database.
pub struct Driver {
    identity: Identity,
    target: Target,
    options: Options,
    version: String,
    control: Mutex<Control>,
}

/// The connection that reads the catalog, with a runtime of its own, away from the workers.
struct Control {
    runtime: Runtime,
    conn: Option<Conn>,
}

thread_local! {
    /// The connections of this thread.
    static POOLS: Kept<Pool<Link>> = Kept::default();
}

impl Driver {
    /// Connects. The error is a sentence that says what to do, without the password.
    pub fn open(url: &str, password: Option<&str>, options: Options) -> Result<Arc<Driver>, String> {
        options.check(PER_WORKER_MIN)?;
        let target = Target::parse(url, password, options.statement)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("no runtime for the connection: {error}"))?;
        let explain = |error: mysql_async::Error| {
            let reason = match &error {
                mysql_async::Error::Server(server) => server.message.clone(),
                other => other.to_string(),
            };
            format!("MySQL cannot be reached: {reason}; check the address, the user and the password")
        };
        let (conn, version) = runtime
            .block_on(async {
                let mut conn = target.open().await?;
                let version: Option<String> = conn.query_first("SELECT VERSION()").await?;
                Ok((conn, version.unwrap_or_default()))
            })
            .map_err(explain)?;
        Ok(Arc::new(Driver {
            identity: Identity::default(),
            target,
            options,
            version,
            control: Mutex::new(Control { runtime, conn: Some(conn) }),
        }))
    }

    /// The engine and its version, for people.
    pub fn version(&self) -> String {
        if self.version.contains("MariaDB") {
            self.version.clone()
        } else {
            format!("MySQL {}", self.version)
        }
    }

    /// Reads the catalog.
    pub fn reflect(&self, publication: &Publication) -> Result<Schema, Error> {
        let tables = self.with_control(async |conn| reflect::tables(conn).await)?;
        Schema::build(tables, publication).map_err(|sentence| Error::new(Code::Internal, sentence))
    }

    /// A number that differs when the schema does.
    pub fn schema_version(&self) -> Result<u64, Error> {
        self.with_control(async |conn| reflect::fingerprint(conn).await)
    }

    /// Runs something on the control connection, opened again if it was lost; never on a worker.
    fn with_control<T>(
        &self,
        run: impl AsyncFn(&mut Conn) -> Result<T, mysql_async::Error>,
    ) -> Result<T, Error> {
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        let Control { runtime, conn } = &mut *control;
        runtime.block_on(async {
            let mut open = match conn.take() {
                Some(open) => open,
                None => self.target.open().await.map_err(|error| convert(&error))?,
            };
            let result = run(&mut open).await;
            if result.is_ok() {
                *conn = Some(open);
            }
            result.map_err(|error| convert(&error))
        })
    }

    /// The connections of this worker.
    fn pool(&self) -> Rc<Pool<Link>> {
        let make = || Pool::new(self.options.per_worker(), self.target.lifetime());
        POOLS.with(|pools| pools.of(&self.identity, make))
    }

    /// A session for one request.
    pub async fn session(&self) -> Result<Session, Error> {
        let lease = self.pool().lease(Link::is_library, async || self.target.link().await).await?;
        Ok(Session::new(lease, None))
    }

    /// Runs a job on connections of its own.
    pub async fn run(&self, job: impl Job, cancelled: Arc<AtomicBool>) -> Result<(), Error> {
        if job.needs_two() {
            let open = async || self.target.link().await;
            let (one, other) = self.pool().lease_two(Link::is_library, open).await?;
            let session = Session::new(one, Some(Box::new(Session::new(other, None))));
            run_beside(session, job, cancelled);
            return Ok(());
        }
        let is_wanted = |link: &Link| self.target.is_for_streams(link);
        let lease = self.pool().lease(is_wanted, async || self.target.stream_link().await).await?;
        match lease.get() {
            Link::Library(_) => run_beside(Session::new(lease, None), job, cancelled),
            Link::Wire(_) => run_beside(Stream::new(lease), job, cancelled),
        }
        Ok(())
    }

    /// Runs a change, in a transaction if it is a batch, and again if the engine asks for it.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output, Error> {
        transaction::run(async || self.session().await, change).await
    }

    /// How long a trivial query takes.
    pub async fn ping(&self) -> Result<Duration, Error> {
        let start = Instant::now();
        self.session().await?.control("SELECT 1").await?;
        Ok(start.elapsed())
    }
}

impl Transactional for Session {
    async fn control(&self, text: &str) -> Result<(), Error> {
        self.control(text).await
    }

    fn failure(&self) -> Failure {
        self.failure()
    }

    fn begin(&self) {
        self.begin();
    }

    fn close(&self) {
        self.close();
    }
}
