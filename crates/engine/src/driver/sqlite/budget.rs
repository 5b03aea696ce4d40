//! Budget: how long a query may run before SQLite's progress handler interrupts it.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// How many instructions of SQLite's virtual machine run between two looks at the budget.
const STEP: i32 = 1000;

/// What is left for the query that runs on a connection.
#[derive(Default)]
pub struct Budget {
    steps: AtomicI64,
    ends: Mutex<Ends>,
}

/// What ends a query besides its instructions.
#[derive(Default)]
struct Ends {
    cancelled: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
}

impl Budget {
    /// A budget watched by the progress handler of `connection`.
    pub fn watch(connection: &mut Connection) -> rusqlite::Result<Arc<Budget>> {
        let budget = Arc::new(Budget::default());
        let watched = Arc::clone(&budget);
        connection.progress_handler(STEP, Some(move || watched.is_spent()))?;
        Ok(budget)
    }

    /// Gives the next query so many instructions.
    pub fn allow(&self, instructions: i64) {
        self.steps.store(instructions / i64::from(STEP), Ordering::Relaxed);
    }

    /// Gives the next queries as many as they take, until the flag is set or the time is over.
    pub fn allow_until(&self, cancelled: Option<Arc<AtomicBool>>, patience: Option<Duration>) {
        self.steps.store(i64::MAX, Ordering::Relaxed);
        let deadline = patience.map(|patience| Instant::now() + patience);
        *self.ends() = Ends { cancelled, deadline };
    }

    /// Gives back the time for which a client was waited.
    pub fn pause(&self, waited: Duration) {
        if let Some(deadline) = &mut self.ends().deadline {
            *deadline += waited;
        }
    }

    /// Whether the time is over.
    pub fn is_late(&self) -> bool {
        self.ends().deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the flag was set, rather than the instructions spent.
    pub fn is_cancelled(&self) -> bool {
        self.ends().cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    fn is_spent(&self) -> bool {
        self.steps.fetch_sub(1, Ordering::Relaxed) <= 0 || self.is_cancelled() || self.is_late()
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
