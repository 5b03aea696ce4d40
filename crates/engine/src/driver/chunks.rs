//! Chunks: the bytes of an answer on their way from a query to a socket, with bounded memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

type Chunk = Result<Bytes, Error>;

/// The sending end: the encoder writes into `buffer`.
pub struct Out {
    /// What has been written and not been sent.
    pub buffer: Vec<u8>,
    sender: Option<mpsc::Sender<Chunk>>,
}

/// The receiving end. Dropping it ends the query.
pub struct Chunks {
    receiver: mpsc::Receiver<Chunk>,
    cancelled: Arc<AtomicBool>,
}

/// Both ends of a stream, and the flag that says that nobody receives any more.
pub fn pipe() -> (Out, Chunks, Arc<AtomicBool>) {
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING_MAX);
    let cancelled = Arc::new(AtomicBool::new(false));
    let out = Out { buffer: Vec::with_capacity(CHUNK_BYTES + 1024), sender: Some(sender) };
    (out, Chunks { receiver, cancelled: Arc::clone(&cancelled) }, cancelled)
}

impl Out {
    /// An end that keeps everything, as long as it is small.
    pub fn inline() -> Out {
        Out { buffer: Vec::with_capacity(512), sender: None }
    }

    /// Whether there is enough to send.
    pub fn flow(&self) -> Flow {
        let full = if self.sender.is_some() { CHUNK_BYTES } else { INLINE_BYTES_MAX };
        if self.buffer.len() >= full { Flow::Flush } else { Flow::More }
    }

    /// Sends what has been written, waiting for the reader; an inline end is too small for that.
    pub async fn flush(&mut self) -> Result<(), Stopped> {
        let Some(sender) = &self.sender else { return Err(Stopped::TooLong) };
        if self.buffer.is_empty() {
            return Ok(());
        }
        let chunk = Bytes::copy_from_slice(&self.buffer);
        self.buffer.clear();
        match tokio::time::timeout(READER_PATIENCE, sender.send(Ok(chunk))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_closed)) => Err(Stopped::Abandoned),
            Err(_elapsed) => {
                let sentence = format!("the client took no data for {} s", READER_PATIENCE.as_secs());
                Err(Stopped::Failed(Error::new(Code::DatabaseTimeout, sentence)))
            }
        }
    }

    /// Sends the rest, or the error that ends the stream.
    pub async fn finish(mut self, result: Result<(), Stopped>) {
        let result = match result {
            Ok(()) => self.flush().await,
            stopped => stopped,
        };
        let error = match result {
            Ok(()) | Err(Stopped::Abandoned) => return,
            Err(Stopped::Failed(error)) => error,
            Err(Stopped::TooLong) => Error::new(Code::DatabaseTimeout, "the query was interrupted"),
        };
        if let Some(sender) = self.sender {
            // Nobody to tell is no error: the reader has gone.
            sender.send(Err(error)).await.ok();
        }
    }
}

impl Chunks {
    /// The next bytes; `None` at the end. After an error nothing follows.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        self.receiver.recv().await
    }

    /// The next bytes, for callers that poll.
    pub fn poll_next(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Bytes, Error>>> {
        self.receiver.poll_recv(context)
    }

    /// The next bytes if they are there already, and whether the end is.
    pub fn try_next(&mut self) -> Result<Option<Result<Bytes, Error>>, ()> {
        match self.receiver.try_recv() {
            Ok(chunk) => Ok(Some(chunk)),
            Err(mpsc::error::TryRecvError::Disconnected) => Ok(None),
            Err(mpsc::error::TryRecvError::Empty) => Err(()),
        }
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
