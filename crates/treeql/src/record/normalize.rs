//! A value brought into the form of its column's type, where it is clear what is meant (SPEC 18.16).

use std::borrow::Cow;

use crate::record::datetime::Moment;
use crate::record::decimal::{rounded, rounded_integer};
use crate::request::{Cell, is_integer, is_numeric};
use crate::schema::{Column, ColumnType};

/// The form that `column` has for `cell`; `None` if it is in that form already or cannot be brought into it.
///
/// `now_unix` is the time in seconds since 1970, for texts such as `today` and `10am`.
pub fn normalize(cell: &Cell<'_>, column: &Column, now_unix: i64) -> Option<Cell<'static>> {
    match cell {
        Cell::Text(text) => of_text(text, column, now_unix),
        Cell::Number(number) => of_number(number, column),
        Cell::Null | Cell::Bool(_) | Cell::Json(_) => None,
    }
}

fn of_text(text: &str, column: &Column, now_unix: i64) -> Option<Cell<'static>> {
    let trimmed = text.trim_matches(is_blank);
    let moment = || Moment::parse(trimmed, now_unix);
    let normal = match column.kind {
        ColumnType::Varchar | ColumnType::Clob | ColumnType::Bit => return None,
        ColumnType::Boolean => return boolean(trimmed).map(Cell::Bool),
        ColumnType::Integer | ColumnType::Bigint => return integer(trimmed).map(number),
        ColumnType::Float | ColumnType::Double => return float(trimmed).map(number),
        ColumnType::Decimal => rounded(trimmed, column)?,
        ColumnType::Date => moment()?.date(),
        ColumnType::Time => moment()?.time(),
        ColumnType::Timestamp => moment()?.timestamp(),
        ColumnType::Varbinary | ColumnType::Blob => trimmed.replace('-', "+").replace('_', "/"),
        ColumnType::Geometry => trimmed.to_owned(),
    };
    (normal != text).then_some(Cell::Text(Cow::Owned(normal)))
}

fn of_number(spelled: &str, column: &Column) -> Option<Cell<'static>> {
    match column.kind {
        ColumnType::Decimal => Some(Cell::Text(Cow::Owned(rounded(spelled, column)?))),
        ColumnType::Integer | ColumnType::Bigint if !is_integer(spelled) => {
            Some(number(rounded_integer(spelled)?.to_string()))
        }
        _ => None,
    }
}

/// What is left out around a value: white space of any script, and NUL.
pub fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\0'
}

fn number(spelled: String) -> Cell<'static> {
    Cell::Number(Cow::Owned(spelled))
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Some(true),
        "0" | "false" | "off" | "no" | "" => Some(false),
        _ => None,
    }
}

fn integer(text: &str) -> Option<String> {
    text.parse::<i64>().ok().filter(|_| is_integer(text)).map(|int| int.to_string())
}

