//! In which format a list is wanted (SPEC 4.1).

use http::header;
use treeql::encode::Format;
use treeql::error::Error;
use treeql::nearest::{nearest, unknown};
use treeql::request::parameter;

use crate::api::context::Context;

/// The parameter that names a format, for those who cannot set headers. Other values may be somebody else's.
const PARAMETER: &str = "format";

/// The format that `?format=` names, else the one that `Accept` likes best, else JSON. A misspelt name is 1013 in the
/// strict mode.
pub fn wanted(context: &Context<'_>, table: &str) -> Result<Format, Error> {
    let query = context.head.query();
    if query.contains(PARAMETER)
        && let Some(name) = parameter(query, PARAMETER)
    {
        if let Some((_, format)) = Format::NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(*format);
        }
        let names = Format::NAMES.iter().map(|(known, _)| *known);
        if context.mode().is_strict() && nearest(&name, names.clone()).is_some() {
            return Err(Error::invalid(table, PARAMETER, unknown("format", &name, names)));
        }
    }
    Ok(context.head.header(header::ACCEPT).map_or(Format::Json, accepted))
}

/// The format with the highest quality, of equal ones the first; what is not ours does not count (RFC 9110, 12.5.1).
fn accepted(accept: &str) -> Format {
    let mut best = (0.0, Format::Json);
    for range in accept.split(',') {
        let mut parts = range.split(';');
        let Some(format) = parts.next().and_then(Format::of_media_type) else { continue };
        let quality = parts.find_map(|part| part.trim().strip_prefix("q=")?.parse::<f32>().ok());
        let quality = quality.unwrap_or(1.0);
        if quality > best.0 {
            best = (quality, format);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use treeql::encode::Format;

    use crate::api::format::accepted;

    #[test]
    fn the_best_quality_wins() {
        for (accept, format) in [
            ("", Format::Json),
            ("*/*", Format::Json),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Format::Json),
            ("text/csv", Format::Csv),
            ("Text/CSV; header=present, */*;q=0.1", Format::Csv),
            ("text/csv;q=0.5, application/x-ndjson;q=0.9", Format::Ndjson),
            ("application/json, text/csv", Format::Json),
            ("text/csv;q=0", Format::Json),
        ] {
            assert_eq!(accepted(accept), format, "{accept}");
        }
    }
}
