//! What is no fault of a table, and still worth knowing.

use serde::Serialize;

/// How many remarks of one kind are shown.
const MOST_OF_ONE_KIND: usize = 20;

/// A fact about a table that costs space or reads, or that somebody may want to clean up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Remark {
    /// What kind of fact: `puffin-bytes-dead`, `file-fully-deleted`, `position-deletes-left`.
    pub kind: &'static str,
    /// The file.
    pub object: String,
    /// All of it in a sentence.
    pub message: String,
}

/// The largest remarks of one kind, and how many there are.
#[derive(Debug)]
pub(super) struct Largest {
    kind: &'static str,
    count: usize,
    /// Descending.
    shown: Vec<(u64, Remark)>,
}

impl Largest {
    pub(super) fn new(kind: &'static str) -> Self {
        Self { kind, count: 0, shown: Vec::new() }
    }

    /// Notes one of this size.
    pub(super) fn add(&mut self, size: u64, object: &str, message: impl FnOnce() -> String) {
        self.count += 1;
        let place = self.shown.partition_point(|(shown, _)| *shown >= size);
        if place < MOST_OF_ONE_KIND {
            let remark = Remark { kind: self.kind, object: object.to_owned(), message: message() };
            self.shown.insert(place, (size, remark));
            self.shown.truncate(MOST_OF_ONE_KIND);
        }
    }

    /// Those that are shown; the last one says how many are not.
    pub(super) fn into_remarks(self, object: &str) -> Vec<Remark> {
        let more = self.count.saturating_sub(self.shown.len());
        let mut remarks: Vec<Remark> = self.shown.into_iter().map(|(_, remark)| remark).collect();
        if more > 0 {
            let message = format!("{more} more of kind {}", self.kind);
            remarks.push(Remark { kind: self.kind, object: object.to_owned(), message });
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_shown_and_the_rest_is_counted() {
        let mut largest = Largest::new("k");
        for size in 0..50 {
            largest.add(size, "o", || size.to_string());
        }
        let shown: Vec<String> = largest.into_remarks("t").into_iter().map(|remark| remark.message).collect();
        assert_eq!((shown[0].as_str(), shown[19].as_str(), shown.len()), ("49", "30", 21));
        assert_eq!(shown[20], "30 more of kind k");
    }
}
