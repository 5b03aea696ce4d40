//! Intake: bytes to rows ready to be written, some at a time, in bounded memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memchr::memchr_iter;
use treeql::error::{Code, Error};
use treeql::plan::{Plan, WritePlan};
use treeql::policy::Policy;
use treeql::record::prepare_cells;
use treeql::request::{
    Cell, Elements, Fields, MEMBERS_MAX, Piece, Record, Request, Values, read_fields, record_of_text,
};
use treeql::sql::{Rows, Source};
use treeql::value::Value;

use crate::database::Snapshot;
use crate::exec::spool::Spooled;

/// Bytes that are read at once.
const WINDOW: usize = 256 * 1024;
/// limit: bytes of the cells of a chunk, as they were sent.
const CHUNK_BYTES_MAX: usize = 1024 * 1024;
/// limit: records that are refused in one chunk; then it is handed on.
const REFUSED_MAX: usize = 1024;

/// How records follow one another in what is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// CSV with the names of the columns in the first record.
    Csv,
    /// A JSON object in each line.
    Ndjson,
    /// A JSON array of objects, or a single one.
    Json,
}

/// What is done to a record before its types are looked at.
pub type Clean = Arc<dyn Fn(&mut Record<'_>) -> Result<(), Error> + Send + Sync>;

/// Everything that is known about an import but its bytes.
pub struct Recipe {
    /// The database.
    pub snapshot: Arc<Snapshot>,
    /// What the caller may do.
    pub policy: Arc<Policy>,
    /// The table, the selected columns, and what becomes of records whose key is taken.
    pub request: Request<'static>,
    /// What is known about the caller.
    pub values: Values<'static>,
    /// How records are spelled.
    pub syntax: Syntax,
    /// Names of fields and the columns they mean.
    pub names: HashMap<String, String>,
    /// Sanitation and validation, if there are any.
    pub clean: Option<Clean>,
    /// Whether records that are refused are left out, or end it all.
    pub is_skipping: bool,
    /// Whether nothing is to stay.
    pub is_dry_run: bool,
    /// limit: bytes of one record.
    pub record_bytes_max: usize,
    /// limit: how long it may take, because others may wait for it.
    pub patience: Duration,
    /// What others may watch.
    pub progress: Arc<Progress>,
}

/// How far an import has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// Records that were read.
    pub records: AtomicU64,
    /// Bytes of them.
    pub bytes: AtomicU64,
}

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

