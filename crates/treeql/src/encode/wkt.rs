//! Geometries in well-known text, as databases say them, written as GeoJSON (SPEC 14).

use std::fmt::{self, Display, Formatter};

use crate::encode::double::write_double;

/// A geometry that cannot be written as GeoJSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeometryError {
    /// GeoJSON has the type, but the protocol does not, or neither has.
    TypeNotSupported(Box<str>),
    /// The text is no well-known text.
    NotDecoded(Box<str>),
}

impl Display for GeometryError {
    /// compat: the words are the reference's.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            GeometryError::TypeNotSupported(name) => write!(f, "Geometry type not supported: {name}"),
            GeometryError::NotDecoded(wkt) => write!(f, "Could not decode WKT: {wkt}"),
        }
    }
}

impl std::error::Error for GeometryError {}

/// The types of the protocol, as text and GeoJSON spell them, with the levels of lists around their positions.
const TYPES: [(&str, &str, usize); 6] = [
    ("POINT", "Point", 0),
    ("MULTIPOINT", "MultiPoint", 1),
    ("LINESTRING", "LineString", 1),
    ("MULTILINESTRING", "MultiLineString", 2),
    ("POLYGON", "Polygon", 2),
    ("MULTIPOLYGON", "MultiPolygon", 3),
];

/// Numbers of a position: two, or more where the database keeps heights.
const AXES: std::ops::RangeInclusive<usize> = 2..=4;

/// Appends a geometry; of one that cannot be written, nothing.
///
/// An SRID before the type and a `Z` after it are passed over. An empty geometry has no coordinates.
///
/// ```
/// use treeql::encode::write_geometry;
///
/// let mut out = Vec::new();
/// write_geometry(&mut out, "LINESTRING(0 0,1.50 -2)").unwrap();
/// assert_eq!(out, br#"{"type":"LineString","coordinates":[[0,0],[1.5,-2]]}"#);
/// ```
pub fn write_geometry(out: &mut Vec<u8>, wkt: &str) -> Result<(), GeometryError> {
    let start = out.len();
    let written = write(out, wkt);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

fn write(out: &mut Vec<u8>, wkt: &str) -> Result<(), GeometryError> {
    let not_decoded = || GeometryError::NotDecoded(wkt.into());
    let text = match wkt.split_once(';') {
        Some((srid, text)) if srid.trim_start().starts_with("SRID=") => text,
        _ => wkt,
    };
    let (head, body) = text.split_at(text.find('(').unwrap_or(text.len()));
    let head = head.trim().to_ascii_uppercase();
    let (name, is_empty) = match head.strip_suffix("EMPTY") {
        Some(name) if body.is_empty() => (name.trim_end(), true),
        _ => (&*head, false),
    };
    let name = name.strip_suffix(" Z").unwrap_or(name).trim_end();
    let known = TYPES.iter().find(|(known, _, _)| *known == name);
    // The reference misses a type in a text without parentheses; what the text is says more.
    let Some((_, name, levels)) = known else {
        let is_type = !body.is_empty() || is_empty;
        return Err(if is_type { GeometryError::TypeNotSupported(name.into()) } else { not_decoded() });
    };
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\",\"coordinates\":");
    if is_empty {
        out.extend_from_slice(b"[]}");
        return Ok(());
    }
    let mut reader = WktReader { rest: body };
    // The positions of a line and of points stand in one list, that of a point in parentheses of its own.
    let read = match *levels {
        0 => reader.point(out),
        levels => reader.list(out, levels, *name == "MultiPoint"),
    };
    read.filter(|()| reader.rest.trim().is_empty()).ok_or_else(not_decoded)?;
    out.push(b'}');
    Ok(())
}

/// What is left of a text. Each part that is read is written; `None` means that it is not there.
struct WktReader<'a> {
    rest: &'a str,
}

impl<'a> WktReader<'a> {
    /// Lists in lists, `levels` deep, with positions in the innermost.
    fn list(&mut self, out: &mut Vec<u8>, levels: usize, has_points: bool) -> Option<()> {
        self.take('(')?;
        out.push(b'[');
        loop {
            match levels {
                1 if has_points && self.next() == Some('(') => self.point(out)?,
                1 => self.position(out)?,
                _ => self.list(out, levels - 1, has_points)?,
            }
            if self.take(',').is_none() {
                break;
            }
            out.push(b',');
        }
        out.push(b']');
        self.take(')')
    }

    /// A position in parentheses.
    fn point(&mut self, out: &mut Vec<u8>) -> Option<()> {
        self.take('(')?;
        self.position(out)?;
        self.take(')')
    }

    /// Numbers with blanks between them.
    fn position(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let mut count = 0;
        out.push(b'[');
        while let Some(number) = self.number() {
            if count > 0 {
                out.push(b',');
            }
            write_number(out, number)?;
            count += 1;
        }
        out.push(b']');
        AXES.contains(&count).then_some(())
    }

    fn number(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        let (number, rest) = rest.split_at(end);
        self.rest = rest;
        (!number.is_empty()).then_some(number)
    }

    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(c)?;
        Some(())
    }
}

