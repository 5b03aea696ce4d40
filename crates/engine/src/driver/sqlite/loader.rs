//! Loading: a new SQLite file that is filled at full speed and appears only when it is complete.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::{Display, Formatter};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef as Cell};
use treeql::value::{Value, ValueRef};

/// Rows between two reports of progress.
const PROGRESS_ROWS: u64 = 1000;

// Nobody else sees the file before it is renamed, and a failed load is thrown away. So neither a journal nor
// a lock protects anything here, and foreign keys are checked once at the end instead of once per row.
const SETTINGS: &str = "PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA foreign_keys = OFF;
    BEGIN;";

/// A database file in the making: `PATH.partial` until `finish` renames it, removed when dropped before that.
pub struct Loader {
    connection: Option<Connection>,
    target: PathBuf,
    partial: PathBuf,
}

impl Loader {
    /// Begins a new database, to be found at `path` when it is finished; a file must not be there yet.
    pub fn create(path: &Path) -> Result<Loader, LoadError> {
        if path.exists() {
            return Err(LoadError(format!("{} already exists", path.display())));
        }
        let partial = with_suffix(path, ".partial");
        remove(&partial);
        let connection = Connection::open(&partial)?;
        let loader = Loader { connection: Some(connection), target: path.to_owned(), partial };
        loader.connection().execute_batch(SETTINGS)?;
        Ok(loader)
    }

    /// Runs the statements of `sql`, separated by semicolons.
    pub fn script(&mut self, sql: &str) -> Result<(), LoadError> {
        Ok(self.connection().execute_batch(sql)?)
    }

    /// Inserts `rows`, calling `progress` with the number so far every 1000 rows and after the last one.
    pub fn insert(
        &mut self,
        table: &str,
        columns: &[&str],
        rows: impl Iterator<Item = Vec<Value>>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), LoadError> {
        let mut statement = self.connection().prepare(&insert_sql(table, columns))?;
        let mut count = 0;
        for row in rows {
            for (index, value) in row.iter().enumerate() {
                statement.raw_bind_parameter(index + 1, ToSqlOutput::Borrowed(cell(value)))?;
            }
            statement.raw_execute().map_err(|e| LoadError(format!("row {} of {table}: {e}", count + 1)))?;
            // Without this a row that is too short would silently repeat values of the one before it.
            statement.clear_bindings();
            count += 1;
            if count % PROGRESS_ROWS == 0 {
                progress(count);
            }
        }
        if count % PROGRESS_ROWS != 0 {
            progress(count);
        }
        Ok(())
    }

    /// Checks the foreign keys, gathers statistics, turns the write-ahead log on and puts the file in its place.
    pub fn finish(mut self) -> Result<(), LoadError> {
        self.check_foreign_keys()?;
        self.connection().execute_batch("COMMIT; ANALYZE; PRAGMA journal_mode = WAL;")?;
        if let Some(connection) = self.connection.take() {
            connection.close().map_err(|(_, error)| error)?;
        }
        // The bytes must be on the disk before the name is: a crash in between would leave a broken database.
        File::open(&self.partial)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.partial, &self.target))
            .map_err(|e| LoadError(format!("{}: {e}", self.target.display())))
    }

    fn check_foreign_keys(&self) -> Result<(), LoadError> {
        let mut statement = self.connection().prepare("PRAGMA foreign_key_check")?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        Err(LoadError(format!("a row of {table} refers to a row of {parent} that does not exist")))
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("only finish takes the connection, and it takes the loader with it")
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // Windows does not remove a file that is still open.
        self.connection = None;
        remove(&self.partial);
    }
}

/// Why a load failed, in a sentence for the operator.
#[derive(Debug)]
pub struct LoadError(String);

impl Display for LoadError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for LoadError {}

impl From<rusqlite::Error> for LoadError {
    fn from(error: rusqlite::Error) -> LoadError {
        LoadError(error.to_string())
    }
}

fn insert_sql(table: &str, columns: &[&str]) -> String {
    let names: Vec<String> = columns.iter().map(|name| quote(name)).collect();
    let holes = vec!["?"; columns.len()].join(",");
    format!("INSERT INTO {} ({}) VALUES ({holes})", quote(table), names.join(","))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn cell(value: &Value) -> Cell<'_> {
    match value.as_ref() {
        ValueRef::Null => Cell::Null,
        ValueRef::Bool(truth) => Cell::Integer(i64::from(truth)),
        ValueRef::Int(int) => Cell::Integer(int),
        ValueRef::Float(float) => Cell::Real(float),
        ValueRef::Number(text) | ValueRef::Text(text) => Cell::Text(text.as_bytes()),
        ValueRef::Bytes(bytes) => Cell::Blob(bytes),
    }
}

fn remove(partial: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        // Most of these do not exist; one that cannot be removed shows when it is opened again.
        let _ = fs::remove_file(with_suffix(partial, suffix));
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "CREATE TABLE a (id integer PRIMARY KEY, name clob);
        CREATE TABLE b (id integer PRIMARY KEY, a_id integer REFERENCES a (id));";

    fn names(count: i64) -> impl Iterator<Item = Vec<Value>> {
        (1..=count).map(|id| vec![Value::Int(id), Value::Text(format!("name {id}").into())])
    }

    #[test]
    fn a_finished_file_holds_the_rows_and_is_in_wal_mode() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        let mut reports = Vec::new();
        let mut loader = Loader::create(&path).unwrap();
        loader.script(SCHEMA).unwrap();
        loader.insert("a", &["id", "name"], names(2500), &mut |rows| reports.push(rows)).unwrap();
        assert!(!path.exists());
        loader.finish().unwrap();

        assert_eq!(reports, [1000, 2000, 2500]);
        let connection = Connection::open(&path).unwrap();
        let get = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(get("SELECT count(*) || max(name) FROM a"), "2500name 999");
        assert_eq!(get("PRAGMA journal_mode"), "wal");
        assert_eq!(get("SELECT stat FROM sqlite_stat1 WHERE tbl = 'a'"), "2500");
        drop(connection);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "only the database is left");
    }

    #[test]
    fn a_dropped_loader_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut loader = Loader::create(&directory.path().join("a.db")).unwrap();
        loader.script(SCHEMA).unwrap();
        loader.insert("a", &["id", "name"], names(10), &mut |_| ()).unwrap();
        drop(loader);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_left_by_a_crash_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        fs::write(with_suffix(&path, ".partial"), "half a database").unwrap();
        let mut loader = Loader::create(&path).unwrap();
        loader.script(SCHEMA).unwrap();
        loader.finish().unwrap();
        assert!(path.exists());
    }

    #[test]
    fn an_existing_file_is_not_touched() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        fs::write(&path, "mine").unwrap();
        assert!(Loader::create(&path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }

    #[test]
    fn a_broken_foreign_key_fails_the_load() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        let mut loader = Loader::create(&path).unwrap();
        loader.script(SCHEMA).unwrap();
        let rows = [vec![Value::Int(1), Value::Int(7)]].into_iter();
        loader.insert("b", &["id", "a_id"], rows, &mut |_| ()).unwrap();
        let error = loader.finish().unwrap_err().to_string();
        assert_eq!(error, "a row of b refers to a row of a that does not exist");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_refused_row_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let mut loader = Loader::create(&directory.path().join("a.db")).unwrap();
        loader.script(SCHEMA).unwrap();
        let rows = names(2).chain(names(1));
        let error = loader.insert("a", &["id", "name"], rows, &mut |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "row 3 of a: UNIQUE constraint failed: a.id");
    }
}
