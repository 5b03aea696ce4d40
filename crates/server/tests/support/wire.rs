//! A client that keeps its connection: one request after the other, each answer read to its exact end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection that is opened when it is needed.
pub struct Wire {
    port: u16,
    stream: Option<BufReader<TcpStream>>,
}

/// An answer, whole.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub retry_after: Option<String>,
    pub body: String,
}

impl Wire {
    pub fn new(port: u16) -> Self {
        Self { port, stream: None }
    }

    pub fn get(&mut self, target: &str) -> Result<Answer> {
        self.send("GET", target, "")
    }

    /// An error is an answer that is not whole; the next request takes a new connection.
    pub fn send(&mut self, method: &str, target: &str, body: &str) -> Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect()?,
        };
        write(&mut stream, method, target, body)?;
        let (answer, stays_open) = read(&mut stream).with_context(|| format!("{method} {target}"))?;
        self.stream = Some(stream).filter(|_| stays_open);
        Ok(answer)
    }

    /// Sends a request on a connection of its own; dropping what is returned is leaving without the answer.
    pub fn send_only(&self, method: &str, target: &str, body: &str) -> Result<TcpStream> {
        let mut stream = self.connect()?;
        write(&mut stream, method, target, body).context("sending the request")?;
        Ok(stream.into_inner())
    }

    fn connect(&self) -> Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).context("connecting to the server")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(BufReader::new(stream))
    }
}

/// The answer to what was sent with [`Wire::send_only`].
pub fn read_answer(stream: TcpStream) -> Result<Answer> {
    read(&mut BufReader::new(stream)).map(|(answer, _)| answer)
}

fn write(stream: &mut BufReader<TcpStream>, method: &str, target: &str, body: &str) -> Result<()> {
    let length = body.len();
    let head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
    Ok(stream.get_mut().write_all(format!("{head}{body}").as_bytes())?)
}

/// An answer, and whether the connection may be used again.
fn read(stream: &mut impl BufRead) -> Result<(Answer, bool)> {
    let status = line(stream)?;
    let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).context("a status line")?;
    let mut answer = Answer { status, retry_after: None, body: String::new() };
    let (mut length, mut stays_open) = (None, true);
    loop {
        let header = line(stream)?.to_ascii_lowercase();
        let Some((name, value)) = header.split_once(": ") else { break };
        match name {
            "content-length" => length = Some(value.parse().context("Content-Length")?),
            "connection" => stays_open = value != "close",
            "retry-after" => answer.retry_after = Some(value.to_owned()),
            _ => {}
        }
    }
    let body = match length {
        Some(length) => exactly(stream, length)?,
        None => chunks(stream)?,
    };
    answer.body = String::from_utf8(body).context("the body is UTF-8")?;
    Ok((answer, stays_open))
}

fn chunks(stream: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&line(stream)?, 16).context("the size of a chunk")?;
        body.extend(exactly(stream, size)?);
        if !line(stream)?.is_empty() {
            bail!("a chunk is longer than it says");
        }
        if size == 0 {
            return Ok(body);
        }
    }
}

fn line(stream: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let line = line.strip_suffix("\r\n").context("the answer ended early")?;
    Ok(line.to_owned())
}

fn exactly(stream: &mut impl Read, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).context("the answer ended early")?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_to_its_exact_end() {
        let two = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi\
            HTTP/1.1 503 X\r\nRetry-After: 1\r\nconnection: close\r\n\r\n1\r\n!\r\n0\r\n\r\n";
        let mut stream = &two[..];
        let (first, stays_open) = read(&mut stream).unwrap();
        assert_eq!((first.status, &*first.body, stays_open), (200, "hi", true));
        let (second, stays_open) = read(&mut stream).unwrap();
        assert_eq!((second.status, &*second.body, stays_open), (503, "!", false));
        assert_eq!(second.retry_after.as_deref(), Some("1"));
        assert!(read(&mut &b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhi"[..]).is_err());
    }
}
