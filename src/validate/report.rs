//! What validation answers: violations, warnings, and what it did not check.

use serde::Serialize;

use super::finding::{Finding, Findings, MOST_SHOWN_OF_ONE_RULE, NotChecked};
use super::level::Level;
use super::rules::Rule;

/// How many violations a report shows; the rest is counted.
const MOST_SHOWN: usize = 20;

/// The verdict on the snapshots of one commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// Broken rules of level deny: the commit must be refused. Every broken rule is in it at least once, up to 20.
    pub refused: Vec<Violation>,
    /// How many violations of level deny there are, those not shown included.
    pub refused_count: usize,
    /// Whether a rule of level deny is broken that the commit broke only because the table has moved on: the client is
    /// told to read the table again.
    #[serde(skip)]
    pub stale: bool,
    /// Broken rules of level warn.
    pub warnings: Vec<Violation>,
    /// How many violations of level warn there are, those not shown included.
    pub warnings_count: usize,
    /// Rules that were not applied to something, and why.
    pub not_checked: Vec<NotChecked>,
    /// The end (exclusive) of the row ids that the manifest lists give out; none if they give out none. The table's
    /// `next-row-id` must not be lower.
    pub row_id_end: Option<i64>,
}

/// A rule that a commit breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Violation {
    /// The rule's id.
    pub rule: &'static str,
    /// The location of the file that breaks it.
    pub object: String,
    /// Where in the file, in bytes, if that can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// What must be there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
    /// All of it in sentences.
    pub message: String,
}

/// What all rules found, before it is cut to what a report shows.
#[derive(Debug, Default)]
pub(super) struct Collected {
    by_rule: Vec<(&'static Rule, Level, Findings)>,
}

impl Collected {
    pub(super) fn add(&mut self, rule: &'static Rule, level: Level, findings: Findings) {
        if !findings.is_empty() {
            self.by_rule.push((rule, level, findings));
        }
    }

    /// Moves everything into a report: the first finding of each rule, then the second, and so on.
    pub(super) fn report(self, report: &mut Report) {
        for (_, level, findings) in &self.by_rule {
            match level {
                Level::Deny => report.refused_count += findings.count,
                Level::Warn => report.warnings_count += findings.count,
                Level::Off => {}
            }
        }
        for round in 0..MOST_SHOWN_OF_ONE_RULE {
            for (rule, level, findings) in &self.by_rule {
                let list = match level {
                    Level::Deny => &mut report.refused,
                    Level::Warn => &mut report.warnings,
                    Level::Off => continue,
                };
                if list.len() < MOST_SHOWN
                    && let Some(finding) = findings.shown.get(round)
                {
                    list.push(Violation::new(rule, finding));
                }
            }
        }
    }
}

impl Violation {
    fn new(rule: &Rule, finding: &Finding) -> Self {
        let Finding { object, offset, expected, found } = finding.clone();
        let place = offset.map_or_else(String::new, |offset| format!(" at byte {offset}"));
        let message =
            format!("{object}{place} breaks rule {}: {}. Expected {expected}, found {found}.", rule.id, rule.statement);
        Self { rule: rule.id, object, offset, expected, found, message }
    }
}
