//! What is read of a value of any type can be written, and is the same when it is read again.

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use crate::support::database::{Databases, Engine};
use crate::support::process::Server;
use crate::support::servers::admin_url;
use crate::support::suite::tests_folder;
use crate::support::wire::Wire;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

/// What cannot be written: keys are given, generated columns are computed.
const NOT_WRITTEN: [&str; 2] = ["id", "generated_"];

#[test]
fn values_of_sqlite_make_a_round_trip() -> Result<()> {
    round_trip(Engine::Sqlite, String::new())
}

#[test]
fn values_of_mariadb_make_a_round_trip() -> Result<()> {
    admin_url(Engine::MySql).map_or(Ok(()), |url| round_trip(Engine::MySql, url))
}

#[test]
fn values_of_postgres_make_a_round_trip() -> Result<()> {
    admin_url(Engine::Postgres).map_or(Ok(()), |url| round_trip(Engine::Postgres, url))
}

fn round_trip(engine: Engine, admin_url: String) -> Result<()> {
    let databases = Databases::new(engine, admin_url)?;
    let database = databases.create("types")?;
    let config = tests_folder().join("configs/default.toml");
    let server = Server::start_with(&config, &database.url, &[("WORKERS", "1")])?;
    let mut wire = Wire::new(server.port);
    let list: Value = serde_json::from_str(&wire.get("/records/everything?order=id")?.body)?;
    let rows = list["records"].as_array().context("a list")?.clone();
    ensure!(rows.len() >= 3, "{list}");
    let mut wrong = Vec::new();
    for row in &rows {
        let record = writable(row.as_object().context("a record")?);
        // One by one first, so that every type that fails is named.
        let mut whole = Map::new();
        for (name, value) in &record {
            match copy(&mut wire, &Map::from_iter([(name.clone(), value.clone())])) {
                Ok(()) => drop(whole.insert(name.clone(), value.clone())),
                Err(error) => wrong.push(format!("{} {name} {value}: {error:#}", row["id"])),
            }
        }
        copy(&mut wire, &whole)?;
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    server.stop()
}

fn writable(row: &Map<String, Value>) -> Map<String, Value> {
    let is_written = |name: &str| !NOT_WRITTEN.iter().any(|start| name.starts_with(start));
    row.iter()
        .filter(|(name, _)| is_written(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Makes a record, reads it, writes what was read, and reads it again.
fn copy(wire: &mut Wire, record: &Map<String, Value>) -> Result<()> {
    let body = Value::Object(record.clone()).to_string();
    let created = wire.send("POST", "/records/everything", &body)?;
    ensure!(created.status == 200, "POST: {}", created.body);
    let target = format!("/records/everything/{}", created.body);
    expect(wire, &target, record)?;
    let changed = wire.send("PUT", &target, &body)?;
    ensure!(changed.body == "1", "PUT: {}", changed.body);
    expect(wire, &target, record)
}

fn expect(wire: &mut Wire, target: &str, record: &Map<String, Value>) -> Result<()> {
    let answer = wire.get(target)?;
    ensure!(answer.status == 200, "GET: {}", answer.body);
    let read: Map<String, Value> = serde_json::from_str(&answer.body)?;
    for (name, value) in record {
        ensure!(read.get(name) == Some(value), "{name} was {value} and is {:?}", read.get(name));
    }
    Ok(())
}
