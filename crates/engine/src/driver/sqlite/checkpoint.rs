//! Checkpoints: what is in the log is put into the file while the writer goes on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rusqlite::Connection;
use treeql::error::Error;

use crate::driver::sqlite::connect::Access;
use crate::driver::sqlite::error::convert;
use crate::driver::sqlite::place::Place;
use crate::driver::sqlite::session::Session;

/// Pages that gather in the log before they are put into the file; SQLite's own choice.
const STEP: u64 = 1000;
/// Pages after which the log is to begin anew, 64 MiB of the usual size: else it would grow for as long as there are writes.
const LONG: u64 = 16 * 1024;
/// limit: pages of a log that grows faster than the thread can put it into the file; from then on the writer does it.
const TOO_LONG: u64 = 4 * LONG;
/// Pages that the writer puts into the file itself, so that the log can begin anew.
const FEW: u64 = 256;
/// limit: how long the writer waits for reads that still need the log. Those of a turn are over sooner.
const PATIENCE: Duration = Duration::from_millis(10);

/// What is known about the log.
#[derive(Default)]
struct Log {
    /// Its pages after the last commit.
    pages: AtomicU64,
    /// How many of them were in the file after the last checkpoint.
    stored: AtomicU64,
    /// SQLite refuses a checkpoint during another one.
    turn: Mutex<()>,
}

/// The log of the writer, and the thread that empties it.
///
/// speed: a thousand pages here and there in a file take the disk 30 ms, ten commits one. SQLite would do that within a
/// commit, and every write would wait for it: p99 of the survey is 14 ms then (docs/performance.md).
pub struct Checkpoints {
    place: Arc<Place>,
    log: Arc<Log>,
    /// Wakes the thread, which is started when there is something to do.
    thread: Option<Sender<()>>,
    /// Pages of the log when the thread was woken last, and when it was tried to begin anew.
    asked: u64,
    tried: u64,
}

impl Log {
    /// Pages that are not in the file yet.
    fn left(&self) -> u64 {
        let pages = self.pages.load(Ordering::Relaxed);
        // What is known of a log that has begun anew since is no use.
        pages.checked_sub(self.stored.load(Ordering::Relaxed)).unwrap_or(pages)
    }
}

impl Checkpoints {
    /// Takes over from SQLite when the log of `writer` is emptied.
    pub fn take_over(writer: &mut Connection, place: Arc<Place>) -> rusqlite::Result<Checkpoints> {
        let log = Arc::new(Log::default());
        let known = Arc::clone(&log);
        let committed = move |_: &mut _, pages: i32| {
            known.pages.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(committed))?;
        Ok(Checkpoints { place, log, thread: None, asked: 0, tried: 0 })
    }

    /// Does what is to be done about the log after a commit of the writer.
    pub fn committed(&mut self, writer: &Session) {
        let pages = self.log.pages.load(Ordering::Relaxed);
        // It has begun anew.
        if pages < self.asked {
            (self.asked, self.tried) = (0, 0);
        }
        let left = self.log.left();
        if pages >= LONG && left <= FEW && pages - self.tried >= STEP {
            self.tried = pages;
            if let Ok(_turn) = self.log.turn.try_lock() {
                restart(writer);
            }
        } else if left >= STEP && pages - self.asked >= STEP {
            self.asked = pages;
            if pages < TOO_LONG {
                return self.wake();
            }
            let _turn = self.log.turn.lock().unwrap_or_else(PoisonError::into_inner);
            restart(writer);
        }
    }

    /// Puts all of the log into the file and empties it; whether that could be done.
    pub fn empty(&self, writer: &Session) -> Result<bool, Error> {
        let _turn = self.log.turn.lock().unwrap_or_else(PoisonError::into_inner);
        writer.checkpoint()
    }

    fn wake(&mut self) {
        let thread = self.thread.get_or_insert_with(|| start(Arc::clone(&self.place), Arc::clone(&self.log)));
        // If it has been told already, it will look; if it has ended, the next one begins.
        if let Err(TrySendError::Disconnected(())) = thread.try_send(()) {
            self.thread = None;
        }
    }
}

/// Puts what is left into the file, and lets the next write begin the log anew if no read needs it.
fn restart(writer: &Session) {
    if let Err(error) = writer.restart_log(PATIENCE) {
        failed(&error);
    }
}

/// Starts the thread, which ends when the returned sender is dropped.
fn start(place: Arc<Place>, log: Arc<Log>) -> Sender<()> {
    let (sender, receiver) = bounded(1);
    let body = move || {
        if let Err(error) = work(&place, &log, &receiver) {
            failed(&error);
        }
    };
    if let Err(error) = std::thread::Builder::new().name("rowcast-log".to_owned()).spawn(body) {
        tracing::error!(%error, "no thread for checkpoints");
    }
    sender
}

