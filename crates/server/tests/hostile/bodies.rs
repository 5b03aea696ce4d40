//! Bodies: cut off, too long, wrongly framed, nested without end.

use std::io::{Read, Write};
use std::net::Shutdown;

use crate::program::wire::{Answer, connect, exchange, get, send};
use crate::{check, check_document, check_refused};

#[test]
fn a_body_that_is_cut_off_is_an_error_and_nothing_is_written() {
    check(|server| {
        let before = get(server.port, "/records/tags").body;
        for body in ["{\"name\":\"cut", "{\"name\":\"cut\"}"] {
            let mut stream = connect(server.port);
            let head = "POST /records/tags HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n";
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut received = Vec::new();
            drop(stream.read_to_end(&mut received));
            check_refused(&received, &[400, 422]);
        }
        assert_eq!(get(server.port, "/records/tags").body, before);
    });
}

#[test]
fn a_length_that_is_wrong_is_refused() {
    check(|server| {
        for length in ["-1", "x", "1, 2", "99999999999999999999999999", "0x10", ""] {
            let bytes =
                format!("POST /records/tags HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{{}}");
            check_refused(&exchange(server.port, bytes.as_bytes()), &[400]);
        }
        // Too short: the rest is no request.
        let bytes = "POST /records/tags HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}garbage\r\n\r\n";
        let received = exchange(server.port, bytes.as_bytes());
        assert!(received.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&received));
        // Two lengths, or a length and chunks, are how requests are smuggled.
        for headers in
            ["Content-Length: 2\r\nContent-Length: 5", "Content-Length: 5\r\nTransfer-Encoding: chunked"]
        {
            let bytes = format!("POST /records/tags HTTP/1.1\r\nHost: a\r\n{headers}\r\n\r\n{{}}");
            let received = exchange(server.port, bytes.as_bytes());
            assert!(received.starts_with(b"HTTP/1.1 4"), "{headers}: {}", String::from_utf8_lossy(&received));
        }
    });
}

#[test]
fn a_body_over_the_limit_is_413_with_and_without_a_length() {
    check(|server| {
        let body = format!("{{\"name\":\"{}\"}}", "a".repeat(200_000));
        check_document(&send(server.port, "POST", "/records/tags", &body), &[413]);
        let chunked = format!(
            "POST /records/tags HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
            body.len()
        );
        check_document(&Answer::parse(&exchange(server.port, chunked.as_bytes())).unwrap(), &[413]);
        // It is not waited for what is announced and too long.
        let mut stream = connect(server.port);
        stream.write_all(b"POST /records/tags HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n").unwrap();
        let mut received = Vec::new();
        drop(stream.read_to_end(&mut received));
        check_document(&Answer::parse(&received).unwrap(), &[413]);
    });
}

#[test]
fn a_chunked_body_is_read_and_a_broken_one_refused() {
    check(|server| {
        let head = "POST /records/tags HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
        let whole = format!("{head}8\r\n{{\"name\":\r\n9;x=y\r\n\"chunked\"\r\n1\r\n}}\r\n0\r\n\r\n");
        let answer = Answer::parse(&exchange(server.port, whole.as_bytes())).unwrap();
        assert_eq!((answer.status, &*answer.body), (200, "4"));
        for chunks in [
            "zz\r\n{}\r\n0\r\n\r\n",
            "fffffffffffffffff\r\n{}",
            "2\r\n{}xx0\r\n\r\n",
            "-2\r\n{}\r\n0\r\n\r\n",
        ] {
            let received = exchange(server.port, format!("{head}{chunks}").as_bytes());
            check_refused(&received, &[400, 413, 422]);
        }
        assert!(get(server.port, "/records/tags/5").status == 404, "nothing of the broken ones was written");
    });
}

#[test]
fn json_that_nests_deeply_does_not_fill_the_stack() {
    check(|server| {
        let depth = 45_000;
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[[", "]"), ("{\"name\":[", "]}")] {
            let depth = depth / open.len();
            for body in [open.repeat(depth), format!("{}1{}", open.repeat(depth), close.repeat(depth))] {
                let status = send(server.port, "POST", "/records/tags", &body).status;
                // As the text of one value it is fine.
                assert!([200, 404, 409, 413, 422, 424].contains(&status), "{status}: {}", &body[..20]);
            }
        }
        let brackets = format!("a{}=1", "[]".repeat(20_000));
        let status = send(server.port, "POST", "/records/tags", &brackets).status;
        assert!((400..500).contains(&status), "{status}");
    });
}

#[test]
fn an_error_before_the_body_is_read_does_not_confuse_the_next_request() {
    check(|server| {
        let smuggled = "GET /records/tags/1 HTTP/1.1\r\nHost: b\r\n\r\n";
        let length = smuggled.len();
        let requests = format!(
            "POST /records/nothing HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{smuggled}\
            GET /records/tags/2?include=id HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        );
        let received = String::from_utf8(exchange(server.port, requests.as_bytes())).unwrap();
        assert!(received.starts_with("HTTP/1.1 404"), "{received}");
        assert!(!received.contains("kitchen"), "the body was taken for a request: {received}");
    });
}
