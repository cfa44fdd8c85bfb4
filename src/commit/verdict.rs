//! What becomes of a verdict: it is counted, logged and remembered, and it refuses what it must refuse.

use crate::app::Reach;
use crate::auth::Action;
use crate::commit::Error;
use crate::commit::places::Places;
use crate::config::RulesMode;
use crate::spec::TableIdent;
use crate::storage::{Location, Scoped};
use crate::store::warnings::Warning;
use crate::validate::{Report, Violation};
use std::time::Instant;

/// Rules that tell of files in places that are closed.
const OUTSIDE: [&str; 4] = ["manifest-list-outside", "manifest-outside", "puffin-outside", "data-file-outside"];

/// What a verdict is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// Which places may be read for it.
    pub places: Places<'a>,
    /// The places that its metadata names for its files.
    pub paths: &'a [Location],
    pub table: &'a TableIdent,
    /// `commit` or `register`; or what looks at a table and changes nothing.
    pub action: &'static str,
}

/// Waits for a verdict, and notes how long it took.
pub(super) async fn timed<T>(action: &'static str, verdict: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let verdict = verdict.await;
    metrics::histogram!("guillemot_validation_duration_seconds", "action" => action).record(began.elapsed());
    verdict
}

impl Subject<'_> {
    /// Storage as the table may see it.
    pub(super) fn reader(self) -> Scoped {
        let reach = self.places.reach(self.paths.to_vec());
        reach.scoped(self.places.warehouse)
    }

    /// Storage as the table may see it, for somebody who only looks at what is there.
    pub(super) fn looking(self) -> Scoped {
        let reach = self.places.reach(self.paths.to_vec());
        Reach { action: Action::Read, ..reach }.scoped(self.places.warehouse)
    }

    /// Whether a report tells of places that are closed to the caller. That is no matter of how strict the rules are: what
    /// lies there is somebody else's.
    pub(super) fn trespasses(self, report: &Report) -> bool {
        let mut found = report.refused.iter().chain(&report.warnings);
        found.any(|violation| OUTSIDE.contains(&violation.rule)) && !self.is_free()
    }

    /// Whether the caller may use all places of the warehouse.
    pub(super) fn is_free(self) -> bool {
        self.places.caller.principal.unrestricted || self.places.reach(Vec::new()).owns_all()
    }

    /// Refuses if a rule of level deny is broken, unless the rules are only logged; else what to remember once the
    /// change is made.
    pub(super) fn judge(self, report: Report) -> Result<Vec<Warning>, Error> {
        count_not_checked(&report);
        let enforced = self.places.warehouse.rules_mode == RulesMode::Enforce;
        if !report.refused.is_empty() && enforced || self.trespasses(&report) {
            self.note_warnings(&report);
            return Err(self.refuse(report));
        }
        Ok(self.let_pass(&report))
    }

    /// Refuses.
    pub(super) fn refuse(self, report: Report) -> Error {
        for violation in &report.refused {
            let table = self.table;
            tracing::info!(rule = violation.rule, object = violation.object, %table, "refused: {}", violation.message);
            metrics::counter!("guillemot_rule_refusals_total", "rule" => violation.rule).increment(1);
        }
        Error::Refused(Box::new(report))
    }

    /// Lets pass what is only to be said.
    pub(super) fn let_pass(self, report: &Report) -> Vec<Warning> {
        for violation in &report.refused {
            let table = self.table;
            tracing::warn!(rule = violation.rule, object = violation.object, %table, "not refused: {}", violation.message);
            metrics::counter!("guillemot_rule_would_refuse_total", "rule" => violation.rule).increment(1);
        }
        self.note_warnings(report);
        let refused = report.refused.iter().map(|violation| self.warning(violation, true));
        refused.chain(report.warnings.iter().map(|violation| self.warning(violation, false))).collect()
    }

    fn note_warnings(self, report: &Report) {
        for violation in &report.warnings {
            let table = self.table;
            tracing::warn!(rule = violation.rule, object = violation.object, %table, "{}", violation.message);
            metrics::counter!("guillemot_rule_warnings_total", "rule" => violation.rule).increment(1);
        }
    }

    fn warning(self, violation: &Violation, would_refuse: bool) -> Warning {
        let Places { app, warehouse, .. } = self.places;
        let now = app.clock.now_ms();
        Warning {
            id: format!("{now:015}-{}", app.ids.uuid()),
            warehouse_id: warehouse.row.id.clone(),
            table: self.table.clone(),
            action: self.action.to_owned(),
            rule: violation.rule.to_owned(),
            would_refuse,
            object: violation.object.clone(),
            message: violation.message.clone(),
            created_ms: now,
        }
    }
}

pub(super) fn count_not_checked(report: &Report) {
    for skipped in &report.not_checked {
        metrics::counter!("guillemot_rule_not_checked_total", "rule" => skipped.rule).increment(1);
    }
}
