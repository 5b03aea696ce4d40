//! Dialect: every difference in SQL text between the databases, one method each with an arm per database.

use crate::request::Spatial;
use crate::schema::{Column, ColumnType};

/// How a database is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite 3.35 or newer (RETURNING).
    Sqlite,
    /// MariaDB 10.5 or newer, MySQL 8 or newer.
    MySql,
    /// PostgreSQL 12 or newer, with PostGIS where there are geometries.
    Postgres,
}

/// How a cell that a driver delivers is spelled for clients (SPEC 11.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// As the driver says: text as a string, numbers as numbers.
    Text,
    /// A whole number; the leading integer of text.
    Integer,
    /// The same as a string.
    IntegerText,
    /// A double precision number.
    Float,
    /// A string with exactly so many decimals, made from whatever number is stored.
    DecimalOfNumber {
        /// Digits after the point.
        scale: u32,
    },
    /// A string as the database prints the number.
    DecimalText,
    /// True or false.
    Boolean,
    /// Base64, in one line.
    Base64,
    /// Base64, with a line feed after every 76 characters.
    Base64Lines,
}

impl Dialect {
    /// Every dialect, for tests that show them side by side.
    pub const ALL: [Dialect; 3] = [Dialect::Sqlite, Dialect::MySql, Dialect::Postgres];

