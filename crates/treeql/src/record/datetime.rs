//! Points in time, as people and programs write them (SPEC 18.16). The time zone is UTC.

use crate::record::calendar::{DAY, SECONDS, date_of, day_of, weekday_of};
use crate::record::clock_text::{compact_time, named_offset, offset, time};
use crate::record::date_text::{self, Date, compact_date, date, date_after_month, full_year, month_of};
use crate::record::scan::Scan;

/// limit: bytes of a text that is looked at; the longest form has about fifty.
const TEXT_MAX: usize = 64;

/// A second of the years 0 to 9999.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    unix: i64,
}

impl Moment {
    /// The moment that `text` means at `now_unix`; `None` if it is not understood or there is no such date.
    ///
    /// Understood are dates (`2020-1-5`, `12/20/2020`, `20-12-2020`, `20201220`, `December 20th, 2020`), times
    /// (`13:15`, `10am`, `noon`), both in any order with a zone or without (ISO 8601, RFC 2822); `@1600000000`;
    /// `now`, `today`, `tomorrow`, `yesterday` and names of weekdays. Where there is no date, it is today; where there
    /// is no time, it is midnight. Unlike in PHP there are no sums (`+1 week`), February has no 30th day, and four
    /// digits alone are not a time: what is not clear is not guessed.
    pub fn parse(text: &str, now_unix: i64) -> Option<Moment> {
        if text.len() > TEXT_MAX {
            return None;
        }
        let now = now_unix.clamp(*SECONDS.start(), *SECONDS.end());
        let unix = Parts::read(&text.to_ascii_lowercase())?.unix(now)?;
        SECONDS.contains(&unix).then_some(Moment { unix })
    }

    /// `YYYY-MM-DD`.
    pub fn date(self) -> String {
        let (year, month, day) = date_of(self.unix.div_euclid(DAY));
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `HH:MM:SS`.
    pub fn time(self) -> String {
        let second = self.unix.rem_euclid(DAY);
        format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
    }

    /// `YYYY-MM-DD HH:MM:SS`.
    pub fn timestamp(self) -> String {
        format!("{} {}", self.date(), self.time())
    }
}

/// What a text says; each part at most once.
#[derive(Debug, Default)]
struct Parts {
    /// Seconds since 1970, or the word `now`.
    instant: Option<Instant>,
    date: Option<Date>,
    /// Days from today.
    shift: Option<i64>,
    weekday: Option<i64>,
    seconds: Option<i64>,
    offset: Option<i64>,
}

#[derive(Debug)]
enum Instant {
    Unix(i64),
    Now,
}

impl Parts {
    fn read(text: &str) -> Option<Parts> {
        let mut scan = Scan::new(text);
        let mut parts = Parts::default();
        loop {
            scan.skip(&[' ', '\t', '\n', '\r', ',']);
            match scan.peek() {
                None => return Some(parts),
                Some('@') => parts.instant(&mut scan)?,
                Some('0'..='9') => parts.number(&mut scan)?,
                Some('+' | '-') if parts.seconds.is_some() => once(&mut parts.offset, offset(&mut scan)?)?,
                Some('a'..='z') => parts.word(&mut scan)?,
                Some(_) => return None,
            }
        }
    }

    fn instant(&mut self, scan: &mut Scan<'_>) -> Option<()> {
        scan.take('@');
        let sign = if scan.take('-') { -1 } else { 1 };
        once(&mut self.instant, Instant::Unix(sign * scan.digits(1, 18)?))
    }

    fn number(&mut self, scan: &mut Scan<'_>) -> Option<()> {
        if scan.digits_len() == 14 {
            once(&mut self.date, compact_date(scan)?)?;
            return once(&mut self.seconds, compact_time(scan)?);
        }
        if let Some(seconds) = scan.attempt(time) {
            return once(&mut self.seconds, seconds);
        }
        // The C library writes `Sun Dec 20 13:15:00 2020`.
        if let Some(Date { year: year @ None, .. }) = &mut self.date {
            return once(year, full_year(scan)?);
        }
        once(&mut self.date, date(scan)?)
    }

