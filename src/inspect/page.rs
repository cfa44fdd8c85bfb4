//! The text that is made, line by line.

use std::fmt::Write;

use crate::spec::iso;

/// How much of a value from a file is shown, in characters.
const MOST_CHARS: usize = 1_000;

/// What there is to say about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The description, ending in a line feed if there is one at all.
    pub text: String,
    /// What is wrong with the file, one sentence each.
    pub faults: Vec<String>,
}

/// A description in the making.
pub(super) struct Page {
    text: String,
    faults: Vec<String>,
    limit: usize,
}

impl Page {
    pub(super) fn new(limit: usize) -> Self {
        Self { text: String::new(), faults: Vec::new(), limit }
    }

    /// How many items of a list are shown.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Adds a line, indented by so many steps.
    pub(super) fn line(&mut self, depth: usize, text: impl AsRef<str>) {
        for _ in 0..depth {
            self.text.push_str("  ");
        }
        self.text.push_str(&printable(text.as_ref()));
        self.text.push('\n');
    }

    /// Adds an empty line.
    pub(super) fn space(&mut self) {
        self.text.push('\n');
    }

    /// Adds the pairs of a map, each on a line.
    pub(super) fn pairs<'a>(&mut self, depth: usize, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
        for (key, value) in pairs {
            self.line(depth, format!("{key}: {}", cut(value)));
        }
    }

    /// Says how many items of a list are left out.
    pub(super) fn rest(&mut self, all: usize, what: &str) {
        if let Some(more) = all.checked_sub(self.limit).filter(|more| *more > 0) {
            self.line(0, format!("and {more} more {what} (--limit {all} shows all)"));
        }
    }

    /// Adds a fault, in the text and beside it.
    pub(super) fn fault(&mut self, fault: &str) {
        self.line(0, format!("BROKEN {fault}"));
        self.faults.push(printable(fault));
    }

    pub(super) fn done(self) -> Inspection {
        Inspection { text: self.text, faults: self.faults }
    }
}

/// A value from a file, cut to what can be read.
pub(super) fn cut(value: &str) -> String {
    match value.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", value.get(..end).unwrap_or_default(), value.len()),
        None => value.to_owned(),
    }
}

/// A text that cannot do anything to a terminal: control characters are escaped.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        let turns_text = matches!(char, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if char.is_control() || turns_text {
            // Writing to a text does not fail.
            let _ = write!(shown, "{}", char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// A point in time, given in epoch milliseconds, as `2026-01-31 12:30:00.500000 UTC`.
pub fn utc(epoch_ms: i64) -> String {
    let text = iso::write_timestamp(epoch_ms.saturating_mul(1_000), 1_000_000);
    format!("{} UTC", text.replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_767_225_599_999), "2025-12-31 23:59:59.999000 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59.999000 UTC");
        assert!(utc(i64::MAX).ends_with("UTC") && utc(i64::MIN).ends_with("UTC"));
    }

    #[test]
    fn no_text_can_change_a_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{202e}d"), "a\\u{1b}[2Jb\\u{a}c\\u{202e}d");
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(cut("short"), "short");
        let long = "ä".repeat(2_000);
        assert!(cut(&long).ends_with("ä… (4000 bytes)"));
    }
}
