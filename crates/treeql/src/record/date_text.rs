//! Dates as they are written: in digits, or with the name of the month (SPEC 18.16).

use crate::record::scan::Scan;

/// A date, not yet known to be in the calendar.
#[derive(Clone, Copy, Debug)]
pub struct Date {
    /// The year, if it was written.
    pub year: Option<i64>,
    /// 1 is January.
    pub month: i64,
    /// The day of the month.
    pub day: i64,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// A date that begins with a digit. Its form is told by the digits up to the first separator, and by the separator:
/// `12/20/2020` has the month first, `20-12-2020` and `20.12.2020` have the day first.
pub fn date(scan: &mut Scan<'_>) -> Option<Date> {
    match scan.digits_len() {
        1 | 2 => day_or_month_first(scan),
        4 => year_first(scan),
        8 => compact_date(scan),
        _ => None,
    }
}

/// `20201220`; more digits may follow.
pub fn compact_date(scan: &mut Scan<'_>) -> Option<Date> {
    let (year, month, day) = (scan.first_digits(4)?, scan.first_digits(2)?, scan.first_digits(2)?);
    Some(Date { year: Some(year), month, day })
}

/// What follows the name of a month: `20th, 2020`, `20` or `2020`.
pub fn date_after_month(scan: &mut Scan<'_>, month: i64) -> Option<Date> {
    scan.take('.');
    scan.skip(&[' ', '\t']);
    if let Some(year) = scan.attempt(full_year) {
        return Some(Date { year: Some(year), month, day: 1 });
    }
    let day = day_with_ending(scan)?;
    Some(Date { year: scan.attempt(later_year), month, day })
}

/// Four digits that are a year and not the hour of a time.
pub fn full_year(scan: &mut Scan<'_>) -> Option<i64> {
    let year = scan.digits(4, 4)?;
    (scan.peek() != Some(':')).then_some(year)
}

/// The number of the month of that name, which may be cut to three letters.
pub fn month_of(word: &str) -> Option<i64> {
    if word == "sept" {
        return Some(9);
    }
    let month = MONTHS.iter().position(|name| word == *name || word == &name[..3])?;
    i64::try_from(month + 1).ok()
}

/// The number of the day of that name, Sunday being 0; it may be cut to three letters or more.
pub fn weekday_of(word: &str) -> Option<i64> {
    let weekday = WEEKDAYS.iter().position(|name| word.len() >= 3 && name.starts_with(word))?;
    i64::try_from(weekday).ok()
}

/// `2020-12-20`, `2020/12/20`, `2020-Dec-20` or `2020-12`.
fn year_first(scan: &mut Scan<'_>) -> Option<Date> {
    let year = scan.digits(4, 4)?;
    let separator = scan.take_any(&['-', '/'])?;
    let month = month(scan)?;
    if scan.take(separator) {
        return Some(Date { year: Some(year), month, day: scan.digits(1, 2)? });
    }
    (separator == '-').then_some(Date { year: Some(year), month, day: 1 })
}

/// `12/20/2020`, `20-12-2020`, `20.12.2020`, `20-Dec-2020`, `20/Dec/2020` or `20th of December 2020`.
fn day_or_month_first(scan: &mut Scan<'_>) -> Option<Date> {
    let first = day_with_ending(scan)?;
    let Some(separator) = scan.take_any(&['/', '-', '.']) else { return day_and_month_name(scan, first) };
    if scan.peek().is_some_and(|next| next.is_ascii_alphabetic()) {
        let month = month_of(scan.letters())?;
        let year = scan.take(separator).then(|| short_or_full_year(scan))??;
        return Some(Date { year: Some(year), month, day: first });
    }
    let second = scan.digits(1, 2)?;
    if !scan.take(separator) {
        return None;
    }
    if separator == '/' {
        return Some(Date { year: Some(short_or_full_year(scan)?), month: first, day: second });
    }
    Some(Date { year: Some(scan.digits(4, 4)?), month: second, day: first })
}

fn day_and_month_name(scan: &mut Scan<'_>, day: i64) -> Option<Date> {
    scan.skip(&[' ', '\t']);
    let word = match scan.letters() {
        "of" => {
            scan.skip(&[' ', '\t']);
            scan.letters()
        }
        word => word,
    };
    let month = month_of(word)?;
    scan.take('.');
    Some(Date { year: scan.attempt(later_year), month, day })
}

/// A day of the month, `20` or `20th`.
fn day_with_ending(scan: &mut Scan<'_>) -> Option<i64> {
    let day = scan.digits(1, 2)?;
    scan.attempt(|scan| matches!(scan.letters(), "st" | "nd" | "rd" | "th").then_some(()));
    Some(day)
}

fn month(scan: &mut Scan<'_>) -> Option<i64> {
    match scan.digits(1, 2) {
        None => month_of(scan.letters()),
        number => number,
    }
}

fn later_year(scan: &mut Scan<'_>) -> Option<i64> {
    scan.skip(&[' ', '\t', ',']);
    full_year(scan)
}

/// compat: two digits are a year from 1970 to 2069, as in PHP.
fn short_or_full_year(scan: &mut Scan<'_>) -> Option<i64> {
    if scan.digits_len() != 2 {
        return scan.digits(4, 4);
    }
    let year = scan.first_digits(2)?;
    Some(if year < 70 { 2000 + year } else { 1900 + year })
}
