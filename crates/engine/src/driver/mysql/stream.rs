//! Stream: a long list on a wire, its cells read where they lie.

use std::ops::Range;

use mysql_async::consts::{ColumnFlags, ColumnType};
use mysql_async::{Column, Error as Native, Value};
use mysql_common::io::ParseBuf;
use mysql_common::value::{BinValue, ValueDeserializer};
use treeql::error::{Code, Error};
use treeql::sql::{Args, Rows, Statement};
use treeql::value::{Row, ValueRef};

use crate::driver::connection::Connection;
use crate::driver::mysql::connect::Link;
use crate::driver::mysql::error::{convert, failure};
use crate::driver::mysql::rows::{bits, is_bytes, made_text, parameters, six_digits};
use crate::driver::mysql::wire::{Wire, is_end};
use crate::driver::pool::Lease;
use crate::driver::sink::{Done, Flow, Sink, Stopped};

/// What a job without joins does on its connection.
pub struct Stream {
    lease: Lease<Link>,
}

impl Stream {
    /// A stream on a leased wire.
    pub fn new(lease: Lease<Link>) -> Stream {
        Stream { lease }
    }

    fn failed(&self, error: &Native) -> Stopped {
        if failure(error).ends_connection() {
            self.lease.give_up();
        }
        convert(error).into()
    }

    async fn rows(
        &self,
        wire: &mut Wire,
        statement: &Statement,
        args: Args<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        let values = parameters(statement, args)?;
        let columns = wire.start(statement, &values).await.map_err(|error| self.failed(&error))?;
        let mut rows = WireRows::new(&columns);
        loop {
            let Some(packet) = wire.next() else {
                wire.more().await.map_err(|error| self.failed(&error))?;
                continue;
            };
            let payload = wire.payload(&packet);
            if let Some(end) = is_end(payload) {
                wire.pass(&packet);
                return end.map_err(|error| self.failed(&error));
            }
            let row = rows.read(payload).ok_or_else(|| Error::new(Code::Internal, "a row is cut off"));
            let flow = row.map_err(Stopped::from).and_then(|row| sink.row(&row));
            wire.pass(&packet);
            let flushed = match flow {
                Ok(Flow::More) => continue,
                Ok(Flow::Flush) => sink.flush().await,
                Err(stopped) => Err(stopped),
            };
            if flushed.is_err() {
                // The rest of the rows is on its way: the connection is closed rather than emptied.
                self.lease.give_up();
                return flushed;
            }
        }
    }
}

impl Connection for Stream {
    async fn query(
        &self,
        statement: &Statement,
        args: Args<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Stopped> {
        self.lease.begin();
        let Link::Wire(wire) = self.lease.get() else { unreachable!("a stream is given a wire") };
        let result = self.rows(&mut *wire.lock().await, statement, args, sink).await;
        self.lease.close();
        result
    }

    async fn execute(&self, _statement: &Statement, _args: Args<'_>) -> Result<Done, Error> {
        Err(reads_only())
    }

    async fn load(&self, _rows: &Rows, _args: Args<'_>, _count: usize) -> Result<u64, Error> {
        Err(reads_only())
    }
}

fn reads_only() -> Error {
    Error::new(Code::Internal, "a job only reads")
}

/// How cells of a column lie in a row.
enum Form {
    Tiny {
        is_signed: bool,
    },
    Short {
        is_signed: bool,
    },
    Long {
        is_signed: bool,
    },
    LongLong {
        is_signed: bool,
    },
    Float,
    Double,
    /// Its own length stands before it.
    Moment,
    Bit,
    Text,
    Bytes,
}

/// Where a cell lies.
enum Found {
    Null,
    At(Range<usize>),
    /// Its text was made, and stands behind that of others.
    Made(Range<usize>),
}

/// The rows of a query.
struct WireRows<'a> {
    columns: Vec<(&'a Column, Form)>,
    cells: Vec<Found>,
    /// The text of those cells that arrive in another form.
    made: String,
}

struct WireRow<'a> {
    rows: &'a WireRows<'a>,
    bytes: &'a [u8],
}

