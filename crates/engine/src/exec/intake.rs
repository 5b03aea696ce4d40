//! Intake: bytes to rows ready to be written, some at a time, in bounded memory.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memchr::memchr_iter;
use treeql::error::{Code, Error};
use treeql::plan::Plan;
use treeql::request::{Elements, Fields, MEMBERS_MAX, Piece, read_fields, record_of_text};
use treeql::value::Value;

use crate::exec::recipe::{Recipe, Syntax, in_place, is_about_a_record};
use crate::exec::shape::{Shape, csv_cells, header, rows};
use crate::exec::spool::Spooled;

/// Bytes that are read at once.
const WINDOW: usize = 256 * 1024;
/// limit: bytes of the cells of a chunk, as they were sent.
const CHUNK_BYTES_MAX: usize = 1024 * 1024;
/// limit: records that are refused in one chunk; then it is handed on.
const REFUSED_MAX: usize = 1024;

/// Rows of one shape.
pub struct Chunk {
    /// How they are written.
    pub plan: Arc<Plan>,
    /// The cells of all rows, row by row; each has as many as the plan has members.
    pub cells: Vec<Value>,
    /// The line or the number of each record.
    pub places: Vec<u64>,
    /// Records that were refused before.
    pub refused: Vec<(u64, Error)>,
}

/// The records of a recipe, from the beginning.
pub struct Intake {
    recipe: Arc<Recipe>,
    spooled: Arc<Spooled>,
    offset: u64,
    buffer: Vec<u8>,
    at: usize,
    is_end: bool,
    elements: Elements,
    fields: Fields,
    /// The line, or the number of the record, that comes next.
    place: u64,
    shape: Option<Shape>,
    cells: Vec<Value>,
    places: Vec<u64>,
    refused: Vec<(u64, Error)>,
    bytes: usize,
    is_ended: bool,
}

impl Intake {
    /// Nothing has been read yet.
    pub fn new(recipe: Arc<Recipe>, spooled: Arc<Spooled>) -> Intake {
        let elements = if recipe.syntax == Syntax::Json { Elements::Start } else { Elements::Lines };
        Intake {
            recipe,
            spooled,
            offset: 0,
            buffer: Vec::new(),
            at: 0,
            is_end: false,
            elements,
            fields: Fields::default(),
            place: 1,
            shape: None,
            cells: Vec::new(),
            places: Vec::new(),
            refused: Vec::new(),
            bytes: 0,
            is_ended: false,
        }
    }

