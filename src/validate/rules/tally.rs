//! What rules find over many facts: a table at rest is looked at piece by piece.

use crate::validate::facts::{Facts, Failure, Vector};
use crate::validate::levels::{Level, Levels};
use crate::validate::report::{Collected, Finding, Findings, Report};

use super::{Check, all};

/// Findings by rule, in the order of the catalogue. Bounded, however many facts are looked at.
#[derive(Debug)]
pub(in crate::validate) struct Tally {
    findings: Vec<Findings>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { findings: all().map(|_| Findings::default()).collect() }
    }
}

impl Tally {
    /// Applies the rules about manifests and their entries.
    pub(in crate::validate) fn manifests(&mut self, facts: &Facts<'_>, levels: &Levels) {
        self.apply(levels, |check, findings| {
            if matches!(check, Check::Manifest(_) | Check::Entry(_)) {
                check.run(facts, findings);
            }
        });
    }

    /// Applies the rules about single vectors.
    pub(in crate::validate) fn vector(&mut self, vector: &Vector, levels: &Levels) {
        self.apply(levels, |check, findings| {
            if let Check::Vector(check) = check {
                check(vector, findings);
            }
        });
    }

    /// Adds what reading a file found out.
    pub(in crate::validate) fn failure(&mut self, failure: Failure) {
        self.add(failure.rule, || failure.finding);
    }

    /// Adds a finding of the rule with this id.
    pub(in crate::validate) fn add(&mut self, rule: &str, finding: impl FnOnce() -> Finding) {
        let place = all().position(|known| known.id == rule);
        if let Some(findings) = place.and_then(|place| self.findings.get_mut(place)) {
            findings.add(finding);
        }
    }

    /// Moves everything into a report.
    pub(in crate::validate) fn report(self, levels: &Levels, report: &mut Report) {
        let mut collected = Collected::default();
        for ((rule, (_, level)), findings) in all().zip(levels.iter()).zip(self.findings) {
            collected.add(rule, level, findings);
        }
        collected.report(report);
    }

    fn apply(&mut self, levels: &Levels, apply: impl Fn(&Check, &mut Findings)) {
        for ((rule, (_, level)), findings) in all().zip(levels.iter()).zip(&mut self.findings) {
            if level != Level::Off {
                apply(&rule.check, findings);
            }
        }
    }
}
