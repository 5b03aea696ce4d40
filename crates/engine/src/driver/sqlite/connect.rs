//! Connections to a SQLite file, all opened and set up in the same way.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// Prepared statements kept by each connection.
const STATEMENTS_MAX: usize = 512;
/// limit: how long a statement waits for another program's lock on the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Pages of the log after which it begins anew, once all of them are in the file; SQLite's own choice is 1,000. What the
/// thread of checkpoints has not yet put there is done within a commit.
const LOG_PAGES: u32 = 2000;
/// How much of the file is read through memory mapping: pages then come from the system's cache without a copy.
const MMAP_BYTES: i64 = 1 << 40;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Short queries.
    Read,
    /// Queries that may go through all of a file.
    Scan,
    /// Everything.
    Write,
}

/// Opens the file, which must exist.
pub fn connect(path: &Path, access: Access) -> rusqlite::Result<Connection> {
    let mode = match access {
        // A reader needs write permission, too, to take part in write-ahead logging.
        Access::Read | Access::Scan | Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // A file, or a directory, that may only be read is opened by SQLite itself in read-only mode.
    let connection = Connection::open_with_flags(path, mode | flags)
        .or_else(|_| Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | flags))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // speed: else a statement of an analyzed file is compiled again whenever its values change, which is twice the
    // work of a list of twenty (docs/performance.md).
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What is mapped counts as memory of this process; a scan would count all of the file.
    let mapped = if access == Access::Read { MMAP_BYTES } else { 0 };
    connection.pragma_update(None, "mmap_size", mapped)?;
    if access != Access::Write {
        connection.pragma_update(None, "query_only", true)?;
    }
    Ok(connection)
}

/// Opens the connection of the writer: in write-ahead logging, where readers and the writer do not wait for each
/// other, and durable at every commit.
pub fn connect_writer(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, Access::Write)?;
    if !connection.is_readonly("main")? {
        let mode: String = connection.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            tracing::warn!(
                mode,
                "the file cannot use write-ahead logging; reads and writes will wait for each other"
            );
        }
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    }
    Ok(connection)
}