    /// The name on the command line and in snapshots.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Sqlite => "sqlite",
            Dialect::MySql => "mysql",
            Dialect::Postgres => "postgres",
        }
    }

    /// What stands around an identifier; inside it is doubled.
    pub fn quote(self) -> char {
        match self {
            Dialect::Sqlite | Dialect::Postgres => '"',
            Dialect::MySql => '`', // Works with and without the ANSI_QUOTES mode.
        }
    }

    /// The placeholder of the parameter with this number, counted from 1.
    pub fn placeholder(self, number: usize) -> String {
        match self {
            Dialect::Sqlite => format!("?{number}"),
            Dialect::MySql => "?".to_owned(),
            Dialect::Postgres => format!("${number}"),
        }
    }

    /// What follows LIKE and its pattern, so that a backslash escapes.
    pub fn like_escape(self) -> &'static str {
        match self {
            Dialect::Sqlite => " ESCAPE '\\'", // There is no default escape character.
            Dialect::MySql | Dialect::Postgres => "",
        }
    }

    /// A column as it is selected, given its quoted name.
    pub fn selected(self, column: &Column, quoted: &str) -> String {
        match (self, column.kind) {
            (Dialect::Sqlite, _) => quoted.to_owned(), // Shapes are kept as text.
            (Dialect::MySql | Dialect::Postgres, ColumnType::Geometry) => format!("ST_AsText({quoted})"),
            (Dialect::Postgres, _) if column.as_text => format!("{quoted}::text"),
            (Dialect::MySql | Dialect::Postgres, _) => quoted.to_owned(),
        }
    }

    /// A parameter as it is written into a column, given its placeholder.
    pub fn written(self, kind: ColumnType, placeholder: &str, srid: u32) -> String {
        match (self, kind) {
            (Dialect::Sqlite, _) => placeholder.to_owned(), // Shapes are kept as text.
            (Dialect::MySql | Dialect::Postgres, ColumnType::Geometry) => {
                format!("ST_GeomFromText({placeholder}, {srid})")
            }
            // Text would be taken for the bits of its characters.
            (Dialect::MySql, ColumnType::Bit) => format!("CAST({placeholder} AS UNSIGNED)"),
            (Dialect::MySql | Dialect::Postgres, _) => placeholder.to_owned(),
        }
    }

    /// A spatial condition, given the quoted column and the placeholder of the shape; `None` where there is none.
    pub fn spatial(self, spatial: Spatial, column: &str, placeholder: &str, srid: u32) -> Option<String> {
        let function = match spatial {
            Spatial::Contains => "ST_Contains",
            Spatial::Crosses => "ST_Crosses",
            Spatial::Disjoint => "ST_Disjoint",
            Spatial::Equals => "ST_Equals",
            Spatial::Intersects => "ST_Intersects",
            Spatial::Overlaps => "ST_Overlaps",
            Spatial::Touches => "ST_Touches",
            Spatial::Within => "ST_Within",
            Spatial::IsClosed => return self.spatial_fact("ST_IsClosed", column),
            Spatial::IsSimple => return self.spatial_fact("ST_IsSimple", column),
            Spatial::IsValid => return self.spatial_fact("ST_IsValid", column),
        };
        match self {
            Dialect::Sqlite => None, // No spatial functions.
            Dialect::MySql => {
                Some(format!("{function}({column}, ST_GeomFromText({placeholder}, {srid})) = 1"))
            }
            Dialect::Postgres => {
                Some(format!("{function}({column}, ST_GeomFromText({placeholder}, {srid}))"))
            }
        }
    }

    fn spatial_fact(self, function: &str, column: &str) -> Option<String> {
        match self {
            Dialect::Sqlite => None, // No spatial functions.
            Dialect::MySql => Some(format!("{function}({column}) = 1")),
            Dialect::Postgres => Some(format!("{function}({column})")),
        }
    }

    /// Whether the database has spatial functions at all.
    pub fn has_spatial(self) -> bool {
        match self {
            Dialect::Sqlite => false,
            Dialect::MySql | Dialect::Postgres => true,
        }
    }

    /// LIMIT and OFFSET for the given placeholders.
    pub fn limit(self, limit: &str, offset: Option<&str>) -> String {
        match (self, offset) {
            (Dialect::Sqlite | Dialect::MySql | Dialect::Postgres, None) => format!(" LIMIT {limit}"),
            (Dialect::Sqlite | Dialect::MySql | Dialect::Postgres, Some(offset)) => {
                format!(" LIMIT {limit} OFFSET {offset}")
            }
        }
    }

    /// What follows an INSERT so that it answers with the key; `None` if the driver learns it otherwise.
    pub fn returning(self, key: &str) -> Option<String> {
        match self {
            Dialect::Sqlite | Dialect::Postgres => Some(format!(" RETURNING {key}")),
            Dialect::MySql => None, // The OK packet carries the generated key; MySQL has no RETURNING.
        }
    }

    /// What stands for the columns and values of a row of nothing but defaults.
    pub fn default_row(self) -> &'static str {
        match self {
            Dialect::Sqlite | Dialect::Postgres => " DEFAULT VALUES",
            Dialect::MySql => " () VALUES ()",
        }
    }

    /// Whether an INSERT can name the unique key whose conflicts it settles.
    pub fn names_conflict_key(self) -> bool {
        match self {
            Dialect::Sqlite | Dialect::Postgres => true,
            Dialect::MySql => false,
        }
    }

    /// Whether rows can be sent as a stream of text, faster than any INSERT.
    pub fn has_copy(self) -> bool {
        match self {
            Dialect::Postgres => true,
            // LOAD DATA LOCAL makes values fit and leaves out rows without saying which.
            Dialect::Sqlite | Dialect::MySql => false,
        }
    }

    /// Whether the writes of a process run on a thread of their own, which may read what it writes by itself.
    pub fn writes_on_a_thread(self) -> bool {
        match self {
            Dialect::Sqlite => true,
            Dialect::MySql | Dialect::Postgres => false,
        }
    }

    /// How cells of a column are spelled for clients.
    pub fn cell_kind(self, column: &Column) -> CellKind {
        match (column.kind, self) {
            (ColumnType::Bigint, _) if column.quoted => CellKind::IntegerText,
            (ColumnType::Integer | ColumnType::Bigint, _) => CellKind::Integer,
            (ColumnType::Float | ColumnType::Double, _) => CellKind::Float,
            (ColumnType::Boolean, _) => CellKind::Boolean,
            // SQLite stores binary numbers; the scale of the declared type makes the text.
            (ColumnType::Decimal, Dialect::Sqlite) => CellKind::DecimalOfNumber { scale: column.scale },
            (ColumnType::Decimal, Dialect::MySql | Dialect::Postgres) => CellKind::DecimalText,
            (ColumnType::Blob | ColumnType::Varbinary, Dialect::Sqlite) => CellKind::Base64,
            // compat: 76 characters a line (SPEC: base64-line-feeds).
            (ColumnType::Blob | ColumnType::Varbinary, Dialect::MySql | Dialect::Postgres) => {
                CellKind::Base64Lines
            }
            _ => CellKind::Text,
        }
    }

    /// Whether a statement costs a round trip, so that one for several requests is worth its making.
    pub fn is_remote(self) -> bool {
        match self {
            Dialect::Sqlite => false,
            Dialect::MySql | Dialect::Postgres => true,
        }
    }

    /// Whether the first column of a composite key addresses records (SPEC: composite-key).
    pub fn first_of_composite_key(self) -> bool {
        match self {
            Dialect::Sqlite | Dialect::Postgres => true,
            Dialect::MySql => false,
        }
    }

    /// Whether the reference keeps base64 text in binary columns instead of the bytes behind it.
    pub fn keeps_base64(self) -> bool {
        match self {
            Dialect::Sqlite => true,
            Dialect::MySql | Dialect::Postgres => false,
        }
    }

    /// Whether there are integers of 64 bits without a sign.
    pub fn has_unsigned(self) -> bool {
        match self {
            Dialect::MySql => true,
            Dialect::Sqlite | Dialect::Postgres => false,
        }
    }

    /// Whether there is a type for amounts of money, which are shown with their sign.
    pub fn has_money(self) -> bool {
        match self {
            Dialect::Postgres => true,
            Dialect::Sqlite | Dialect::MySql => false,
        }
    }

    /// Whether numbers with a fraction are added as doubles, because there is no exact type for them.
    pub fn adds_doubles(self) -> bool {
        match self {
            Dialect::Sqlite => true,
            Dialect::MySql | Dialect::Postgres => false,
        }
    }

    /// A column with a parameter added to it.
    pub fn incremented(self, kind: ColumnType, column: &str, placeholder: &str) -> String {
        let sum = format!("{column} + {placeholder}");
        match self {
            // Beyond 64 bits SQLite would go on with a double and lose digits; abs() of the least integer is an error.
            Dialect::Sqlite if kind.is_integer() => {
                format!("CASE typeof({sum}) WHEN 'real' THEN abs(-9223372036854775807 - 1) ELSE {sum} END")
            }
            Dialect::Sqlite | Dialect::MySql | Dialect::Postgres => sum,
        }
    }

    /// How many digits of an exact number are kept, if not all.
    pub fn decimal_digits_max(self) -> Option<usize> {
        match self {
            Dialect::Sqlite => Some(15), // Exact numbers are stored as doubles.
            Dialect::MySql | Dialect::Postgres => None,
        }
    }

    /// Whether a value that does not fit the type or the length of its column is refused.
    pub fn checks_types(self) -> bool {
        match self {
            Dialect::Sqlite => false,
            Dialect::MySql | Dialect::Postgres => true,
        }
    }

    /// Whether a column that is called an integer may hold more than 32 bits with a sign.
    pub fn has_wide_integers(self) -> bool {
        match self {
            Dialect::Sqlite | Dialect::MySql => true, // Any integer has 64 bits; `int unsigned` has 32 and no sign.
            Dialect::Postgres => false,
        }
    }

    /// Whether bit strings are numbers.
    pub fn has_numeric_bits(self) -> bool {
        match self {
            Dialect::MySql => true,
            Dialect::Sqlite | Dialect::Postgres => false,
        }
    }
}
