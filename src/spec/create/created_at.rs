//! The time that the reference server notes in a staged table: `2026-08-21T10:00:37.123Z`.

const MS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// A time in milliseconds since 1970 as ISO 8601 text in UTC.
pub(super) fn text(ms: i64) -> String {
    let (year, month, day) = civil(ms.div_euclid(MS_PER_DAY));
    let of_day = ms.rem_euclid(MS_PER_DAY);
    let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", of_day % 1000)
}

/// Year, month and day of a number of days since 1970. Counts in eras of 400 years that start with March, so that the
/// day that is sometimes there comes last.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    const MARCH_0000: i64 = 719_468;
    let days = days + MARCH_0000;
    let (era, of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn times_are_iso_text() {
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(text(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(1_709_251_200_000), "2024-03-01T00:00:00.000Z");
        assert_eq!(text(1_787_306_437_123), "2026-08-21T10:00:37.123Z");
        assert_eq!(text(-1), "1969-12-31T23:59:59.999Z");
    }
}
