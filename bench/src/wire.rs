//! HTTP as far as the benchmarks need it themselves: one request on a connection of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, bail};

/// limit: how long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The body of `GET target` at `http://HOST:PORT/`; an error if the status is not 200.
pub fn get(address: &str, target: &str, header: &str) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    open(address, target, header)?.read_to_end(&mut body)?;
    Ok(body)
}

/// How many bytes the body of `GET target` has; all are read, none is kept.
pub fn drain(address: &str, target: &str) -> anyhow::Result<u64> {
    // As HTTP/1.0 the body ends with the connection, and its bytes are those of the document.
    Ok(std::io::copy(&mut open(address, target, "")?, &mut std::io::sink())?)
}

fn open(address: &str, target: &str, header: &str) -> anyhow::Result<BufReader<TcpStream>> {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    write!(stream, "GET {target} HTTP/1.0\r\nHost: {host}\r\n{header}\r\n")?;
    let mut reader = BufReader::with_capacity(256 * 1024, stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).context("no status")?.to_owned();
    while !line.trim().is_empty() {
        line.clear();
        reader.read_line(&mut line)?;
    }
    if status != "200" {
        let mut body = String::new();
        reader.read_to_string(&mut body)?;
        bail!("{target} was answered with {status}: {body}");
    }
    Ok(reader)
}

/// A connection that is kept, with one request at a time.
pub struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    /// Connects to `http://HOST:PORT/`.
    pub fn open(address: &str) -> anyhow::Result<Connection> {
        let host = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let stream = TcpStream::connect(&host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream), host })
    }

    /// Sends `GET target` and reads the answer, which must have a length.
    pub fn get(&mut self, target: &str) -> anyhow::Result<Vec<u8>> {
        write!(self.stream.get_mut(), "GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host)?;
        let (mut length, mut line) = (0, String::new());
        while line.trim() != "" || line.is_empty() {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                bail!("{target}: the connection was closed");
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }
}
