//! Chunks: the bytes of an answer on their way from a query to a socket, with bounded memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use treeql::error::{Code, Error};

use crate::driver::sink::{Flow, Stopped};

/// How many bytes are gathered before they are sent on.
const CHUNK_BYTES: usize = 32 * 1024;
/// limit: chunks that wait for a slow reader.
const CHUNKS_WAITING_MAX: usize = 4;
/// limit: bytes of an answer that is built beside other requests; what is larger is streamed.
const INLINE_BYTES_MAX: usize = 64 * 1024;
/// limit: how long a reader may take to accept a chunk, because it holds a connection meanwhile.
const READER_PATIENCE: Duration = Duration::from_secs(60);

/// The error of an answer with more than `bytes_max` bytes: 2000 (413).
pub fn check_bytes(bytes: usize, bytes_max: usize) -> Result<(), Error> {
    if bytes > bytes_max { Err(too_many(bytes_max)) } else { Ok(()) }
}

fn too_many(bytes_max: usize) -> Error {
    let sentence =
        format!("the answer has more than {bytes_max} bytes (limits.answerBytes); ask for less at once");
    Error::new(Code::TooLarge, sentence)
}

/// What goes from the query to the socket.
enum Piece {
    /// Bytes, with more to follow.
    More(Bytes),
    /// The last bytes. An answer that ends without them is not whole.
    Last(Bytes),
    /// The error that ends the answer.
    Failed(Error),
}

/// The sending end: the encoder writes into `buffer`.
pub struct Out {
    /// What has been written and not been sent.
    pub buffer: Vec<u8>,
    /// limit: bytes that may still be sent, and how many there were at first.
    left: usize,
    bytes_max: usize,
    sender: Option<mpsc::Sender<Piece>>,
}

/// The receiving end. Dropping it ends the query.
pub struct Chunks {
    receiver: mpsc::Receiver<Piece>,
    cancelled: Arc<AtomicBool>,
    is_ended: bool,
}

/// Both ends of a stream of at most so many bytes, and the flag that says that nobody receives any more.
pub fn pipe(bytes_max: usize) -> (Out, Chunks, Arc<AtomicBool>) {
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING_MAX);
    let cancelled = Arc::new(AtomicBool::new(false));
    let out = Out {
        buffer: Vec::with_capacity(CHUNK_BYTES + 1024),
        left: bytes_max,
        bytes_max,
        sender: Some(sender),
    };
    (out, Chunks { receiver, cancelled: Arc::clone(&cancelled), is_ended: false }, cancelled)
}

impl Out {
    /// An end that keeps everything, as long as it is small.
    pub fn inline(bytes_max: usize) -> Out {
        Out { buffer: Vec::with_capacity(512), left: bytes_max, bytes_max, sender: None }
    }

    /// Counts what has been written and is about to leave. More than may be sent is 2000 (413).
    pub fn count(&mut self) -> Result<(), Error> {
        check_bytes(self.buffer.len(), self.left).map_err(|_left| too_many(self.bytes_max))?;
        self.left -= self.buffer.len();
        Ok(())
    }

    /// Whether there is enough to send.
    pub fn flow(&self) -> Flow {
        let full = if self.sender.is_some() { CHUNK_BYTES } else { INLINE_BYTES_MAX };
        if self.buffer.len() >= full { Flow::Flush } else { Flow::More }
    }

    /// Sends what has been written, waiting for the reader; an inline end is too small for that.
    pub async fn flush(&mut self) -> Result<(), Stopped> {
        if self.sender.is_none() {
            return Err(Stopped::TooLong);
        }
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.count().map_err(Stopped::Failed)?;
        let chunk = Bytes::copy_from_slice(&self.buffer);
        self.buffer.clear();
        self.send(Piece::More(chunk)).await
    }

    /// Sends the rest, or the error that ends the stream.
    pub async fn finish(mut self, result: Result<(), Stopped>) {
        let result = match result {
            Ok(()) => self.count().map_err(Stopped::Failed),
            other => other,
        };
        let rest = Bytes::from(std::mem::take(&mut self.buffer));
        let last = match result {
            Ok(()) => Piece::Last(rest),
            Err(Stopped::Abandoned) => return,
            Err(Stopped::Failed(error)) => Piece::Failed(error),
            Err(Stopped::TooLong) => {
                Piece::Failed(Error::new(Code::DatabaseTimeout, "the query was interrupted"))
            }
        };
        // Nobody to tell is no error: the reader has gone.
        self.send(last).await.ok();
    }

    async fn send(&self, piece: Piece) -> Result<(), Stopped> {
        let Some(sender) = &self.sender else { return Err(Stopped::TooLong) };
        match tokio::time::timeout(READER_PATIENCE, sender.send(piece)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_closed)) => Err(Stopped::Abandoned),
            Err(_elapsed) => {
                tracing::warn!("a client took no data for {} s and was left", READER_PATIENCE.as_secs());
                Err(Stopped::Abandoned)
            }
        }
    }
}

impl Chunks {
    /// The next bytes; `None` at the end. After an error nothing follows.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// The next bytes, for callers that poll.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if self.is_ended {
            return Poll::Ready(None);
        }
        let piece = match self.receiver.poll_recv(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(piece) => piece,
        };
        self.is_ended = !matches!(piece, Some(Piece::More(_)));
        Poll::Ready(Some(match piece {
            Some(Piece::More(bytes) | Piece::Last(bytes)) => Ok(bytes),
            Some(Piece::Failed(error)) => Err(error),
            None => {
                Err(Error::new(Code::DatabaseUnavailable, "the query ended without an answer; try again"))
            }
        }))
    }

    /// Whether the last bytes have been taken.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
