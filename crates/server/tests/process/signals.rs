//! How it ends: requests in flight are answered, whole, and then it goes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::program::files::{blog, count, database, folder, text};
use crate::program::running::{serve, wait_until};
use crate::program::wire::{Answer, connect, get, request, send};

const ROWS: usize = 100_000;

/// A list of 50 MB: more than all buffers between the server and a client that does not read.
fn long_list(folder: &TempDir) -> PathBuf {
    let script = format!(
        "CREATE TABLE rows (id integer PRIMARY KEY, content text);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
        INSERT INTO rows SELECT i, printf('%0500d', i) FROM n"
    );
    database(folder, "long.db", &script)
}

#[track_caller]
fn check_drain(signal: &str) {
    let folder = folder();
    let server = serve(text(&long_list(&folder)), &["--set", "limits.drainSeconds=25"]);
    let port = server.port;
    let mut idle = connect(port);
    let mut stream = connect(port);
    stream.write_all(&request("GET", "/records/rows", "")).unwrap();
    let mut received = vec![0; 1000];
    stream.read_exact(&mut received).unwrap();

    server.signal(signal);
    wait_until("the end of new connections", || TcpStream::connect(("127.0.0.1", port)).is_err());
    // A connection without a request in flight is not waited for.
    assert_eq!(idle.read(&mut [0; 10]).unwrap_or(0), 0);
    stream.read_to_end(&mut received).unwrap();
    let answer = Answer::parse(&received).expect("the answer is whole");
    let list: Json = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(list["records"].as_array().unwrap().len(), ROWS);

    let (status, errors) = server.wait();
    assert_eq!(status.code(), Some(0), "{errors}");
    assert!(errors.contains("stopping") && !errors.contains("panicked"), "{errors}");
}

#[test]
fn sigterm_lets_a_request_in_flight_end() {
    check_drain("TERM");
}

#[test]
fn ctrl_c_lets_a_request_in_flight_end() {
    check_drain("INT");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let folder = folder();
    let server = serve(text(&long_list(&folder)), &[]);
    let mut stream = connect(server.port);
    stream.write_all(&request("GET", "/records/rows", "")).unwrap();
    stream.read_exact(&mut [0; 1000]).unwrap();
    server.signal("INT");
    wait_until("the end of new connections", || TcpStream::connect(("127.0.0.1", server.port)).is_err());
    server.signal("INT");
    let (status, _) = server.wait();
    assert_eq!(status.code(), Some(130));
    let mut rest = Vec::new();
    // What was cut off is not taken for whole.
    drop(stream.read_to_end(&mut rest));
    assert!(!rest.ends_with(b"0\r\n\r\n"));
}

#[test]
fn a_request_that_takes_too_long_to_end_is_cut_off() {
    let folder = folder();
    let server = serve(text(&long_list(&folder)), &["--set", "limits.drainSeconds=0"]);
    let mut stream = connect(server.port);
    stream.write_all(&request("GET", "/records/rows", "")).unwrap();
    stream.read_exact(&mut [0; 1000]).unwrap();
    let errors = server.stop();
    assert!(errors.contains("stopped with requests in flight"), "{errors}");
    let mut rest = Vec::new();
    drop(stream.read_to_end(&mut rest));
    assert!(!rest.ends_with(b"0\r\n\r\n"));
}

#[test]
fn the_file_alone_has_everything_when_it_has_ended() {
    let folder = folder();
    let path = blog(&folder);
    let server = serve(text(&path), &[]);
    assert_eq!(send(server.port, "POST", "/records/tags", "{\"name\":\"late\"}").status, 200);
    server.stop();
    let copy = folder.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    assert_eq!(count(&copy, "SELECT COUNT(*) FROM tags"), 4);
}

#[test]
fn json_logs_are_lines_of_json() {
    let folder = folder();
    let path = blog(&folder);
    let server = serve(text(&path), &["--log-format", "json", "--log-requests", "--set", "log.level=debug"]);
    get(server.port, "/records/posts?filter=title,eq,secret%22%0a");
    get(server.port, "/nothing/%22quoted%22%0aand%20broken");
    drop(connect(server.port).write_all(b"garbage\r\n\r\n"));
    let errors = server.stop();
    let lines: Vec<Json> = errors.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let statuses: Vec<&Json> = lines
        .iter()
        .map(|line| &line["fields"])
        .filter(|fields| fields["message"] == "request")
        .map(|fields| &fields["status"])
        .collect();
    assert_eq!(statuses, [200, 404], "{errors}");
    assert!(!errors.contains("secret"), "values are private");
}
