//! Password file: `user:hash` lines, read again when the file changes, with plain passwords hashed in place.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tempfile::NamedTempFile;

use crate::auth::password::{Algorithm, hash};

/// How often the file is looked at, at most.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// limit: bytes of the file.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Users and the hashes of their passwords.
pub type Users = HashMap<String, String>;

/// A file of users.
pub struct PasswordFile {
    path: PathBuf,
    algorithm: Algorithm,
    state: Mutex<State>,
}

struct State {
    looked: Instant,
    version: Version,
    users: Arc<Users>,
}

/// When the file was changed and how long it is; nothing if it is not there.
type Version = Option<(SystemTime, u64)>;

impl PasswordFile {
    /// Reads the file for the first time. The error is a sentence.
    pub fn open(path: &Path, algorithm: Algorithm) -> Result<PasswordFile, String> {
        // The file that a link leads to is the one to replace.
        let path =
            path.canonicalize().map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let (version, users) = read(&path, algorithm)?;
        let state = State { looked: Instant::now(), version, users: Arc::new(users) };
        Ok(PasswordFile { path, algorithm, state: Mutex::new(state) })
    }

    /// The users as of a second ago at most.
    ///
    /// A file that cannot be read any more has no users, because an operator who took it away meant that.
    pub async fn users(self: &Arc<Self>) -> Arc<Users> {
        let (users, is_due) = {
            let mut state = self.lock();
            let is_due = state.looked.elapsed() >= LOOK_INTERVAL;
            if is_due {
                // Others go on with what is known meanwhile.
                state.looked = Instant::now();
            }
            (state.users.clone(), is_due)
        };
        if !is_due {
            return users;
        }
        let file = self.clone();
        tokio::task::spawn_blocking(move || file.look()).await.unwrap_or(users)
    }

    /// Reads the file again if it has changed. Plain passwords make this slow.
    fn look(&self) -> Arc<Users> {
        if version(&self.path) == self.lock().version {
            return self.lock().users.clone();
        }
        let (version, users) = read(&self.path, self.algorithm).unwrap_or_else(|error| {
            tracing::error!("nobody can log in with a password: {error}");
            (version(&self.path), Users::default())
        });
        tracing::info!(file = %self.path.display(), users = users.len(), "read the password file again");
        let mut state = self.lock();
        (state.version, state.users) = (version, Arc::new(users));
        state.users.clone()
    }

    /// What a second of waiting does.
    #[cfg(test)]
    pub fn expire(&self) {
        self.lock().looked = Instant::now().checked_sub(LOOK_INTERVAL).unwrap();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the file and replaces the plain passwords in it.
fn read(path: &Path, algorithm: Algorithm) -> Result<(Version, Users), String> {
    let shown = path.display();
    let before = version(path);
    if before.is_some_and(|(_, length)| length > FILE_BYTES_MAX) {
        return Err(format!("{shown} has more than {FILE_BYTES_MAX} bytes"));
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    let hashed = hash_plain(&text, algorithm)?;
    let users = parse(&hashed, path);
    if hashed == text {
        return Ok((before, users));
    }
    let after = replace(path, before, &hashed).inspect_err(|error| {
        tracing::warn!("{shown} has plain passwords, and cannot be written: {error}");
    });
    Ok((after.unwrap_or(before), users))
}

/// The same text with hashes in place of plain passwords; all other bytes stay.
fn hash_plain(text: &str, algorithm: Algorithm) -> Result<String, String> {
    let mut hashed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        match content.split_once(':') {
            Some((user, plain)) if is_plain(user, plain) => {
                let hash = hash(plain, algorithm).map_err(|error| error.message())?;
                hashed.push_str(user);
                hashed.push(':');
                hashed.push_str(&hash);
                hashed.push_str(&line[content.len()..]);
            }
            _ => hashed.push_str(line),
        }
    }
    Ok(hashed)
}

/// `$` begins the hashes that we know, `{` those of LDAP as in `{SHA}…`: neither is a password somebody wrote down.
fn is_plain(user: &str, password: &str) -> bool {
    !user.trim_start().starts_with('#') && !password.is_empty() && !password.starts_with(['$', '{'])
}

fn parse(text: &str, path: &Path) -> Users {
    let mut users = Users::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((user, hash)) = line.split_once(':') else { continue };
        if users.insert(user.to_owned(), hash.to_owned()).is_some() {
            tracing::warn!("{} has several lines for one user; the last counts", path.display());
        }
    }
    users
}

/// Puts `text` in place of the file at once, so that nobody ever reads half of it.
fn replace(path: &Path, before: Version, text: &str) -> io::Result<Version> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(path)?.permissions())?;
    file.as_file().sync_all()?;
    if version(path) != before {
        return Err(io::Error::other("it was changed at the same moment"));
    }
    let after = version(file.path());
    file.persist(path)?;
    tracing::info!("replaced the plain passwords in {} by their hashes", path.display());
    Ok(after)
}

fn version(path: &Path) -> Version {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::sync::Arc;

    use crate::auth::password::{Algorithm, verify};
    use crate::auth::password_file::PasswordFile;

    const HASH: &str = "$2y$10$YkoiP6lfiEsEU9NvuGYhzuHln8FtSkkxxue0CQUufWL6tk/svoQBS";

    fn open(path: &Path) -> Arc<PasswordFile> {
        Arc::new(PasswordFile::open(path, Algorithm::Bcrypt).unwrap())
    }

    #[tokio::test]
    async fn plain_passwords_are_hashed_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        let rest = format!("# our:users\r\n\nann:{HASH}\nold:{{SHA}}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\nempty:\n");
        fs::write(&path, format!("{rest}bob:a:b c\r\neve:$1")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();

        let users = open(&link).users().await;
        assert_eq!(users["ann"], HASH);
        assert!(verify("a:b c", &users["bob"]));
        assert_eq!(users.len(), 5);

        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{rest}bob:{}\r\neve:$1", users["bob"]));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);

        open(&path);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[tokio::test]
    async fn a_change_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        fs::write(&path, format!("ann:{HASH}\n")).unwrap();
        let file = open(&path);
        fs::write(&path, format!("ann:{HASH}\nbob:{HASH}\n")).unwrap();
        assert_eq!(file.users().await.len(), 1);
        file.expire();
        assert_eq!(file.users().await.len(), 2);
        fs::write(&path, "ann:secret").unwrap();
        file.expire();
        assert!(verify("secret", &file.users().await["ann"]));
        fs::remove_file(&path).unwrap();
        file.expire();
        assert!(file.users().await.is_empty());
        fs::write(&path, format!("ann:{HASH}\n")).unwrap();
        file.expire();
        assert_eq!(file.users().await.len(), 1);
    }

    #[test]
    fn a_file_that_is_not_there_is_a_sentence() {
        let error = PasswordFile::open(Path::new("/nowhere/users"), Algorithm::Bcrypt).err().unwrap();
        assert!(error.starts_with("/nowhere/users cannot be read"), "{error}");
    }
}
