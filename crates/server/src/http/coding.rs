//! Codings: gzip and zstd, of whole bodies and of streams.

use std::io::{self, Write};
use std::task::{Context, Poll};

use bytes::Bytes;
use engine::driver::Chunks;
use flate2::Compression;
use flate2::write::GzEncoder;
use treeql::error::{Code, Error};

/// speed: above, gzip and zstd take several times as long for a tenth less.
const GZIP_LEVEL: u32 = 3;
const ZSTD_LEVEL: i32 = 1;

/// A way to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// The name in headers.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Zstd => "zstd",
        }
    }
}

/// All of `bytes`, compressed.
pub fn whole(coding: Coding, bytes: &[u8]) -> io::Result<Bytes> {
    let mut encoder = Encoder::new(coding)?;
    encoder.write(bytes)?;
    encoder.finish()
}

/// An encoder that writes to memory.
pub enum Encoder {
    /// To gzip.
    Gzip(GzEncoder<Vec<u8>>),
    /// To zstd.
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Encoder {
    /// Nothing is written yet.
    pub fn new(coding: Coding) -> io::Result<Encoder> {
        Ok(match coding {
            Coding::Gzip => Encoder::Gzip(GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL))),
            Coding::Zstd => Encoder::Zstd(zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Gzip(encoder) => encoder.write_all(bytes),
            Encoder::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    /// Everything that was written so far, so that nobody waits for it.
    fn take(&mut self) -> io::Result<Bytes> {
        let out = match self {
            Encoder::Gzip(encoder) => {
                encoder.flush()?;
                encoder.get_mut()
            }
            Encoder::Zstd(encoder) => {
                encoder.flush()?;
                encoder.get_mut()
            }
        };
        Ok(std::mem::take(out).into())
    }

    fn finish(self) -> io::Result<Bytes> {
        match self {
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        }
        .map(Bytes::from)
    }
}

/// A stream that is compressed on its way, chunk by chunk.
pub struct Coded {
    first: Option<Bytes>,
    rest: Box<Chunks>,
    /// `None` at the end.
    encoder: Option<Encoder>,
}

impl Coded {
    /// A stream of `first` and what follows it.
    pub fn new(encoder: Encoder, first: Bytes, rest: Box<Chunks>) -> Coded {
        Coded { first: Some(first), rest, encoder: Some(encoder) }
    }

    /// The next compressed bytes. After an error nothing follows, and the end of the coding is missing, too.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let Some(encoder) = &mut self.encoder else { return Poll::Ready(None) };
            let next = match self.first.take() {
                Some(first) => Some(Ok(first)),
                None => std::task::ready!(self.rest.poll_next(context)),
            };
            let coded = match next {
                Some(Ok(bytes)) => encoder.write(&bytes).and_then(|()| encoder.take()),
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
                    let sentence = format!("The answer could not be compressed: {error}");
                    return Poll::Ready(Some(Err(Error::new(Code::Internal, sentence))));
                }
            }
        }
    }
}
