//! Cork: answers that are ready at the same moment leave together.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// limit: bytes that are held back; what is longer goes to the socket at once.
const HELD_MAX: usize = 16 * 1024;

/// A socket whose writes are held until [`Cork::poll_send`]; clones are the same socket.
///
/// speed: sixteen pipelined requests are answered in one system call (docs/performance.md). hyper can hold answers
/// back itself, but does so as long as there is input that it has not understood: an answer before garbage is never
/// sent then, and one before half a request not until the other half has come.
#[derive(Clone)]
pub struct Cork {
    inner: Rc<RefCell<Inner>>,
}

struct Inner {
    stream: TcpStream,
    held: Vec<u8>,
    sent: usize,
}

impl Cork {
    /// Nothing is held yet.
    pub fn new(stream: TcpStream) -> Cork {
        Cork { inner: Rc::new(RefCell::new(Inner { stream, held: Vec::new(), sent: 0 })) }
    }

    /// Sends what is held.
    pub fn poll_send(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.borrow_mut().poll_send(context)
    }
}

impl Inner {
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.held.len() {
            match ready!(Pin::new(&mut self.stream).poll_write(context, &self.held[self.sent..])) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(count) => self.sent += count,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.held.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }

    /// Holds the parts if they are short; `None` if they must go to the socket, with nothing before them.
    fn poll_hold(
        &mut self,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<Option<usize>>> {
        let count = parts.iter().map(|part| part.len()).sum();
        if self.held.len() + count > HELD_MAX {
            ready!(self.poll_send(context))?;
        }
        if count > HELD_MAX {
            return Poll::Ready(Ok(None));
        }
        parts.iter().for_each(|part| self.held.extend_from_slice(part));
        Poll::Ready(Ok(Some(count)))
    }
}

impl AsyncRead for Cork {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner.borrow_mut().stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Cork {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let inner = &mut *self.inner.borrow_mut();
        match ready!(inner.poll_hold(context, parts))? {
            Some(count) => Poll::Ready(Ok(count)),
            None => Pin::new(&mut inner.stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Nothing: it is sent when the connection has nothing else to do.
    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let inner = &mut *self.inner.borrow_mut();
        ready!(inner.poll_send(context))?;
        Pin::new(&mut inner.stream).poll_shutdown(context)
    }
}
