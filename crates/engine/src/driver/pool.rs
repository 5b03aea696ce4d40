//! Pool: the connections of one worker to one server, bounded, with a deadline for those who wait.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use treeql::error::{Code, Error};

use crate::driver::measure::{self, Waiting};

/// limit: how long a request waits for a connection.
pub const WAIT: Duration = Duration::from_secs(5);
/// How long a connection may be unused before it is asked whether it still works.
const TRUSTED: Duration = Duration::from_millis(500);

/// The idle connections of one worker, and the right to open more.
pub struct Pool<C> {
    idle: RefCell<Vec<Idle<C>>>,
    permits: Arc<Semaphore>,
    size: u32,
    lifetime: Option<Duration>,
}

struct Idle<C> {
    connection: C,
    since: Instant,
    expires: Option<Instant>,
}

/// A connection on loan. It goes back when this is dropped, unless it is broken or in the middle of something.
pub struct Lease<C: Poolable> {
    pool: Rc<Pool<C>>,
    connection: Option<C>,
    /// When it is closed rather than given back.
    expires: Option<Instant>,
    is_broken: Cell<bool>,
    /// How many pieces of work have begun and not ended.
    open_work: Cell<u32>,
    _permit: OwnedSemaphorePermit,
}

/// What the pool needs to know about a connection.
pub trait Poolable: Sized {
    /// Whether it is known to be closed.
    fn is_closed(&self) -> bool;

    /// Asks the server; `false` if there is no answer.
    fn is_alive(&mut self) -> impl Future<Output = bool>;

    /// Closes the connection, and ends what the server is still doing on it as far as that is possible.
    fn abandon(self);
}

impl<C: Poolable> Pool<C> {
    /// A pool of at most `size` connections; none is opened yet. With a `lifetime` each is closed when it is about that
    /// old, so that connections spread again over hosts that have come back.
    pub fn new(size: u32, lifetime: Option<Duration>) -> Rc<Pool<C>> {
        let permits = Arc::new(Semaphore::new(size as usize));
        Rc::new(Pool { idle: RefCell::new(Vec::new()), permits, size, lifetime })
    }

    /// Lends one connection that is wanted, opened if none is idle. Waiting longer than five seconds is 2001 (503).
    pub async fn lease(
        self: &Rc<Self>,
        is_wanted: impl Fn(&C) -> bool,
        open: impl AsyncFn() -> Result<C, Error>,
    ) -> Result<Lease<C>, Error> {
        let permit = self.permit(1).await?;
        self.with_permit(permit, &is_wanted, &open).await
    }

    /// Lends two at once, for a query that needs another beside it; taken together, so that two that wait for their
    /// second one cannot block each other.
    pub async fn lease_two(
        self: &Rc<Self>,
        is_wanted: impl Fn(&C) -> bool,
        open: impl AsyncFn() -> Result<C, Error>,
    ) -> Result<(Lease<C>, Lease<C>), Error> {
        let mut both = self.permit(2).await?;
        let one = both.split(1).expect("two permits were taken");
        let one = self.with_permit(one, &is_wanted, &open).await?;
        Ok((one, self.with_permit(both, &is_wanted, &open).await?))
    }

    fn take_idle(&self, is_wanted: &impl Fn(&C) -> bool) -> Option<Idle<C>> {
        let mut idle = self.idle.borrow_mut();
        let place = idle.iter().rposition(|idle| is_wanted(&idle.connection))?;
        Some(idle.remove(place))
    }

    /// Closes a connection that is not wanted, if with another one there would be more than the pool may have.
    fn make_room(&self) {
        let in_use = self.size as usize - self.permits.available_permits();
        let mut idle = self.idle.borrow_mut();
        if !idle.is_empty() && in_use + idle.len() > self.size as usize {
            idle.remove(0);
        }
    }

    async fn permit(&self, count: u32) -> Result<OwnedSemaphorePermit, Error> {
        if count > self.size {
            let sentence = format!("the pool has {} connections for a worker, this needs {count}", self.size);
            return Err(Error::new(Code::DatabaseUnavailable, sentence));
        }
        let _waiting = Waiting::begin();
        match tokio::time::timeout(WAIT, Arc::clone(&self.permits).acquire_many_owned(count)).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_closed)) => Err(Error::new(Code::DatabaseUnavailable, "the server is stopping")),
            Err(_elapsed) => Err(waited_too_long()),
        }
    }

    async fn with_permit(
        self: &Rc<Self>,
        permit: OwnedSemaphorePermit,
        is_wanted: &impl Fn(&C) -> bool,
        open: &impl AsyncFn() -> Result<C, Error>,
    ) -> Result<Lease<C>, Error> {
        let lease = |connection: C, expires: Option<Instant>| {
            measure::count(|measures| {
                measures.pool_in_use.fetch_add(1, Ordering::Relaxed);
            });
            Lease {
                pool: Rc::clone(self),
                connection: Some(connection),
                expires,
                is_broken: Cell::new(false),
                open_work: Cell::new(0),
                _permit: permit,
            }
        };
        loop {
            let Some(Idle { mut connection, since, expires }) = self.take_idle(is_wanted) else { break };
            if connection.is_closed() || (since.elapsed() > TRUSTED && !connection.is_alive().await) {
                continue;
            }
            return Ok(lease(connection, expires));
        }
        self.make_room();
        // Not all at the same moment.
        let expires =
            self.lifetime.map(|lifetime| Instant::now() + lifetime.mul_f64(0.75 + fastrand::f64() / 2.0));
        open().await.map(|connection| lease(connection, expires))
    }
}

/// The error of a request for which no connection could be opened. During an outage every request has it, the log
/// only one line a second.
pub fn unreachable(server: &str, reason: &dyn Display) -> Error {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_none_or(|last| last.elapsed() > Duration::from_secs(1)) {
        *last = Some(Instant::now());
        tracing::warn!(%reason, "no connection to {server}");
    }
    Error::new(Code::DatabaseUnavailable, "the database cannot be reached; try again")
}

/// The error of a request that waited for a connection in vain.
pub fn waited_too_long() -> Error {
    let sentence = format!("no connection became free within {} s; try again", WAIT.as_secs());
    Error::new(Code::DatabaseUnavailable, sentence)
}

impl<C: Poolable> Lease<C> {
    /// The connection.
    pub fn get(&self) -> &C {
        self.connection.as_ref().expect("it is taken out in drop only")
    }

    /// Says that the connection must not be used again.
    pub fn give_up(&self) {
        self.is_broken.set(true);
    }

    /// Says that something begins, such as a statement or a transaction. A request may be dropped at any moment, when
    /// its client leaves; what it has begun must not meet the next request.
    pub fn begin(&self) {
        self.open_work.set(self.open_work.get() + 1);
    }

    /// Says that what began last has ended, and left nothing behind.
    pub fn close(&self) {
        self.open_work.set(self.open_work.get().saturating_sub(1));
    }
}

impl<C: Poolable> Drop for Lease<C> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        measure::count(|measures| {
            measures.pool_in_use.fetch_sub(1, Ordering::Relaxed);
        });
        if self.is_broken.get() || self.open_work.get() > 0 {
            return connection.abandon();
        }
        let (since, expires) = (Instant::now(), self.expires);
        if expires.is_none_or(|expires| since < expires) {
            self.pool.idle.borrow_mut().push(Idle { connection, since, expires });
        }
    }
}
