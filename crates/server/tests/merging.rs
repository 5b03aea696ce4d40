//! Reads that arrive together are one statement on a server, and nobody can tell from the answers.

use std::time::Duration;

use anyhow::{Result, ensure};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::support::database::Engine;
use crate::support::process::Server;
use crate::support::scratch::Scratch;
use crate::support::servers::{admin_url, say, wait_until};
use crate::support::wire::{Wire, read_answer};

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

/// Reads in flight at once.
const READS: usize = 24;
const CASES: u32 = 40;

/// Two tables whose keys are merged, one with a key that is merged where it is a type, and one whose key is text.
const TABLES: &str = "
    CREATE TABLE small (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(8,2), noted TIMESTAMP NULL);
    CREATE TABLE large (id BIGINT PRIMARY KEY, name VARCHAR(20));
    CREATE TABLE named (id UUID PRIMARY KEY, name VARCHAR(20));
    CREATE TABLE texts (id VARCHAR(40) PRIMARY KEY, name VARCHAR(20));
    INSERT INTO small VALUES (-3, 'minus', NULL, NULL), (0, 'zero', 0.5, '2026-01-02 03:04:05'), (1, 'one', 1, NULL),
        (2, NULL, 2.25, '2026-01-02 03:04:05'), (5, 'hidden', 3, NULL), (7, 'sieben \u{1f600}', 4, NULL);
    INSERT INTO large VALUES (1, 'one'), (9223372036854775807, 'most'), (5, 'hidden');
    INSERT INTO named VALUES ('f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'one');
    INSERT INTO texts VALUES ('a', 'small'), ('1', 'digit');
";

const CONFIG: &str = r#"
[[authorization.rules]]
tables = "small,large"
allow = "all"
filter = "filter=id,neq,5&filter=name,neq,{ip}"

[[authorization.rules]]
tables = "named,texts"
allow = "all"
"#;

/// Ids that exist, that do not, and that are none.
const IDS: &[&str] = &[
    "-3",
    "0",
    "1",
    "1",
    "2",
    "5",
    "7",
    "8",
    "9",
    "007",
    "+1",
    "1.0",
    "%201",
    "abc",
    "",
    "1e0",
    "99999999999",
    "9223372036854775807",
    "9223372036854775808",
    "-0",
    "0x1",
    "1%00",
    "A",
    "a",
    "1,2",
    "2,99,1",
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6",
    "f81d4fae7dec11d0a76500a0c91e6bf6",
    "00000000-0000-0000-0000-000000000000",
];

#[test]
fn merged_answers_of_mariadb_are_those_of_single_reads() -> Result<()> {
    compare(Engine::MySql)
}

#[test]
fn merged_answers_of_postgres_are_those_of_single_reads() -> Result<()> {
    compare(Engine::Postgres)
}

fn compare(engine: Engine) -> Result<()> {
    let Some(admin_url) = admin_url(engine) else { return Ok(()) };
    let database = Scratch::create(engine, &admin_url, TABLES)?;
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("rowcast.toml");
    std::fs::write(&config, CONFIG)?;
    for strict in ["true", "false"] {
        let start = |merges: &str| {
            let middlewares = ("MIDDLEWARES", "authorization");
            let settings = [("WORKERS", "1"), ("LOG_LEVEL", "debug"), ("STRICT", strict), middlewares];
            let mut settings = settings.to_vec();
            settings.push(("MERGE_READS", merges));
            Server::start_with(&config, &database.url, &settings)
        };
        let (merging, single) = (start("true")?, start("false")?);
        let mut runner =
            TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
        let table =
            prop::sample::select(vec!["small", "small", "small", "large", "named", "texts", "nothing"]);
        let query = prop::sample::select(vec!["", "", "", "?include=name", "?exclude=id", "?include=x"]);
        let target = (table, prop::sample::select(IDS.to_vec()), query)
            .prop_map(|(table, id, query)| format!("/records/{table}/{id}{query}"));
        let targets = prop::collection::vec(target, 1..=READS);
        let run = runner.run(&targets, |targets| {
            let fail = |error: anyhow::Error| TestCaseError::fail(format!("{error:#}"));
            let expected = ask(single.port, &targets).map_err(fail)?;
            let answers = ask(merging.port, &targets).map_err(fail)?;
            for ((target, expected), answer) in targets.iter().zip(expected).zip(answers) {
                prop_assert_eq!(&answer, &expected, "{}", target);
            }
            Ok(())
        });
        run.map_err(|error| anyhow::anyhow!("{error}"))?;
        let lines = merging.stop_and_read()?;
        let merged = lines.iter().filter(|line| line.contains("reads are one statement")).count();
        say(&format!("{}, strict = {strict}: {merged} statements for several reads", engine.name()));
        ensure!(merged > 0, "nothing was merged");
        let lines = single.stop_and_read()?;
        ensure!(!lines.iter().any(|line| line.contains("reads are one statement")), "a switch has no effect");
    }
    Ok(())
}

#[test]
fn a_locked_table_of_mariadb_stops_no_reads_of_others() -> Result<()> {
    read_beside_a_lock(Engine::MySql, "LOCK TABLES small WRITE; DO SLEEP(5)")
}

#[test]
fn a_locked_table_of_postgres_stops_no_reads_of_others() -> Result<()> {
    read_beside_a_lock(Engine::Postgres, "BEGIN; LOCK TABLE small; SELECT pg_sleep(5); COMMIT")
}

/// The lock ends after the reads of other tables, whatever the speed of the machine: else they would have waited for it.
fn read_beside_a_lock(engine: Engine, lock: &str) -> Result<()> {
    let Some(admin_url) = admin_url(engine) else { return Ok(()) };
    let database = Scratch::create(engine, &admin_url, TABLES)?;
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("rowcast.toml");
    std::fs::write(&config, "")?;
    let server = Server::start_with(&config, &database.url, &[("WORKERS", "1")])?;
    ask(server.port, &["/records/small/1".into(), "/records/large/1".into()])?;
    std::thread::scope(|scope| {
        let locking = scope.spawn(|| database.ask(lock));
        let is_locked = match engine {
            Engine::Postgres => "SELECT count(*) FROM pg_locks WHERE relation = 'small'::regclass",
            _ => "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'DO SLEEP%'",
        };
        wait_until("the lock", Duration::from_secs(5), || {
            database.ask(is_locked).is_ok_and(|count| count.trim() != "0")
        })?;
        // Several turns, so that what waits for the lock is more than one statement.
        let mut waiting = Vec::new();
        for id in [0, 1, 2, 1] {
            waiting.push(Wire::new(server.port).send_only("GET", &format!("/records/small/{id}"), "")?);
            // On PostgreSQL it takes 50 ms until the connection of short reads counts as held up.
            std::thread::sleep(Duration::from_millis(200));
            let answers = ask(server.port, &["/records/large/1".into(), "/records/named/x".into()])?;
            ensure!(answers[0].0 == 200, "{answers:?}");
        }
        ensure!(!locking.is_finished(), "reads of other tables have waited for the lock");
        for stream in waiting {
            ensure!(read_answer(stream)?.status == 200);
        }
        locking.join().expect("the lock was taken")?;
        server.stop()
    })
}

/// Sends all requests, each on a connection of its own, before any answer is read.
fn ask(port: u16, targets: &[String]) -> Result<Vec<(u16, String)>> {
    let wires: Vec<Wire> = targets.iter().map(|_| Wire::new(port)).collect();
    let sent = wires.iter().zip(targets).map(|(wire, target)| wire.send_only("GET", target, ""));
    let streams = sent.collect::<Result<Vec<_>>>()?;
    let answers = streams.into_iter().map(|stream| {
        let answer = read_answer(stream)?;
        Ok((answer.status, answer.body))
    });
    answers.collect()
}
