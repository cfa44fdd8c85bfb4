//! Durations as clients read them.

use super::Error;
use serde::{Serialize, Serializer};

/// How long an `Idempotency-Key` is honoured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifetime {
    text: String,
    ms: i64,
}

impl Lifetime {
    /// Reads an ISO-8601 duration that `java.time.Duration` reads too: whole days, hours, minutes and seconds, such as
    /// `PT30M` or `P1DT2H`.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        match duration_ms(text) {
            Some(ms) if ms > 0 => Ok(Self { text: text.to_owned(), ms }),
            _ => Err(Error::Value {
                key: "idempotency-key-lifetime",
                expected: "an ISO-8601 duration such as PT30M",
                found: text.to_owned(),
            }),
        }
    }

    /// As it was set.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// In milliseconds.
    pub fn as_ms(&self) -> i64 {
        self.ms
    }
}

impl Serialize for Lifetime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

fn duration_ms(text: &str) -> Option<i64> {
    let rest = text.strip_prefix('P')?;
    let (days, time) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (rest, ""),
    };
    let seconds = seconds(days, &[('D', 86_400)])? + seconds(time, &[('H', 3600), ('M', 60), ('S', 1)])?;
    Some(seconds * 1000)
}

/// Adds up numbers that are each followed by their unit, in the order of `units`.
fn seconds(mut text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut total = 0;
    for (unit, each) in units {
        if let Some((number, rest)) = text.split_once(*unit) {
            total += i64::from(number.parse::<u32>().ok()?) * each;
            text = rest;
        }
    }
    text.is_empty().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_java_reads_them() {
        for (text, ms) in [("PT30M", 1_800_000), ("P1D", 86_400_000), ("P1DT2H", 93_600_000), ("PT1H30M5S", 5_405_000)]
        {
            assert_eq!(Lifetime::parse(text).unwrap().as_ms(), ms, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "P", "PT", "30M", "PT0S", "PT5M1H", "P1H", "PT1D", "PT1", "PT1.5S", "PT-1S", "P1Y", "PT99999999999S"]
        {
            assert!(Lifetime::parse(text).is_err(), "{text}");
        }
    }
}