    fn word(&mut self, scan: &mut Scan<'_>) -> Option<()> {
        let word = scan.letters();
        match word {
            "now" => return once(&mut self.instant, Instant::Now),
            "today" => return once(&mut self.shift, 0),
            "tomorrow" => return once(&mut self.shift, 1),
            "yesterday" => return once(&mut self.shift, -1),
            "midnight" => return once(&mut self.seconds, 0),
            "noon" => return once(&mut self.seconds, DAY / 2),
            "t" => {
                let seconds = scan.attempt(compact_time).or_else(|| time(scan))?;
                return once(&mut self.seconds, seconds);
            }
            _ => {}
        }
        if let Some(month) = month_of(word) {
            return once(&mut self.date, date_after_month(scan, month)?);
        }
        if let Some(weekday) = date_text::weekday_of(word) {
            scan.take('.');
            return once(&mut self.weekday, weekday);
        }
        // JavaScript writes `GMT+0100`.
        let named = named_offset(word)?;
        let more = if named == 0 { scan.attempt(offset) } else { None };
        once(&mut self.offset, more.unwrap_or(named))
    }

    fn unix(&self, now: i64) -> Option<i64> {
        let Some(instant) = &self.instant else {
            let day = self.day(now.div_euclid(DAY))?;
            return Some(day * DAY + self.seconds.unwrap_or(0) - self.offset.unwrap_or(0));
        };
        let alone = self.date.is_none()
            && self.shift.is_none()
            && self.weekday.is_none()
            && self.seconds.is_none()
            && self.offset.is_none();
        match instant {
            _ if !alone => None,
            Instant::Unix(unix) => Some(*unix),
            Instant::Now => Some(now),
        }
    }

