//! Decimal numbers rounded in their digits, so that none is lost on the way through a double.

use crate::request::is_numeric;
use crate::schema::Column;

/// limit: digits after the point that a column can ask for. Databases allow a thousand at most; a column that claims
/// more is a PostgreSQL `numeric` without size (SPEC 6.3), which takes any number as it is.
const SCALE_MAX: u32 = 1000;

/// limit: zeros that an exponent may add. Without it, `1e999999999` is a gigabyte.
const ZEROS_MAX: i64 = 1000;

/// Whether the column has a number of digits that its values must keep to.
pub fn has_size(column: &Column) -> bool {
    column.scale <= SCALE_MAX
}

/// The number that `text` is, with exactly the digits after the point that the column has, half away from zero.
///
/// `None` if `text` is no number or one of absurd length. A column without size keeps the digits that there are.
pub fn rounded(text: &str, column: &Column) -> Option<String> {
    let number = Number::parse(text)?;
    let scale = if has_size(column) { i64::from(column.scale) } else { number.fraction_len() };
    number.round(scale)
}

/// The whole number next to the number that `text` is, half away from zero; `None` if it has no 64 bits.
pub fn rounded_integer(text: &str) -> Option<i64> {
    Number::parse(text)?.round(0)?.parse().ok()
}

/// The value is `0.digits × 10^point`, so `point` digits stand before the point.
struct Number {
    negative: bool,
    digits: Vec<u8>,
    point: i64,
    /// limit: length of the whole number and of its fraction.
    len_max: i64,
}

impl Number {
    fn parse(text: &str) -> Option<Number> {
        let text = text.trim();
        if !is_numeric(text) {
            return None;
        }
        let negative = text.starts_with('-');
        let unsigned = text.trim_start_matches(['-', '+']);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = [whole, fraction].concat().trim_start_matches('0').into();
        let leading_zeros = whole.len() + fraction.len() - digits.len();
        let point = match exponent.parse::<i32>() {
            _ if digits.is_empty() => 0,
            Ok(exponent) => len(whole.len()) - len(leading_zeros) + i64::from(exponent),
            Err(_) if exponent.starts_with('-') => i64::from(i32::MIN),
            Err(_) => return None,
        };
        Some(Number { negative, digits, point, len_max: ZEROS_MAX + len(text.len()) })
    }

    fn fraction_len(&self) -> i64 {
        (len(self.digits.len()) - self.point).max(0)
    }

    fn round(mut self, scale: i64) -> Option<String> {
        if self.point > self.len_max || scale > self.len_max {
            return None;
        }
        let kept = self.point + scale;
        if kept < len(self.digits.len()) {
            self.cut(usize::try_from(kept).ok());
        }
        Some(self.spell(scale))
    }

    /// Keeps the first `kept` digits and counts up the last of them if those behind are half or more; `None` means
    /// that not even the first digit is near enough to count.
    fn cut(&mut self, kept: Option<usize>) {
        let up = kept.is_some_and(|kept| self.digits[kept] >= b'5');
        self.digits.truncate(kept.unwrap_or(0));
        if !up {
            return;
        }
        while self.digits.last() == Some(&b'9') {
            self.digits.pop();
        }
        match self.digits.last_mut() {
            Some(last) => *last += 1,
            None => {
                self.digits.push(b'1');
                self.point += 1;
            }
        }
    }

    fn spell(&self, scale: i64) -> String {
        let digit = |place: i64| {
            let digit = usize::try_from(place).ok().and_then(|place| self.digits.get(place));
            char::from(digit.copied().unwrap_or(b'0'))
        };
        let mut text = String::new();
        if self.negative && !self.digits.is_empty() {
            text.push('-');
        }
        match self.point {
            point if point > 0 && !self.digits.is_empty() => text.extend((0..point).map(digit)),
            _ => text.push('0'),
        }
        if scale > 0 {
            text.push('.');
            text.extend((self.point..self.point + scale).map(digit));
        }
        text
    }
}

fn len(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use crate::record::decimal::{rounded, rounded_integer};
    use crate::record::sample::column;
    use crate::schema::ColumnType;

    fn round(text: &str, scale: u32) -> String {
        let mut column = column("it", ColumnType::Decimal);
        column.scale = scale;
        rounded(text, &column).unwrap_or_default()
    }

    #[test]
    fn digits_behind_the_scale_round_half_away_from_zero() {
        let cases = [
            ("1.23", 4, "1.2300"),
            ("1.23004", 4, "1.2300"),
            ("1.23006", 4, "1.2301"),
            ("1.00005", 4, "1.0001"),
            ("-1.00005", 4, "-1.0001"),
            ("9.99995", 4, "10.0000"),
            ("0.99", 0, "1"),
            ("-0.5", 0, "-1"),
            ("-0.4", 0, "0"),
            ("-0.00001", 4, "0.0000"),
            ("0.00005", 4, "0.0001"),
            ("0.000049", 4, "0.0000"),
            ("0.95", 1, "1.0"),
            ("+007.5", 1, "7.5"),
            (".5", 2, "0.50"),
            ("5.", 2, "5.00"),
            ("0", 2, "0.00"),
            ("0e999999999999", 2, "0.00"),
            ("1.5e3", 1, "1500.0"),
            ("15e-1", 0, "2"),
            ("1e-999999999999", 2, "0.00"),
            ("123456789012345678901234567890.125", 2, "123456789012345678901234567890.13"),
            ("1e2000", 2, ""),
            ("1e999999999999", 2, ""),
            ("1,000.5", 2, ""),
            ("one", 2, ""),
            ("", 2, ""),
        ];
        for (text, scale, expected) in cases {
            assert_eq!(round(text, scale), expected, "{text} with {scale}");
        }
    }

    #[test]
    fn a_numeric_without_size_keeps_its_digits() {
        for (text, expected) in [("1.50", "1.50"), ("1e2", "100"), ("-12.5e-2", "-0.125"), ("1e-2000", "")] {
            assert_eq!(round(text, 65531), expected, "{text}");
        }
    }

    #[test]
    fn doubles_become_the_nearest_integer() {
        assert_eq!(rounded_integer("1.99999"), Some(2));
        assert_eq!(rounded_integer("-2.5"), Some(-3));
        assert_eq!(rounded_integer("1e3"), Some(1000));
        assert_eq!(rounded_integer("9007199254740993.2"), Some(9_007_199_254_740_993));
        assert_eq!(rounded_integer("1e19"), None);
    }

    proptest! {
        #[test]
        fn an_integer_with_a_fraction_of_zeros_is_itself(int in any::<i64>(), scale in 0_u32..40) {
            let zeros = "0".repeat(scale as usize);
            let expected = if scale == 0 { int.to_string() } else { format!("{int}.{zeros}") };
            prop_assert_eq!(round(&int.to_string(), scale), expected);
            prop_assert_eq!(rounded_integer(&format!("{int}.49")), Some(int));
        }

        #[test]
        fn rounding_goes_as_it_does_in_whole_numbers(millis in -10_000_000_i64..10_000_000) {
            let sign = if millis < 0 { "-" } else { "" };
            let size = millis.abs();
            let text = format!("{sign}{}.{:03}", size / 1000, size % 1000);
            let tenths = (size + 50) / 100;
            let sign = if tenths == 0 { "" } else { sign };
            prop_assert_eq!(round(&text, 1), format!("{sign}{}.{}", tenths / 10, tenths % 10));
        }
    }
}