/// compat: a whole number stays whole, any other is spelled as the double that it is.
fn write_number(out: &mut Vec<u8>, text: &str) -> Option<()> {
    if let Ok(whole) = text.parse::<i64>() {
        out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
        return Some(());
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    write_double(out, number);
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::{prop_assert_eq, proptest};
    use serde_json::Value as Json;

    use crate::encode::wkt::write_geometry;

    fn written(wkt: &str) -> Result<String, String> {
        let mut out = b"before".to_vec();
        let result = write_geometry(&mut out, wkt);
        let text = String::from_utf8(out).expect("it is UTF-8");
        let text = text.strip_prefix("before").expect("nothing before is touched");
        assert!(result.is_ok() || text.is_empty(), "{text}");
        result.map(|()| text.to_owned()).map_err(|e| e.to_string())
    }

    #[test]
    fn each_type_has_its_levels() {
        let table = [
            ("POINT(5 52)", "Point", "[5,52]"),
            ("point ( 5.25   -52e0 )", "Point", "[5.25,-52]"),
            ("POINT(0.00001 1e20)", "Point", "[1.0e-5,1.0e+20]"),
            ("POINT(-0.50 00012)", "Point", "[-0.5,12]"),
            ("POINT Z (1 2 3)", "Point", "[1,2,3]"),
            ("POINT(1 2 3 4)", "Point", "[1,2,3,4]"),
            ("SRID=4326;POINT(1 2)", "Point", "[1,2]"),
            ("POINT EMPTY", "Point", "[]"),
            ("MULTIPOLYGON Z EMPTY", "MultiPolygon", "[]"),
            ("MULTIPOINT(1 2,3 4)", "MultiPoint", "[[1,2],[3,4]]"),
            ("MULTIPOINT ((1 2), (3 4))", "MultiPoint", "[[1,2],[3,4]]"),
            ("LINESTRING(1 2,3 4)", "LineString", "[[1,2],[3,4]]"),
            ("MULTILINESTRING((1 2,3 4),(5 6,7 8))", "MultiLineString", "[[[1,2],[3,4]],[[5,6],[7,8]]]"),
            (
                "POLYGON((0 0,4 0,0 4,0 0), (1 1,2 1,1 2,1 1))",
                "Polygon",
                "[[[0,0],[4,0],[0,4],[0,0]],[[1,1],[2,1],[1,2],[1,1]]]",
            ),
            (
                "MULTIPOLYGON(((0 0,4 0,0 4,0 0)),((9 9,8 9,9 8,9 9)))",
                "MultiPolygon",
                "[[[[0,0],[4,0],[0,4],[0,0]]],[[[9,9],[8,9],[9,8],[9,9]]]]",
            ),
        ];
        for (wkt, name, coordinates) in table {
            let expected = format!("{{\"type\":\"{name}\",\"coordinates\":{coordinates}}}");
            assert_eq!(written(wkt), Ok(expected), "{wkt}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_told_in_the_words_of_the_reference() {
        let table = [
            ("GEOMETRYCOLLECTION(POINT(1 2))", "GEOMETRYCOLLECTION"),
            ("GeometryCollection EMPTY", "GEOMETRYCOLLECTION"),
            ("CIRCULARSTRING(0 0,1 1,1 0)", "CIRCULARSTRING"),
            ("POINT M (1 2 3)", "POINT M"),
            ("POINT EMPTY(1 2)", "POINT EMPTY"),
            ("(1 2)", ""),
        ];
        for (wkt, name) in table {
            assert_eq!(written(wkt), Err(format!("Geometry type not supported: {name}")), "{wkt}");
        }
        let texts = [
            "",
            "POINT",
            "here",
            "POINT()",
            "POINT(1)",
            "POINT(1 2",
            "POINT(1 2))",
            "POINT(1 2 3 4 5)",
            "POINT(1,2)",
            "POINT((1 2))",
            "POINT(1 x)",
            "POINT(1 nan)",
            "POINT(inf 1)",
            "POINT(1 1e999)",
            "LINESTRING(1 2,)",
            "LINESTRING((1 2),(3 4))",
            "POLYGON(1 2,3 4)",
            "MULTIPOINT(1 2,(3 4)",
            "POINT(1 2) x",
        ];
        for wkt in texts {
            let error = written(wkt).expect_err(wkt);
            assert_eq!(error, format!("Could not decode WKT: {wkt}"));
        }
    }

    proptest! {
        #[test]
        fn positions_are_kept(lines in vec(vec((-1e9..1e9f64, -180i32..180), 1..5), 1..4)) {
            let position = |(x, y): &(f64, i32)| format!("{x:?} {y}");
            let line = |line: &Vec<(f64, i32)>| format!("({})", line.iter().map(position).collect::<Vec<_>>().join(", "));
            let wkt = format!("POLYGON({})", lines.iter().map(line).collect::<Vec<_>>().join(","));
            let json: Json = serde_json::from_str(&written(&wkt).expect("it is WKT")).expect("it is JSON");
            for (line, read) in lines.iter().zip(json["coordinates"].as_array().expect("an array")) {
                let read: Vec<(f64, i64)> = serde_json::from_value(read.clone()).expect("an array of pairs");
                prop_assert_eq!(line.len(), read.len());
                for (expected, found) in line.iter().zip(read) {
                    // serde_json reads fast rather than exactly.
                    assert!((expected.0 - found.0).abs() <= expected.0.abs() * 1e-15, "{expected:?} {found:?}");
                    prop_assert_eq!(i64::from(expected.1), found.1);
                }
            }
        }

        #[test]
        fn whatever_is_written_is_json(wkt in "(SRID=1;)?(MULTI)?(POINT|LINESTRING|POLYGON)( Z| EMPTY)?([(), ]|[0-9.e+-]{1,3}){0,20}|\\PC{0,20}") {
            if let Ok(text) = written(&wkt) {
                assert!(serde_json::from_str::<Json>(&text).is_ok(), "{wkt} {text}");
            }
        }
    }
}