fn work(place: &Place, log: &Log, receiver: &Receiver<()>) -> Result<(), Error> {
    let connection = place.connect(Access::Write)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(|error| convert(&error))?;
    while receiver.recv().is_ok() {
        let mut left = u64::MAX;
        loop {
            if let Err(error) = checkpoint(&connection, log) {
                failed(&error);
                break;
            }
            // What has been written meanwhile is less each time, until there are only a few.
            let before = std::mem::replace(&mut left, log.left());
            if log.pages.load(Ordering::Relaxed) < LONG || left <= FEW || left > before / 2 {
                break;
            }
        }
    }
    Ok(())
}

/// Puts as much into the file as nobody needs in the log, without stopping anybody.
fn checkpoint(connection: &Connection, log: &Log) -> Result<(), Error> {
    let _turn = log.turn.lock().unwrap_or_else(PoisonError::into_inner);
    let stored = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(2));
    let stored = stored.map_err(|error| convert(&error))?;
    log.stored.store(u64::try_from(stored).unwrap_or(0), Ordering::Relaxed);
    Ok(())
}

fn failed(error: &Error) {
    tracing::error!(%error, "the log of the database could not be put into the file");
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use rusqlite::Connection;

    use crate::driver::sqlite::checkpoint::{Checkpoints, LONG, TOO_LONG};
    use crate::driver::sqlite::connect::connect_writer;
    use crate::driver::sqlite::place::Place;
    use crate::driver::sqlite::session::Session;

    /// Small pages, so that the log is long soon.
    const SCHEMA: &str = "PRAGMA page_size = 512; CREATE TABLE notes (text BLOB);";
    const NOTES: i64 = 500;
    /// About as many pages.
    const WRITE: &str = "INSERT INTO notes SELECT randomblob(400)
        FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n)";

    /// A writer as `writer.rs` has one.
    struct Writing {
        session: Session,
        checkpoints: Checkpoints,
        writes: i64,
    }

    impl Writing {
        fn to(path: &Path) -> Writing {
            Connection::open(path).unwrap().execute_batch(SCHEMA).unwrap();
            let mut connection = connect_writer(path).unwrap();
            let place = Arc::new(Place::of(path).unwrap());
            let checkpoints = Checkpoints::take_over(&mut connection, place).unwrap();
            Writing { session: Session::new(connection, Arc::default()).unwrap(), checkpoints, writes: 0 }
        }

        /// Writes, and answers how long the log is then.
        fn write(&mut self) -> u64 {
            self.session.control(WRITE).unwrap();
            self.writes += 1;
            self.checkpoints.committed(&self.session);
            self.checkpoints.log.pages.load(Ordering::Relaxed)
        }

        fn write_until_the_log_begins_anew(&mut self) {
            let mut before = 0;
            // Many times what may be in it.
            for _ in 0..10 * TOO_LONG / NOTES.cast_unsigned() {
                let pages = self.write();
                if pages < before {
                    return;
                }
                before = pages;
            }
            panic!("the log has {before} pages and grows");
        }
    }

    fn count(path: &Path) -> i64 {
        let connection = Connection::open(path).unwrap();
        connection.query_row("SELECT COUNT(*) FROM notes", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn writes_without_a_pause_do_not_make_the_log_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut writing = Writing::to(&path);
        writing.write_until_the_log_begins_anew();
        writing.write_until_the_log_begins_anew();
        assert_eq!(count(&path), writing.writes * NOTES);
    }

    #[test]
    fn a_long_read_keeps_what_it_sees_and_stops_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut writing = Writing::to(&path);
        writing.write();
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT 1 FROM notes").unwrap();
        let seen = || reader.query_row("SELECT COUNT(*) FROM notes", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(seen(), NOTES);
        let mut pages = 0;
        while pages < TOO_LONG + LONG {
            let before = pages;
            pages = writing.write();
            assert!(pages > before, "the log began anew although it is being read");
        }
        assert_eq!(seen(), NOTES);
        reader.execute_batch("COMMIT").unwrap();
        writing.write_until_the_log_begins_anew();
        assert_eq!(count(&path), writing.writes * NOTES);
    }

    #[test]
    fn the_log_can_be_emptied_at_any_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut writing = Writing::to(&path);
        for _ in 0..20 {
            writing.write();
            // The thread may be at work.
            assert!(writing.checkpoints.empty(&writing.session).unwrap());
            assert_eq!(std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len(), 0);
        }
        assert_eq!(count(&path), writing.writes * NOTES);
    }
}
