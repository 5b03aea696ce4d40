//! Options: what a driver is opened with besides the address.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use treeql::error::{Code, Error};

/// Bounds of the connections to a database server.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most connections of this process to one database, the one that watches the schema included.
    pub pool_size: u32,
    /// How many workers share them.
    pub workers: u32,
    /// limit: how long the database may work on a statement.
    pub statement: Option<Duration>,
}

/// The error of a statement that took longer than it may.
pub fn too_slow() -> Error {
    let sentence = "the statement took longer than limits.statementSeconds, or the database itself, allows";
    Error::new(Code::DatabaseTimeout, sentence)
}

/// The error of a write that the disk has no room for.
pub fn no_room() -> Error {
    Error::new(Code::DatabaseUnavailable, "the disk of the database is full; nothing was written")
}

/// Text that is never shown.
#[derive(Clone)]
pub struct Secret(pub String);

impl Debug for Secret {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { pool_size: 10, workers: 1, statement: None }
    }
}

impl Options {
    /// How many connections each worker may have.
    pub fn per_worker(self) -> u32 {
        (self.pool_size.saturating_sub(1) / self.workers.max(1)).max(1)
    }

    /// The error of a pool that is too small for its workers, as a sentence for the operator.
    pub fn check(self, least_per_worker: u32) -> Result<(), String> {
        let least = self.workers * least_per_worker + 1;
        if self.pool_size < least {
            return Err(format!(
                "poolSize is {}, but {} workers need {least} connections; raise poolSize or lower workers",
                self.pool_size, self.workers
            ));
        }
        Ok(())
    }
}
