//! Dates and times as text, from seconds since 1970 and without a clock.

/// Seconds in a day.
pub const DAY: u64 = 86_400;

/// The moment as `2025-03-14 09:26:53`.
pub fn timestamp(seconds: u64) -> String {
    let clock = seconds % DAY;
    format!("{} {:02}:{:02}:{:02}", date(seconds), clock / 3600, clock / 60 % 60, clock % 60)
}

/// The day as `2025-03-14`.
pub fn date(seconds: u64) -> String {
    // Years begin in March here, so that the leap day is the last day of a year and months have a regular pattern
    // (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
    let days = seconds / DAY + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_sql_does() {
        assert_eq!(timestamp(0), "1970-01-01 00:00:00");
        assert_eq!(timestamp(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(timestamp(1_741_944_413), "2025-03-14 09:26:53");
        assert_eq!(date(1_735_689_599), "2024-12-31");
    }
}
