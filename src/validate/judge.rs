//! Applies the rules to facts, at the levels that are configured.

use super::facts::{ChangeFacts, Facts, Failure, Gathered, Vector};
use super::finding::{Finding, Findings};
use super::level::Level;
use super::levels::Levels;
use super::report::{Collected, Report};
use super::rules::{ANSWERED_WITH_CONFLICT, Check, all};

/// Applies every rule about a snapshot that is not off.
pub(super) fn check(gathered: Gathered<'_>, levels: &Levels, report: &mut Report) {
    let Gathered { facts, mut failures, not_checked } = gathered;
    let mut collected = Collected::default();
    for (rule, (_, level)) in all().zip(levels.iter()) {
        if level == Level::Off {
            continue;
        }
        let mut findings = Findings::default();
        if let Some(facts) = &facts {
            rule.check.run(facts, &mut findings);
        }
        for failure in failures.extract_if(.., |failure| failure.rule == rule.id) {
            findings.add(|| failure.finding);
        }
        report.stale |= ANSWERED_WITH_CONFLICT.contains(&rule.id) && level == Level::Deny && !findings.is_empty();
        collected.add(rule, level, findings);
    }
    collected.report(report);
    report.not_checked.extend(not_checked);
}

/// Applies the rules about what a commit changes in the metadata.
pub(super) fn check_change(facts: &ChangeFacts<'_>, levels: &Levels, report: &mut Report) {
    let mut collected = Collected::default();
    for (rule, (_, level)) in all().zip(levels.iter()) {
        if let (Check::Change(check), true) = (&rule.check, level != Level::Off) {
            let mut findings = Findings::default();
            check(facts, &mut findings);
            collected.add(rule, level, findings);
        }
    }
    collected.report(report);
}

/// What rules find over many facts: a table at rest is looked at piece by piece. By rule, in the order of the catalogue. Bounded, however many facts are looked at.
#[derive(Debug)]
pub(super) struct Tally {
    findings: Vec<Findings>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { findings: all().map(|_| Findings::default()).collect() }
    }
}

impl Tally {
    /// Applies the rules about manifests and their entries.
    pub(super) fn manifests(&mut self, facts: &Facts<'_>, levels: &Levels) {
        self.apply(levels, |check, findings| {
            if matches!(check, Check::Manifest(_) | Check::Entry(_)) {
                check.run(facts, findings);
            }
        });
    }

    /// Applies the rules about single vectors.
    pub(super) fn vector(&mut self, vector: &Vector, levels: &Levels) {
        self.apply(levels, |check, findings| {
            if let Check::Vector(check) = check {
                check(vector, findings);
            }
        });
    }

    /// Adds what reading a file found out.
    pub(super) fn failure(&mut self, failure: Failure) {
        self.add(failure.rule, || failure.finding);
    }

    /// Adds a finding of the rule with this id.
    pub(super) fn add(&mut self, rule: &str, finding: impl FnOnce() -> Finding) {
        let place = all().position(|known| known.id == rule);
        if let Some(findings) = place.and_then(|place| self.findings.get_mut(place)) {
            findings.add(finding);
        }
    }

    /// Moves everything into a report.
    pub(super) fn report(self, levels: &Levels, report: &mut Report) {
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
