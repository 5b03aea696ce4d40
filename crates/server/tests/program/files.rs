//! Databases in a folder of their own.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

/// A folder for the files of one test.
pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

/// A database `name` in the folder, made by a script.
pub fn database(folder: &TempDir, name: &str, script: &str) -> PathBuf {
    let path = folder.path().join(name);
    let connection = Connection::open(&path).expect("a new database");
    connection.execute_batch(&format!("BEGIN;\n{script};\nCOMMIT;")).expect("the script runs");
    path
}

/// The blog that the transcripts talk about.
pub fn blog(folder: &TempDir) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/blog.sqlite.sql");
    database(folder, "blog.db", &fs::read_to_string(script).expect("the fixture is there"))
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// The number that a query answers, as another program sees it.
pub fn count(path: &Path, sql: &str) -> usize {
    let connection = Connection::open(path).expect("the database opens");
    let number: i64 = connection.query_row(sql, [], |row| row.get(0)).expect("the query runs");
    usize::try_from(number).expect("it is a count")
}
