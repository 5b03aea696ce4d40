//! Kept: what a worker keeps of each driver, as long as the driver is open.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Tells drivers of one process apart, and whether they are still open. It is dropped with its driver.
pub struct Identity {
    id: u64,
    alive: Arc<()>,
}

/// Things of one worker, by the driver that they belong to: the place for it is a `thread_local!`.
pub struct Kept<T>(RefCell<HashMap<u64, Entry<T>>>);

struct Entry<T> {
    alive: Weak<()>,
    thing: Rc<T>,
}

impl Default for Identity {
    fn default() -> Identity {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Identity { id: NEXT.fetch_add(1, Ordering::Relaxed), alive: Arc::default() }
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept(RefCell::default())
    }
}

impl<T> Kept<T> {
    /// What is kept of a driver, made on first use. What belongs to drivers that were closed goes when something is made.
    pub fn of(&self, driver: &Identity, make: impl FnOnce() -> Rc<T>) -> Rc<T> {
        let mut entries = self.0.borrow_mut();
        if let Some(known) = entries.get(&driver.id) {
            return Rc::clone(&known.thing);
        }
        entries.retain(|_, entry| entry.alive.strong_count() > 0);
        let thing = make();
        entries.insert(driver.id, Entry { alive: Arc::downgrade(&driver.alive), thing: Rc::clone(&thing) });
        thing
    }
}
