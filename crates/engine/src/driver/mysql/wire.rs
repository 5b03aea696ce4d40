//! Wire: a plain connection on which long lists are read as they lie in its packets.
//!
//! speed: the library makes a row of values of each packet, which takes twice as long as everything else that is done
//! for a row of a long list (docs/performance.md). What this does not speak, encryption, sockets of the file system and rare ways
//! to log in, is the library's: whoever cannot be let in here asks the library.

use std::collections::HashMap;
use std::io::{Error as IoError, ErrorKind};
use std::ops::Range;

use bytes::{Buf, BytesMut};
use mysql_async::{Column, Error, IoError as Io, Opts, ServerError, Value};
use mysql_common::io::ParseBuf;
use mysql_common::packets::ComStmtExecuteRequestBuilder;
use mysql_common::proto::MySerialize;
use mysql_common::scramble::{scramble_native, scramble_sha256};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use treeql::sql::Statement;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;
/// Number and length of a packet.
const HEAD_BYTES: usize = 4;
/// A packet of so many bytes goes on in the next one.
const PACKET_BYTES_MAX: usize = 0xff_ffff;
/// limit: prepared statements of a connection; beyond it all are closed and prepared again when needed.
const STATEMENTS_MAX: usize = 64;
/// utf8mb4_general_ci.
const CHARACTER_SET: u8 = 45;

// Numbers of the protocol (MariaDB's and MySQL's "client/server protocol").
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0e;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;
const OK: u8 = 0x00;
const MORE: u8 = 0x01;
const SWITCH: u8 = 0xfe;
const END: u8 = 0xfe;
const FAILED: u8 = 0xff;
const LONG_PASSWORD: u32 = 1;
const FOUND_ROWS: u32 = 1 << 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;
const WANTED: u32 = LONG_PASSWORD
    | FOUND_ROWS
    | LONG_FLAG
    | CONNECT_WITH_DB
    | PROTOCOL_41
    | TRANSACTIONS
    | SECURE_CONNECTION
    | PLUGIN_AUTH;

/// A connection.
pub struct Wire {
    socket: TcpStream,
    buffer: BytesMut,
    /// The payload of a packet that was cut in several.
    joined: Vec<u8>,
    sequence: u8,
    statements: HashMap<u64, u32>,
}

/// Where a packet lies.
pub enum Packet {
    /// In the buffer, and how many bytes it takes there.
    Buffered(Range<usize>, usize),
    /// Apart, because it was cut in several.
    Joined(usize),
}

impl Wire {
    /// Whether this can be tried at all.
    pub fn speaks(options: &Opts) -> bool {
        options.ssl_opts().is_none() && options.socket().is_none() && options.db_name().is_some()
    }

    /// Opens a connection and sets it up as the library does.
    pub async fn open(options: &Opts) -> Result<Wire, Error> {
        let socket = TcpStream::connect((options.ip_or_hostname(), options.tcp_port())).await.map_err(io)?;
        socket.set_nodelay(true).map_err(io)?;
        if let Some(silence) = options.tcp_keepalive() {
            let keepalive = TcpKeepalive::new().with_time(silence);
            SockRef::from(&socket).set_tcp_keepalive(&keepalive).map_err(io)?;
        }
        let mut wire = Wire {
            socket,
            buffer: BytesMut::new(),
            joined: Vec::new(),
            sequence: 0,
            statements: HashMap::new(),
        };
        wire.log_in(options).await?;
        for text in options.setup() {
            wire.command(COM_QUERY, text.as_bytes()).await?;
            wire.ok().await?;
        }
        Ok(wire)
    }

    async fn log_in(&mut self, options: &Opts) -> Result<(), Error> {
        let greeting = self.owned().await?;
        let (nonce, plugin) = greeting_of(&greeting).ok_or_else(|| strange("a greeting"))?;
        let password = options.pass().unwrap_or_default();
        let mut answer = Vec::new();
        answer.extend_from_slice(&WANTED.to_le_bytes());
        answer.extend_from_slice(&(PACKET_BYTES_MAX as u32).to_le_bytes());
        answer.push(CHARACTER_SET);
        answer.extend_from_slice(&[0; 23]);
        answer.extend_from_slice(options.user().unwrap_or_default().as_bytes());
        answer.push(0);
        let first = proof(&plugin, password, &nonce).unwrap_or_default();
        answer.push(u8::try_from(first.len()).map_err(|_long| strange("a proof"))?);
        answer.extend_from_slice(&first);
        answer.extend_from_slice(options.db_name().unwrap_or_default().as_bytes());
        answer.push(0);
        answer.extend_from_slice(&plugin);
        answer.push(0);
        self.send(&answer).await?;
        loop {
            let packet = self.owned().await?;
            match packet.first() {
                Some(&OK) => return Ok(()),
                Some(&FAILED) => return Err(refusal(&packet)),
                Some(&SWITCH) => {
                    let (plugin, nonce) = split(&packet[1..]).ok_or_else(|| strange("a switch"))?;
                    let nonce = nonce.strip_suffix(&[0]).unwrap_or(nonce);
                    let proof = proof(plugin, password, nonce).ok_or_else(|| strange("a way to log in"))?;
                    self.send(&proof).await?;
                }
                // The server knows the password of this user already.
                Some(&MORE) if packet.get(1) == Some(&3) => {}
                _ => return Err(strange("a way to log in")),
            }
        }
    }

