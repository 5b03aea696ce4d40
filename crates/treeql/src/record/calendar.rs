//! The Gregorian calendar from year 0 to 9999: days counted from 1970-01-01, and back.

use std::ops::RangeInclusive;

const DAYS_BEFORE_1970: i64 = 719_528;

/// The seconds of a day.
pub const DAY: i64 = 86_400;

/// The first second of year 0 and the last of year 9999, counted from 1970.
pub const SECONDS: RangeInclusive<i64> = -DAYS_BEFORE_1970 * DAY..=253_402_300_799;

/// The day of a date; `None` if there is no such date.
pub fn day_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(0..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day)
    {
        return None;
    }
    let days: i64 = (1..month).map(|month| days_in(year, month)).sum();
    Some(days_before(year) + days + day - 1 - DAYS_BEFORE_1970)
}

/// Year, month and day of the month.
pub fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day + DAYS_BEFORE_1970;
    // 400 years have 146,097 days; the quotient is at most one year off.
    let mut year = day * 400 / 146_097;
    while days_before(year) > day {
        year -= 1;
    }
    while days_before(year + 1) <= day {
        year += 1;
    }
    let (mut month, mut rest) = (1, day - days_before(year));
    while rest >= days_in(year, month) {
        rest -= days_in(year, month);
        month += 1;
    }
    (year, month, rest + 1)
}

/// The day of the week, Sunday being 0.
pub fn weekday_of(day: i64) -> i64 {
    (day + 4).rem_euclid(7)
}

fn days_before(year: i64) -> i64 {
    365 * year + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use crate::record::calendar::{DAY, SECONDS, date_of, day_of, weekday_of};

    #[test]
    fn days_have_dates_and_dates_have_days() {
        let (first, last) = (SECONDS.start() / DAY, SECONDS.end().div_euclid(DAY));
        assert_eq!((date_of(first), date_of(last)), ((0, 1, 1), (9999, 12, 31)));
        let mut before = (-1, 12, 31);
        for day in (first..=last).step_by(11) {
            let date = date_of(day);
            assert!(date > before, "{date:?} after {before:?}");
            assert_eq!(day_of(date.0, date.1, date.2), Some(day));
            before = date;
        }
    }

    #[test]
    fn some_days_are_known() {
        assert_eq!(day_of(1970, 1, 1), Some(0));
        assert_eq!(day_of(2000, 2, 29), Some(11_016));
        assert_eq!(day_of(2020, 12, 20), Some(18_616));
        assert_eq!(day_of(1, 1, 1), Some(-719_162));
        assert_eq!(day_of(1800, 3, 1), Some(-62_032));
        assert_eq!(day_of(2400, 2, 29), Some(157_113));
        assert_eq!(weekday_of(18_616), 0);
        assert_eq!(weekday_of(-1), 3);
        for (year, month, day) in
            [(2019, 2, 29), (1800, 2, 29), (1900, 2, 29), (2020, 13, 1), (2020, 0, 1), (2020, 4, 31)]
        {
            assert_eq!(day_of(year, month, day), None);
        }
    }
}