impl<'a> WireRows<'a> {
    fn new(columns: &'a [Column]) -> WireRows<'a> {
        let columns = columns.iter().map(|column| (column, form(column))).collect();
        WireRows { columns, cells: Vec::new(), made: String::new() }
    }

    /// Finds the cells of a row; `None` if it is cut off.
    fn read<'b>(&'b mut self, bytes: &'b [u8]) -> Option<WireRow<'b>> {
        self.cells.clear();
        self.made.clear();
        // One byte, then a bit for each column and two before them.
        let mut at = 1 + (self.columns.len() + 9) / 8;
        for (index, (column, form)) in self.columns.iter().enumerate() {
            let bit = index + 2;
            if bytes.get(1 + bit / 8)? >> (bit % 8) & 1 == 1 {
                self.cells.push(Found::Null);
                continue;
            }
            let cell = match form {
                Form::Tiny { .. } => at..at + 1,
                Form::Short { .. } => at..at + 2,
                Form::Long { .. } | Form::Float => at..at + 4,
                Form::LongLong { .. } | Form::Double => at..at + 8,
                Form::Moment => at..at + 1 + usize::from(*bytes.get(at)?),
                Form::Bit | Form::Text | Form::Bytes => behind_length(bytes, at)?,
            };
            at = cell.end;
            let raw = bytes.get(cell.clone())?;
            self.cells.push(match made(column, form, raw) {
                None => Found::At(cell),
                Some(text) => {
                    let start = self.made.len();
                    self.made.push_str(&text);
                    Found::Made(start..self.made.len())
                }
            });
        }
        Some(WireRow { rows: self, bytes })
    }
}

/// The text of a cell that does not arrive as text, nor as what [`ValueRef`] has.
fn made(column: &Column, form: &Form, raw: &[u8]) -> Option<String> {
    let value = match form {
        Form::LongLong { is_signed: false } => Value::UInt(u64::from_le_bytes(raw.try_into().ok()?)),
        Form::Bit => Value::Bytes(raw.to_vec()),
        Form::Moment => {
            let context = (column.column_type(), column.flags());
            ParseBuf(raw).parse::<ValueDeserializer<BinValue>>(context).ok()?.0
        }
        _ => return None,
    };
    made_text(&value, column)
}

impl Row for WireRow<'_> {
    fn get(&self, index: usize) -> ValueRef<'_> {
        let (Some(found), Some((_, form))) = (self.rows.cells.get(index), self.rows.columns.get(index))
        else {
            return ValueRef::Null;
        };
        match found {
            Found::Null => ValueRef::Null,
            Found::Made(range) => {
                let text = &self.rows.made[range.clone()];
                if matches!(form, Form::Moment) { ValueRef::Text(text) } else { ValueRef::Number(text) }
            }
            Found::At(range) => value(form, &self.bytes[range.clone()]).unwrap_or(ValueRef::Null),
        }
    }
}

fn value<'a>(form: &Form, raw: &'a [u8]) -> Option<ValueRef<'a>> {
    Some(match form {
        Form::Tiny { is_signed: true } => ValueRef::Int(i64::from(i8::from_le_bytes(raw.try_into().ok()?))),
        Form::Tiny { is_signed: false } => ValueRef::Int(i64::from(*raw.first()?)),
        Form::Short { is_signed: true } => ValueRef::Int(i64::from(i16::from_le_bytes(raw.try_into().ok()?))),
        Form::Short { is_signed: false } => {
            ValueRef::Int(i64::from(u16::from_le_bytes(raw.try_into().ok()?)))
        }
        Form::Long { is_signed: true } => ValueRef::Int(i64::from(i32::from_le_bytes(raw.try_into().ok()?))),
        Form::Long { is_signed: false } => ValueRef::Int(i64::from(u32::from_le_bytes(raw.try_into().ok()?))),
        // Those beyond 63 bits without a sign have been made.
        Form::LongLong { .. } => ValueRef::Int(i64::from_le_bytes(raw.try_into().ok()?)),
        Form::Float => ValueRef::Float(six_digits(f32::from_le_bytes(raw.try_into().ok()?))),
        Form::Double => ValueRef::Float(f64::from_le_bytes(raw.try_into().ok()?)),
        Form::Bit => ValueRef::Int(i64::try_from(bits(raw)).ok()?),
        Form::Text => ValueRef::of_text(raw),
        Form::Bytes => ValueRef::Bytes(raw),
        Form::Moment => return None,
    })
}

fn form(column: &Column) -> Form {
    let is_signed = !column.flags().contains(ColumnFlags::UNSIGNED_FLAG);
    match column.column_type() {
        ColumnType::MYSQL_TYPE_TINY => Form::Tiny { is_signed },
        ColumnType::MYSQL_TYPE_SHORT | ColumnType::MYSQL_TYPE_YEAR => Form::Short { is_signed },
        ColumnType::MYSQL_TYPE_LONG | ColumnType::MYSQL_TYPE_INT24 => Form::Long { is_signed },
        ColumnType::MYSQL_TYPE_LONGLONG => Form::LongLong { is_signed },
        ColumnType::MYSQL_TYPE_FLOAT => Form::Float,
        ColumnType::MYSQL_TYPE_DOUBLE => Form::Double,
        ColumnType::MYSQL_TYPE_DATE
        | ColumnType::MYSQL_TYPE_DATETIME
        | ColumnType::MYSQL_TYPE_TIMESTAMP
        | ColumnType::MYSQL_TYPE_TIME => Form::Moment,
        ColumnType::MYSQL_TYPE_BIT => Form::Bit,
        _ if is_bytes(column) => Form::Bytes,
        _ => Form::Text,
    }
}

/// The range of what stands behind its length.
fn behind_length(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let number = |count: usize| {
        let raw = bytes.get(at + 1..at + 1 + count)?;
        let number = raw.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        Some((at + 1 + count, usize::try_from(number).ok()?))
    };
    let (start, length) = match *bytes.get(at)? {
        0xfc => number(2)?,
        0xfd => number(3)?,
        0xfe => number(8)?,
        length => (at + 1, usize::from(length)),
    };
    Some(start..start.checked_add(length)?)
}
