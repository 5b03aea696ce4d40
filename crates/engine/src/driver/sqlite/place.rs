//! Place: the file that was opened, as long as its path leads to it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use treeql::error::{Code, Error};

use crate::driver::sqlite::connect::{Access, connect};
use crate::driver::sqlite::error::convert;
use crate::driver::sqlite::file::{Identity, OpenFile, identity};

/// What SQLite puts beside a file in write-ahead logging: the log, and the index of the log.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// A path and the file behind it.
pub struct Place {
    path: PathBuf,
    file: OpenFile,
    companions: OnceLock<Vec<(PathBuf, Identity)>>,
    is_gone: AtomicBool,
    is_left: AtomicBool,
}

impl Place {
    /// The file that the path leads to now.
    pub fn of(path: &Path) -> io::Result<Place> {
        let file = OpenFile::open(path)?;
        let (companions, is_gone, is_left) = Default::default();
        Ok(Place { path: path.to_owned(), file, companions, is_gone, is_left })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file.
    pub fn file(&self) -> &OpenFile {
        &self.file
    }

    /// Remembers the files that SQLite has put beside this one, once it has.
    pub fn remember_companions(&self) {
        let found = COMPANIONS.iter().filter_map(|suffix| {
            let mut path = OsString::from(&self.path);
            path.push(suffix);
            let path = PathBuf::from(path);
            identity(&path).map(|identity| (path, identity))
        });
        // Only the first look counts: later the files may be those of another database.
        self.companions.get_or_init(|| found.collect());
    }

    /// Opens a connection for queries, if the path still leads to the file.
    pub fn connect(&self, access: Access) -> Result<Connection, Error> {
        self.check()?;
        connect(&self.path, access).map_err(|error| convert(&error))
    }

    /// Whether the last look found the file gone.
    pub fn check_last(&self) -> Result<(), Error> {
        if self.is_gone.load(Ordering::Relaxed) { Err(gone()) } else { Ok(()) }
    }

    /// Looks now. What is written to a file without a name would be lost.
    pub fn check(&self) -> Result<(), Error> {
        self.look();
        self.check_last()
    }

    /// Looks whether another file is in the place of this one.
    pub fn is_replaced(&self) -> bool {
        let found = self.look();
        found.is_some_and(|found| found != self.file.identity() || self.is_left.load(Ordering::Relaxed))
    }

    /// Removes what SQLite had put beside this file, if it is still there, and never comes back.
    ///
    /// The log of one file beside another would be replayed into that other one, and break it. Connections that are
    /// still open go on with the files without names.
    pub fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
        self.is_gone.store(true, Ordering::Relaxed);
        for (path, known) in self.companions.get().into_iter().flatten() {
            if identity(path) == Some(*known)
                && let Err(error) = fs::remove_file(path)
            {
                tracing::error!(path = %path.display(), %error, "the log of the database before cannot be removed");
            }
        }
    }

    fn look(&self) -> Option<Identity> {
        let found = identity(&self.path);
        let is_same = found == Some(self.file.identity()) && !self.is_left.load(Ordering::Relaxed);
        self.is_gone.store(!is_same, Ordering::Relaxed);
        found
    }
}

fn gone() -> Error {
    Error::new(Code::DatabaseUnavailable, "the database file is gone; put it back and the server goes on")
}
