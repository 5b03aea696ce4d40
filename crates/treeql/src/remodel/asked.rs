//! AskedTable and AskedColumn: documents of callers about what is to be (SPEC 15.2).

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::error::{Code, Error};
use crate::mode::Mode;
use crate::nearest::{shown, unknown};
use crate::request::{BodyKind, Cell, Record, RecordBatch};
use crate::schema::ColumnType;

/// limit: columns of a new table; none of the databases allows more.
const COLUMNS_MAX: usize = 1600;
/// limit: characters or bytes of a varchar or varbinary.
const LENGTH_MAX: u32 = 65_535;
/// limit: digits of a decimal, as MySQL has them.
const PRECISION_MAX: u32 = 65;
/// limit: digits of a decimal after the point, as MySQL has them.
const SCALE_MAX: u32 = 30;

const COLUMN_MEMBERS: [&str; 10] =
    ["name", "alias", "type", "length", "precision", "scale", "nullable", "pk", "fk", "generated"];
const TABLE_MEMBERS: [&str; 4] = ["name", "alias", "type", "columns"];

/// What a caller says of a column; `None`: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedColumn {
    /// The real name.
    pub name: Option<String>,
    /// The type.
    pub kind: Option<ColumnType>,
    /// Characters or bytes.
    pub length: Option<u32>,
    /// Digits.
    pub precision: Option<u32>,
    /// Digits after the point.
    pub scale: Option<u32>,
    /// Whether NULL is allowed.
    pub nullable: Option<bool>,
    /// Whether it is the primary key.
    pub is_key: Option<bool>,
    /// The table whose primary key it refers to; `Some(None)`: none.
    pub reference: Option<Option<String>>,
}

/// What a caller says of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedTable {
    /// The real name.
    pub name: Option<String>,
    /// The columns, if there is a list of them.
    pub columns: Option<Vec<AskedColumn>>,
}

impl AskedTable {
    /// Reads a body: one object, or a form.
    pub fn parse(body: &[u8], kind: BodyKind<'_>, mode: Mode) -> Result<AskedTable, Error> {
        let record = one(body, kind, mode)?;
        let reader = Reader { about: "table", members: &TABLE_MEMBERS, mode };
        let mut asked = AskedTable::default();
        for (member, cell) in &record {
            match &**member {
                "name" => asked.name = reader.text(member, cell)?,
                "columns" => asked.columns = columns(cell, mode)?,
                _ => reader.check(member)?,
            }
        }
        Ok(asked)
    }
}

impl AskedColumn {
    /// Reads a body: one object, or a form.
    pub fn parse(body: &[u8], kind: BodyKind<'_>, mode: Mode) -> Result<AskedColumn, Error> {
        AskedColumn::of(&one(body, kind, mode)?, mode)
    }

    fn of(record: &Record<'_>, mode: Mode) -> Result<AskedColumn, Error> {
        let reader = Reader { about: "column", members: &COLUMN_MEMBERS, mode };
        let mut asked = AskedColumn::default();
        for (member, cell) in record {
            match &**member {
                "name" => asked.name = reader.text(member, cell)?,
                "type" => asked.kind = reader.text(member, cell)?.map(|name| kind_of(&name)).transpose()?,
                "length" => asked.length = reader.number(member, cell, LENGTH_MAX)?,
                "precision" => asked.precision = reader.number(member, cell, PRECISION_MAX)?,
                "scale" => asked.scale = reader.number(member, cell, SCALE_MAX)?,
                "nullable" => asked.nullable = Some(reader.truth(member, cell)?),
                "pk" => asked.is_key = Some(reader.truth(member, cell)?),
                "fk" => asked.reference = Some(reader.reference(member, cell)?),
                _ => reader.check(member)?,
            }
        }
        Ok(asked)
    }
}

fn one<'a>(body: &'a [u8], kind: BodyKind<'_>, mode: Mode) -> Result<Record<'a>, Error> {
    let batch = RecordBatch::parse(body, kind, 1, mode)?;
    match (batch.batch, batch.records.into_iter().next()) {
        (false, Some(record)) => Ok(record),
        _ => Err(Error::new(Code::HttpMessageNotReadable, "").detail("body", "is a list; send one object")),
    }
}

