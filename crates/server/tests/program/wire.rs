//! Bytes over sockets, well-formed or not, and what comes back.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use crate::program::running::PATIENCE;

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// The status line and the headers, in lower case.
    pub head: String,
    /// The body without the frames of its chunks.
    pub body: String,
}

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server accepts connections");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    stream.set_write_timeout(Some(PATIENCE)).expect("a timeout can be set");
    stream
}

/// A request as bytes; the last on its connection.
pub fn request(method: &str, target: &str, body: &str) -> Vec<u8> {
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{length}\r\n{body}")
        .into_bytes()
}

pub fn send(port: u16, method: &str, target: &str, body: &str) -> Answer {
    let bytes = exchange(port, &request(method, target, body));
    Answer::parse(&bytes).unwrap_or_else(|| panic!("{method} {target}: {}", String::from_utf8_lossy(&bytes)))
}

pub fn get(port: u16, target: &str) -> Answer {
    send(port, "GET", target, "")
}

/// Sends bytes while reading, so that neither side waits for the other; everything that comes until the end.
pub fn exchange(port: u16, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(port);
    let mut writing = stream.try_clone().expect("a socket can be shared");
    thread::scope(|scope| {
        // A server that refuses early stops reading; its answer is what counts.
        scope.spawn(move || drop(writing.write_all(bytes)));
        let mut received = Vec::new();
        // A reset after the answer is an end, too.
        drop(stream.read_to_end(&mut received));
        received
    })
}

impl Answer {
    /// Reads one response that is the last of its connection; `None` if it is not whole.
    pub fn parse(bytes: &[u8]) -> Option<Answer> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.strip_prefix("http/1.1 ")?.get(..3)?.parse().ok()?;
        let body = &bytes[end + 4..];
        let body =
            if head.contains("transfer-encoding: chunked") { join_chunks(body)? } else { body.to_vec() };
        if let Some((_, rest)) = head.split_once("content-length: ") {
            let length: usize = rest.lines().next()?.parse().ok()?;
            // The answer to HEAD says the length of what it does not send.
            if length != body.len() && !body.is_empty() {
                return None;
            }
        }
        Some(Answer { status, head, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// The number of an error document.
    pub fn code(&self) -> Option<u64> {
        let document: serde_json::Value = serde_json::from_str(&self.body).ok()?;
        document.get("code")?.as_u64()
    }
}

fn join_chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?, 16).ok()?;
        let chunk = rest.get(line + 2..line + 2 + size)?;
        rest = rest[line + 2 + size..].strip_prefix(b"\r\n")?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(chunk);
    }
}