    /// The day that is meant, `today` being known.
    fn day(&self, today: i64) -> Option<i64> {
        match (self.date, self.shift, self.weekday) {
            (Some(date), None, weekday) => {
                let day = day_of(date.year.unwrap_or_else(|| date_of(today).0), date.month, date.day)?;
                // A weekday that is not that of the date is a mistake in one of the two.
                weekday.is_none_or(|weekday| weekday == weekday_of(day)).then_some(day)
            }
            (None, Some(shift), None) => Some(today + shift),
            (None, None, Some(weekday)) => Some(today + (weekday - weekday_of(today)).rem_euclid(7)),
            (None, None, None) => self.seconds.map(|_| today),
            _ => None,
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    match place {
        None => *place = Some(value),
        Some(_) => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use crate::record::calendar::SECONDS;
    use crate::record::datetime::Moment;

    /// Friday, 2020-12-18 15:16:17.
    const NOW: i64 = 1_608_304_577;

    const PIECES: &str = "(now|noon|mon|dec|5th|2020|12-5|/|:|13:15|@|-|\\+|t|z|gmt|am| |,|1){0,8}";

    fn read(text: &str) -> String {
        Moment::parse(text, NOW).map(Moment::timestamp).unwrap_or_default()
    }

    #[test]
    fn dates_are_read_in_many_forms() {
        let texts = "2020-12-05|2020-12-5|2020/12/05|2020-Dec-05|20201205|12/5/2020|12/05/20|5-12-2020|05.12.2020|\
            5-Dec-2020|05/Dec/2020|5-dec-20|December 5th, 2020|december 5 2020|Dec 5, 2020|Dec. 5th 2020|\
            5 December 2020|5th of December, 2020|Sat, 5 Dec 2020|Saturday, December 5th, 2020|Dec 5|5 Dec";
        for text in texts.split('|') {
            assert_eq!(read(text), "2020-12-05 00:00:00", "{text}");
        }
        for (text, expected) in
            [("2020-12", "2020-12-01"), ("Feb 2020", "2020-02-01"), ("1/2/99", "1999-01-02")]
        {
            assert_eq!(read(text), format!("{expected} 00:00:00"), "{text}");
        }
    }

    #[test]
    fn times_are_read_in_many_forms() {
        let cases = [
            ("13:15", "13:15:00"),
            ("9:05:07", "09:05:07"),
            ("9:05:07.123", "09:05:07"),
            ("10am", "10:00:00"),
            ("10 pm", "22:00:00"),
            ("12 a.m.", "00:00:00"),
            ("12:30pm", "12:30:00"),
            ("noon", "12:00:00"),
            ("midnight", "00:00:00"),
            ("today", "00:00:00"),
            ("now", "15:16:17"),
            ("13:15 +02:00", "11:15:00"),
            ("T131501", "13:15:01"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), format!("2020-12-18 {expected}"), "{text}");
        }
        assert_eq!(read("24:00"), "2020-12-19 00:00:00");
        assert_eq!(read("23:59:60"), "2020-12-19 00:00:00");
    }

    #[test]
    fn dates_and_times_come_together() {
        let cases = [
            ("2012-1-1 23:46", "2012-01-01 23:46:00"),
            ("2020-12-05T13:15:01Z", "2020-12-05 13:15:01"),
            ("2020-12-05T13:15:01.123456+01:00", "2020-12-05 12:15:01"),
            ("2020-12-31T23:30:00-0500", "2021-01-01 04:30:00"),
            ("20201205T131501Z", "2020-12-05 13:15:01"),
            ("20201205131501", "2020-12-05 13:15:01"),
            ("Sat, 05 Dec 2020 13:15:01 +0000", "2020-12-05 13:15:01"),
            ("Sat, 05 Dec 2020 13:15:01 EST", "2020-12-05 18:15:01"),
            ("Saturday, 05-Dec-20 13:15:01 GMT", "2020-12-05 13:15:01"),
            ("Sat Dec  5 13:15:01 2020", "2020-12-05 13:15:01"),
            ("Sat Dec 05 2020 13:15:01 GMT+0100", "2020-12-05 12:15:01"),
            ("12/5/2020, 1:15:01 PM", "2020-12-05 13:15:01"),
            ("10am December 20th, 2020", "2020-12-20 10:00:00"),
            ("tomorrow noon", "2020-12-19 12:00:00"),
            ("yesterday 14:00", "2020-12-17 14:00:00"),
            ("Monday", "2020-12-21 00:00:00"),
            ("fri 10:00", "2020-12-18 10:00:00"),
            ("@1600000000", "2020-09-13 12:26:40"),
            ("@-1", "1969-12-31 23:59:59"),
            ("0000-01-01", "0000-01-01 00:00:00"),
            ("9999-12-31 23:59:59", "9999-12-31 23:59:59"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_clear_is_not_read() {
        let texts = "|,|hello|2020|20:20:20:20|1|12|1-2-3|2020-13-01|2020-02-30|2019-02-29|0000-00-00|2020-12-05-1|25:00|\
            24:01|13:60|13pm|0am|10 apm|Sun, 5 Dec 2020|+1 day|next month|2020-12-05 2020-12-06|13:15 14:15|now noon|\
            @1 10:00|@99999999999999999|@999999999999999999999|UTC|2020-12-05 13:15 +15:00|2020-12-05 -05:00|\
            9999-12-31T23:59:59-01:00|0000-01-01T00:00:00+01:00|12/20|20 Dec 20|1.5|٣|2020-12-05\u{a0}13:15";
        for text in texts.split('|') {
            assert_eq!(read(text), "", "{text}");
        }
        assert_eq!(read(&format!("2020-12-05 13:15:01.{}", "0".repeat(64))), "");
    }

    proptest! {
        #[test]
        fn any_text_at_any_time_will_do(text in "\\PC{0,40}", now in any::<i64>()) {
            let _ = Moment::parse(&text, now);
        }

        #[test]
        fn pieces_in_any_order_will_do(text in PIECES, now in any::<i64>()) {
            if let Some(moment) = Moment::parse(&text, now) {
                prop_assert_eq!(Moment::parse(&moment.timestamp(), 0), Some(moment));
            }
        }

        #[test]
        fn what_is_written_is_read_again(unix in SECONDS) {
            let moment = Moment { unix };
            prop_assert_eq!(Moment::parse(&moment.timestamp(), 0), Some(moment));
            prop_assert_eq!(Moment::parse(&moment.timestamp().replace(' ', "T"), 0), Some(moment));
            prop_assert_eq!(Moment::parse(&format!("@{unix}"), 0), Some(moment));
        }
    }
}
