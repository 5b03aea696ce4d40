//! What happens when the database under a running server is changed, moved away or replaced.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::program::files::{blog, count, database, folder, text};
use crate::program::running::{serve, wait_until};
use crate::program::wire::{Answer, get, send};

/// A change of the schema is seen within this time.
const SCHEMA_DELAY: Duration = Duration::from_secs(1);

fn check_unavailable(answer: &Answer) {
    assert_eq!((answer.status, answer.code()), (503, Some(2001)), "{}", answer.body);
    assert!(answer.head.contains("retry-after: "), "{}", answer.head);
}

fn change(path: &Path, script: &str) {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection.execute_batch(script).unwrap();
}

#[test]
fn a_file_that_is_gone_is_503_until_it_is_back() {
    let folder = folder();
    let path = blog(&folder);
    let server = serve(text(&path), &[]);
    let away = folder.path().join("away.db");
    assert_eq!(send(server.port, "POST", "/records/tags", "{\"name\":\"before\"}").body, "4");
    fs::rename(&path, &away).unwrap();
    check_unavailable(&send(server.port, "POST", "/records/tags", "{\"name\":\"lost\"}"));
    for target in ["/records/tags", "/records/tags?size=1", "/records/tags/1", "/status/ping"] {
        let mut answer = get(server.port, target);
        wait_until("503", || {
            answer = get(server.port, target);
            answer.status == 503
        });
        check_unavailable(&answer);
    }
    for (method, target) in
        [("PUT", "/records/tags/1"), ("PATCH", "/records/tags/1"), ("DELETE", "/records/tags/1")]
    {
        let body = if method == "PATCH" { "{\"id\":1}" } else { "{\"name\":\"lost\"}" };
        let status = send(server.port, method, target, body).status;
        // An increment of the key alone changes nothing and asks nothing of the database.
        assert!(status == 503 || method == "PATCH" && status == 200, "{method}: {status}");
    }
    fs::rename(&away, &path).unwrap();
    wait_until("200", || get(server.port, "/records/tags").status == 200);
    assert_eq!(send(server.port, "POST", "/records/tags", "{\"name\":\"after\"}").body, "5");
    let names = get(server.port, "/records/tags?filter=id,gt,3&include=name").body;
    assert_eq!(names, "{\"records\":[{\"name\":\"before\"},{\"name\":\"after\"}]}");
    let errors = server.stop();
    assert!(errors.lines().count() < 20, "the log is flooded:\n{errors}");
}

#[test]
fn another_file_in_its_place_is_served() {
    let folder = folder();
    let path = blog(&folder);
    let other = database(
        &folder,
        "other.db",
        "CREATE TABLE apples (id integer PRIMARY KEY); INSERT INTO apples VALUES (7)",
    );
    let kept = folder.path().join("kept.db");
    let server = serve(text(&path), &[]);
    // What was written lies in the log of the old file, and must not get into the new one.
    for number in 0..50 {
        let body = format!("{{\"name\":\"tag {number}\"}}");
        assert_eq!(send(server.port, "POST", "/records/tags", &body).status, 200);
    }
    fs::rename(&path, &kept).unwrap();
    fs::rename(&other, &path).unwrap();
    wait_until("the new table", || get(server.port, "/records/apples").status == 200);
    assert_eq!(get(server.port, "/records/apples").body, "{\"records\":[{\"id\":7}]}");
    assert_eq!(get(server.port, "/records/tags").status, 404);
    assert_eq!(send(server.port, "POST", "/records/apples", "{}").body, "8");
    assert_eq!(get(server.port, "/records/apples").body, "{\"records\":[{\"id\":7},{\"id\":8}]}");
    server.stop();
    assert_eq!(count(&path, "SELECT COUNT(*) FROM pragma_integrity_check WHERE integrity_check != 'ok'"), 0);
    assert_eq!(count(&path, "SELECT COUNT(*) FROM apples"), 2);
    // The old file got what was in its log, wherever it was moved to.
    assert_eq!(count(&kept, "SELECT COUNT(*) FROM tags"), 53);
}

#[test]
fn a_file_that_is_no_database_in_its_place_is_503_until_one_is() {
    let folder = folder();
    let path = blog(&folder);
    let (away, notes) = (folder.path().join("away.db"), folder.path().join("notes.txt"));
    fs::write(&notes, "Dear diary, this is no database.").unwrap();
    let server = serve(text(&path), &[]);
    fs::rename(&path, &away).unwrap();
    fs::rename(&notes, &path).unwrap();
    wait_until("503", || get(server.port, "/records/tags").status == 503);
    check_unavailable(&send(server.port, "POST", "/records/tags", "{\"name\":\"lost\"}"));
    fs::rename(&away, &path).unwrap();
    wait_until("200", || get(server.port, "/records/tags").status == 200);
    server.stop();
}

#[test]
fn a_change_of_the_schema_is_seen_and_no_request_fails_meanwhile() {
    let folder = folder();
    let path = blog(&folder);
    let server = serve(text(&path), &[]);
    let port = server.port;
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for target in [
            "/records/tags?order=id&size=2",
            "/records/posts?join=comments&size=3",
            "/records/tags/1",
            "/records/posts",
        ] {
            let is_done = &is_done;
            scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    let answer = get(port, target);
                    assert_eq!(answer.status, 200, "{target}: {}", answer.body);
                }
            });
        }
        let script = "CREATE TABLE apples (id integer PRIMARY KEY); ALTER TABLE tags ADD COLUMN colour text DEFAULT 'red'";
        change(&path, script);
        let start = Instant::now();
        wait_until("the new table", || get(port, "/records/apples").status == 200);
        wait_until("the new column", || get(port, "/records/tags/1").body.contains("\"colour\":\"red\""));
        assert!(start.elapsed() < SCHEMA_DELAY, "it took {:?}", start.elapsed());
        change(&path, "DROP TABLE apples");
        wait_until("the end of the table", || get(port, "/records/apples").status == 404);
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(send(port, "POST", "/records/tags", "{\"name\":\"x\",\"colour\":\"blue\"}").status, 200);
    server.stop();
}

#[test]
fn a_lock_of_another_program_is_waited_for_and_then_503() {
    let folder = folder();
    let path = blog(&folder);
    let server = serve(text(&path), &[]);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(get(server.port, "/records/tags/1").status, 200, "readers do not wait for writers");
    check_unavailable(&send(server.port, "POST", "/records/tags", "{\"name\":\"x\"}"));
    connection.execute_batch("ROLLBACK").unwrap();
    assert_eq!(send(server.port, "POST", "/records/tags", "{\"name\":\"x\"}").status, 200);
    server.stop();
}
