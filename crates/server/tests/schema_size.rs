//! Thousands of tables are all found, and changes of the schema by others are noticed without a failing request.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use engine::database::{Database, Options};
use engine::driver::{self, Address};
use treeql::mode::Mode;
use treeql::schema::Publication;

use crate::support::database::Engine;
use crate::support::process::Server;
use crate::support::scratch::Scratch;
use crate::support::servers::{admin_url, say};
use crate::support::suite::tests_folder;
use crate::support::wire::Wire;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

const TABLES: usize = 3000;
/// The setting is one second; the machine may be busy.
const NOTICE_TIMEOUT: Duration = Duration::from_secs(20);

#[test]
fn three_thousand_tables_of_sqlite_are_found() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("large.db");
    let connection = rusqlite::Connection::open(&path)?;
    connection.execute_batch(&format!("BEGIN; {} COMMIT;", tables("INTEGER PRIMARY KEY")))?;
    find_all(Engine::Sqlite, &path.display().to_string())
}

#[test]
fn three_thousand_tables_of_mariadb_are_found() -> Result<()> {
    let Some(admin_url) = admin_url(Engine::MySql) else { return Ok(()) };
    let sql = tables("INT PRIMARY KEY AUTO_INCREMENT");
    let database = Scratch::create(Engine::MySql, &admin_url, &sql)?;
    find_all(Engine::MySql, &database.url)
}

#[test]
fn three_thousand_tables_of_postgres_are_found() -> Result<()> {
    let Some(admin_url) = admin_url(Engine::Postgres) else { return Ok(()) };
    let database = Scratch::create(Engine::Postgres, &admin_url, &tables("SERIAL PRIMARY KEY"))?;
    find_all(Engine::Postgres, &database.url)
}

#[test]
fn a_column_added_in_mariadb_is_noticed() -> Result<()> {
    notice(Engine::MySql)
}

#[test]
fn a_column_added_in_postgres_is_noticed() -> Result<()> {
    notice(Engine::Postgres)
}

#[test]
fn clearing_the_cache_of_mariadb_reads_the_catalog() -> Result<()> {
    clear(Engine::MySql)
}

#[test]
fn clearing_the_cache_of_postgres_reads_the_catalog() -> Result<()> {
    clear(Engine::Postgres)
}

/// A table that would be noticed in an hour is served when the cache has been cleared, whoever did.
fn clear(engine: Engine) -> Result<()> {
    let Some(admin_url) = admin_url(engine) else { return Ok(()) };
    let database = Scratch::create(engine, &admin_url, "CREATE TABLE one (id INT PRIMARY KEY);")?;
    let config = tests_folder().join("configs/default.toml");
    let settings = [
        ("CACHE_TIME", "3600"),
        ("CONTROLLERS", "records,cache"),
        ("METRICS_PATH", "/metrics"),
        ("WORKERS", "2"),
    ];
    let server = Server::start_with(&config, &database.url, &settings)?;
    database.ask("CREATE TABLE two (id INT PRIMARY KEY)")?;
    ensure!(Wire::new(server.port).get("/records/two")?.status == 404);
    std::thread::scope(|scope| {
        let clear = || Wire::new(server.port).get("/cache/clear");
        let clearing: Vec<_> = (0..8).map(|_| scope.spawn(clear)).collect();
        for one in clearing {
            let answer = one.join().expect("it does not panic")?;
            ensure!(answer.status == 200 && answer.body == "true", "{answer:?}");
        }
        Ok(())
    })?;
    ensure!(Wire::new(server.port).get("/records/two")?.body == r#"{"records":[]}"#);
    // What was lent has come back, and what was asked was counted.
    let page = Wire::new(server.port).get("/metrics")?.body;
    for line in ["rowcast_pool_in_use 0\n", "rowcast_pool_waiting 0\n"] {
        ensure!(page.contains(line), "{page}");
    }
    ensure!(!page.contains("rowcast_statement_duration_seconds_count 0\n"), "{page}");
    server.stop()
}

/// Tables of eight columns, each with a reference to the one before.
fn tables(key: &str) -> String {
    let columns = "name VARCHAR(60) NOT NULL, price DECIMAL(10,2), note TEXT, made DATE, seen TIMESTAMP NULL, \
        amount BIGINT";
    let mut sql = format!("CREATE TABLE t0 (id {key}, before_id INT, {columns});");
    for number in 1..TABLES {
        let before = number - 1;
        sql.push_str(&format!(
            "CREATE TABLE t{number} (id {key}, before_id INT, {columns}, \
             FOREIGN KEY (before_id) REFERENCES t{before} (id));\n"
        ));
    }
    sql
}

fn find_all(engine: Engine, url: &str) -> Result<()> {
    let database = Database::open(Options {
        address: Address::parse(url).map_err(anyhow::Error::msg)?,
        password: None,
        driver: driver::Options::default(),
        watch_interval: Duration::from_secs(3600),
        publication: Publication::default(),
        mode: Mode::Strict,
        srid: 4326,
        answer_bytes_max: usize::MAX,
        merges_reads: true,
    })
    .map_err(anyhow::Error::msg)?;
    let start = Instant::now();
    database.reload()?;
    say(&format!("{}: {TABLES} tables were read again in {:?}", engine.name(), start.elapsed()));
    let snapshot = database.snapshot();
    let schema = &snapshot.schema;
    ensure!(schema.tables().count() == TABLES, "{} tables", schema.tables().count());
    ensure!(schema.foreign_key_count() == TABLES - 1, "{} relations", schema.foreign_key_count());
    let mut sizes = schema.tables().map(|(_, table)| (table.columns.len(), table.primary_key));
    ensure!(sizes.all(|size| size == (8, Some(0))), "columns or keys are missing");
    Ok(())
}

/// Requests go on while somebody else changes the table that they read.
fn notice(engine: Engine) -> Result<()> {
    let Some(admin_url) = admin_url(engine) else { return Ok(()) };
    let sql =
        "CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(40)); INSERT INTO items VALUES (1, 'one');";
    let database = Scratch::create(engine, &admin_url, sql)?;
    let config = tests_folder().join("configs/default.toml");
    let server = Server::start_with(&config, &database.url, &[("CACHE_TIME", "1"), ("WORKERS", "2")])?;
    let mut wire = Wire::new(server.port);
    let mut expected = r#"{"id":1,"name":"one"}"#.to_owned();
    for (change, cell) in [
        ("ALTER TABLE items ADD COLUMN price INT", ",\"price\":null}"),
        ("ALTER TABLE items ADD COLUMN note VARCHAR(9) DEFAULT 'new'", ",\"note\":\"new\"}"),
    ] {
        let changed = expected.replace('}', cell);
        ensure!(wire.get("/records/items/1")?.body == expected);
        database.ask(change)?;
        let start = Instant::now();
        loop {
            let (one, list) = (wire.get("/records/items/1")?, wire.get("/records/items?size=9")?);
            ensure!(one.status == 200 && list.status == 200, "{one:?} {list:?}");
            let inside = list.body.strip_prefix("{\"records\":[").and_then(|rest| rest.strip_suffix("]}"));
            let inside = inside.context("a list")?;
            ensure!([&*expected, &*changed].contains(&inside), "{list:?}");
            if one.body == changed && inside == changed {
                break;
            }
            ensure!(start.elapsed() < NOTICE_TIMEOUT, "{change} was not noticed: {one:?}");
        }
        expected = changed;
    }
    server.stop()
}
