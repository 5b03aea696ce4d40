//! Database: a driver, its schema and its plans, replaced as one when the schema changes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use treeql::error::{Code, Error};
use treeql::mode::Mode;
use treeql::plan::{Plan, PlanCache, Setting, plan};
use treeql::policy::Policy;
use treeql::request::Request;
use treeql::schema::{Publication, Schema};

use crate::driver::{self, Address, Driver, Secret, measure};

/// What a database is opened with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it is.
    pub address: Address,
    /// The password, if it is not part of the address.
    pub password: Option<Secret>,
    /// Bounds of the connections.
    pub driver: driver::Options,
    /// How often changes of the schema by others are looked for.
    pub watch_interval: Duration,
    /// What of it is published.
    pub publication: Publication,
    /// How forgiving the protocol is.
    pub mode: Mode,
    /// The reference system of shapes that callers send (EPSG number).
    pub srid: u32,
    /// limit: bytes of an answer of rows.
    pub answer_bytes_max: usize,
    /// Whether reads of single records that arrive together become one statement, on servers.
    pub merges_reads: bool,
}

/// Everything about a database at one moment. Requests under way keep theirs when a new one is made.
pub struct Snapshot {
    /// The way to the database.
    pub driver: Driver,
    /// Its tables.
    pub schema: Schema,
    /// What plans depend on besides.
    pub setting: Setting,
    /// limit: bytes of an answer of rows.
    pub answer_bytes_max: usize,
    plans: PlanCache,
}

impl Snapshot {
    /// The plan for a request under a policy, from the cache if its shape is known.
    pub fn plan(&self, request: &Request<'_>, policy: &Policy) -> Result<Arc<Plan>, Error> {
        if let Some(known) = self.plans.get(policy.id, request) {
            measure::count(|measures| {
                measures.plan_hits.fetch_add(1, Ordering::Relaxed);
            });
            return Ok(known);
        }
        measure::count(|measures| {
            measures.plan_misses.fetch_add(1, Ordering::Relaxed);
        });
        let plan = Arc::new(plan(request, &self.schema, policy, self.setting)?);
        self.plans.insert(policy.id, request.clone(), Arc::clone(&plan));
        Ok(plan)
    }

    /// How many plans are kept.
    pub fn plan_count(&self) -> usize {
        self.plans.len()
    }
}

/// A database and its current snapshot.
pub struct Database {
    current: ArcSwap<Snapshot>,
    /// Held while the catalog is read, so that what was read earlier never replaces what was read later.
    reading: Mutex<()>,
    options: Options,
    is_closed: AtomicBool,
    /// How often callers had the catalog read, and what came of the last time.
    refreshes: AtomicU64,
    refreshed: tokio::sync::Mutex<Result<(), Error>>,
}

impl Database {
    /// Connects, reads the catalog, and watches for changes of it. The error is a sentence for the operator.
    pub fn open(mut options: Options) -> Result<Arc<Database>, String> {
        let driver = open(&options)?;
        options.publication.first_of_composite_key = driver.dialect().first_of_composite_key();
        let cannot =
            |error: Error| format!("the schema of {} cannot be read: {}", options.address, error.message());
        let version = driver.schema_version().map_err(cannot)?;
        let snapshot = snapshot(driver, &options).map_err(cannot)?;
        let database = Arc::new(Database {
            current: ArcSwap::from_pointee(snapshot),
            reading: Mutex::default(),
            options,
            is_closed: AtomicBool::new(false),
            refreshes: AtomicU64::new(0),
            refreshed: tokio::sync::Mutex::new(Ok(())),
        });
        let interval = database.snapshot().driver.watch_interval(database.options.watch_interval);
        let watched = Arc::downgrade(&database);
        let watch = move || {
            let mut watch = Watch { version, complaint: String::new() };
            loop {
                std::thread::sleep(interval);
                let Some(database) = watched.upgrade() else { return };
                if database.is_closed.load(Ordering::Relaxed) {
                    return;
                }
                database.look(&mut watch);
            }
        };
        std::thread::Builder::new()
            .name("rowcast-watch".to_owned())
            .spawn(watch)
            .map_err(|error| format!("no thread to watch the schema: {error}"))?;
        Ok(database)
    }

