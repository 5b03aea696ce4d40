//! Plays `tests/transcripts/` against the real program: over the wire, on every engine.

use std::env;
use std::io::{Write, stderr};

use crate::support::database::Engine;
use crate::support::suite::run;

mod support;

/// The engines that the server speaks so far.
const ENGINES: &[Engine] = &[Engine::Sqlite];

#[test]
fn sqlite() {
    run(Engine::Sqlite, ENGINES, String::new());
}

#[test]
fn mysql() {
    run_on_server(Engine::MySql);
}

#[test]
fn postgres() {
    run_on_server(Engine::Postgres);
}

fn run_on_server(engine: Engine) {
    let variable = engine.address_variable().expect("this engine has a server");
    if !ENGINES.contains(&engine) {
        return;
    }
    match env::var(variable) {
        Ok(admin_url) => run(engine, ENGINES, admin_url),
        Err(_) if env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("{variable} is not set; CI plays every engine: tests/servers run -- cargo test");
        }
        // Not `eprintln!`: the test harness hides what a test that passes prints.
        Err(_) => {
            let note = format!("{} is left out: {variable} is not set; try `make test`\n", engine.name());
            stderr().write_all(note.as_bytes()).expect("standard error is open");
        }
    }
}
