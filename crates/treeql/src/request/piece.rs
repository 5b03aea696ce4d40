//! Piece: what the beginning of a buffer holds, when bodies are read record by record.

use std::ops::Range;

/// What the beginning of a buffer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A record, at this range of the buffer.
    Record {
        /// Where it stands; of CSV all of it, whose fields were read on the way.
        range: Range<usize>,
        /// How many bytes are done with.
        used: usize,
    },
    /// Nothing that is a record, in so many bytes.
    Blank(usize),
    /// The beginning of a record, or nothing; more bytes are needed.
    Incomplete,
    /// There is no further record.
    End,
    /// What cannot be read; the sentence says why, and what follows so many bytes can be read again, if that is known.
    Malformed(String, Option<usize>),
}
