//! Bodies: out, whole or streamed; in, up to a limit.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use engine::driver::Chunks;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use treeql::encode::{Malformed, Rewriter};
use treeql::error::{Code, Error};

use crate::http::coding::{Coding, Encoder};

/// limit: how long the body of a request may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(60);

/// The body of a response.
pub enum Body {
    /// All bytes.
    Whole(Bytes),
    /// The next bytes, and where the others come from. An error ends the connection without the final chunk, so that
    /// a client never takes half an answer for a whole one.
    Stream(Bytes, Box<Chunks>),
    /// A stream that is rewritten as it goes out.
    Rewritten(Box<Rewritten>),
    /// A stream that is compressed as it goes out.
    Coded(Box<Coded>),
}

/// A body on its way through a rewriter. Of the answer no more is kept than a chunk and what the rewriter keeps.
pub struct Rewritten {
    source: Body,
    rewriter: Rewriter,
    is_ended: bool,
}

impl Body {
    /// A body that begins with `first`.
    pub fn stream(first: Bytes, rest: Chunks) -> Body {
        Body::Stream(first, Box::new(rest))
    }

    /// The same body, compressed. A whole one is compressed now.
    pub fn coded(self, coding: Coding) -> io::Result<Body> {
        let mut encoder = Encoder::new(coding)?;
        let Body::Whole(bytes) = self else {
            return Ok(Body::Coded(Box::new(Coded { source: self, encoder: Some(encoder) })));
        };
        encoder.write(&bytes)?;
        encoder.finish().map(Body::Whole)
    }

    /// The same body, rewritten. A whole one is rewritten now.
    pub fn rewritten(self, mut rewriter: Rewriter) -> Result<Body, Malformed> {
        let Body::Whole(bytes) = self else {
            return Ok(Body::Rewritten(Box::new(Rewritten { source: self, rewriter, is_ended: false })));
        };
        let mut out = Vec::with_capacity(bytes.len());
        rewriter.push(&bytes, true, &mut out)?;
        Ok(Body::Whole(out.into()))
    }
}

/// A body on its way through an encoder, chunk by chunk.
pub struct Coded {
    source: Body,
    /// `None` at the end.
    encoder: Option<Encoder>,
}

impl Coded {
    /// The next compressed bytes. After an error nothing follows, and the end of the coding is missing, too.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        while let Some(encoder) = &mut self.encoder {
            let coded = match ready!(Pin::new(&mut self.source).poll_frame(context)) {
                Some(Ok(frame)) => {
                    let piece = frame.into_data().unwrap_or_default();
                    encoder.write(&piece).and_then(|()| encoder.take())
                }
                Some(Err(error)) => {
                    self.encoder = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => self.encoder.take().map_or_else(|| Ok(Bytes::new()), Encoder::finish),
            };
            match coded {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(bytes))),
                Err(error) => {
                    self.encoder = None;
                    let sentence = format!("The answer cannot be compressed: {error}");
                    return Poll::Ready(Some(Err(Error::new(Code::Internal, sentence))));
                }
            }
        }
        Poll::Ready(None)
    }
}

impl Rewritten {
    /// The next bytes that are made of one chunk or more; the end is made when the source has ended.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let mut out = Vec::new();
        while out.is_empty() && !self.is_ended {
            let piece = match ready!(Pin::new(&mut self.source).poll_frame(context)) {
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    self.is_ended = true;
                    Bytes::new()
                }
            };
            if let Err(malformed) = self.rewriter.push(&piece, self.is_ended, &mut out) {
                let sentence = format!("the answer cannot be rewritten: {malformed}");
                return Poll::Ready(Some(Err(Error::new(Code::Internal, sentence))));
            }
        }
        Poll::Ready((!out.is_empty()).then(|| Ok(out.into())))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match &mut *self {
            Body::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Body::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Body::Stream(first, _) if !first.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(first)))))
            }
            Body::Rewritten(rewritten) => rewritten.poll_next(context).map(frame),
            Body::Coded(coded) => coded.poll_next(context).map(frame),
            Body::Stream(_, rest) => {
                rest.poll_next(context).map(|next| {
                    frame(next.map(|chunk| {
                        chunk.inspect_err(|error| tracing::warn!(%error, "a stream was cut off"))
                    }))
                })
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Body::Stream(first, _) => {
                let mut hint = SizeHint::new();
                hint.set_lower(first.len() as u64);
                hint
            }
            Body::Rewritten(_) | Body::Coded(_) => SizeHint::new(),
        }
    }
}

fn frame(next: Option<Result<Bytes, Error>>) -> Option<Result<Frame<Bytes>, Error>> {
    next.map(|bytes| bytes.map(Frame::data))
}

/// The body of a request, not read yet.
pub struct Incoming(Arriving);

enum Arriving {
    Wire(hyper::body::Incoming),
    Whole(Bytes),
}

impl Incoming {
    /// A body as the connection delivers it.
    pub fn new(body: hyper::body::Incoming) -> Incoming {
        Incoming(Arriving::Wire(body))
    }

    /// A body that is here already.
    pub fn whole(bytes: Bytes) -> Incoming {
        Incoming(Arriving::Whole(bytes))
    }

    /// The next bytes of it; `None` at the end. A body that is cut off or too slow is 1008 (422).
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let body = match &mut self.0 {
            Arriving::Wire(body) => body,
            Arriving::Whole(bytes) if bytes.is_empty() => return Ok(None),
            Arriving::Whole(bytes) => return Ok(Some(std::mem::take(bytes))),
        };
        loop {
            match tokio::time::timeout(BODY_PATIENCE, body.frame()).await {
                Ok(None) => return Ok(None),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) => return Ok(Some(bytes)),
                    Err(_trailers) => {}
                },
                Ok(Some(Err(error))) => return Err(unreadable(format!("was cut off: {error}"))),
                Err(_elapsed) => {
                    return Err(unreadable(format!("has paused for {} s", BODY_PATIENCE.as_secs())));
                }
            }
        }
    }

    /// Reads all of it. Too many bytes are 2000 (413), a body that is cut off or too slow is 1008 (422).
    pub async fn read(self, bytes_max: u64) -> Result<Bytes, Error> {
        let too_large = || {
            Error::new(Code::TooLarge, format!("the body has more than {bytes_max} bytes (limits.bodyBytes)"))
        };
        let body = match self.0 {
            Arriving::Wire(body) => body,
            Arriving::Whole(bytes) if bytes.len() as u64 > bytes_max => return Err(too_large()),
            Arriving::Whole(bytes) => return Ok(bytes),
        };
        if body.size_hint().lower() > bytes_max {
            return Err(too_large());
        }
        let limited = Limited::new(body, usize::try_from(bytes_max).unwrap_or(usize::MAX));
        match tokio::time::timeout(BODY_PATIENCE, limited.collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(error)) => Err(unreadable(format!("was cut off: {error}"))),
            Err(_elapsed) => Err(unreadable(format!("did not arrive within {} s", BODY_PATIENCE.as_secs()))),
        }
    }
}

fn unreadable(sentence: String) -> Error {
    Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence)
}