    /// Asks whether the server is there.
    pub async fn ping(&mut self) -> Result<(), Error> {
        self.command(COM_PING, &[]).await?;
        self.ok().await
    }

    /// Runs a query; its rows are the packets that follow, until one [`is_end`].
    pub async fn start(&mut self, statement: &Statement, values: &[Value]) -> Result<Vec<Column>, Error> {
        let id = match self.statements.get(&statement.id) {
            Some(id) => *id,
            None => self.prepare(statement).await?,
        };
        let (request, _) = ComStmtExecuteRequestBuilder::new(id).build(values);
        let mut payload = Vec::new();
        request.serialize(&mut payload);
        self.sequence = 0;
        self.send(&payload).await?;
        let first = self.owned().await?;
        let count = match first.first() {
            Some(&FAILED) => return Err(refusal(&first)),
            Some(count @ 1..=250) => usize::from(*count),
            Some(&0xfc) if first.len() == 3 => usize::from(u16::from_le_bytes([first[1], first[2]])),
            _ => return Err(strange("an answer without rows")),
        };
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            let packet = self.owned().await?;
            columns.push(ParseBuf(&packet).parse(()).map_err(io)?);
        }
        self.owned().await?;
        Ok(columns)
    }

    async fn prepare(&mut self, statement: &Statement) -> Result<u32, Error> {
        if self.statements.len() >= STATEMENTS_MAX {
            for (_, id) in std::mem::take(&mut self.statements) {
                self.command(COM_STMT_CLOSE, &id.to_le_bytes()).await?;
            }
        }
        self.command(COM_STMT_PREPARE, statement.text.as_bytes()).await?;
        let packet = self.owned().await?;
        if packet.first() == Some(&FAILED) {
            return Err(refusal(&packet));
        }
        let number = |at: usize| packet.get(at..at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]));
        let id = packet.get(1..5).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes);
        let (Some(id), Some(columns), Some(params)) = (id, number(5), number(7)) else {
            return Err(strange("a statement"));
        };
        for count in [params, columns].into_iter().filter(|count| *count > 0) {
            // And what ends them.
            for _ in 0..=count {
                self.owned().await?;
            }
        }
        self.statements.insert(statement.id, id);
        Ok(id)
    }

    async fn command(&mut self, number: u8, rest: &[u8]) -> Result<(), Error> {
        self.sequence = 0;
        self.send(&[&[number], rest].concat()).await
    }

    async fn ok(&mut self) -> Result<(), Error> {
        let packet = self.owned().await?;
        match packet.first() {
            Some(&OK) => Ok(()),
            Some(&FAILED) => Err(refusal(&packet)),
            _ => Err(strange("an answer")),
        }
    }

    /// limit: what is sent is a statement or the values of filters, far smaller than a packet may be.
    async fn send(&mut self, payload: &[u8]) -> Result<(), Error> {
        if payload.len() >= PACKET_BYTES_MAX {
            return Err(strange("a request of this length"));
        }
        let mut bytes = Vec::with_capacity(HEAD_BYTES + payload.len());
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes()[..3]);
        bytes.push(self.sequence);
        bytes.extend_from_slice(payload);
        self.socket.write_all(&bytes).await.map_err(io)
    }

    /// The next packet as it lies in the buffer; `None` if it has not arrived whole.
    pub fn next(&mut self) -> Option<Packet> {
        let length = self.length_at(0)?;
        if length < PACKET_BYTES_MAX {
            let end = HEAD_BYTES + length;
            return (self.buffer.len() >= end).then_some(Packet::Buffered(HEAD_BYTES..end, end));
        }
        let (mut at, mut parts) = (0, Vec::new());
        loop {
            let length = self.length_at(at)?;
            let part = at + HEAD_BYTES..at + HEAD_BYTES + length;
            at = part.end;
            if self.buffer.len() < at {
                return None;
            }
            parts.push(part);
            if length < PACKET_BYTES_MAX {
                break;
            }
        }
        self.joined.clear();
        for part in parts {
            self.joined.extend_from_slice(&self.buffer[part]);
        }
        Some(Packet::Joined(at))
    }

    fn length_at(&self, at: usize) -> Option<usize> {
        let head = self.buffer.get(at..at + HEAD_BYTES)?;
        Some(u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize)
    }

    /// The payload of a packet that was found.
    pub fn payload(&self, packet: &Packet) -> &[u8] {
        match packet {
            Packet::Buffered(range, _) => &self.buffer[range.clone()],
            Packet::Joined(_) => &self.joined,
        }
    }

    /// Goes on behind a packet that was found.
    pub fn pass(&mut self, packet: &Packet) {
        let (Packet::Buffered(_, length) | Packet::Joined(length)) = packet;
        self.sequence = self.buffer[3].wrapping_add(1);
        self.buffer.advance(*length);
    }

    /// Waits for more bytes.
    pub async fn more(&mut self) -> Result<(), Error> {
        self.buffer.reserve(READ_BYTES);
        match self.socket.read_buf(&mut self.buffer).await.map_err(io)? {
            0 => Err(io(ErrorKind::UnexpectedEof.into())),
            _ => Ok(()),
        }
    }

    async fn owned(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            if let Some(packet) = self.next() {
                let payload = self.payload(&packet).to_vec();
                self.pass(&packet);
                return Ok(payload);
            }
            self.more().await?;
        }
    }
}

