//! Options: what a driver is opened with besides the address.

use std::fmt::{self, Debug, Formatter};

/// Bounds of the connections to a database server.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most connections of this process to one database, the one that watches the schema included.
    pub pool_size: u32,
    /// How many workers share them.
    pub workers: u32,
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
        Options { pool_size: 10, workers: 1 }
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
