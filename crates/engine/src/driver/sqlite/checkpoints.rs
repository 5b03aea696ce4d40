//! Checkpoints: a thread that puts the log into the file while the writer goes on.

use std::cell::Cell;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::Connection;

use crate::driver::sqlite::connect::Access;
use crate::driver::sqlite::place::Place;

/// Commits after which the log is put into the file: fewer are not worth the disk's time.
const COMMITS: u32 = 16;

/// The thread, as the writer sees it. It ends when this is dropped.
///
/// speed: pages here and there in a file take the disk 30 µs each until they are durable. Here no write waits for that; the
/// log begins anew within a commit, when little is left to be done (docs/performance.md).
pub struct Checkpoints {
    sender: Sender<()>,
    /// Held while the log is being read.
    running: Arc<Mutex<()>>,
    /// Commits since the thread was woken.
    commits: Cell<u32>,
}

impl Checkpoints {
    /// Starts the thread.
    pub fn start(place: Arc<Place>) -> io::Result<Checkpoints> {
        // One is enough: it stands for everything that has been committed until it is taken.
        let (sender, receiver) = bounded(1);
        let running = Arc::new(Mutex::default());
        let guard = Arc::clone(&running);
        let body = move || work(&place, &receiver, &guard);
        std::thread::Builder::new().name("rowcast-log".to_owned()).spawn(body)?;
        Ok(Checkpoints { sender, running, commits: Cell::new(0) })
    }

    /// Counts a commit.
    pub fn count(&self) {
        self.commits.set(self.commits.get() + 1);
        if self.commits.get() >= COMMITS {
            self.commits.set(0);
            // Full: the thread has not yet begun with what came before.
            self.sender.try_send(()).ok();
        }
    }

    /// Keeps the thread from the log until what is returned is dropped.
    pub fn pause(&self) -> MutexGuard<'_, ()> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn work(place: &Place, receiver: &Receiver<()>, running: &Mutex<()>) {
    // Opened when it is needed: most servers are read far more than they are written to.
    let mut opened = None;
    while receiver.recv().is_ok() {
        let copied = {
            let _running = running.lock().unwrap_or_else(PoisonError::into_inner);
            copy(place, &mut opened)
        };
        // SQLite makes the file durable only where a checkpoint reaches the end of the log, which one beside a writer
        // seldom does; then all of it would be waited for at once.
        let synced = copied.and_then(|copied| if copied { place.file().sync_data() } else { Ok(()) });
        if let Err(error) = synced {
            // The writer's own checkpoints go on, and say what is wrong if it stays.
            tracing::debug!(%error, "the log of the database could not be put into the file beside the writer");
        }
    }
}

/// Copies what it can without keeping anybody waiting; whether there was a log.
fn copy(place: &Place, opened: &mut Option<Connection>) -> io::Result<bool> {
    let connection = match opened {
        Some(connection) => connection,
        None => opened.insert(place.connect(Access::Write).map_err(io::Error::other)?),
    };
    let pages = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(1));
    pages.map(|pages| pages > 0).map_err(io::Error::other)
}
