//! Driver: an opened SQLite file, with its readers and its writer.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use treeql::error::{Code, Error};
use treeql::schema::{Publication, Schema};

use crate::driver::connection::{Change, Job};
use crate::driver::sqlite::connect::{Access, connect};
use crate::driver::sqlite::error::convert;
use crate::driver::sqlite::readers::Readers;
use crate::driver::sqlite::reflect;
use crate::driver::sqlite::session::Session;
use crate::driver::sqlite::turn;
use crate::driver::sqlite::writer::Writer;

/// The first bytes of every SQLite file (sqlite.org, "Database File Format", 1.2).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Which file a path led to when it was opened: device and inode.
type Identity = (u64, u64);

/// An opened file.
pub struct Driver {
    id: u64,
    path: PathBuf,
    identity: Identity,
    is_gone: Arc<AtomicBool>,
    commits: Arc<AtomicU64>,
    readers: Readers,
    writer: Writer,
}

impl Driver {
    /// Opens a file that exists and is a SQLite database. The error is a sentence that says what to do.
    pub fn open(path: &Path) -> Result<Arc<Driver>, String> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        check_file(path)?;
        let shown = path.display();
        let identity = identity(path).ok_or_else(|| format!("{shown} is gone"))?;
        let (commits, is_gone) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let cannot = |error: rusqlite::Error| format!("{shown} cannot be opened: {error}");
        let (place, gone) = (path.to_owned(), Arc::clone(&is_gone));
        let is_there = move || check_there(&place, identity, &gone);
        let writer = Writer::start(path, Arc::clone(&commits), is_there).map_err(cannot)?;
        let readers = Readers::new(path, Arc::clone(&commits));
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Driver { id, path: path.to_owned(), identity, is_gone, commits, readers, writer }))
    }

    /// The engine and its version, for people.
    pub fn version(&self) -> String {
        format!("SQLite {}", rusqlite::version())
    }

    /// The session of this worker, with the read transaction of this turn open.
    pub fn session(&self) -> Result<Rc<Session>, Error> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(gone());
        }
        let open =
            || connect(&self.path, Access::Read).and_then(|it| Session::new(it, Arc::clone(&self.commits)));
        let session = turn::session(self.id, || open().map_err(|error| convert(&error)))?;
        session.begin_turn()?;
        Ok(session)
    }

    /// Runs a job on a reader thread.
    pub fn run(&self, job: impl Job, cancelled: Arc<AtomicBool>) -> Result<(), Error> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(gone());
        }
        self.readers.run(job, cancelled)
    }

    /// Runs a change on the writer.
    pub async fn change<C: Change>(&self, change: C) -> Result<C::Output, Error> {
        self.writer.change(change).await
    }

    /// Reads the catalog.
    pub fn reflect(&self, publication: &Publication) -> Result<Schema, Error> {
        let connection = connect(&self.path, Access::Read).map_err(|error| convert(&error))?;
        let tables = reflect::tables(&connection).map_err(|error| convert(&error))?;
        Schema::build(tables, publication).map_err(|sentence| Error::new(Code::Internal, sentence))
    }

    /// SQLite's own counter of schema changes.
    pub fn schema_version(&self) -> Result<u64, Error> {
        let read = || {
            let connection = connect(&self.path, Access::Read)?;
            connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0))
        };
        read().map(i64::cast_unsigned).map_err(|error| convert(&error))
    }

    /// Looks whether the path still leads to the file that was opened; whether it leads to another one.
    pub fn is_replaced(&self) -> bool {
        let found = identity(&self.path);
        self.is_gone.store(found != Some(self.identity), Ordering::Relaxed);
        found.is_some_and(|found| found != self.identity)
    }

    /// How long a trivial query takes.
    pub fn ping(&self) -> Result<Duration, Error> {
        let start = Instant::now();
        self.session()?.control("SELECT 1 WHERE 0")?;
        Ok(start.elapsed())
    }
}

fn gone() -> Error {
    Error::new(Code::DatabaseUnavailable, "the database file is gone; put it back and the server goes on")
}

/// Before each commit: what is written to a file without a name would be lost.
fn check_there(path: &Path, opened: Identity, is_gone: &AtomicBool) -> Result<(), Error> {
    let is_same = identity(path) == Some(opened);
    is_gone.store(!is_same, Ordering::Relaxed);
    if is_same { Ok(()) } else { Err(gone()) }
}

fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|data| (data.dev(), data.ino()))
}

fn check_file(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let data = match fs::metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!(
                "there is no file {shown}; give the path of a SQLite database, or try `rowcast demo` for a sample"
            ));
        }
        Err(error) => return Err(format!("{shown} cannot be read: {error}; check the permissions")),
    };
    if data.is_dir() {
        return Err(format!("{shown} is a directory; give the path of a SQLite database file"));
    }
    let mut start = [0; 16];
    let read = fs::File::open(path).and_then(|mut file| {
        use std::io::Read;
        file.read(&mut start)
    });
    match read {
        // An empty file is an empty database.
        Ok(0) => Ok(()),
        Ok(16) if start == *MAGIC => Ok(()),
        Ok(_) => Err(format!(
            "{shown} is no SQLite database (it does not begin with \"SQLite format 3\"); check the path"
        )),
        Err(error) => Err(format!("{shown} cannot be read: {error}; check the permissions of the file")),
    }
}
