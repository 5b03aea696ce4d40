//! Databases: those of tenants, each opened when it is asked for first, and a bounded number of them at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, oneshot};
use treeql::error::{Code, Error};

use crate::database::{Database, Options, Snapshot};

/// How long it is remembered that a database could not be opened, so that a caller cannot have it tried all the time.
const FAILURE_PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked whether the last request of a closed database has ended.
const RETIRE_INTERVAL: Duration = Duration::from_millis(50);

/// Open databases by their options' key.
pub struct Databases {
    /// limit: databases that are open at once.
    open_max: usize,
    open: Mutex<HashMap<String, Arc<Entry>>>,
}

struct Entry {
    database: OnceCell<Arc<Database>>,
    times: Mutex<Times>,
}

struct Times {
    used: Instant,
    failed: Option<Instant>,
}

impl Databases {
    /// None is open yet.
    pub fn new(open_max: usize) -> Databases {
        Databases { open_max, open: Mutex::default() }
    }

    /// The database of this key as it is now, opened with these options if it is not open. One that cannot be opened is
    /// 2001; the log says why.
    pub async fn snapshot(
        &self,
        key: &str,
        options: impl FnOnce() -> Result<Options, Error>,
    ) -> Result<Arc<Snapshot>, Error> {
        let entry = self.entry(key);
        if let Some(database) = entry.database.get() {
            return Ok(database.snapshot());
        }
        let failed = entry.times().failed;
        if failed.is_some_and(|failed| failed.elapsed() < FAILURE_PATIENCE) {
            return Err(unknown());
        }
        let options = options()?;
        let opened = entry.database.get_or_try_init(|| open(key, options)).await;
        entry.times().failed = opened.is_err().then(Instant::now);
        opened.map(|database| database.snapshot())
    }

    /// Closes all. Called when no request is under way.
    pub fn close(&self) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        for database in open.values().filter_map(|entry| entry.database.get()) {
            database.close();
        }
    }

    fn entry(&self, key: &str) -> Arc<Entry> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(key) {
            known.times().used = Instant::now();
            return Arc::clone(known);
        }
        if open.len() >= self.open_max {
            let oldest = open.iter().min_by_key(|(_, entry)| entry.times().used).map(|(key, _)| key.clone());
            if let Some(entry) = oldest.and_then(|key| open.remove(&key)) {
                retire(entry);
            }
        }
        let times = Mutex::new(Times { used: Instant::now(), failed: None });
        let entry = Arc::new(Entry { database: OnceCell::new(), times });
        open.insert(key.to_owned(), Arc::clone(&entry));
        entry
    }
}

impl Entry {
    fn times(&self) -> std::sync::MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a database on a thread of its own: that takes long, and the workers have others to serve.
async fn open(key: &str, options: Options) -> Result<Arc<Database>, Error> {
    let (sender, opened) = oneshot::channel();
    let body = move || drop(sender.send(Database::open(options)));
    std::thread::Builder::new()
        .name("rowcast-open".to_owned())
        .spawn(body)
        .map_err(|error| Error::new(Code::DatabaseUnavailable, format!("no thread to open it: {error}")))?;
    match opened.await {
        Ok(Ok(database)) => {
            tracing::info!(key, "the database of a tenant was opened");
            Ok(database)
        }
        Ok(Err(reason)) => {
            tracing::warn!(key, reason, "the database of a tenant cannot be opened");
            Err(unknown())
        }
        Err(_panicked) => Err(unknown()),
    }
}

fn unknown() -> Error {
    let sentence =
        "the database for this caller does not exist or cannot be opened; the log of the server says why";
    Error::new(Code::DatabaseUnavailable, sentence)
}

/// Closes a database when its last request has ended, on a thread of its own: what runs a connection's work cannot be
/// dropped by a worker.
fn retire(entry: Arc<Entry>) {
    let body = move || {
        while Arc::strong_count(&entry) > 1 {
            std::thread::sleep(RETIRE_INTERVAL);
        }
        let Some(database) = entry.database.get() else { return };
        let snapshot = database.snapshot();
        // This one, and that of the database itself.
        while Arc::strong_count(&snapshot) > 2 {
            std::thread::sleep(RETIRE_INTERVAL);
        }
        database.close();
    };
    if let Err(error) = std::thread::Builder::new().name("rowcast-close".to_owned()).spawn(body) {
        tracing::error!(%error, "no thread to close a database");
    }
}
