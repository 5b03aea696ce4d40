//! What an answer may cost: rows, bytes and time, each with an error that names the limit.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::program::files::{database, folder, text};
use crate::program::running::{Running, start};
use crate::program::wire::{exchange, get, request};

fn rows(folder: &TempDir) -> PathBuf {
    let script = "CREATE TABLE rows (id integer PRIMARY KEY, content text);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO rows SELECT i, printf('%0100d', i) FROM n;
        CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT i FROM n WHERE i < 0";
    database(folder, "rows.db", script)
}

fn serve(folder: &TempDir, setting: &str) -> Running {
    start(&["serve", text(&rows(folder)), "--listen", "127.0.0.1:0", "--set", setting], &[])
}

#[test]
fn more_rows_than_a_list_may_have_are_refused_when_asked_for() {
    let folder = folder();
    let server = serve(&folder, "limits.listRows=4");
    for target in ["/records/rows?size=5", "/records/rows?page=1,5"] {
        let refused = get(server.port, target);
        assert_eq!((refused.status, refused.code()), (422, Some(1013)));
        assert!(refused.body.contains("at most 4 records"), "{}", refused.body);
    }
    for target in ["/records/rows?size=4", "/records/rows", "/records/rows?page=1"] {
        assert_eq!(get(server.port, target).body.matches("\"id\"").count(), 4, "{target}");
    }
    assert_eq!(get(server.port, "/records/nothing?size=5").code(), Some(1001), "the table comes first");
    server.stop();
}

#[test]
fn an_answer_that_is_too_long_is_refused_or_cut_off() {
    let folder = folder();
    let server = serve(&folder, "limits.answerBytes=2000");
    let refused = get(server.port, "/records/rows?size=100");
    assert_eq!((refused.status, refused.code()), (413, Some(2000)));
    assert!(refused.body.contains("limits.answerBytes"), "{}", refused.body);
    let ids: Vec<String> = (1..=100).map(|id| id.to_string()).collect();
    let refused = get(server.port, &format!("/records/rows/{}", ids.join(",")));
    assert_eq!((refused.status, refused.code()), (413, Some(2000)));
    assert_eq!(get(server.port, "/records/rows?size=10").status, 200);
    server.stop();
    let folder = self::folder();
    let server = serve(&folder, "limits.answerBytes=200000");
    // The first chunks have left when the limit is reached: the end is missing, so that nobody takes it for whole.
    let received = String::from_utf8(exchange(server.port, &request("GET", "/records/rows", ""))).unwrap();
    assert!(received.starts_with("HTTP/1.1 200") && !received.ends_with("0\r\n\r\n"));
    assert!(received.len() < 210_000, "{}", received.len());
    server.stop();
}

#[test]
fn a_statement_that_takes_too_long_is_ended() {
    let folder = folder();
    let server = serve(&folder, "limits.statementSeconds=1");
    let refused = get(server.port, "/records/endless");
    assert_eq!((refused.status, refused.code()), (504, Some(2002)));
    assert!(refused.body.contains("limits.statementSeconds"), "{}", refused.body);
    assert_eq!(get(server.port, "/records/rows?size=1").status, 200);
    server.stop();
}
