//! Measures: what is counted about statements, plans and connections; nothing, unless it is switched on.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Upper bounds of the buckets of a histogram, in microseconds; what is longer has a bucket of its own.
pub const BOUNDS_MICROS: [u64; 15] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 10_000_000,
];

/// How long something took, counted by buckets.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS_MICROS.len() + 1],
    nanos: AtomicU64,
}

impl Histogram {
    /// Counts one.
    pub fn observe(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MICROS.partition_point(|bound| *bound < micros);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Adds what was counted to `sum`.
    pub fn add_to(&self, sum: &mut Counted) {
        for (total, bucket) in sum.buckets.iter_mut().zip(&self.buckets) {
            *total += bucket.load(Ordering::Relaxed);
        }
        sum.seconds += Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64();
    }
}

/// What histograms have counted together.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// How many fell into each bucket.
    pub buckets: [u64; BOUNDS_MICROS.len() + 1],
    /// All times together, in seconds.
    pub seconds: f64,
}

/// What one thread has counted. Only that thread writes, so nobody waits for anybody.
#[derive(Debug, Default)]
pub struct Measures {
    /// Requests whose plan was known.
    pub plan_hits: AtomicU64,
    /// Requests that were planned.
    pub plan_misses: AtomicU64,
    /// Connections of the pool that are on loan now.
    pub pool_in_use: AtomicI64,
    /// Requests that wait for a connection now.
    pub pool_waiting: AtomicI64,
    /// Time from the start of a statement until its last row was taken.
    pub statements: Histogram,
}

static IS_ON: AtomicBool = AtomicBool::new(false);
/// limit: one for each thread that lives; what a thread has counted that has ended is handed to the next.
static ALL: Mutex<Vec<Arc<Measures>>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: OnceCell<Arc<Measures>> = const { OnceCell::new() };
}

/// Begins to count; called before the first request, and never undone.
pub fn switch_on() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Counts something on this thread, if counting is switched on.
pub fn count(what: impl FnOnce(&Measures)) {
    if IS_ON.load(Ordering::Relaxed) {
        MINE.with(|mine| what(mine.get_or_init(enter)));
    }
}

fn enter() -> Arc<Measures> {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(left) = all.iter().find(|measures| Arc::strong_count(measures) == 1) {
        return Arc::clone(left);
    }
    let mine = Arc::<Measures>::default();
    all.push(Arc::clone(&mine));
    mine
}

/// What all threads have counted, one after the other.
pub fn each(mut what: impl FnMut(&Measures)) {
    ALL.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|measures| what(measures));
}

/// The time of one statement, counted when it is dropped, however the statement has ended.
pub struct Clock(Option<Instant>);

impl Clock {
    /// Starts now, if counting is switched on.
    pub fn start() -> Clock {
        Clock(IS_ON.load(Ordering::Relaxed).then(Instant::now))
    }

    /// The statement has ended.
    pub fn stop(self) {}
}

impl Drop for Clock {
    fn drop(&mut self) {
        if let Some(start) = self.0 {
            count(|measures| measures.statements.observe(start.elapsed()));
        }
    }
}

/// Somebody who waits for a connection, until this is dropped.
pub struct Waiting(());

impl Waiting {
    /// Begins to wait.
    pub fn begin() -> Waiting {
        count(|measures| {
            measures.pool_waiting.fetch_add(1, Ordering::Relaxed);
        });
        Waiting(())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        count(|measures| {
            measures.pool_waiting.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::driver::measure::{BOUNDS_MICROS, Counted, Histogram};

    #[test]
    fn a_time_falls_into_the_first_bucket_that_it_does_not_exceed() {
        let histogram = Histogram::default();
        for micros in [0, 100, 101, 10_000_000, 10_000_001] {
            histogram.observe(Duration::from_micros(micros));
        }
        let mut sum = Counted::default();
        histogram.add_to(&mut sum);
        assert_eq!(sum.buckets[..2], [2, 1]);
        assert_eq!(sum.buckets[BOUNDS_MICROS.len() - 1..], [1, 1]);
        assert!((sum.seconds - 20.000_202).abs() < 1e-9, "{}", sum.seconds);
    }
}
