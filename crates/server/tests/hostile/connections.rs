//! Connections: endless heads, several requests at once, garbage, silence.

use std::io::{Read, Write};
use std::net::Shutdown;

use crate::program::files::{database, folder, text};
use crate::program::running::serve;
use crate::program::wire::{connect, exchange, get, request};
use crate::{check, check_alive, check_refused};

#[test]
fn a_url_of_100_mb_is_refused_long_before_its_end() {
    check(|server| {
        let mut stream = connect(server.port);
        stream.write_all(b"GET /records/tags?filter=name,eq,").unwrap();
        let block = vec![b'a'; 1 << 20];
        let sent = (0..100).take_while(|_| stream.write_all(&block).is_ok()).count();
        assert!(sent < 100, "all of it was taken");
        let mut received = Vec::new();
        drop(stream.read_to_end(&mut received));
        check_refused(&received, &[400, 414, 431]);
    });
}

#[test]
fn headers_of_any_number_and_size_are_refused() {
    check(|server| {
        for headers in ["A: b\r\n".repeat(10_000), format!("A: {}\r\n", "b".repeat(1 << 20))] {
            let bytes = format!("GET /records/tags HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
            check_refused(&exchange(server.port, bytes.as_bytes()), &[400, 431]);
        }
    });
}

#[test]
fn sixteen_requests_at_once_are_answered_in_order() {
    check(|server| {
        let requests: String = (1..=16)
            .map(|number| {
                let close = if number == 16 { "Connection: close\r\n" } else { "" };
                // Every third one fails, and the connection goes on.
                let id = if number % 3 == 0 { format!("{number}999") } else { (number % 3).to_string() };
                format!("GET /records/tags/{id}?include=id HTTP/1.1\r\nHost: a\r\n{close}\r\n")
            })
            .collect();
        let received = String::from_utf8(exchange(server.port, requests.as_bytes())).unwrap();
        let bodies: Vec<&str> =
            received.split("\r\n\r\n").skip(1).map(|part| part.split("HTTP/1.1").next().unwrap()).collect();
        assert_eq!(bodies.len(), 16, "{received}");
        for (index, body) in bodies.iter().enumerate() {
            let number = index + 1;
            let expected = if number % 3 == 0 {
                format!("'{number}999' not found")
            } else {
                format!("{{\"id\":{}}}", number % 3)
            };
            assert!(body.contains(&expected), "{number}: {body}");
        }
    });
}

#[test]
fn an_answer_is_sent_whatever_follows_its_request() {
    check(|server| {
        let request = "GET /records/tags/1?include=id HTTP/1.1\r\nHost: a\r\n\r\n";
        for next in ["garbage\r\n\r\n", "GET /records/tags/2 HTTP/1.1\r\nHost"] {
            let mut stream = connect(server.port);
            stream.write_all(format!("{request}{next}").as_bytes()).unwrap();
            let mut received = Vec::new();
            while !received.ends_with(b"{\"id\":1}") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("the answer comes");
                received.push(byte[0]);
            }
        }
    });
}

#[test]
fn garbage_instead_of_http_is_refused() {
    check(|server| {
        for bytes in [
            &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
            b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET /records/tags HTTP/9.9\r\n\r\n",
            b"GET /records/tags HTTP/1.1\r\nHost a\r\n\r\n",
            b"\r\n\r\n\r\n\r\n",
            b"\0\0\0\0\r\n\r\n",
            b"GET /re cords HTTP/1.1\r\n\r\n",
        ] {
            let mut stream = connect(server.port);
            stream.write_all(bytes).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut received = Vec::new();
            drop(stream.read_to_end(&mut received));
            assert!(
                received.is_empty() || received.starts_with(b"HTTP/1.1 4"),
                "{}",
                String::from_utf8_lossy(&received)
            );
        }
    });
}

#[test]
fn slow_and_silent_clients_hold_up_nobody() {
    check(|server| {
        let mut streams: Vec<_> = (0..200).map(|_| connect(server.port)).collect();
        for (number, stream) in streams.iter_mut().enumerate() {
            let bytes = &b"POST /records/tags HTTP/1.1\r\nHost: a\r\nContent-Length: 16\r\n\r\n{\"name"[..];
            stream.write_all(&bytes[..number % bytes.len()]).unwrap();
        }
        check_alive(server);
        // One that goes on, byte by byte, is answered.
        let mut slow = connect(server.port);
        for byte in request("GET", "/records/tags/1", "") {
            slow.write_all(&[byte]).unwrap();
        }
        let mut received = Vec::new();
        slow.read_to_end(&mut received).unwrap();
        assert!(received.starts_with(b"HTTP/1.1 200"));
    });
}

#[test]
fn a_client_that_goes_away_stops_its_query() {
    let folder = folder();
    let script = "CREATE TABLE a (id integer PRIMARY KEY, x text); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO a SELECT i, printf('%0500d', i) FROM n";
    let server = serve(text(&database(&folder, "long.db", script)), &[]);
    // More than there are threads for long queries.
    for _ in 0..100 {
        let mut stream = connect(server.port);
        stream.write_all(&request("GET", "/records/a", "")).unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
    }
    let answer = get(server.port, "/records/a?filter=x,cs,00049999&include=id");
    assert_eq!((answer.status, &*answer.body), (200, "{\"records\":[{\"id\":49999}]}"));
    server.stop();
}
