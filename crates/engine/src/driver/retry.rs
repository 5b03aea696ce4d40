//! Retry: which failures may be run again, how often and how soon.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// limit: runs of one request. With six clients that all change the same two rows in opposite order, eight were not
/// always enough.
pub const ATTEMPTS_MAX: u32 = 20;
/// The longest pause before the second run; each further one may be twice as long.
const PAUSE: Duration = Duration::from_millis(10);

/// What a failed statement says about running it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failure {
    /// Running it again would fail again.
    #[default]
    Final,
    /// The engine has undone the transaction and asks to run it again: a deadlock or a serialization failure.
    Conflict,
    /// The server did not run the statement because it is out of service; another connection may lead to one that does.
    Elsewhere,
    /// The connection is lost; whether the statement was run is not known.
    Lost,
}

impl Failure {
    /// Whether nothing was done, so that all of the request may be run again.
    pub fn may_run_again(self) -> bool {
        matches!(self, Failure::Conflict | Failure::Elsewhere)
    }

    /// Whether the connection must not be used again.
    pub fn ends_connection(self) -> bool {
        matches!(self, Failure::Lost | Failure::Elsewhere)
    }
}

static RETRIES: AtomicU64 = AtomicU64::new(0);
static RECONNECTED: AtomicU64 = AtomicU64::new(0);

/// Counts a retry and waits, a random while so that those in conflict do not meet again.
pub async fn pause(attempt: u32) {
    let count = RETRIES.fetch_add(1, Ordering::Relaxed) + 1;
    tracing::debug!(count, "writes got into each other's way; one is run again");
    let longest = PAUSE * 2u32.pow(attempt.saturating_sub(1).min(4));
    tokio::time::sleep(longest.mul_f64(fastrand::f64())).await;
}

/// How often a write was run again since the start of the process, because others got in its way.
pub fn count() -> u64 {
    RETRIES.load(Ordering::Relaxed)
}

/// Counts a read that is run again on another connection.
pub fn reconnect() {
    RECONNECTED.fetch_add(1, Ordering::Relaxed);
}

/// How often a read was run again since the start of the process, because its connection was lost.
pub fn reconnect_count() -> u64 {
    RECONNECTED.load(Ordering::Relaxed)
}