/// The number as JSON spells it, in the digits that were sent.
fn float(text: &str) -> Option<String> {
    let finite = text.parse::<f64>().is_ok_and(f64::is_finite);
    if !finite || !is_numeric(text) {
        return None;
    }
    let unsigned = text.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = unsigned.find(['e', 'E']).map_or((unsigned, ""), |at| unsigned.split_at(at));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let sign = if text.starts_with('-') { "-" } else { "" };
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    Some([sign, whole, point, fraction, exponent].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use crate::record::normalize::normalize;
    use crate::record::sample::column;
    use crate::record::type_problem::type_problem;
    use crate::request::{Cell, cell_of_json};
    use crate::schema::{Column, ColumnType};

    /// A type, the JSON of a value, and the JSON of what becomes of it; nothing if it stays.
    const CASES: &[(ColumnType, &str, &str)] = &[
        (ColumnType::Integer, r#"" 2\n""#, "2"),
        (ColumnType::Integer, r#""+2""#, "2"),
        (ColumnType::Integer, r#""02""#, ""),
        (ColumnType::Integer, r#""2.0""#, ""),
        (ColumnType::Integer, "1.99999", "2"),
        (ColumnType::Integer, "-2.5", "-3"),
        (ColumnType::Integer, "2", ""),
        (ColumnType::Integer, "true", ""),
        (ColumnType::Bigint, "1e3", "1000"),
        (ColumnType::Bigint, "1e30", ""),
        (ColumnType::Bigint, r#""9223372036854775808""#, ""),
        (ColumnType::Decimal, r#"" 1.23006 ""#, r#""1.2301""#),
        (ColumnType::Decimal, "1.23", r#""1.2300""#),
        (ColumnType::Decimal, "0.1e1", r#""1.0000""#),
        (ColumnType::Decimal, r#""1.2301""#, ""),
        (ColumnType::Decimal, r#""1,000""#, ""),
        (ColumnType::Float, r#""1 ""#, "1"),
        (ColumnType::Double, r#"" 23.45e-1 ""#, "23.45e-1"),
        (ColumnType::Double, r#""+.5""#, "0.5"),
        (ColumnType::Double, r#""-007.e+1""#, "-7e+1"),
        (ColumnType::Double, r#""1e999""#, ""),
        (ColumnType::Double, r#""inf""#, ""),
        (ColumnType::Double, r#""NaN""#, ""),
        (ColumnType::Double, "1.5", ""),
        (ColumnType::Boolean, r#"" Yes ""#, "true"),
        (ColumnType::Boolean, r#""""#, "false"),
        (ColumnType::Boolean, r#""off""#, "false"),
        (ColumnType::Boolean, r#""2""#, ""),
        (ColumnType::Boolean, "1", ""),
        (ColumnType::Date, r#""December 20th, 2020""#, r#""2020-12-20""#),
        (ColumnType::Date, r#"" 2020-12-05T23:30:00-05:00""#, r#""2020-12-06""#),
        (ColumnType::Date, r#""2020-12-05""#, ""),
        (ColumnType::Date, r#""2020-02-30""#, ""),
        (ColumnType::Date, "20201205", ""),
        (ColumnType::Time, r#""13:15""#, r#""13:15:00""#),
        (ColumnType::Timestamp, r#""2012-1-1 23:46""#, r#""2012-01-01 23:46:00""#),
        (ColumnType::Timestamp, r#""today""#, r#""1970-01-01 00:00:00""#),
        (ColumnType::Blob, r#"" -_ab\n""#, r#""+/ab""#),
        (ColumnType::Varbinary, r#""YQ==""#, ""),
        (ColumnType::Geometry, r#"" POINT(1 2)""#, r#""POINT(1 2)""#),
        (ColumnType::Varchar, r#"" a ""#, ""),
        (ColumnType::Clob, "5", ""),
    ];

    #[test]
    fn every_type_has_its_form() {
        for (kind, json, expected) in CASES {
            let cell = cell_of_json(json).expect("it is JSON");
            let found = normalize(&cell, &column("it", *kind), 0);
            let expected = (!expected.is_empty()).then(|| cell_of_json(expected).expect("it is JSON"));
            assert_eq!(found, expected, "{kind} {json}");
        }
    }

    const KINDS: [ColumnType; 11] = [
        ColumnType::Boolean,
        ColumnType::Integer,
        ColumnType::Bigint,
        ColumnType::Float,
        ColumnType::Double,
        ColumnType::Decimal,
        ColumnType::Date,
        ColumnType::Time,
        ColumnType::Timestamp,
        ColumnType::Blob,
        ColumnType::Geometry,
    ];

    /// What may be wrong with a value in the form of its type: that there is no room for it, or that it is no base64.
    const REMAINING: &[Option<&str>] = &[None, Some("decimal too large"), Some("invalid base64")];

    const NUMBER: &str = "[ \n]?[-+]?[0-9]{0,12}(\\.[0-9]{0,8})?([eE][-+]?[0-9]{1,3})?[ \n]?";
    const DATE: &str = "[0-9]{1,4}[-/.:][0-9]{1,2}[-/.:][0-9]{1,4}([ T][0-9]{1,2}:[0-9]{2})?|true|Off|now";

    fn check(cell: &Cell<'_>, column: &Column, now: i64) {
        let Some(normal) = normalize(cell, column, now) else { return };
        assert!(normalize(&normal, column, now).is_none_or(|again| again == normal), "{cell:?} {normal:?}");
        let problem = type_problem(&normal, column);
        let too_large = column.kind == ColumnType::Integer && problem == Some("invalid integer");
        assert!(too_large || REMAINING.contains(&problem), "{cell:?} {normal:?} {problem:?}");
    }

    proptest! {
        #[test]
        fn a_normal_value_stays_and_fits_its_type(text in "\\PC{0,30}", now in any::<i64>()) {
            for kind in KINDS {
                check(&Cell::Text(text.as_str().into()), &column("it", kind), now);
            }
        }

        #[test]
        fn so_do_values_that_are_almost_right(number in NUMBER, date in DATE) {
            for (kind, text) in KINDS.into_iter().flat_map(|kind| [(kind, &number), (kind, &date)]) {
                check(&Cell::Text(text.as_str().into()), &column("it", kind), 1_600_000_000);
            }
        }

        #[test]
        fn numbers_of_json_stay_numbers_of_json(float in any::<f64>(), int in any::<i64>()) {
            for number in [serde_json::Value::from(float), int.into()] {
                let json = number.to_string();
                let cell = cell_of_json(&json).expect("it is JSON");
                for kind in KINDS {
                    check(&cell, &column("it", kind), 0);
                }
                let text = Cell::Text(json.as_str().into());
                if let Some(Cell::Number(spelled)) = normalize(&text, &column("it", ColumnType::Double), 0) {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(&spelled).is_ok(), "{spelled}");
                    prop_assert_eq!(spelled.parse::<f64>(), json.parse::<f64>());
                }
            }
        }
    }
}
