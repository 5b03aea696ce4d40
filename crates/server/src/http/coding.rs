//! Codings: gzip and zstd, of whole bodies and of streams.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

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

    /// Compresses more bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Gzip(encoder) => encoder.write_all(bytes),
            Encoder::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    /// Everything that was written so far, so that nobody waits for it.
    pub fn take(&mut self) -> io::Result<Bytes> {
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

    /// The rest, with the end.
    pub fn finish(self) -> io::Result<Bytes> {
        match self {
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        }
        .map(Bytes::from)
    }
}
