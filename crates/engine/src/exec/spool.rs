//! Spool: bytes of any number, kept in memory while they are few and then in a file without a name.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use treeql::error::{Code, Error};

/// limit: bytes of a body that are kept in memory; more go to a file, so many at once.
const MEMORY_MAX: usize = 512 * 1024;

/// Bytes that can be read from any place, as often as needed. The file of a process that is killed is gone with it.
#[derive(Debug)]
pub enum Spooled {
    /// In memory.
    Memory(Vec<u8>),
    /// In a file, which may be somebody's own.
    File(File),
}

/// Bytes that are still arriving.
#[derive(Default)]
pub struct Spool {
    memory: Vec<u8>,
    file: Option<Arc<File>>,
    count: u64,
}

impl Spool {
    /// How many bytes have arrived.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Keeps some bytes. A full disk is 2001.
    pub async fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.memory.extend_from_slice(bytes);
        self.count += bytes.len() as u64;
        if self.memory.len() >= MEMORY_MAX { self.write().await } else { Ok(()) }
    }

    /// Everything that has arrived.
    pub async fn finish(mut self) -> Result<Spooled, Error> {
        if self.file.is_none() {
            return Ok(Spooled::Memory(self.memory));
        }
        self.write().await?;
        match self.file.map(Arc::try_unwrap) {
            Some(Ok(file)) => Ok(Spooled::File(file)),
            Some(Err(_)) | None => Err(unwritable(&io::ErrorKind::Other.into())),
        }
    }

    /// Elsewhere, because a disk may be slow and others wait for this thread.
    async fn write(&mut self) -> Result<(), Error> {
        let memory = std::mem::replace(&mut self.memory, Vec::with_capacity(MEMORY_MAX + 64 * 1024));
        let file = self.file.take();
        let write = move || -> io::Result<Arc<File>> {
            let file = match file {
                Some(file) => file,
                None => Arc::new(tempfile::tempfile()?),
            };
            (&*file).write_all(&memory)?;
            Ok(file)
        };
        let written = tokio::task::spawn_blocking(write).await;
        let written = written.unwrap_or_else(|_panic| Err(io::ErrorKind::Other.into()));
        self.file = Some(written.map_err(|error| unwritable(&error))?);
        Ok(())
    }
}

fn unwritable(error: &io::Error) -> Error {
    tracing::warn!(%error, "the records of a request cannot be kept in the directory for temporary files");
    Error::new(Code::DatabaseUnavailable, "there is no room to keep the records until all have arrived")
}

impl Spooled {
    /// Appends at most `count` bytes from `offset` on; how many there were.
    pub fn read(&self, offset: u64, count: usize, into: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Spooled::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let some = &bytes[start..bytes.len().min(start.saturating_add(count))];
                into.extend_from_slice(some);
                Ok(some.len())
            }
            Spooled::File(file) => {
                let before = into.len();
                into.resize(before + count, 0);
                let read = file.read_at(&mut into[before..], offset);
                into.truncate(before + read.as_ref().map_or(0, |count| *count));
                read
            }
        }
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        match self {
            Spooled::Memory(bytes) => bytes.len() as u64,
            Spooled::File(file) => file.metadata().map_or(0, |data| data.len()),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
