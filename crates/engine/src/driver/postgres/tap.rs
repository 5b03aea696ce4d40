//! Tap: the rows of a long query, taken off the connection as they lie there.
//!
//! speed: the library makes a message and a row of its own of each; that is more than half of what a long list costs
//! (docs/performance.md). All other messages reach the library, which never learns that there were rows.

use std::collections::VecDeque;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

/// Bytes that are read at once.
const READ_BYTES: usize = 32 * 1024;
/// limit: pieces with rows that wait for whoever reads them; then nothing is read from the server.
const PIECES_MAX: usize = 4;
/// The tag and the length of a message.
const HEAD_BYTES: usize = 5;
/// The tag of a row.
const ROW: u8 = b'D';

/// Both sides of a tap.
#[derive(Default)]
struct State {
    is_open: bool,
    pieces: VecDeque<Bytes>,
    reader: Option<Waker>,
    socket: Option<Waker>,
}

/// Where rows come out, if the connection has a tap.
#[derive(Clone, Default)]
pub struct Valve(Arc<Mutex<State>>);

/// An open valve; dropped, it is closed.
pub struct Open<'a>(&'a Valve);

impl Valve {
    /// From now on rows come out here. The connection must be idle.
    pub fn open(&self) -> Open<'_> {
        self.state().is_open = true;
        Open(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether rows are wanted; `Pending` if too many wait.
    fn poll_room(&self, context: &Context<'_>) -> Poll<bool> {
        let mut state = self.state();
        if state.is_open && state.pieces.len() >= PIECES_MAX {
            state.socket = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(state.is_open)
    }

    fn push(&self, piece: Bytes) {
        let mut state = self.state();
        state.pieces.push_back(piece);
        if let Some(reader) = state.reader.take() {
            reader.wake();
        }
    }
}

impl Open<'_> {
    /// The next whole messages with rows, if some have arrived.
    pub fn poll_piece(&self, context: &Context<'_>) -> Poll<Bytes> {
        let mut state = self.0.state();
        let Some(piece) = state.pieces.pop_front() else {
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        if let Some(socket) = state.socket.take() {
            socket.wake();
        }
        Poll::Ready(piece)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let socket = state.socket.take();
        *state = State::default();
        if let Some(socket) = socket {
            socket.wake();
        }
    }
}

/// A socket with a tap.
pub struct Tap<S> {
    socket: S,
    valve: Valve,
    /// What has been read and went nowhere yet.
    buffer: BytesMut,
    /// How many bytes of the message that was begun go to the library.
    passing: usize,
}

/// What is to be done with the beginning of the buffer.
enum Next {
    /// So many bytes of whole rows.
    Rows(usize),
    /// A message of so many bytes for the library.
    Pass(usize),
    /// There is too little of it.
    Read,
}

impl<S> Tap<S> {
    fn next(&self, is_open: bool) -> Next {
        let mut rows = 0;
        while let Some(head) = self.buffer.get(rows..rows + HEAD_BYTES) {
            let length = 1 + u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            if head[0] != ROW || !is_open {
                return if rows > 0 { Next::Rows(rows) } else { Next::Pass(length) };
            }
            if self.buffer.len() < rows + length {
                break;
            }
            rows += length;
        }
        if rows > 0 { Next::Rows(rows) } else { Next::Read }
    }
}

impl<S: AsyncRead + Unpin> Tap<S> {
    /// Reads more; false at the end.
    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let before = self.buffer.len();
        self.buffer.resize(before + READ_BYTES, 0);
        let mut read = ReadBuf::new(&mut self.buffer[before..]);
        let polled = Pin::new(&mut self.socket).poll_read(context, &mut read);
        let count = read.filled().len();
        self.buffer.truncate(before + count);
        polled.map_ok(|()| count > 0)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let tap = self.get_mut();
        loop {
            if tap.passing > 0 && !tap.buffer.is_empty() {
                let count = tap.passing.min(tap.buffer.len()).min(out.remaining());
                out.put_slice(&tap.buffer[..count]);
                tap.buffer.advance(count);
                tap.passing -= count;
                return Poll::Ready(Ok(()));
            }
            if tap.passing == 0 {
                let Poll::Ready(is_open) = tap.valve.poll_room(context) else { return Poll::Pending };
                match tap.next(is_open) {
                    Next::Rows(count) => {
                        tap.valve.push(tap.buffer.split_to(count).freeze());
                        continue;
                    }
                    Next::Pass(count) => {
                        tap.passing = count;
                        continue;
                    }
                    Next::Read => {}
                }
            }
            match tap.poll_more(context) {
                Poll::Ready(Ok(true)) => {}
                Poll::Ready(Ok(false)) => return Poll::Ready(Ok(())),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Tap<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

/// Puts a tap where the library would begin TLS: the connection is plain.
#[derive(Clone, Default)]
pub struct Tapping(pub Valve);

impl<S: AsyncRead + AsyncWrite + Unpin> MakeTlsConnect<S> for Tapping {
    type Stream = Tap<S>;
    type TlsConnect = Tapping;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _host: &str) -> io::Result<Tapping> {
        Ok(self.clone())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsConnect<S> for Tapping {
    type Stream = Tap<S>;
    type Error = io::Error;
    type Future = Ready<io::Result<Tap<S>>>;

    fn connect(self, socket: S) -> Ready<io::Result<Tap<S>>> {
        ready(Ok(Tap { socket, valve: self.0, buffer: BytesMut::new(), passing: 0 }))
    }
}