/// What records with the same members have in common.
struct Shape {
    members: Vec<Box<str>>,
    plan: Arc<Plan>,
    columns: Vec<Option<usize>>,
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
        let most = self.shape.as_ref().map_or(usize::MAX, |shape| rows(&shape.plan).rows_max);
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
    fn csv(&mut self, bytes: std::ops::Range<usize>) -> Result<Option<Chunk>, Error> {
        // What a field says is counted from where its record began.
        let buffer = &self.buffer[bytes.start..];
        let Some(shape) = &self.shape else {
            let names = header(&self.fields, buffer, &self.recipe.names)?;
            self.shape = Some(Shape::new(&self.recipe, names)?);
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
    fn json(&mut self, bytes: std::ops::Range<usize>) -> Result<Option<Chunk>, Error> {
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
        let is_same = self.shape.as_ref().is_some_and(|shape| {
            shape.members.len() == record.len()
                && shape.members.iter().zip(&record).all(|(known, (name, _))| **known == **name)
        });
        if !is_same {
            let names = record.iter().map(|(name, _)| name.to_string().into()).collect();
            let shape = Shape::new(&self.recipe, names)?;
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

/// Whether an error is about one record, so that others may be fine.
pub fn is_about_a_record(error: &Error) -> bool {
    matches!(
        error.code,
        Code::HttpMessageNotReadable
            | Code::InputValidationFailed
            | Code::ColumnNotFound
            | Code::DuplicateKey
            | Code::DataIntegrityViolation
            | Code::ValueNotAccepted
            | Code::TooLarge
    )
}

/// The same error, its details saying where the record stands.
pub fn in_place(syntax: Syntax, place: u64, mut error: Error) -> Error {
    let what = if syntax == Syntax::Json { "record" } else { "line" };
    if error.details.is_empty() {
        error = error.detail("body", "is refused by the database");
    }
    for (_, sentence) in &mut error.details {
        *sentence = format!("{what} {place}: {sentence}").into();
    }
    error
}

/// The statements of a plan for new records.
pub fn rows(plan: &Plan) -> &Rows {
    write_plan(plan).rows.as_ref().expect("a create has statements for many rows")
}

fn write_plan(plan: &Plan) -> &WritePlan {
    match plan {
        Plan::Write(write) => write,
        Plan::List(_) | Plan::Read(_) => unreachable!("a create has a write plan"),
    }
}

/// The names of the columns, mapped. Two of the same name are an error: one of them would get lost.
fn header(fields: &Fields, buffer: &[u8], mapped: &HashMap<String, String>) -> Result<Vec<Box<str>>, Error> {
    let wrong = |sentence: String| {
        Error::new(Code::HttpMessageNotReadable, "").detail("body", format!("line 1: {sentence}"))
    };
    let mut names: Vec<Box<str>> = Vec::with_capacity(fields.len());
    for index in 0..fields.len() {
        let Cell::Text(name) = fields.cell(index, buffer).map_err(wrong)? else {
            return Err(wrong(format!("field {} has no name; the first line names the columns", index + 1)));
        };
        let name = mapped.get(&*name).map_or(&*name, String::as_str);
        if names.iter().any(|known| **known == *name) {
            return Err(wrong(format!("two fields are called '{name}'")));
        }
        names.push(name.into());
    }
    Ok(names)
}

impl Shape {
    fn new(recipe: &Recipe, members: Vec<Box<str>>) -> Result<Shape, Error> {
        let mut request = recipe.request.clone();
        request.members = members.iter().map(|name| Cow::Owned(name.to_string())).collect();
        let plan = recipe.snapshot.plan(&request, &recipe.policy)?;
        let write = write_plan(&plan);
        let is_unknown = |claim: &u16| recipe.values.claims[usize::from(*claim)].is_none();
        if write.claims.iter().any(is_unknown) {
            let sentence = "something that is written into every record of this table is not known about you";
            return Err(Error::new(Code::OperationForbidden, "").detail("authorization", sentence));
        }
        let table = recipe.snapshot.schema.table(write.table);
        let mut columns = vec![None; members.len()];
        for (column, param) in rows(&plan).cells() {
            if let Source::Cell(place) = param.source {
                columns[usize::from(place)] = table.column(&column.alias);
            }
        }
        Ok(Shape { members, plan, columns })
    }

    fn prepare<'a>(
        &self,
        recipe: &Recipe,
        cells: impl Iterator<Item = Cell<'a>>,
        values: &mut Vec<Value>,
    ) -> Result<(), Error> {
        let setting = recipe.snapshot.setting;
        let table = recipe.snapshot.schema.table(write_plan(&self.plan).table);
        prepare_cells(table, &self.columns, cells, setting.dialect, setting.mode, values)
    }
}

fn csv_cells(
    recipe: &Recipe,
    shape: &Shape,
    fields: &Fields,
    buffer: &[u8],
    values: &mut Vec<Value>,
) -> Result<(), Error> {
    let unreadable = |sentence: String| Error::new(Code::HttpMessageNotReadable, "").detail("body", sentence);
    let width = shape.members.len();
    if fields.len() != width {
        return Err(unreadable(format!("has {} fields, but the first line has {width}", fields.len())));
    }
    let mut bad = None;
    let cell = |index: usize| {
        fields.cell(index, buffer).unwrap_or_else(|sentence| {
            bad = bad.take().or(Some(format!("field '{}' {sentence}", shape.members[index])));
            Cell::Null
        })
    };
    let before = values.len();
    let result = match &recipe.clean {
        None => shape.prepare(recipe, (0..width).map(cell), values),
        Some(clean) => {
            let cells = (0..width).map(cell);
            let names = shape.members.iter().map(|name| Cow::Borrowed(&**name));
            let mut record: Record<'_> = names.zip(cells).collect();
            clean(&mut record)
                .and_then(|()| shape.prepare(recipe, record.into_iter().map(|(_, cell)| cell), values))
        }
    };
    match bad {
        Some(sentence) => {
            values.truncate(before);
            Err(unreadable(sentence))
        }
        None => result,
    }
}
