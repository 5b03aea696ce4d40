//! What counts as a number in text that callers send.

/// Whether `text` is a whole number: an optional sign, then digits without a leading zero (SPEC 18.14).
pub fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    match digits.as_bytes() {
        [] => false,
        [b'0'] => true,
        [b'0', ..] => false,
        bytes => bytes.iter().all(u8::is_ascii_digit),
    }
}

/// Whether `text` is a decimal number: sign, digits with an optional point, optional exponent, blanks around it.
pub fn is_numeric(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_is_fine = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    (!whole.is_empty() || !fraction.is_empty()) && digits(whole) && digits(fraction) && exponent_is_fine
}

/// An optional sign and the digits at the start, blanks before them passed over; otherwise 0, as PHP's `intval`.
pub fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return 0;
    }
    let saturated = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text[..sign + digits].parse().unwrap_or(saturated)
}

#[cfg(test)]
mod tests {
    use crate::request::number::{is_integer, is_numeric};

    #[test]
    fn integers_have_no_leading_zero_and_nothing_after() {
        assert!(["0", "-1", "+7", "9223372036854775807"].into_iter().all(is_integer));
        assert!(!["", "-", "01", "1.0", "1a", " 1"].into_iter().any(is_integer));
    }

    #[test]
    fn numbers_may_have_a_point_an_exponent_and_blanks_around() {
        assert!(["1", ".5", "5.", "-1.5e-3", " 7 ", "+1E5"].into_iter().all(is_numeric));
        assert!(!["", ".", "e5", "1e", "0x1f", "1 2", "two"].into_iter().any(is_numeric));
    }
}
