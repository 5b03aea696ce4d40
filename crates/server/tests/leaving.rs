//! Clients that leave in the middle of a request: what they began must not meet the next request.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::support::database::Engine;
use crate::support::process::Server;
use crate::support::scratch::Scratch;
use crate::support::servers::{admin_url, wait_until};
use crate::support::suite::tests_folder;
use crate::support::wire::Wire;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

const ITEMS: usize = 20_000;
const COUNTERS: usize = 8;
const LEAVERS: usize = 8;
const READERS: usize = 8;
const ROUNDS: usize = 60;
const POOL_SIZE: usize = 9;
const BATCH_OF_THREE: &str = r#"[{"value":1},{"value":1},{"value":1}]"#;
const SETTLE_TIMEOUT: Duration = Duration::from_secs(20);

#[test]
fn clients_of_mariadb_may_leave() -> Result<()> {
    leave(Engine::MySql)
}

#[test]
fn clients_of_postgres_may_leave() -> Result<()> {
    leave(Engine::Postgres)
}

fn leave(engine: Engine) -> Result<()> {
    let Some(admin_url) = admin_url(engine) else { return Ok(()) };
    let database = Scratch::create(engine, &admin_url, &tables())?;
    let config = tests_folder().join("configs/default.toml");
    let size = POOL_SIZE.to_string();
    let server = Server::start_with(&config, &database.url, &[("WORKERS", "2"), ("POOL_SIZE", &size)])?;
    let port = server.port;
    thread::scope(|scope| {
        let leavers = (0..LEAVERS).map(|number| scope.spawn(move || leave_often(port, number)));
        let readers = (0..READERS).map(|number| scope.spawn(move || read_often(port, number)));
        let clients: Vec<_> = leavers.chain(readers).collect();
        clients.into_iter().try_for_each(|client| client.join().expect("clients do not panic"))
    })?;
    leave_while_waiting(engine, port, &database)?;
    // No transaction of somebody who has left holds a row, and the server has no more connections than it may.
    let ids: Vec<String> = (1..=COUNTERS).map(|id| id.to_string()).collect();
    let batch = format!("[{}]", [r#"{"value":1}"#; COUNTERS].join(","));
    let answer = Wire::new(port).send("PATCH", &format!("/records/counters/{}", ids.join(",")), &batch)?;
    ensure!(answer.status == 200, "{answer:?}");
    // Whole batches were made or none of their parts; the third row was changed once by the test itself.
    let values =
        database.ask("SELECT value - (CASE WHEN id = 3 THEN 1 ELSE 0 END) FROM counters ORDER BY id")?;
    let values: Vec<&str> = values.lines().take(3).collect();
    ensure!(values[0] == values[1] && values[1] == values[2], "{values:?}");
    let sql = match engine {
        Engine::MySql => "SELECT COUNT(*) - 1 FROM information_schema.processlist WHERE db = DATABASE()",
        Engine::Postgres | Engine::Sqlite => {
            "SELECT COUNT(*) - 1 FROM pg_stat_activity WHERE datname = current_database()"
        }
    };
    wait_until("no more connections than poolSize", SETTLE_TIMEOUT, || {
        let count = database.ask(sql).ok().and_then(|count| count.parse::<usize>().ok());
        count.is_some_and(|count| count <= POOL_SIZE)
    })?;
    server.stop()
}

fn tables() -> String {
    let items: Vec<String> = (1..=ITEMS).map(|id| format!("({id},'item {id}')")).collect();
    let counters: Vec<String> = (1..=COUNTERS).map(|id| format!("({id},0)")).collect();
    format!(
        "CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL);
         CREATE TABLE counters (id INT PRIMARY KEY, value INT NOT NULL);
         INSERT INTO items VALUES {};
         INSERT INTO counters VALUES {};",
        items.join(","),
        counters.join(",")
    )
}

/// Reads, long lists and batches, none of them waited for.
fn leave_often(port: u16, number: usize) -> Result<()> {
    let wire = Wire::new(port);
    for round in 0..ROUNDS {
        let sent = match (number + round) % 3 {
            0 => wire.send_only("GET", &format!("/records/items/{}", round + 1), "")?,
            1 => wire.send_only("GET", "/records/items?order=name", "")?,
            _ => wire.send_only("PATCH", "/records/counters/1,2,3", BATCH_OF_THREE)?,
        };
        drop(sent);
    }
    Ok(())
}

/// A batch has changed two rows and waits for the third when its client leaves. The two must become free.
fn leave_while_waiting(engine: Engine, port: u16, database: &Scratch) -> Result<()> {
    let (sleep, waiting) = match engine {
        Engine::MySql => (
            "SELECT SLEEP(3)",
            "SELECT COUNT(*) FROM information_schema.processlist \
             WHERE db = DATABASE() AND info LIKE 'UPDATE%' AND time_ms > 100",
        ),
        Engine::Postgres | Engine::Sqlite => (
            "SELECT pg_sleep(3)",
            "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        ),
    };
    let wait = |what: &str, count: &str| {
        wait_until(what, SETTLE_TIMEOUT, || database.ask(waiting).is_ok_and(|found| found == count))
    };
    thread::scope(|scope| {
        let hold = format!("BEGIN; UPDATE counters SET value = value + 1 WHERE id = 3; {sleep}; COMMIT;");
        let holder = scope.spawn(move || database.ask(&hold));
        let mut sent = Vec::new();
        wait_until("a batch that waits", SETTLE_TIMEOUT, || {
            sent.extend(Wire::new(port).send_only("PATCH", "/records/counters/1,2,3", BATCH_OF_THREE));
            database.ask(waiting).is_ok_and(|found| found != "0")
        })?;
        drop(sent);
        holder.join().expect("the holder does not panic")?;
        wait("nobody waits any more", "0")
    })
}

/// Everyone who stays has the answer to the own question.
fn read_often(port: u16, number: usize) -> Result<()> {
    let mut wire = Wire::new(port);
    for round in 0..ROUNDS * 4 {
        let id = (number * 997 + round * 13) % ITEMS + 1;
        let record = format!("{{\"id\":{id},\"name\":\"item {id}\"}}");
        let one = wire.get(&format!("/records/items/{id}")).context("a record")?;
        ensure!(one.status == 200 && one.body == record, "{id}: {one:?}");
        let list = wire.get(&format!("/records/items?filter=id,eq,{id}&size=1")).context("a list")?;
        let expected = format!("{{\"records\":[{record}]}}");
        ensure!(list.status == 200 && list.body == expected, "{id}: {list:?}");
    }
    Ok(())
}
