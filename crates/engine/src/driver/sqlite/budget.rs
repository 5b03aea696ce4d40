//! Budget: how long a query may run before SQLite's progress handler interrupts it.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

/// How many instructions of SQLite's virtual machine run between two looks at the budget.
const STEP: i32 = 1000;

/// What is left for the query that runs on a connection.
#[derive(Default)]
pub struct Budget {
    steps: AtomicI64,
    cancelled: Mutex<Option<Arc<AtomicBool>>>,
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

    /// Gives the next query as many as it takes, until the flag is set.
    pub fn allow_until(&self, cancelled: Option<Arc<AtomicBool>>) {
        self.steps.store(i64::MAX, Ordering::Relaxed);
        *self.cancelled.lock().unwrap_or_else(PoisonError::into_inner) = cancelled;
    }

    /// Whether the flag was set, rather than the instructions spent.
    pub fn is_cancelled(&self) -> bool {
        let cancelled = self.cancelled.lock().unwrap_or_else(PoisonError::into_inner);
        cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    fn is_spent(&self) -> bool {
        self.steps.fetch_sub(1, Ordering::Relaxed) <= 0 || self.is_cancelled()
    }
}
