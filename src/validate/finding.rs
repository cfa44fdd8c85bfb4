//! What a rule finds, before it is a violation of a certain level.

use std::fmt;

use serde::Serialize;

/// How many violations of one rule a report shows.
pub(super) const MOST_SHOWN_OF_ONE_RULE: usize = 5;
/// How much of a path or a value is shown.
const MOST_TEXT_BYTES: usize = 2_000;

/// A rule that was not applied to something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct NotChecked {
    /// The rule's id, or the start of the ids of several (`dv-*`).
    pub rule: &'static str,
    /// What it was not applied to.
    pub object: String,
    /// Why not.
    pub reason: String,
}

/// What a rule found: a violation before it has the rule's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) object: String,
    pub(super) offset: Option<u64>,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Finding {
    pub(super) fn new(object: &str, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        let object = shorten(object.to_owned());
        Self { object, offset: None, expected: shorten(expected.to_string()), found: shorten(found.to_string()) }
    }

    pub(super) fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }
}

/// Cuts text that a client may have made as long as it likes.
fn shorten(mut text: String) -> String {
    if text.len() > MOST_TEXT_BYTES {
        let end = (0..=MOST_TEXT_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Collects what one rule finds. Text is made only for what is shown: a commit may break a rule a million times.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) shown: Vec<Finding>,
    pub(super) count: usize,
}

impl Findings {
    pub(super) fn add(&mut self, finding: impl FnOnce() -> Finding) {
        self.count += 1;
        if self.shown.len() < MOST_SHOWN_OF_ONE_RULE {
            self.shown.push(finding());
        }
    }

    /// Adds a finding unless `holds`.
    pub(super) fn expect(&mut self, holds: bool, finding: impl FnOnce() -> Finding) {
        if !holds {
            self.add(finding);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}
