//! Driver: an opened SQLite file, with its readers and its writer.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use treeql::error::{Code, Error};
use treeql::schema::{Publication, Schema};

use crate::driver::connection::{Change, Job};
use crate::driver::options::Options;
use crate::driver::sqlite::connect::Access;
use crate::driver::sqlite::error::convert;
use crate::driver::sqlite::place::Place;
use crate::driver::sqlite::readers::Readers;
use crate::driver::sqlite::reflect;
use crate::driver::sqlite::session::Session;
use crate::driver::sqlite::turn;
use crate::driver::sqlite::writer::Writer;

/// The first bytes of every SQLite file (sqlite.org, "Database File Format", 1.2).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// An opened file.
pub struct Driver {
    id: u64,
    place: Arc<Place>,
    /// Whether the last look of the watch found the file gone.
    was_gone: AtomicBool,
    commits: Arc<AtomicU64>,
    readers: Readers,
    writer: Writer,
}

impl Driver {
    /// Opens a file that exists and is a SQLite database. The error is a sentence that says what to do.
    pub fn open(path: &Path, options: Options) -> Result<Arc<Driver>, String> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let place = Arc::new(Place::of(path).map_err(|error| unreadable(path, &error))?);
        check_file(path, place.file())?;
        let commits = Arc::new(AtomicU64::new(0));
        let cannot = |error: rusqlite::Error| format!("{} cannot be opened: {error}", path.display());
        let writer = Writer::start(Arc::clone(&place), Arc::clone(&commits)).map_err(cannot)?;
        place.remember_companions();
        let readers = Readers::new(Arc::clone(&place), Arc::clone(&commits), options.statement);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Driver { id, place, was_gone: AtomicBool::new(false), commits, readers, writer }))
    }

    /// The engine and its version, for people.
    pub fn version(&self) -> String {
        format!("SQLite {}", rusqlite::version())
    }

    /// The session of this worker, with the read transaction of this turn open.
    pub fn session(&self) -> Result<Rc<Session>, Error> {
        self.place.check_last()?;
        let open = || Session::open(&self.place, Access::Read, &self.commits);
        let session = turn::session(self.id, open)?;
        session.begin_turn()?;
        Ok(session)
    }

    /// Runs a job on a reader thread.
    pub fn run(&self, job: impl Job, cancelled: Arc<AtomicBool>) -> Result<(), Error> {
        self.place.check_last()?;
        self.readers.run(job, cancelled)
    }

    /// Runs a change on the writer.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output, Error> {
        self.writer.change(change).await
    }

    /// Reads the catalog.
    pub fn reflect(&self, publication: &Publication) -> Result<Schema, Error> {
        let connection = self.place.connect(Access::Read)?;
        let tables = reflect::tables(&connection).map_err(|error| convert(&error))?;
        Schema::build(tables, publication).map_err(|sentence| Error::new(Code::Internal, sentence))
    }

    /// SQLite's own counter of schema changes.
    pub fn schema_version(&self) -> Result<u64, Error> {
        let connection = self.place.connect(Access::Read)?;
        let version = connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0));
        version.map(i64::cast_unsigned).map_err(|error| convert(&error))
    }

    /// Looks whether the path still leads to the file that was opened; whether it leads to another one.
    ///
    /// A file that was moved away gets what is still in its log, so that it is whole where it is now. If another one
    /// is in its place, this driver has done its work: its log is taken away from the other one.
    pub fn is_replaced(&self) -> bool {
        let is_replaced = self.place.is_replaced();
        let is_gone = self.place.check_last().is_err();
        if is_gone && !self.was_gone.swap(is_gone, Ordering::Relaxed) {
            self.writer.checkpoint();
        }
        self.was_gone.store(is_gone, Ordering::Relaxed);
        if is_replaced {
            self.place.leave();
        }
        is_replaced
    }

    /// Puts the log into the file, so that who copies the file alone has everything.
    pub fn close(&self) {
        self.writer.checkpoint();
    }

    /// How long a trivial query takes.
    pub fn ping(&self) -> Result<Duration, Error> {
        let start = Instant::now();
        self.session()?.control("SELECT 1 WHERE 0")?;
        Ok(start.elapsed())
    }
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!(
            "there is no file {shown}; give the path of a SQLite database, or try `rowcast demo` for a sample"
        ),
        io::ErrorKind::IsADirectory => {
            format!("{shown} is a directory; give the path of a SQLite database file")
        }
        _ => format!("{shown} cannot be read: {error}; check the permissions of the file"),
    }
}

fn check_file(path: &Path, file: &File) -> Result<(), String> {
    let mut start = [0; 16];
    match file.read_at(&mut start, 0) {
        // An empty file is an empty database.
        Ok(0) => Ok(()),
        Ok(16) if start == *MAGIC => Ok(()),
        Ok(_) => Err(format!(
            "{} is no SQLite database (it does not begin with \"SQLite format 3\"); check the path",
            path.display()
        )),
        Err(error) => Err(unreadable(path, &error)),
    }
}
