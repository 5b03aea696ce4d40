//! Sinks: what is done with rows as they arrive.

use treeql::encode::{Format, GeometryError, push_row, write_csv_row};
use treeql::error::{Code, Error};
use treeql::plan::SelectPlan;
use treeql::row::{Joined, Key, Layout, RowSet};
use treeql::value::{Row, ValueRef};

use crate::driver::{Flow, Out, Sink, Stopped};

/// limit: bytes of the rows that are joined to one round of rows; they are kept until the round is written.
const JOINED_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Rows written one after the other, in JSON with commas between.
pub struct Rows<'a> {
    /// Where they are written.
    pub out: &'a mut Out,
    /// What they are.
    pub select: &'a SelectPlan,
    /// How they follow one another.
    pub format: Format,
    /// How many have been written.
    pub count: u64,
}

impl<'a> Rows<'a> {
    /// A sink for the rows of `plan`.
    pub fn new(out: &'a mut Out, plan: &'a SelectPlan, format: Format) -> Rows<'a> {
        Rows { out, select: plan, format, count: 0 }
    }
}

impl Sink for Rows<'_> {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        let buffer = &mut self.out.buffer;
        match self.format {
            Format::Json => {
                if self.count > 0 {
                    buffer.push(b',');
                }
                self.select.write_row(buffer, row).map_err(|error| unwritten(&error))?;
            }
            Format::Ndjson => {
                self.select.write_row(buffer, row).map_err(|error| unwritten(&error))?;
                buffer.push(b'\n');
            }
            Format::Csv => write_csv_row(buffer, &self.select.layout, row),
        }
        self.count += 1;
        Ok(self.out.flow())
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        self.out.flush().await
    }
}

/// A geometry that GeoJSON does not have ends the answer, in the words of the reference (SPEC 14).
pub fn unwritten(error: &GeometryError) -> Stopped {
    Stopped::Failed(Error::new(Code::Internal, error.to_string()))
}

/// Rows kept for joining.
pub struct Kept<'a> {
    /// The rows.
    pub rows: RowSet,
    /// What their cells are.
    pub layout: &'a Layout,
}

impl<'a> Kept<'a> {
    /// No rows yet.
    pub fn new(layout: &'a Layout) -> Kept<'a> {
        Kept { rows: RowSet::new(layout.cells.len(), layout.links.len()), layout }
    }
}

impl Sink for Kept<'_> {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        push_row(&mut self.rows, self.layout, row);
        Ok(Flow::More)
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}

/// Joined rows, grouped by the key of the row they belong to.
pub struct Grouped<'a> {
    /// limit: rows of one key; the others are left out.
    pub rows_max: usize,
    /// The rows and their groups.
    pub joined: Joined,
    /// What their cells are; the first link is the key.
    pub layout: &'a Layout,
}

impl<'a> Grouped<'a> {
    /// No rows yet.
    pub fn new(layout: &'a Layout, parent_link: usize, rows_max: usize) -> Grouped<'a> {
        let rows = RowSet::new(layout.cells.len(), layout.links.len());
        Grouped { joined: Joined { parent_link, rows, groups: Default::default() }, layout, rows_max }
    }
}

impl Sink for Grouped<'_> {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        let Some(key) = Key::of(row.get(0)) else { return Ok(Flow::More) };
        let group = self.joined.groups.entry(key).or_default();
        if group.len() >= self.rows_max {
            return Ok(Flow::More);
        }
        group.push(self.joined.rows.len());
        push_row(&mut self.joined.rows, self.layout, row);
        if self.joined.rows.bytes.len() > JOINED_BYTES_MAX {
            let sentence = format!(
                "more than {} MiB are joined to the records; ask for fewer with size, or fewer columns with include",
                JOINED_BYTES_MAX >> 20
            );
            return Err(Stopped::Failed(Error::new(Code::TooLarge, sentence)));
        }
        Ok(Flow::More)
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}

/// Counts rows.
#[derive(Default)]
pub struct Count {
    /// How many there were.
    pub rows: u64,
}

impl Sink for Count {
    fn row(&mut self, _row: &impl Row) -> Result<Flow, Stopped> {
        self.rows += 1;
        Ok(Flow::More)
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}

/// The first cell of the first row.
#[derive(Default)]
pub struct First {
    /// It as a whole number, for counts.
    pub number: Option<i64>,
    /// It as JSON of a number or a string, for keys.
    pub json: Option<Vec<u8>>,
    /// Whether a number in text is to be written as a number.
    pub is_number: bool,
    /// Whether a number is to be written as a string.
    pub is_quoted: bool,
}

impl Sink for First {
    fn row(&mut self, row: &impl Row) -> Result<Flow, Stopped> {
        let mut json = Vec::new();
        match row.get(0) {
            ValueRef::Int(int) => {
                self.number = Some(int);
                let quote = if self.is_quoted { "\"" } else { "" };
                json.extend_from_slice(format!("{quote}{int}{quote}").as_bytes());
            }
            ValueRef::Text(text) | ValueRef::Number(text) => {
                self.number = text.parse().ok();
                match self.number {
                    Some(number) if self.is_number && !self.is_quoted => {
                        json.extend_from_slice(number.to_string().as_bytes())
                    }
                    _ => treeql::encode::write_string(&mut json, text),
                }
            }
            ValueRef::Bool(truth) => json.extend_from_slice(if truth { b"true" } else { b"false" }),
            ValueRef::Float(float) => treeql::encode::write_double(&mut json, float),
            ValueRef::Bytes(bytes) => {
                treeql::encode::write_string(&mut json, &String::from_utf8_lossy(bytes));
            }
            ValueRef::Null => json.extend_from_slice(b"null"),
        }
        self.json.get_or_insert(json);
        Ok(Flow::More)
    }

    async fn flush(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}
