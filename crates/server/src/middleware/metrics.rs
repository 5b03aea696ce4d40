//! metrics: what is counted about requests, each worker for itself; nothing, unless it is switched on (SPEC 17.3).

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::driver::measure::{Counted, Histogram};
use http::{Method, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::request::decode;

/// limit: tables with a label of their own; those beyond share the label of [`OTHER_TABLES`].
const TABLES_MAX: usize = 500;
/// The label of tables beyond the limit; no exposed name, because `*` means all tables in settings.
const OTHER_TABLES: &str = "*";
/// What requests are about.
pub const OPERATIONS: [&str; 7] = ["list", "read", "create", "update", "increment", "delete", "other"];
const OTHER: usize = OPERATIONS.len() - 1;
/// Classes of status.
pub const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const SERIES: usize = OPERATIONS.len() * CLASSES.len();

/// Settings of metrics.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Address and port of a listener for `/metrics` alone, for example `127.0.0.1:9100`; empty for none.
    pub listen: String,
    /// Path of the metrics on the same listener as the API, below `basePath`, for example `/metrics`; empty for none. Whoever
    /// passes the middlewares can read there which tables exist and how much they are used.
    pub path: String,
}

/// The counters of all workers.
#[derive(Debug, Default)]
pub struct Metrics {
    workers: Mutex<Vec<Arc<Counts>>>,
}

/// The counters of one worker. Only that worker writes.
#[derive(Debug)]
struct Counts {
    /// By slot of the table, operation and class of status.
    requests: Box<[AtomicU64]>,
    latencies: [Histogram; OPERATIONS.len()],
    /// The names of the slots; the first is that of no table, the second that of all others.
    tables: Mutex<Vec<Box<str>>>,
}

/// What a worker counts with: no lock and no allocation, but when a table is seen for the first time.
pub struct Counter {
    counts: Arc<Counts>,
    slots: RefCell<HashMap<Box<str>, usize>>,
}

/// How many requests there were, and how long they took.
#[derive(Debug, Default)]
pub struct Totals {
    /// By name of the table, operation and class of status.
    pub requests: HashMap<Box<str>, [u64; SERIES]>,
    /// By operation.
    pub latencies: [Counted; OPERATIONS.len()],
}

impl Metrics {
    /// A counter for a new worker.
    pub fn counter(&self) -> Counter {
        let counts = Arc::new(Counts {
            requests: (0..(TABLES_MAX + 2) * SERIES).map(|_| AtomicU64::new(0)).collect(),
            latencies: Default::default(),
            tables: Mutex::new(vec!["".into(), OTHER_TABLES.into()]),
        });
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&counts));
        Counter { counts, slots: RefCell::default() }
    }

    /// What all workers have counted together.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for counts in self.workers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            for (histogram, total) in counts.latencies.iter().zip(&mut totals.latencies) {
                histogram.add_to(total);
            }
            let tables = counts.tables.lock().unwrap_or_else(PoisonError::into_inner);
            for (table, series) in tables.iter().zip(counts.requests.chunks(SERIES)) {
                let total = totals.requests.entry(table.clone()).or_insert([0; SERIES]);
                for (total, one) in total.iter_mut().zip(series) {
                    *total += one.load(Ordering::Relaxed);
                }
            }
        }
        totals
    }
}

impl Counter {
    /// Counts a request that was answered. `exists` says whether a table does; others have no label, because callers
    /// choose their names.
    pub fn count(
        &self,
        (method, path): (&Method, &str),
        status: StatusCode,
        time: Duration,
        exists: impl FnOnce(&str) -> bool,
    ) {
        let (operation, table) = shape(method, path);
        let slot = table.and_then(decode).map_or(0, |table| self.slot(&table, exists));
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        let series = slot * SERIES + operation * CLASSES.len() + class;
        self.counts.requests[series].fetch_add(1, Ordering::Relaxed);
        self.counts.latencies[operation].observe(time);
    }

    fn slot(&self, table: &str, exists: impl FnOnce(&str) -> bool) -> usize {
        if let Some(slot) = self.slots.borrow().get(table) {
            return *slot;
        }
        if !exists(table) {
            return 0;
        }
        let mut slots = self.slots.borrow_mut();
        if slots.len() >= TABLES_MAX {
            return 1;
        }
        let mut tables = self.counts.tables.lock().unwrap_or_else(PoisonError::into_inner);
        slots.insert(table.into(), tables.len());
        tables.push(table.into());
        tables.len() - 1
    }
}

/// The operation of a request, and the segment of the path that names the table.
fn shape<'a>(method: &Method, path: &'a str) -> (usize, Option<&'a str>) {
    let mut segments = path.trim_matches('/').split('/');
    if !matches!(segments.next(), Some("records" | "geojson")) {
        return (OTHER, None);
    }
    let table = segments.next();
    let operation = match (method, segments.next().is_some()) {
        (&Method::GET, false) => 0,
        (&Method::GET, true) => 1,
        (&Method::POST, false) => 2,
        (&Method::PUT, true) => 3,
        (&Method::PATCH, true) => 4,
        (&Method::DELETE, true) => 5,
        _ => OTHER,
    };
    (operation, table)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{Method, StatusCode};

    use crate::middleware::metrics::{CLASSES, Metrics, OTHER_TABLES, SERIES, TABLES_MAX};

    fn sum(series: Option<&[u64; SERIES]>) -> u64 {
        series.map_or(0, |series| series.iter().sum())
    }

    #[test]
    fn requests_are_counted_by_table_operation_and_status() {
        let metrics = Metrics::default();
        let workers = [metrics.counter(), metrics.counter()];
        let time = Duration::from_millis(1);
        for worker in &workers {
            worker.count((&Method::GET, "/records/st%C3%A4dte/1"), StatusCode::NOT_FOUND, time, |_| true);
            worker.count((&Method::GET, "/geojson/gone"), StatusCode::NOT_FOUND, time, |_| false);
            worker.count((&Method::GET, "/status/ping"), StatusCode::OK, time, |_| true);
        }
        let totals = metrics.totals();
        assert_eq!(totals.requests["städte"][CLASSES.len() + 3], 2);
        assert_eq!((totals.requests.len(), sum(totals.requests.get(""))), (3, 4));
        assert_eq!(totals.latencies[1].buckets[3], 2);
    }

    #[test]
    fn tables_beyond_the_limit_share_a_label() {
        let metrics = Metrics::default();
        let counter = metrics.counter();
        for number in 0..TABLES_MAX + 3 {
            let path = format!("/records/t{number}");
            counter.count((&Method::GET, &path), StatusCode::OK, Duration::ZERO, |_| true);
        }
        let totals = metrics.totals();
        assert_eq!(totals.requests.len(), TABLES_MAX + 2);
        assert_eq!(sum(totals.requests.get(OTHER_TABLES)), 3);
    }
}