    /// The current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// What it was opened with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Reads the catalog now.
    pub fn reload(&self) -> Result<(), Error> {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let driver = self.current.load().driver.clone();
        self.current.store(Arc::new(snapshot(driver, &self.options)?));
        Ok(())
    }

    /// Reads the catalog because a caller asks for it, on a thread beside the workers. It is read by one at a time; whoever
    /// asks meanwhile shares the next reading.
    pub async fn refresh(self: &Arc<Self>) -> Result<(), Error> {
        let seen = self.refreshes.load(Ordering::Acquire);
        let mut last = self.refreshed.lock().await;
        // Read by another one, and begun after this was asked for.
        if self.refreshes.load(Ordering::Acquire) > seen {
            return last.clone();
        }
        self.refreshes.fetch_add(1, Ordering::AcqRel);
        let database = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || database.reload()).await;
        *last = done.unwrap_or_else(|_stopped| {
            Err(Error::new(Code::DatabaseUnavailable, "the schema could not be read; try again"))
        });
        last.clone()
    }

    /// Ends the watching, and leaves the database as others like to find it. Called when no request is under way.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.current.load().driver.close();
    }

    /// Looks whether the schema or the whole database is another one; requests go on meanwhile.
    fn look(&self, watch: &mut Watch) {
        let driver = self.current.load().driver.clone();
        if driver.is_replaced() {
            self.reopen(watch);
            return;
        }
        match driver.schema_version() {
            Ok(found) if found == watch.version => {}
            Ok(found) => match timed(|| self.reload()) {
                (Ok(()), milliseconds) => {
                    watch.version = found;
                    tracing::info!(milliseconds, "the schema has changed and was read again");
                }
                (Err(error), _) => {
                    tracing::warn!(%error, "the changed schema cannot be read; the old one stays");
                }
            },
            // The driver has told why; the next look tries again.
            Err(_unreadable) => {}
        }
    }

    fn reopen(&self, watch: &mut Watch) {
        let opened = open(&self.options).and_then(|driver| {
            let found = driver.schema_version().map_err(|error| error.message())?;
            let snapshot = snapshot(driver, &self.options).map_err(|error| error.message())?;
            Ok((found, snapshot))
        });
        match opened {
            Ok((found, snapshot)) => {
                *watch = Watch { version: found, complaint: String::new() };
                let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
                self.current.store(Arc::new(snapshot));
                tracing::info!(database = %self.options.address, "another database was put in place and was opened");
            }
            // Said once, as this is tried again with every look.
            Err(error) if error == watch.complaint => {}
            Err(error) => {
                tracing::warn!(%error, "another database was put in place and cannot be opened");
                watch.complaint = error;
            }
        }
    }
}

/// What the watching thread remembers between two looks.
struct Watch {
    version: u64,
    /// Why the database that was put in place could not be opened.
    complaint: String,
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, u128) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_millis())
}

fn open(options: &Options) -> Result<Driver, String> {
    Driver::open(&options.address, options.password.as_ref().map(|secret| &*secret.0), options.driver)
}

fn snapshot(driver: Driver, options: &Options) -> Result<Snapshot, Error> {
    let schema = driver.reflect(&options.publication)?;
    let dialect = driver.dialect();
    let merges_reads = options.merges_reads && dialect.is_remote();
    let setting = Setting { dialect, mode: options.mode, srid: options.srid, merges_reads };
    Ok(Snapshot {
        driver,
        schema,
        setting,
        answer_bytes_max: options.answer_bytes_max,
        plans: PlanCache::default(),
    })
}
