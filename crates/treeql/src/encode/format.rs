//! Format: how the records of a list follow one another.

/// How the records of a list are spelled (SPEC 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One document.
    #[default]
    Json,
    /// A document for each record, in a line of its own.
    Ndjson,
    /// A line with the names of the columns, and one for each record.
    Csv,
}

impl Format {
    /// The names as a parameter, with what they mean.
    pub const NAMES: [(&'static str, Format); 3] =
        [("json", Format::Json), ("ndjson", Format::Ndjson), ("csv", Format::Csv)];

    /// The content type of answers.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Json => "application/json; charset=utf-8",
            Format::Ndjson => "application/x-ndjson; charset=utf-8",
            Format::Csv => "text/csv; charset=utf-8; header=present",
        }
    }

    /// The format of a media type, without its parameters.
    pub fn of_media_type(name: &str) -> Option<Format> {
        let lower = name.trim().to_ascii_lowercase();
        match lower.as_str() {
            "application/json" => Some(Format::Json),
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Some(Format::Ndjson),
            "text/csv" => Some(Format::Csv),
            _ => None,
        }
    }
}
