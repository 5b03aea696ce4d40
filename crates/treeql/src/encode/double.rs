//! Doubles as PHP spells them: in JSON the shortest digits that read back, in text 14 digits, with its own exponent
//! rules (SPEC 4 and 18.20).

/// compat: significant digits of a double in text, PHP's setting `precision`.
const TEXT_DIGITS: usize = 14;

/// Where exponents begin, and how they are marked.
struct Spelling {
    places_max: i32,
    exponent: u8,
}

const JSON: Spelling = Spelling { places_max: 17, exponent: b'e' };
const TEXT: Spelling = Spelling { places_max: 14, exponent: b'E' };

/// Appends `number`. Infinities and NaN, which JSON does not have, become null.
pub fn write_double(out: &mut Vec<u8>, number: f64) {
    if !number.is_finite() {
        out.extend_from_slice(b"null");
        return;
    }
    write_parts(out, number, zmij::Buffer::new().format_finite(number), JSON);
}

/// Appends `number` as PHP turns it into text: `0.3`, `1.0E+25`, `INF`.
pub fn write_double_text(out: &mut Vec<u8>, number: f64) {
    if number.is_nan() {
        out.extend_from_slice(b"NAN");
        return;
    }
    if number.is_infinite() {
        out.extend_from_slice(if number < 0.0 { b"-INF" } else { b"INF" });
        return;
    }
    write_parts(out, number, &format!("{number:.*e}", TEXT_DIGITS - 1), TEXT);
}

fn write_parts(out: &mut Vec<u8>, number: f64, text: &str, spelling: Spelling) {
    if number == 0.0 {
        out.extend_from_slice(if number.is_sign_negative() { b"-0" } else { b"0" });
        return;
    }
    let (negative, digits, point) = parts(text);
    if negative {
        out.push(b'-');
    }
    place(out, &digits, point, spelling);
}

/// Sign, significant digits, and where the point stands: `0.digits × 10^point`.
fn parts(text: &str) -> (bool, Vec<u8>, i32) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().expect("the formatter writes a whole exponent");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let leading = all.iter().take_while(|digit| **digit == b'0').count();
    let trailing = all.iter().rev().take_while(|digit| **digit == b'0').count();
    let point = i32::try_from(whole.len()).expect("a double has few digits")
        - i32::try_from(leading).expect("a double has few digits")
        + exponent;
    (negative, all[leading..all.len() - trailing].to_vec(), point)
}

/// compat: decimal notation from 0.0001 up to 17 or 14 places before the point, else `d.d…e±x`.
fn place(out: &mut Vec<u8>, digits: &[u8], point: i32, spelling: Spelling) {
    if !(-3..=spelling.places_max).contains(&point) {
        out.push(digits[0]);
        out.push(b'.');
        out.extend_from_slice(if digits.len() > 1 { &digits[1..] } else { b"0" });
        let exponent = point - 1;
        out.extend_from_slice(&[spelling.exponent, if exponent < 0 { b'-' } else { b'+' }]);
        out.extend_from_slice(itoa::Buffer::new().format(exponent.unsigned_abs()).as_bytes());
        return;
    }
    if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', point.unsigned_abs() as usize));
        out.extend_from_slice(digits);
        return;
    }
    let whole = point.unsigned_abs() as usize;
    if digits.len() <= whole {
        out.extend_from_slice(digits);
        out.extend(std::iter::repeat_n(b'0', whole - digits.len()));
        return;
    }
    out.extend_from_slice(&digits[..whole]);
    out.push(b'.');
    out.extend_from_slice(&digits[whole..]);
}

#[cfg(test)]
mod tests {
    use crate::encode::double::{write_double, write_double_text};

    fn written(number: f64) -> String {
        let mut out = Vec::new();
        write_double(&mut out, number);
        String::from_utf8(out).expect("digits are ASCII")
    }

    #[test]
    fn numbers_look_as_in_php() {
        let table = [
            (1.0, "1"),
            (100000.0, "100000"),
            (1e15, "1000000000000000"),
            (1e16, "10000000000000000"),
            (1e17, "1.0e+17"),
            (0.0001, "0.0001"),
            (0.00001, "1.0e-5"),
            (1e38, "1.0e+38"),
            (1.234_567_890_123_456_8e17, "1.2345678901234568e+17"),
            (1e-7, "1.0e-7"),
            (-0.0, "-0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-23.01, "-23.01"),
        ];
        for (number, text) in table {
            assert_eq!(written(number), text);
        }
    }

    #[test]
    fn what_json_does_not_have_is_null() {
        assert_eq!(written(f64::INFINITY), "null");
        assert_eq!(written(f64::NAN), "null");
    }

    #[test]
    fn text_has_14_digits() {
        let table = [
            (1.0, "1"),
            (0.1 + 0.2, "0.3"),
            (-23.01, "-23.01"),
            (1.0 / 3.0, "0.33333333333333"),
            (2.0 / 3.0, "0.66666666666667"),
            (0.99999999999999999, "1"),
            (99_999_999_999_999.0, "99999999999999"),
            (1e14, "1.0E+14"),
            (123_456_789_012_345_680.0, "1.2345678901235E+17"),
            (0.0001, "0.0001"),
            (0.000012, "1.2E-5"),
            (1e300, "1.0E+300"),
            (-0.0, "-0"),
            (f64::INFINITY, "INF"),
            (f64::NEG_INFINITY, "-INF"),
            (f64::NAN, "NAN"),
        ];
        for (number, text) in table {
            let mut out = Vec::new();
            write_double_text(&mut out, number);
            assert_eq!(String::from_utf8(out).expect("digits are ASCII"), text);
        }
    }
}
