//! Times of day and time zones as they are written (SPEC 18.16).

use crate::record::scan::Scan;

const HOUR: i64 = 3600;

/// A time such as `13:15`, `13:15:01.5`, `1:15 pm` or `10am`, as seconds of the day.
pub fn time(scan: &mut Scan<'_>) -> Option<i64> {
    let hour = scan.digits(1, 2)?;
    let (mut minute, mut second) = (0, 0);
    let colon = scan.take(':');
    if colon {
        minute = scan.digits(2, 2)?;
        if scan.take(':') {
            second = scan.digits(2, 2)?;
            scan.attempt(fraction);
        }
    }
    match scan.attempt(half_of_day) {
        Some(half) if (1..=12).contains(&hour) => seconds(hour % 12 + half, minute, second),
        None if colon => seconds(hour, minute, second),
        _ => None,
    }
}

/// A time without colons, `1315` or `131501`.
pub fn compact_time(scan: &mut Scan<'_>) -> Option<i64> {
    let with_seconds = scan.digits_len() == 6;
    if !with_seconds && scan.digits_len() != 4 {
        return None;
    }
    let (hour, minute) = (scan.first_digits(2)?, scan.first_digits(2)?);
    let second = if with_seconds { scan.first_digits(2)? } else { 0 };
    scan.attempt(fraction);
    seconds(hour, minute, second)
}

/// A zone such as `+01:00`, `-0500` or `+1`, as seconds to the east.
pub fn offset(scan: &mut Scan<'_>) -> Option<i64> {
    let sign = if scan.take_any(&['+', '-'])? == '-' { -1 } else { 1 };
    let compact = scan.digits_len() == 4;
    let hour = if compact { scan.first_digits(2)? } else { scan.digits(1, 2)? };
    let minute = if compact || scan.take(':') { scan.digits(2, 2)? } else { 0 };
    (hour <= 14 && minute <= 59).then_some(sign * (hour * HOUR + minute * 60))
}

/// The zone of that name, as seconds to the east: universal time, and those that RFC 2822 knows.
pub fn named_offset(word: &str) -> Option<i64> {
    let hours = match word {
        "z" | "utc" | "gmt" | "ut" => 0,
        "edt" => -4,
        "est" | "cdt" => -5,
        "cst" | "mdt" => -6,
        "mst" | "pdt" => -7,
        "pst" => -8,
        _ => return None,
    };
    Some(hours * HOUR)
}

/// Parts of a second, which no column type of the protocol has.
fn fraction(scan: &mut Scan<'_>) -> Option<()> {
    scan.take_any(&['.', ','])?;
    let length = scan.digits_len();
    scan.skip(&['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    (length > 0).then_some(())
}

/// The hours that `am` and `pm` add.
fn half_of_day(scan: &mut Scan<'_>) -> Option<i64> {
    scan.skip(&[' ', '\t']);
    let half = if scan.take_any(&['a', 'p'])? == 'p' { 12 } else { 0 };
    let dotted = scan.take('.');
    let ended = scan.take('m') && (!dotted || scan.take('.'));
    (ended && !scan.peek().is_some_and(|next| next.is_ascii_alphanumeric())).then_some(half)
}

/// Seconds of the day; midnight may be called 24:00, and a minute may have a leap second.
fn seconds(hour: i64, minute: i64, second: i64) -> Option<i64> {
    let fine = minute <= 59 && second <= 60 && (hour <= 23 || (hour, minute, second) == (24, 0, 0));
    fine.then_some(hour * HOUR + minute * 60 + second)
}
