//! MySQL's types as those of the protocol (SPEC 6.3).

use treeql::schema::ColumnType;

/// The type that clients see, and its length, precision and scale, from `COLUMN_TYPE` (`decimal(10,2)`).
pub fn catalog_type(declared: &str) -> (ColumnType, u32, u32, u32) {
    let lower = declared.to_ascii_lowercase();
    let word: String = lower.chars().take_while(char::is_ascii_alphabetic).collect();
    let inside =
        lower.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    let mut sizes = inside.split(',').map(|size| size.trim().parse::<u32>().unwrap_or(0));
    let (first, second) = (sizes.next().unwrap_or(0), sizes.next().unwrap_or(0));
    match word.as_str() {
        "tinyint" if first == 1 => (ColumnType::Boolean, 0, 0, 0),
        "bit" if first <= 1 => (ColumnType::Boolean, 0, 0, 0),
        "bit" => (ColumnType::Bit, 0, 0, 0),
        "tinyint" | "smallint" | "mediumint" | "int" | "integer" | "year" => (ColumnType::Integer, 0, 0, 0),
        "bigint" => (ColumnType::Bigint, 0, 0, 0),
        "decimal" | "numeric" => (ColumnType::Decimal, 0, first, second),
        "float" => (ColumnType::Float, 0, 0, 0),
        "double" | "real" => (ColumnType::Double, 0, 0, 0),
        "char" | "varchar" => (ColumnType::Varchar, first, 0, 0),
        "enum" | "set" | "uuid" | "inet4" | "inet6" => (ColumnType::Varchar, 255, 0, 0),
        "binary" | "varbinary" => (ColumnType::Varbinary, first, 0, 0),
        "tinyblob" | "blob" | "mediumblob" | "longblob" => (ColumnType::Blob, 0, 0, 0),
        "date" => (ColumnType::Date, 0, 0, 0),
        "time" => (ColumnType::Time, 0, 0, 0),
        "datetime" | "timestamp" => (ColumnType::Timestamp, 0, 0, 0),
        "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon"
        | "geometry" => (ColumnType::Geometry, 0, 0, 0),
        // The reference has these as clob; as text they can be read.
        "geometrycollection" | "geomcollection" => (ColumnType::Geometry, 0, 0, 0),
        _ => (ColumnType::Clob, 0, 0, 0),
    }
}
