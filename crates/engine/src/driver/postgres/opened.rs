//! Driver: a PostgreSQL database, with the connections of each worker.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use treeql::error::{Code, Error};
use treeql::schema::{Publication, Schema};

use crate::driver::connection::{Change, Job, run_beside};
use crate::driver::kept::{Identity, Kept};
use crate::driver::options::Options;
use crate::driver::pool::{Lease, Pool, WAIT, unreachable, waited_too_long};
use crate::driver::postgres::connect::{Link, Target};
use crate::driver::postgres::error::convert;
use crate::driver::postgres::reflect;
use crate::driver::postgres::session::{Held, Session};
use crate::driver::postgres::shared::{Shared, Use};
use crate::driver::retry::Failure;
use crate::driver::transaction::{self, Transactional};

/// Connections that each worker needs at least: one for short reads, two for a list with joins.
const PER_WORKER_MIN: u32 = 3;

/// A PostgreSQL database.
pub struct Driver {
    identity: Identity,
    target: Mutex<Target>,
    options: Options,
    version: String,
    control: Mutex<Control>,
}

/// The connection that reads the catalog, with a runtime of its own, away from the workers.
struct Control {
    runtime: Runtime,
    link: Option<Link>,
}

/// The connections of one worker.
struct Worker {
    target: Target,
    shared: tokio::sync::Mutex<Option<Rc<Shared>>>,
    pool: Rc<Pool<Link>>,
}

thread_local! {
    /// The connections of this thread.
    static WORKERS: Kept<Worker> = Kept::default();
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
        let explain = |error: tokio_postgres::Error| {
            let reason = match error.as_db_error() {
                Some(native) => native.message().to_owned(),
                None => error.to_string(),
            };
            format!("PostgreSQL cannot be reached: {reason}; check the address, the user and the password")
        };
        let (link, version) = runtime
            .block_on(async {
                let link = target.open_and_probe().await?;
                let version: String = link.client.simple_query("SHOW server_version").await.map(|shown| {
                    shown
                        .iter()
                        .find_map(|message| match message {
                            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                            _ => None,
                        })
                        .unwrap_or_default()
                })?;
                Ok((link, version))
            })
            .map_err(explain)?;
        if !target.is_direct.get() {
            if options.statement.is_some() {
                tracing::warn!(
                    "limits.statementSeconds does not reach through a pooler; set statement_timeout for the user"
                );
            }
            tracing::info!("a pooler stands before PostgreSQL; statements are not prepared under names");
        }
        Ok(Arc::new(Driver {
            identity: Identity::default(),
            target: Mutex::new(target),
            options,
            version,
            control: Mutex::new(Control { runtime, link: Some(link) }),
        }))
    }

    /// The engine and its version, for people.
    pub fn version(&self) -> String {
        format!("PostgreSQL {}", self.version)
    }

    /// Reads the catalog.
    pub fn reflect(&self, publication: &Publication) -> Result<Schema, Error> {
        let tables = self.with_control(async |link| reflect::tables(&link.client).await)?;
        Schema::build(tables, publication).map_err(|sentence| Error::new(Code::Internal, sentence))
    }

    /// A number that differs when the schema does.
    pub fn schema_version(&self) -> Result<u64, Error> {
        self.with_control(async |link| reflect::fingerprint(&link.client).await)
    }

    /// Runs something on the control connection, opened again if it was lost; never on a worker.
    fn with_control<T>(
        &self,
        run: impl AsyncFn(&Link) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Error> {
        let target = self.target();
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        let Control { runtime, link } = &mut *control;
        runtime.block_on(async {
            if link.as_ref().is_none_or(|link| link.client.is_closed()) {
                *link = Some(target.open().await.map_err(|error| convert(&error))?);
            }
            let open = link.as_ref().expect("it was just opened");
            let result = run(open).await;
            if result.is_err() {
                *link = None;
            }
            result.map_err(|error| convert(&error))
        })
    }

    fn target(&self) -> Target {
        self.target.lock().unwrap_or_else(PoisonError::into_inner).for_worker()
    }

    /// The connections of this worker.
    fn worker(&self) -> Rc<Worker> {
        let make = || {
            let target = self.target();
            let pool = Pool::new(self.options.per_worker() - 1, target.lifetime());
            Rc::new(Worker { target, shared: tokio::sync::Mutex::default(), pool })
        };
        WORKERS.with(|workers| workers.of(&self.identity, make))
    }

    /// A session for short reads, on the connection that those of this worker share, or on one of its own if something
    /// on that connection takes long: statements follow one another there.
    pub async fn session(&self) -> Result<Session, Error> {
        let worker = self.worker();
        let mut shared =
            tokio::time::timeout(WAIT, worker.shared.lock()).await.map_err(|_elapsed| waited_too_long())?;
        let known = shared.as_ref().filter(|known| !known.link.client.is_closed());
        if known.is_some_and(|known| known.is_held_up()) {
            drop(shared);
            return worker.session().await;
        }
        let known = match known {
            Some(known) => Rc::clone(known),
            None => {
                *shared = None;
                Rc::clone(shared.insert(Rc::new(Shared::new(worker.open().await?))))
            }
        };
        Ok(Session::new(Held::Shared(Use::new(known)), worker.target.is_direct.get(), None))
    }

    /// Runs a job on connections of its own.
    pub async fn run(&self, job: impl Job, cancelled: Arc<AtomicBool>) -> Result<(), Error> {
        let worker = self.worker();
        let session = if job.needs_two() { worker.session_of_two().await? } else { worker.session().await? };
        run_beside(session, job, cancelled);
        Ok(())
    }

    /// Runs a change, in a transaction if it is a batch, and again if the engine asks for it.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output, Error> {
        let worker = self.worker();
        transaction::run(async || worker.session().await, change).await
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

impl Worker {
    async fn open(&self) -> Result<Link, Error> {
        self.target.open().await.map_err(|error| unreachable("PostgreSQL", &error))
    }

    /// A session on a connection of its own.
    async fn session(&self) -> Result<Session, Error> {
        let lease = self.pool.lease(|_| true, async || self.open_tapped().await).await?;
        Ok(self.leased(lease, None))
    }

    /// One that has a second connection beside it.
    async fn session_of_two(&self) -> Result<Session, Error> {
        let (one, other) = self.pool.lease_two(|_| true, async || self.open_tapped().await).await?;
        Ok(self.leased(one, Some(Box::new(self.leased(other, None)))))
    }

    fn leased(&self, lease: Lease<Link>, beside: Option<Box<Session>>) -> Session {
        Session::new(Held::Leased(Box::new(lease)), self.target.is_direct.get(), beside)
    }

    async fn open_tapped(&self) -> Result<Link, Error> {
        self.target.open_tapped().await.map_err(|error| unreachable("PostgreSQL", &error))
    }
}