/// Whether no rows follow: the end of them, or why there are no more.
pub fn is_end(packet: &[u8]) -> Option<Result<(), Error>> {
    match packet.first() {
        Some(&END) if packet.len() < 9 => Some(Ok(())),
        Some(&FAILED) => Some(Err(refusal(packet))),
        Some(_) => None,
        None => Some(Err(strange("an empty packet"))),
    }
}

/// The nonce and the name of the plugin of a greeting of version 10, from a server that knows what is wanted.
fn greeting_of(packet: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (_, rest) = split(packet.strip_prefix(&[10])?)?;
    let mut nonce = rest.get(4..12)?.to_vec();
    let low = u16::from_le_bytes(rest.get(13..15)?.try_into().ok()?);
    let high = u16::from_le_bytes(rest.get(18..20)?.try_into().ok()?);
    // MariaDB leaves the first one out, to say that it is not MySQL.
    let known = u32::from(low) | u32::from(high) << 16 | LONG_PASSWORD;
    let length = usize::from(*rest.get(20)?).saturating_sub(8).max(13);
    let rest = rest.get(31..)?;
    nonce.extend_from_slice(rest.get(..length)?.strip_suffix(&[0])?);
    let (plugin, _) = split(rest.get(length..)?)?;
    (known & WANTED == WANTED).then(|| (nonce, plugin.to_vec()))
}

/// A text that ends with a NUL, and what follows it.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(0, bytes)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// What proves that the password is known; `None` if the plugin is not spoken here.
fn proof(plugin: &[u8], password: &str, nonce: &[u8]) -> Option<Vec<u8>> {
    if password.is_empty() {
        return matches!(plugin, b"mysql_native_password" | b"caching_sha2_password").then(Vec::new);
    }
    match plugin {
        b"mysql_native_password" => scramble_native(nonce, password.as_bytes()).map(|proof| proof.to_vec()),
        b"caching_sha2_password" => scramble_sha256(nonce, password.as_bytes()).map(|proof| proof.to_vec()),
        _ => None,
    }
}

/// The error that a packet tells.
fn refusal(packet: &[u8]) -> Error {
    let code = packet.get(1..3).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
    let text = String::from_utf8_lossy(packet.get(3..).unwrap_or_default()).into_owned();
    let (state, message) = match text.strip_prefix('#') {
        Some(rest) if rest.is_char_boundary(5) && rest.len() >= 5 => {
            (rest[..5].to_owned(), rest[5..].to_owned())
        }
        _ => ("HY000".to_owned(), text),
    };
    Error::Server(ServerError { code, message, state })
}

fn io(error: IoError) -> Error {
    Error::Io(Io::Io(error))
}

fn strange(what: &str) -> Error {
    io(IoError::new(ErrorKind::InvalidData, format!("the server sent {what} that is not understood")))
}
