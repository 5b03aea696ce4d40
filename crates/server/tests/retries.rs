//! Writes that get into each other's way are run again; a write of which nobody knows whether it was made is not.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::support::database::Engine;
use crate::support::process::Server;
use crate::support::proxy::Proxy;
use crate::support::scratch::Scratch;
use crate::support::servers::{admin_url, say, wait_until};
use crate::support::suite::tests_folder;
use crate::support::wire::Wire;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

const CLIENTS: usize = 6;
const ROUNDS: usize = 40;
const COUNTING_TIMEOUT: Duration = Duration::from_secs(20);
const COUNTERS: &str = "CREATE TABLE counters (id INT PRIMARY KEY, value INT NOT NULL);
    INSERT INTO counters VALUES (1, 0), (2, 0);";

#[test]
fn deadlocks_of_mariadb_are_run_again() -> Result<()> {
    deadlocks(Engine::MySql)
}

#[test]
fn deadlocks_of_postgres_are_run_again() -> Result<()> {
    deadlocks(Engine::Postgres)
}

#[test]
fn a_commit_of_mariadb_without_an_answer_is_not_made_twice() -> Result<()> {
    lost_commit(Engine::MySql)
}

#[test]
fn a_commit_of_postgres_without_an_answer_is_not_made_twice() -> Result<()> {
    lost_commit(Engine::Postgres)
}

/// Half of the clients lock the two rows in one order, half in the other.
fn deadlocks(engine: Engine) -> Result<()> {
    let Some(admin_url) = admin_url(engine) else { return Ok(()) };
    let database = Scratch::create(engine, &admin_url, COUNTERS)?;
    if engine == Engine::Postgres {
        // A second by default, which is how long each deadlock would last.
        database.ask(&format!("ALTER DATABASE {} SET deadlock_timeout = '10ms'", database.name))?;
    }
    let config = tests_folder().join("configs/default.toml");
    let server = Server::start_with(
        &config,
        &database.url,
        &[("WORKERS", "2"), ("POOL_SIZE", "20"), ("LOG_LEVEL", "debug")],
    )?;
    let before = deadlock_count(engine, &database)?;
    let port = server.port;
    thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|number| scope.spawn(move || increment(port, number))).collect();
        clients.into_iter().try_for_each(|client| client.join().expect("clients do not panic"))
    })?;
    let counters = database.ask("SELECT value FROM counters ORDER BY id")?;
    let expected = CLIENTS * ROUNDS;
    ensure!(counters == format!("{expected}\n{expected}"), "each was to be {expected}:\n{counters}");
    let lines = server.stop_and_read()?;
    let retries = lines.iter().filter(|line| line.contains("one is run again")).count();
    say(&format!("{}: {expected} batches, {retries} run again", engine.name()));
    ensure!(retries > 0, "no deadlock was provoked");
    // PostgreSQL counts them some time later.
    wait_until("a deadlock for each retry", COUNTING_TIMEOUT, || {
        deadlock_count(engine, &database).is_ok_and(|count| count >= before + retries)
    })
}

fn increment(port: u16, number: usize) -> Result<()> {
    let mut wire = Wire::new(port);
    let ids = ["1,2", "2,1"][number % 2];
    for _ in 0..ROUNDS {
        let target = format!("/records/counters/{ids}");
        let answer = wire.send("PATCH", &target, r#"[{"value":1},{"value":1}]"#)?;
        ensure!(answer.status == 200 && answer.body == "[1,1]", "{answer:?}");
    }
    Ok(())
}

fn deadlock_count(engine: Engine, database: &Scratch) -> Result<usize> {
    let sql = match engine {
        Engine::MySql => {
            "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_DEADLOCKS'"
        }
        Engine::Postgres | Engine::Sqlite => {
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        }
    };
    database.ask(sql)?.parse().context("a number of deadlocks")
}

/// The answer to COMMIT is lost on its way: the write was made, and must not be made again.
fn lost_commit(engine: Engine) -> Result<()> {
    let Some(admin_url) = admin_url(engine) else { return Ok(()) };
    let database = Scratch::create(engine, &admin_url, COUNTERS)?;
    let port = admin_url.trim_end_matches('/').rsplit(':').next().context("a port")?;
    let proxy = Proxy::start(port.parse()?, "COMMIT")?;
    let url = database.url.replace(&format!(":{port}/"), &format!(":{}/", proxy.port));
    let config = tests_folder().join("configs/default.toml");
    let server = Server::start_with(&config, &url, &[("WORKERS", "1")])?;
    let mut wire = Wire::new(server.port);
    let batch = r#"[{"value":1},{"value":1}]"#;
    ensure!(wire.send("PATCH", "/records/counters/1,2", batch)?.status == 200);
    proxy.lose_next_answer();
    let lost = wire.send("PATCH", "/records/counters/1,2", batch)?;
    ensure!(lost.status == 503 && lost.retry_after.is_some(), "{lost:?}");
    ensure!(lost.body.contains("whether it was made is not known"), "{lost:?}");
    ensure!(proxy.seen() == 2, "{} commits were sent, not 2", proxy.seen());
    let counters = database.ask("SELECT value FROM counters ORDER BY id")?;
    ensure!(counters == "2\n2", "each was to be 2:\n{counters}");
    ensure!(wire.send("PATCH", "/records/counters/1,2", batch)?.status == 200);
    server.stop()
}
