//! PostgreSQL's types as those of the protocol (SPEC 6.3).

use treeql::schema::ColumnType;

/// A type of the catalog: what clients see of it, its sizes, and whether it must be asked for as text.
pub struct CatalogType {
    /// The type that clients see.
    pub kind: ColumnType,
    /// Maximum length of varchar.
    pub length: u32,
    /// Digits of decimal.
    pub precision: u32,
    /// Digits after the point of decimal.
    pub scale: u32,
    /// Whether its binary form is not read by the driver.
    pub as_text: bool,
}

/// What the size of a type modifier is counted from (`atttypmod`, src/include/c.h VARHDRSZ).
const HEADER: i32 = 4;

/// The type called `name` (`pg_type.typname`) with its modifier (`pg_attribute.atttypmod`).
pub fn catalog_type(name: &str, modifier: i32) -> CatalogType {
    let size = u32::try_from(modifier - HEADER).unwrap_or(0);
    let (kind, as_text) = match name {
        "int2" | "int4" => (ColumnType::Integer, false),
        "int8" => (ColumnType::Bigint, false),
        "float4" => (ColumnType::Float, false),
        "float8" => (ColumnType::Double, false),
        "bool" => (ColumnType::Boolean, false),
        "bytea" => (ColumnType::Blob, false),
        "numeric" | "money" => (ColumnType::Decimal, true),
        "varchar" | "bpchar" => (ColumnType::Varchar, false),
        "text" => (ColumnType::Clob, false),
        // inet is an integer in the reference, which shows its first number; here it is whole.
        "uuid" | "cidr" | "macaddr" | "inet" => (ColumnType::Varchar, true),
        "date" => (ColumnType::Date, true),
        "time" | "timetz" => (ColumnType::Time, true),
        "timestamp" | "timestamptz" => (ColumnType::Timestamp, true),
        "geometry" => (ColumnType::Geometry, false),
        "point" | "line" | "lseg" | "box" | "path" | "polygon" | "circle" => (ColumnType::Clob, true),
        "varbit" | "bit" => (ColumnType::Bit, true),
        _ => (ColumnType::Clob, true),
    };
    let (precision, scale) = match name {
        "numeric" if modifier >= HEADER => (size >> 16, size & 0x7ff),
        // compat: a numeric without a size has the largest (SPEC: pgsql-numeric-without-size).
        "numeric" => (65535, 65531),
        "money" => (19, 4),
        _ => (0, 0),
    };
    let length = if matches!(name, "varchar" | "bpchar") { size } else { 0 };
    CatalogType { kind, length, precision, scale, as_text }
}