/// The list of columns of a table: objects of JSON.
fn columns(cell: &Cell<'_>, mode: Mode) -> Result<Option<Vec<AskedColumn>>, Error> {
    let wrong = |sentence: String| Error::invalid("table", "columns", sentence);
    let text = match cell {
        Cell::Null => return Ok(None),
        Cell::Json(text) if text.starts_with('[') => text,
        _ => {
            return Err(wrong(
                "is no list of objects, for example [{\"name\":\"id\",\"type\":\"integer\",\"pk\":true}]"
                    .to_owned(),
            ));
        }
    };
    let items: Vec<Cow<'_, RawValue>> =
        serde_json::from_str(text).map_err(|error| wrong(format!("is no JSON: {error}")))?;
    if items.len() > COLUMNS_MAX {
        return Err(wrong(format!("has {} columns; a table may have {COLUMNS_MAX}", items.len())));
    }
    let parse = |(index, item): (usize, &Cow<'_, RawValue>)| {
        let asked = AskedColumn::parse(item.get().as_bytes(), BodyKind::Detected, mode);
        asked.map_err(|mut error| {
            for (_, sentence) in &mut error.details {
                *sentence = format!("column {}: {sentence}", index + 1).into();
            }
            error
        })
    };
    items.iter().enumerate().map(parse).collect::<Result<_, _>>().map(Some)
}

fn kind_of(name: &str) -> Result<ColumnType, Error> {
    ColumnType::given().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = ColumnType::given().map(ColumnType::name);
        Error::invalid("column", "type", unknown("type", name, names))
    })
}

/// Reads members, and says what is wrong with them.
struct Reader<'a> {
    about: &'static str,
    members: &'a [&'static str],
    mode: Mode,
}

impl Reader<'_> {
    fn wrong(&self, member: &str, cell: &Cell<'_>, sentence: &str) -> Error {
        let value = match cell {
            Cell::Null => "null".into(),
            Cell::Bool(truth) => truth.to_string(),
            Cell::Number(text) | Cell::Text(text) | Cell::Json(text) => shown(text),
        };
        Error::invalid(self.about, member, format!("'{value}' {sentence}"))
    }

    /// A member that is not read: one of a document that is sent back as it was read is no mistake.
    fn check(&self, member: &str) -> Result<(), Error> {
        if !self.mode.is_strict() || self.members.contains(&member) {
            return Ok(());
        }
        Err(Error::invalid(self.about, member, unknown("member", member, self.members.iter().copied())))
    }

    fn text(&self, member: &str, cell: &Cell<'_>) -> Result<Option<String>, Error> {
        match cell {
            Cell::Null => Ok(None),
            Cell::Text(text) if text.is_empty() => Ok(None),
            Cell::Text(text) => Ok(Some(text.to_string())),
            Cell::Number(text) => Ok(Some(text.to_string())),
            Cell::Bool(_) | Cell::Json(_) => Err(self.wrong(member, cell, "is no text")),
        }
    }

    /// A whole number up to `max`; 0 and null are nothing, as they are left out of documents.
    fn number(&self, member: &str, cell: &Cell<'_>, max: u32) -> Result<Option<u32>, Error> {
        let text = match cell {
            Cell::Null => return Ok(None),
            Cell::Number(text) | Cell::Text(text) => text,
            Cell::Bool(_) | Cell::Json(_) => return Err(self.wrong(member, cell, "is no number")),
        };
        match text.trim().parse::<u32>() {
            Ok(number) if number <= max => Ok(Some(number).filter(|number| *number > 0)),
            _ => Err(self.wrong(member, cell, &format!("is no whole number from 0 to {max}"))),
        }
    }

    fn truth(&self, member: &str, cell: &Cell<'_>) -> Result<bool, Error> {
        match cell {
            Cell::Null => Ok(false),
            Cell::Bool(truth) => Ok(*truth),
            Cell::Number(text) | Cell::Text(text) => match &**text {
                "1" | "true" => Ok(true),
                "0" | "false" | "" => Ok(false),
                _ => Err(self.wrong(member, cell, "is neither true nor false")),
            },
            Cell::Json(_) => Err(self.wrong(member, cell, "is neither true nor false")),
        }
    }

    fn reference(&self, member: &str, cell: &Cell<'_>) -> Result<Option<String>, Error> {
        if *cell == Cell::Bool(false) { Ok(None) } else { self.text(member, cell) }
    }
}
