//! Shared: the connection of the short reads of a worker, and whether something on it takes long.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::driver::postgres::connect::Link;

/// How long nothing may be answered on the connection before reads go elsewhere.
const HELD_UP: Duration = Duration::from_millis(50);

/// A connection on which statements follow one another without waiting for answers. One that waits, for a lock as a rule,
/// would hold up all that come after it.
pub struct Shared {
    /// The connection.
    pub link: Link,
    /// How many statements have begun and not ended.
    open: Cell<u32>,
    /// When the last one ended, or the first one began.
    moved: Cell<Instant>,
}

impl Shared {
    /// Nothing is under way yet.
    pub fn new(link: Link) -> Shared {
        Shared { link, open: Cell::new(0), moved: Cell::new(Instant::now()) }
    }

    /// Says that a statement begins.
    pub fn begin(&self) {
        if self.open.replace(self.open.get() + 1) == 0 {
            self.moved.set(Instant::now());
        }
    }

    /// Says that a statement has ended.
    pub fn close(&self) {
        self.open.set(self.open.get().saturating_sub(1));
        self.moved.set(Instant::now());
    }

    /// Says that nobody waits for so many statements any more; those behind them still do.
    pub fn forget(&self, count: u32) {
        self.open.set(self.open.get().saturating_sub(count));
    }

    /// Whether statements are under way, and none of them has ended for a while.
    pub fn is_held_up(&self) -> bool {
        self.open.get() > 0 && self.moved.get().elapsed() > HELD_UP
    }
}
