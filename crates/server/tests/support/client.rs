//! A plain HTTP/1.1 client: one connection, one request, the bytes of one response.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::support::transcript::{Request, split_header};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// A response as it was received, its body without the chunks' frames.
pub struct Received {
    pub status: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

pub fn send(port: u16, request: &Request) -> Result<Received> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).context("connecting to the server")?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    // A server that refuses a long body may close before it has read all of it: its answer still counts.
    let written = stream.write_all(&bytes_of(request));
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset || bytes.is_empty() => {
            return Err(error).context("waiting for the response");
        }
        _ => {}
    }
    if bytes.is_empty() {
        written.context("sending the request")?;
    }
    parse(&bytes, request.line.starts_with("HEAD "))
}

impl Received {
    /// All values of a header, joined as one list.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self.headers.iter().filter(|(key, _)| is(key, name)).map(value).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

fn bytes_of(request: &Request) -> Vec<u8> {
    let mut head = format!("{} HTTP/1.1\r\n", request.line);
    let own = |name: &str| request.headers.iter().any(|(key, _)| is(key, name));
    let mut push = |name: &str, value: &str| head.push_str(&format!("{name}: {value}\r\n"));
    if !own("Host") {
        push("Host", "localhost");
    }
    push("Connection", "close");
    if !own("Content-Length") && !own("Transfer-Encoding") && !request.body.is_empty() {
        push("Content-Length", &request.body.len().to_string());
    }
    for (name, value) in &request.headers {
        push(name, value);
    }
    head.push_str("\r\n");
    [head.as_bytes(), request.body.as_bytes()].concat()
}

fn parse(bytes: &[u8], head_only: bool) -> Result<Received> {
    let end = find(bytes, b"\r\n\r\n").context("the response has no end of headers")?;
    let head = std::str::from_utf8(&bytes[..end]).context("the response's head")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")).context("not HTTP/1.1")?;
    let status = status.split(' ').next().unwrap_or_default().to_owned();
    let headers = lines.map(split_header).collect();
    let mut received = Received { status, headers, body: Vec::new() };
    let body = &bytes[end + 4..];
    if received.header("Transfer-Encoding").is_some_and(|coding| is(&coding, "chunked")) {
        ensure!(
            received.header("Content-Length").is_none(),
            "a response is chunked or has a length, not both"
        );
        received.body = join_chunks(body)?;
        return Ok(received);
    }
    received.body = body.to_vec();
    if let Some(length) = received.header("Content-Length").filter(|_| !head_only) {
        ensure!(length == body.len().to_string(), "Content-Length: {length}, but {} bytes came", body.len());
    }
    Ok(received)
}

fn join_chunks(mut rest: &[u8]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = find(rest, b"\r\n").context("the response ended before its last chunk")?;
        let size = std::str::from_utf8(&rest[..line]).context("the size of a chunk")?;
        let size = usize::from_str_radix(size.trim(), 16).context("the size of a chunk")?;
        let chunk = rest.get(line + 2..line + 2 + size).context("the response ended within a chunk")?;
        rest = rest[line + 2 + size..].strip_prefix(b"\r\n").context("a chunk without its end")?;
        if size == 0 {
            ensure!(rest.is_empty(), "{} bytes after the last chunk", rest.len());
            return Ok(body);
        }
        body.extend_from_slice(chunk);
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

fn is(key: &str, name: &str) -> bool {
    key.eq_ignore_ascii_case(name)
}

fn value(header: &(String, String)) -> &str {
    &header.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_with_or_without_chunks() {
        let plain = parse(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", false).unwrap();
        assert_eq!((plain.status.as_str(), plain.body.as_slice()), ("200", &b"hi"[..]));
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n";
        assert_eq!(parse(chunked, false).unwrap().body, b"hi!");
    }

    #[test]
    fn half_a_response_is_never_taken_for_a_whole_one() {
        for bytes in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi"[..],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
            b"HTTP/1.1 200 OK\r\n",
        ] {
            assert!(parse(bytes, false).is_err());
        }
        assert!(parse(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", true).is_ok());
    }

    #[test]
    fn a_request_says_its_length_and_that_it_is_the_last() {
        let request =
            Request { line: "POST /a".into(), headers: vec![("A".into(), "b".into())], body: "é".into() };
        let text = String::from_utf8(bytes_of(&request)).unwrap();
        assert_eq!(
            text,
            "POST /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\nA: b\r\n\r\né"
        );
    }
}
