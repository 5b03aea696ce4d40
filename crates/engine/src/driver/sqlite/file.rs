//! OpenFile: a descriptor of a database file beside those of SQLite.

use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Which file it is: device and inode.
pub type Identity = (u64, u64);

/// Which file a path leads to, if there is one.
pub fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|data| of(&data))
}

fn of(data: &Metadata) -> Identity {
    (data.dev(), data.ino())
}

/// All that are open.
static OPEN: Mutex<Vec<(Identity, Weak<File>)>> = Mutex::new(Vec::new());

/// A descriptor of a database file.
///
/// When a process closes any descriptor of a file, the system takes all its locks on that file away (fcntl(2)), and with
/// them those by which SQLite keeps other programs from removing the log. So there is one for each file, and whoever has
/// a connection holds it for longer than the connection.
#[derive(Clone)]
pub struct OpenFile {
    identity: Identity,
    /// Always there, until this is dropped.
    file: Option<Arc<File>>,
}

impl OpenFile {
    /// Opens the file that the path leads to, for reading, unless it is open.
    pub fn open(path: &Path) -> io::Result<OpenFile> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, file)| file.strong_count() > 0);
        let wanted = of(&fs::metadata(path)?);
        let known = open.iter().find(|(identity, _)| *identity == wanted);
        if let Some(file) = known.and_then(|(_, file)| file.upgrade()) {
            return Ok(OpenFile { identity: wanted, file: Some(file) });
        }
        let file = Arc::new(File::open(path)?);
        let identity = of(&file.metadata()?);
        open.push((identity, Arc::downgrade(&file)));
        Ok(OpenFile { identity, file: Some(file) })
    }

    /// Which file it is.
    pub fn identity(&self) -> Identity {
        self.identity
    }
}

impl Deref for OpenFile {
    type Target = File;

    fn deref(&self) -> &File {
        self.file.as_deref().expect("it is taken away by drop alone")
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        // Nobody opens the file again while it is being closed.
        let _open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        self.file = None;
    }
}
