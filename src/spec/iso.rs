//! ISO dates and times, as Java's formatters read and write them.

/// A point in time: seconds and nanoseconds since 1970-01-01T00:00:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    seconds: i64,
    nanos: i64,
}

impl Instant {
    /// Microseconds since the origin; years have at most nine digits, so they always fit.
    pub fn micros(self) -> i64 {
        self.seconds.saturating_mul(1_000_000).saturating_add(self.nanos / 1_000)
    }

    /// Nanoseconds since the origin, if they fit in 64 bits (years 1677 to 2262).
    pub fn nanos(self) -> Option<i64> {
        self.seconds.checked_mul(1_000_000_000)?.checked_add(self.nanos)
    }

    /// Nanoseconds that [`Instant::micros`] leaves out.
    pub fn nanos_within_micro(self) -> i64 {
        self.nanos % 1_000
    }
}

/// Days since 1970-01-01 of `2007-12-03`.
pub fn date(text: &str) -> Option<i64> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (-1, unsigned),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = unsigned.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let signed = unsigned.len() != text.len();
    if parts.next().is_some() || !(4..=9).contains(&year.len()) || (year.len() > 4 && !signed) {
        return None;
    }
    let (year, month, day) = (sign * number(year)?, two(month)?, two(day)?);
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    Some(days(year, month, day))
}

/// Nanoseconds since midnight of `10:15`, `10:15:30` or `10:15:30.123456789`.
pub fn time(text: &str) -> Option<i64> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let (hour, minute, second) = (two(parts.next()?)?, two(parts.next()?)?, parts.next());
    if parts.next().is_some() || (second.is_none() && fraction.is_some()) {
        return None;
    }
    let second = second.map_or(Some(0), two)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanos = fraction.map_or(Some(0), nanos_of)?;
    Some(((hour * 60 + minute) * 60 + second) * 1_000_000_000 + nanos)
}

/// A date and a time with `T` between them and no offset.
pub fn timestamp(text: &str) -> Option<Instant> {
    let (day, clock) = text.split_once(['T', 't'])?;
    let (days, nanos) = (date(day)?, time(clock)?);
    Some(Instant { seconds: days * 86_400 + nanos / 1_000_000_000, nanos: nanos % 1_000_000_000 })
}

/// A date and a time with the offset zero.
pub fn timestamptz(text: &str) -> Option<Instant> {
    let suffixes = ["+00:00", "-00:00", "Z", "z"];
    suffixes.iter().find_map(|suffix| text.strip_suffix(suffix)).and_then(timestamp)
}

/// A date and a time with any offset of hours and minutes, such as `+05:30` or `Z`.
pub fn timestamp_with_offset(text: &str) -> Option<Instant> {
    if let Some(utc) = timestamptz(text) {
        return Some(utc);
    }
    let (local, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let sign = match offset.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    if hours > 18 || minutes > 59 {
        return None;
    }
    let at = timestamp(local)?;
    Some(Instant { seconds: at.seconds - sign * (hours * 60 + minutes) * 60, ..at })
}

/// Writes a day, given in days since 1970-01-01.
pub fn write_date(days: i64) -> String {
    let (year, month, day) = year_month_day(days);
    match year {
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        ..0 => format!("-{:04}-{month:02}-{day:02}", year.unsigned_abs()),
        _ => format!("+{year}-{month:02}-{day:02}"),
    }
}

/// Writes a time of day, given in microseconds since midnight.
pub fn write_time(micros: i64) -> String {
    clock(micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000), 6)
}

/// Writes a point in time without an offset, given in units since 1970: a million of them in a second, or a thousand
/// million.
pub fn write_timestamp(units: i64, units_in_second: i64) -> String {
    let per_second = units_in_second.max(1);
    let (seconds, fraction) = (units.div_euclid(per_second), units.rem_euclid(per_second));
    let digits = if per_second > 1_000_000 { 9 } else { 6 };
    format!("{}T{}", write_date(seconds.div_euclid(86_400)), clock(seconds.rem_euclid(86_400), fraction, digits))
}

