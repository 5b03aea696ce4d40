//! Many who write at once: nothing is lost, and nobody pays for a neighbour.

use std::fs;
use std::io::{Read, Write};
use std::sync::Barrier;
use std::thread;

use rusqlite::Connection;

use crate::program::files::{count, database, folder, text};
use crate::program::running::{serve, wait_until};
use crate::program::wire::{connect, get, send};

const CLIENTS: usize = 32;
const WRITES: usize = 20;

#[test]
fn writes_of_many_clients_all_survive() {
    let folder = folder();
    let path =
        database(&folder, "many.db", "CREATE TABLE a (id integer PRIMARY KEY, client integer, n integer)");
    let server = serve(text(&path), &[]);
    let (port, barrier) = (server.port, Barrier::new(CLIENTS));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                for n in 0..WRITES {
                    let answer =
                        send(port, "POST", "/records/a", &format!("{{\"client\":{client},\"n\":{n}}}"));
                    assert_eq!(answer.status, 200, "{}", answer.body);
                    // Everyone reads their own writes.
                    let read = get(port, &format!("/records/a/{}?include=client,n", answer.body));
                    assert_eq!(read.body, format!("{{\"client\":{client},\"n\":{n}}}"));
                }
            });
        }
    });
    server.stop();
    assert_eq!(count(&path, "SELECT COUNT(*) FROM a"), CLIENTS * WRITES);
    assert_eq!(count(&path, "SELECT COUNT(DISTINCT client * 1000 + n) FROM a"), CLIENTS * WRITES);
}

#[test]
fn the_log_is_put_into_the_file_while_others_write() {
    let folder = folder();
    let path = database(&folder, "log.db", "CREATE TABLE a (id integer PRIMARY KEY, n integer)");
    let server = serve(text(&path), &[]);
    // Fewer than begin the log anew.
    for n in 0..40 {
        assert_eq!(send(server.port, "POST", "/records/a", &format!("{{\"n\":{n}}}")).status, 200);
    }
    let alone = folder.path().join("alone.db");
    wait_until("the rows of the first commits in the file itself", || {
        fs::copy(&path, &alone).unwrap();
        let copy = Connection::open(&alone).unwrap();
        copy.query_row("SELECT COUNT(*) FROM a", [], |row| row.get::<_, i64>(0)).is_ok_and(|rows| rows >= 16)
    });
    server.stop();
    assert_eq!(count(&path, "SELECT COUNT(*) FROM a"), 40);
}

#[test]
fn a_failure_among_many_writes_is_that_of_one_client_only() {
    let folder = folder();
    let script =
        "CREATE TABLE a (id integer PRIMARY KEY, name varchar(20) UNIQUE, n integer CHECK (n < 100));
        INSERT INTO a (name, n) VALUES ('taken', 0)";
    let path = database(&folder, "unique.db", script);
    let server = serve(text(&path), &[]);
    let (port, barrier) = (server.port, Barrier::new(CLIENTS));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                for n in 0..WRITES {
                    let name = format!("{client}-{n}");
                    let (body, status, code) = match (client + n) % 5 {
                        0 => ("{\"name\":\"taken\",\"n\":1}".to_owned(), 409, Some(1009)),
                        1 => (format!("{{\"name\":\"{name}\",\"n\":1000}}"), 409, Some(1010)),
                        // Its first record is fine, and goes with the second.
                        2 => (
                            format!("[{{\"name\":\"{name}\",\"n\":1}},{{\"name\":\"taken\",\"n\":1}}]"),
                            424,
                            None,
                        ),
                        3 => (
                            format!("[{{\"name\":\"{name}\",\"n\":1}},{{\"name\":\"{name}b\",\"n\":1}}]"),
                            200,
                            None,
                        ),
                        _ => (format!("{{\"name\":\"{name}\",\"n\":1}}"), 200, None),
                    };
                    let answer = send(port, "POST", "/records/a", &body);
                    assert_eq!((answer.status, answer.code()), (status, code), "{body}: {}", answer.body);
                }
            });
        }
    });
    server.stop();
    let expected: usize =
        (0..CLIENTS).flat_map(|client| (0..WRITES).map(move |n| [0, 0, 0, 2, 1][(client + n) % 5])).sum();
    assert_eq!(count(&path, "SELECT COUNT(*) - 1 FROM a"), expected);
}

#[test]
fn what_was_answered_survives_a_kill() {
    let folder = folder();
    let path = database(&folder, "killed.db", "CREATE TABLE a (id integer PRIMARY KEY)");
    let server = serve(text(&path), &[]);
    let (port, barrier) = (server.port, Barrier::new(9));
    let answered: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|_| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let mut stream = connect(port);
                    let mut count = 0;
                    loop {
                        if count == 5 {
                            barrier.wait();
                        }
                        let request = b"POST /records/a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
                        let mut answer = [0; 1024];
                        if stream.write_all(request).is_err() {
                            return count;
                        }
                        match stream.read(&mut answer) {
                            Ok(length) if answer[..length].starts_with(b"HTTP/1.1 200") => count += 1,
                            _ => return count,
                        }
                    }
                })
            })
            .collect();
        barrier.wait();
        server.signal("KILL");
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let count = count(&path, "SELECT COUNT(*) FROM a");
    assert!(count >= answered, "{answered} were answered, {count} are there");
}
