//! Plays `tests/transcripts/` against the real program: over the wire, on every engine.

use crate::support::database::Engine;
use crate::support::servers::admin_url;
use crate::support::suite::run;

#[allow(dead_code, reason = "other tests need what this one does not")]
mod support;

/// The engines that the server speaks.
const ENGINES: &[Engine] = &Engine::ALL;

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
    if let Some(admin_url) = admin_url(engine) {
        run(engine, ENGINES, admin_url);
    }
}