/// `10:15:30`, and the fraction of the second with so many digits unless it is zero.
fn clock(seconds: i64, fraction: i64, digits: usize) -> String {
    let time = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if fraction == 0 { time } else { format!("{time}.{fraction:0digits$}") }
}

/// The calendar day of a day since 1970-01-01: year, month, day.
pub fn year_month_day(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year_of_era, month + 3) } else { (year_of_era + 1, month - 9) };
    (year + era * 400, month, day)
}

fn number(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn two(text: &str) -> Option<i64> {
    number(text).filter(|_| text.len() == 2)
}

fn nanos_of(fraction: &str) -> Option<i64> {
    if fraction.len() > 9 {
        return None;
    }
    if fraction.is_empty() {
        return Some(0);
    }
    number(&format!("{fraction:0<9}"))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a day of the Gregorian calendar, which is counted here from the first of March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_from_1970() {
        for (text, expected) in [
            ("1970-01-01", Some(0)),
            ("1969-12-31", Some(-1)),
            ("2000-02-29", Some(11_016)),
            ("2024-12-31", Some(20_088)),
            ("0000-03-01", Some(-719_468)),
            ("+10000-01-01", Some(2_932_897)),
            ("1900-02-29", None),
            ("10000-01-01", None),
            ("2024-1-1", None),
            ("2024-01-01-", None),
            ("", None),
            ("--1-01-01", None),
        ] {
            assert_eq!(date(text), expected, "{text}");
        }
    }

    #[test]
    fn times_count_from_midnight() {
        for (text, expected) in [
            ("00:00", Some(0)),
            ("10:15:30.5", Some(36_930_500_000_000)),
            ("23:59:59.999999999", Some(86_399_999_999_999)),
            ("24:00:00", None),
            ("10:15.5", None),
            ("10:15:30.1234567891", None),
            ("1:15", None),
        ] {
            assert_eq!(time(text), expected, "{text}");
        }
    }

    #[test]
    fn timestamps_know_their_offset() {
        assert_eq!(timestamp("1970-01-01T00:00:01").map(Instant::micros), Some(1_000_000));
        assert_eq!(timestamp("1969-12-31T23:59:59.999999").map(Instant::micros), Some(-1));
        assert_eq!(timestamp("1970-01-01T00:00:01Z"), None);
        assert_eq!(timestamptz("1970-01-01T00:00:01"), None);
        assert_eq!(timestamptz("1970-01-01T00:00:01+00:00"), timestamp("1970-01-01T00:00:01"));
        assert_eq!(timestamp("2262-04-11T23:47:16.854775807").unwrap().nanos(), Some(i64::MAX));
        assert_eq!(timestamp("2262-04-11T23:47:16.854775808").unwrap().nanos(), None);
        assert_eq!(timestamp_with_offset("1970-01-01T02:30:00+02:30").map(Instant::micros), Some(0));
        assert_eq!(timestamp_with_offset("1969-12-31T23:00:00-01:00").map(Instant::micros), Some(0));
        for none in ["1970-01-01T00:00:00+19:00", "1970-01-01T00:00:00", "+01:00", "1970-01-01T00:00:00é+1:00"] {
            assert_eq!(timestamp_with_offset(none), None, "{none}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_again(days in -800_000_i64..3_000_000, micros in 0_i64..86_400_000_000) {
            proptest::prop_assert_eq!(date(&write_date(days)), Some(days));
            proptest::prop_assert_eq!(time(&write_time(micros)), Some(micros * 1_000));
            let at = days * 86_400_000_000 + micros;
            proptest::prop_assert_eq!(timestamp(&write_timestamp(at, 1_000_000)).map(Instant::micros), Some(at));
            let nanos = days / 40 * 86_400_000_000_000 + micros;
            let read = timestamp(&write_timestamp(nanos, 1_000_000_000)).and_then(Instant::nanos);
            proptest::prop_assert_eq!(read, Some(nanos));
        }
    }
}
