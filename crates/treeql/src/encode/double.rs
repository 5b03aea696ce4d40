//! Doubles as PHP spells them: the shortest digits that read back, with its own exponent rules (SPEC 4).

/// Appends `number`. Infinities and NaN, which JSON does not have, become null.
pub fn write_double(out: &mut Vec<u8>, number: f64) {
    if !number.is_finite() {
        out.extend_from_slice(b"null");
        return;
    }
    if number == 0.0 {
        out.extend_from_slice(if number.is_sign_negative() { b"-0" } else { b"0" });
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let (negative, digits, point) = parts(buffer.format_finite(number));
    if negative {
        out.push(b'-');
    }
    place(out, &digits, point);
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

/// compat: decimal notation from 0.0001 up to 17 places before the point, else `d.d…e±x`.
fn place(out: &mut Vec<u8>, digits: &[u8], point: i32) {
    if !(-3..=17).contains(&point) {
        out.push(digits[0]);
        out.push(b'.');
        out.extend_from_slice(if digits.len() > 1 { &digits[1..] } else { b"0" });
        let exponent = point - 1;
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
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
    use crate::encode::double::write_double;

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
}
