//! The SQLite file: that of `rowcast demo`, with more visitors.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use rusqlite::Connection;

use crate::database::export;

/// Rows of the small table with the columns of the large one.
const GUESTS: u64 = 10_000;

/// The folder with `blog.db` and its tables as text, made if it is not there.
pub fn prepare(home: &Path, program: &Path, rows: u64) -> anyhow::Result<PathBuf> {
    let folder = home.join(format!("data-{rows}"));
    if folder.exists() {
        return Ok(folder);
    }
    let unfinished = home.join("data.new");
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished)?;
    }
    std::fs::create_dir_all(&unfinished)?;
    let mut demo = Command::new(program);
    demo.arg("demo").arg(&unfinished).arg("--no-serve").stdout(Stdio::null());
    ensure!(demo.status().context("rowcast demo")?.success(), "rowcast demo failed");
    let connection = Connection::open(unfinished.join("blog.db"))?;
    // What is lost when the machine stops is made again.
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(&format!(
        "DELETE FROM visitors;
         CREATE TABLE guests (id bigint NOT NULL PRIMARY KEY, response integer NULL, closes integer NOT NULL,
             created_at timestamp NOT NULL) WITHOUT ROWID;
         {}; {};",
        numbered("visitors", rows),
        numbered("guests", GUESTS),
    ))?;
    export::tables(&connection, &unfinished)?;
    drop(connection);
    std::fs::rename(&unfinished, &folder)?;
    Ok(folder)
}

fn numbered(table: &str, rows: u64) -> String {
    format!(
        "INSERT INTO {table} WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers
             WHERE n < {rows})
         SELECT n, n % 101, n % 7, datetime(1767225600 + n, 'unixepoch') FROM numbers"
    )
}

/// The table that rows are inserted into, new for each run.
pub fn empty_entries(file: &Path) -> anyhow::Result<()> {
    let connection = Connection::open(file)?;
    connection.execute_batch(
        "DROP TABLE IF EXISTS entries;
         CREATE TABLE entries (id integer NOT NULL PRIMARY KEY, name varchar(100) NOT NULL, score integer NOT NULL);
         DROP TABLE IF EXISTS imported;
         CREATE TABLE imported (id integer NOT NULL PRIMARY KEY, response integer);",
    )?;
    Ok(())
}
