//! Shared: the connection of the short reads of a worker, and whether something on it takes long.

use std::cell::Cell;
use std::rc::Rc;
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

    /// Whether statements are under way, and none of them has ended for a while.
    pub fn is_held_up(&self) -> bool {
        self.open.get() > 0 && self.moved.get().elapsed() > HELD_UP
    }
}

/// The use that one session makes of the connection.
pub struct Use {
    shared: Rc<Shared>,
    /// How many of its statements have begun and not ended.
    open: Cell<u32>,
}

impl Use {
    /// Nothing has begun.
    pub fn new(shared: Rc<Shared>) -> Use {
        Use { shared, open: Cell::new(0) }
    }

    /// The connection.
    pub fn link(&self) -> &Link {
        &self.shared.link
    }

    /// Says that a statement begins.
    pub fn begin(&self) {
        self.open.set(self.open.get() + 1);
        if self.shared.open.replace(self.shared.open.get() + 1) == 0 {
            self.shared.moved.set(Instant::now());
        }
    }

    /// Says that a statement has ended.
    pub fn close(&self) {
        self.end(1);
        self.shared.moved.set(Instant::now());
    }

    fn end(&self, count: u32) {
        self.open.set(self.open.get().saturating_sub(count));
        self.shared.open.set(self.shared.open.get().saturating_sub(count));
    }
}

impl Drop for Use {
    /// Nobody waits for what has not ended; those behind it still do.
    fn drop(&mut self) {
        self.end(self.open.get());
    }
}
