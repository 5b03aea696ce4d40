//! Readers: threads for queries that take long, each with a session of its own.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use treeql::error::{Code, Error};

use crate::driver::connection::Job;
use crate::driver::sqlite::connect::Access;
use crate::driver::sqlite::place::Place;
use crate::driver::sqlite::session::Session;

/// limit: reader threads; a slow client holds one while it receives.
const READERS_MAX: usize = 32;
/// limit: long queries that wait for a reader.
const QUEUE_MAX: usize = 256;
/// Readers that are always there, so that nobody waits for one to start.
const READERS_MIN: usize = 2;
/// How long a reader without work stays.
const IDLE: Duration = Duration::from_secs(10);

/// A job on its way to a thread: given a session, it becomes something to wait for.
type Boxed = Box<dyn FnOnce(Rc<Session>) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

struct Task {
    job: Boxed,
    cancelled: Arc<AtomicBool>,
}

/// The threads and their queue.
pub struct Readers {
    place: Arc<Place>,
    commits: Arc<AtomicU64>,
    /// limit: how long a job may work.
    patience: Option<Duration>,
    sender: Sender<Task>,
    receiver: Receiver<Task>,
    threads: Arc<AtomicUsize>,
    idle: Arc<AtomicUsize>,
}

impl Readers {
    /// The first threads; more start when there is work.
    pub fn new(place: Arc<Place>, commits: Arc<AtomicU64>, patience: Option<Duration>) -> Readers {
        let (sender, receiver) = bounded(QUEUE_MAX);
        let (threads, idle) = Default::default();
        let readers = Readers { place, commits, patience, sender, receiver, threads, idle };
        for _ in 0..READERS_MIN {
            readers.start();
        }
        readers
    }

    /// Runs a job on the next free thread.
    pub fn run(&self, job: impl Job, cancelled: Arc<AtomicBool>) -> Result<(), Error> {
        if self.idle.load(Ordering::Relaxed) <= self.sender.len() {
            self.start();
        }
        let job: Boxed = Box::new(move |session| Box::pin(async move { job.run(&*session).await }));
        self.sender.try_send(Task { job, cancelled }).map_err(|error| match error {
            TrySendError::Full(_) => Error::new(
                Code::DatabaseUnavailable,
                format!("{QUEUE_MAX} long queries are waiting; try again"),
            ),
            TrySendError::Disconnected(_) => Error::new(Code::DatabaseUnavailable, "the server is stopping"),
        })
    }

    fn start(&self) {
        if self.threads.fetch_add(1, Ordering::Relaxed) >= READERS_MAX {
            self.threads.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let (place, commits) = (Arc::clone(&self.place), Arc::clone(&self.commits));
        let (receiver, threads, idle) =
            (self.receiver.clone(), Arc::clone(&self.threads), Arc::clone(&self.idle));
        let patience = self.patience;
        let body = move || {
            // Counted out on every way out, a panic of a job included.
            let guard = Guard(threads);
            if let Err(error) = work(&place, commits, patience, &receiver, &idle, &guard.0) {
                tracing::error!(%error, "a reader ended early");
            }
        };
        if let Err(error) = std::thread::Builder::new().name("rowcast-reader".to_owned()).spawn(body) {
            self.threads.fetch_sub(1, Ordering::Relaxed);
            tracing::error!(%error, "no thread for a reader");
        }
    }
}

struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn work(
    place: &Place,
    commits: Arc<AtomicU64>,
    patience: Option<Duration>,
    receiver: &Receiver<Task>,
    idle: &AtomicUsize,
    threads: &AtomicUsize,
) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let open = || Session::open(place, Access::Scan, &commits).map(Rc::new);
    // Opened now, so that the first task does not wait for it.
    let mut opened = open().ok();
    loop {
        idle.fetch_add(1, Ordering::Relaxed);
        let task = receiver.recv_timeout(IDLE);
        idle.fetch_sub(1, Ordering::Relaxed);
        let task = match task {
            Ok(task) => task,
            Err(RecvTimeoutError::Timeout) if threads.load(Ordering::Relaxed) <= READERS_MIN => continue,
            Err(_idle_or_closed) => return Ok(()),
        };
        if task.cancelled.load(Ordering::Relaxed) {
            continue;
        }
        // If it could not be opened before, the task ends with the thread, and is not left in the queue.
        let session = match &opened {
            Some(session) => Rc::clone(session),
            None => Rc::clone(opened.insert(open()?)),
        };
        // One transaction, so that rows, joins and count are of one moment.
        session.control("BEGIN")?;
        session.allow_until(Some(task.cancelled), patience);
        runtime.block_on((task.job)(Rc::clone(&session)));
        session.allow_until(None, None);
        session.control("COMMIT")?;
    }
}
