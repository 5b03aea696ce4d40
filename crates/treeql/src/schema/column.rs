//! A column and its type, in the protocol's names.

use std::fmt::{self, Display, Formatter};

/// The type of a column as clients see it. The names are those of php-crud-api, which took them from JDBC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// Short text with a maximum length.
    Varchar,
    /// Long text; also what is not known otherwise.
    Clob,
    /// A truth value.
    Boolean,
    /// A 32-bit integer (64-bit on SQLite).
    Integer,
    /// A 64-bit integer.
    Bigint,
    /// A single precision number.
    Float,
    /// A double precision number.
    Double,
    /// An exact number, as text on the wire.
    Decimal,
    /// `YYYY-MM-DD`.
    Date,
    /// `HH:MM:SS`.
    Time,
    /// `YYYY-MM-DD HH:MM:SS`.
    Timestamp,
    /// Short binary, base64 on the wire.
    Varbinary,
    /// Long binary, base64 on the wire.
    Blob,
    /// A shape, well-known text on the wire.
    Geometry,
    /// A bit string.
    Bit,
}

impl ColumnType {
    /// Every type.
    pub const ALL: [ColumnType; 15] = [
        ColumnType::Varchar,
        ColumnType::Clob,
        ColumnType::Boolean,
        ColumnType::Integer,
        ColumnType::Bigint,
        ColumnType::Float,
        ColumnType::Double,
        ColumnType::Decimal,
        ColumnType::Date,
        ColumnType::Time,
        ColumnType::Timestamp,
        ColumnType::Varbinary,
        ColumnType::Blob,
        ColumnType::Geometry,
        ColumnType::Bit,
    ];

    /// Those that a caller may give a column; the databases do not agree on bit strings.
    pub fn given() -> impl Iterator<Item = ColumnType> + Clone {
        ColumnType::ALL.into_iter().filter(|kind| *kind != ColumnType::Bit)
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ColumnType::Varchar => "varchar",
            ColumnType::Clob => "clob",
            ColumnType::Boolean => "boolean",
            ColumnType::Integer => "integer",
            ColumnType::Bigint => "bigint",
            ColumnType::Float => "float",
            ColumnType::Double => "double",
            ColumnType::Decimal => "decimal",
            ColumnType::Date => "date",
            ColumnType::Time => "time",
            ColumnType::Timestamp => "timestamp",
            ColumnType::Varbinary => "varbinary",
            ColumnType::Blob => "blob",
            ColumnType::Geometry => "geometry",
            ColumnType::Bit => "bit",
        }
    }

    /// Whether values are whole numbers.
    pub fn is_integer(self) -> bool {
        matches!(self, ColumnType::Integer | ColumnType::Bigint)
    }

    /// Whether values are numbers of any kind.
    pub fn is_number(self) -> bool {
        self.is_integer() || matches!(self, ColumnType::Float | ColumnType::Double | ColumnType::Decimal)
    }

    /// Whether values are bytes, spelled in base64.
    pub fn is_binary(self) -> bool {
        matches!(self, ColumnType::Varbinary | ColumnType::Blob)
    }

    /// Whether values are text without a form of their own.
    pub fn is_text(self) -> bool {
        matches!(self, ColumnType::Varchar | ColumnType::Clob)
    }
}

impl Display for ColumnType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name in the database.
    pub name: Box<str>,
    /// The name that clients see.
    pub alias: Box<str>,
    /// The type that clients see.
    pub kind: ColumnType,
    /// Maximum number of characters or bytes; only for varchar and varbinary, else 0.
    pub length: u32,
    /// Number of digits; only for decimal, else 0.
    pub precision: u32,
    /// Number of digits after the point; only for decimal, else 0.
    pub scale: u32,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// Whether the database computes the value, so that it cannot be written.
    pub generated: bool,
    /// Whether it is asked for as text, because its binary form is not read.
    pub as_text: bool,
    /// Whether its whole numbers are JSON strings, because those of JavaScript end at 53 bits.
    pub quoted: bool,
    /// Whether values are UUIDs, which the database compares as we do whatever their case.
    pub is_uuid: bool,
}