    /// The next rows; `None` at the end. After an error nothing follows.
    pub fn next(&mut self) -> Option<Result<Chunk, Error>> {
        while !self.is_ended {
            let read = self.read();
            match read {
                Ok(None) => {}
                Ok(Some(chunk)) => return Some(Ok(chunk)),
                Err(error) => {
                    self.is_ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }

    /// Reads one record; the chunk, if it is full.
    fn read(&mut self) -> Result<Option<Chunk>, Error> {
        let rest = &self.buffer[self.at..];
        let piece = match self.recipe.syntax {
            Syntax::Csv => read_fields(rest, self.is_end, &mut self.fields),
            Syntax::Ndjson | Syntax::Json => self.elements.read(rest, self.is_end),
        };
        match piece {
            Piece::Incomplete => self.more().map(|()| None),
            Piece::Blank(used) => {
                self.pass(used, false);
                Ok(None)
            }
            Piece::Record { range, used } => {
                let bytes = self.at + range.start..self.at + range.end;
                let full = match self.recipe.syntax {
                    Syntax::Csv => self.csv(bytes),
                    Syntax::Ndjson | Syntax::Json => self.json(bytes),
                }?;
                self.pass(used, true);
                self.recipe.progress.records.fetch_add(1, Ordering::Relaxed);
                Ok(if full.is_some() || self.is_full() { full.or_else(|| self.take()) } else { None })
            }
            Piece::Malformed(sentence, rest) => {
                let error = Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence);
                match rest {
                    Some(used) => {
                        self.refuse(error)?;
                        self.pass(used, true);
                        Ok(None)
                    }
                    None => Err(self.in_place(self.place, error)),
                }
            }
            Piece::End => {
                self.is_ended = true;
                if self.recipe.syntax == Syntax::Csv && self.shape.is_none() {
                    let sentence = "is empty; the first line has the names of the columns";
                    return Err(Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence));
                }
                Ok(self.take())
            }
        }
    }

    fn more(&mut self) -> Result<(), Error> {
        self.buffer.drain(..self.at);
        self.at = 0;
        if self.buffer.len() > self.recipe.record_bytes_max {
            let max = self.recipe.record_bytes_max;
            let error =
                Error::new(Code::TooLarge, format!("a record has more than {max} bytes (limits.bodyBytes)"));
            return Err(self.in_place(self.place, error));
        }
        let read = self.spooled.read(self.offset, WINDOW, &mut self.buffer).map_err(|error| {
            tracing::error!(%error, "what is imported cannot be read again");
            Error::new(Code::DatabaseUnavailable, "what was sent cannot be read again")
        })?;
        if self.offset == 0 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        self.offset += read as u64;
        self.is_end = read == 0;
        Ok(())
    }

    /// Goes on behind so many bytes.
    fn pass(&mut self, used: usize, is_record: bool) {
        self.place += match self.recipe.syntax {
            Syntax::Csv | Syntax::Ndjson => {
                memchr_iter(b'\n', &self.buffer[self.at..self.at + used]).count() as u64
            }
            Syntax::Json => u64::from(is_record),
        };
        self.at += used;
        self.bytes += used;
        self.recipe.progress.bytes.fetch_add(used as u64, Ordering::Relaxed);
    }

    fn is_full(&self) -> bool {
        let most = self.shape.as_ref().map_or(usize::MAX, |shape| rows(&shape.plan).most());
        self.places.len() >= most || self.bytes >= CHUNK_BYTES_MAX || self.refused.len() >= REFUSED_MAX
    }

    /// What has been gathered, if anything has.
    fn take(&mut self) -> Option<Chunk> {
        self.bytes = 0;
        if self.places.is_empty() && self.refused.is_empty() {
            return None;
        }
        let plan = Arc::clone(&self.shape.as_ref()?.plan);
        let (places, cells) = (self.places.len(), self.cells.len());
        Some(Chunk {
            plan,
            cells: std::mem::replace(&mut self.cells, Vec::with_capacity(cells)),
            places: std::mem::replace(&mut self.places, Vec::with_capacity(places)),
            refused: std::mem::take(&mut self.refused),
        })
    }

    /// A record of CSV; the first one has the names.
    fn csv(&mut self, bytes: Range<usize>) -> Result<Option<Chunk>, Error> {
        // What a field says is counted from where its record began.
        let buffer = &self.buffer[bytes.start..];
        let Some(shape) = &self.shape else {
            let mut names = header(&self.fields, buffer, &self.recipe.names)?;
            let key = self.recipe.make_key.as_ref().map(|key| &key.column);
            let key = key.filter(|key| !names.contains(key)).cloned();
            let is_key_made = key.is_some();
            names.extend(key);
            self.shape = Some(Shape::new(&self.recipe, names, is_key_made)?);
            return Ok(None);
        };
        let is_blank = bytes.is_empty() && shape.members.len() > 1;
        if is_blank {
            return Ok(None);
        }
        let result = csv_cells(&self.recipe, shape, &self.fields, buffer, &mut self.cells);
        self.added(result)
    }

    /// A record of JSON, whose members may be others than those of the one before.
    fn json(&mut self, bytes: Range<usize>) -> Result<Option<Chunk>, Error> {
        let mut full = None;
        let text = std::mem::take(&mut self.buffer);
        let result = self.json_cells(&text[bytes], &mut full);
        self.buffer = text;
        self.added(result).map(|_| full)
    }

    fn json_cells(&mut self, text: &[u8], full: &mut Option<Chunk>) -> Result<(), Error> {
        let unreadable =
            |sentence: String| Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence);
        let mut record = record_of_text(text).map_err(unreadable)?;
        for (name, _) in record.iter_mut().filter(|_| !self.recipe.names.is_empty()) {
            if let Some(column) = self.recipe.names.get(&**name) {
                *name = Cow::Owned(column.clone());
            }
        }
        if record.len() > MEMBERS_MAX {
            return Err(unreadable(format!("has more than {MEMBERS_MAX} members")));
        }
        let is_key_made = match &self.recipe.make_key {
            Some(key) => (key.make)(&mut record)?,
            None => false,
        };
        let is_same = self.shape.as_ref().is_some_and(|shape| {
            shape.is_key_made == is_key_made
                && shape.members.len() == record.len()
                && shape.members.iter().zip(&record).all(|(known, (name, _))| **known == **name)
        });
        if !is_same {
            let names = record.iter().map(|(name, _)| name.to_string().into()).collect();
            let shape = Shape::new(&self.recipe, names, is_key_made)?;
            *full = self.take();
            self.shape = Some(shape);
        }
        if let Some(clean) = &self.recipe.clean {
            clean(&mut record)?;
        }
        let Some(shape) = &self.shape else { return Ok(()) };
        let cells = record.into_iter().map(|(_, cell)| cell);
        shape.prepare(&self.recipe, cells, &mut self.cells)
    }

    fn added(&mut self, result: Result<(), Error>) -> Result<Option<Chunk>, Error> {
        match result {
            Ok(()) => self.places.push(self.place),
            Err(error) => self.refuse(error)?,
        }
        Ok(None)
    }

    /// Leaves a record out, or ends it all.
    fn refuse(&mut self, error: Error) -> Result<(), Error> {
        let error = self.in_place(self.place, error);
        if !self.recipe.is_skipping || !is_about_a_record(&error) {
            return Err(error);
        }
        self.refused.push((self.place, error));
        Ok(())
    }

    fn in_place(&self, place: u64, error: Error) -> Error {
        in_place(self.recipe.syntax, place, error)
    }
}
