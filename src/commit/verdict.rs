//! What becomes of a verdict: it is counted, logged and remembered, and it refuses what it must refuse.

use crate::app::{App, Warehouse};
use crate::auth::Caller;
use crate::commit::Error;
use crate::config::RulesMode;
use crate::spec::TableIdent;
use crate::storage::Scoped;
use crate::store::tables::TableRow;
use crate::store::warnings::Warning;
use crate::validate::{Report, Violation};
use std::time::Instant;

/// What a verdict is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub app: &'a App,
    pub warehouse: &'a Warehouse,
    /// Who asks for a change; nobody where only what is there is looked at.
    pub caller: Option<&'a Caller>,
    pub table: &'a TableIdent,
    /// Its row, if it is there already.
    pub row: Option<&'a TableRow>,
    /// `commit` or `register`.
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
        let (id, home) = self.row.map_or(("", None), |row| (row.id.as_str(), Some(row.location.as_str())));
        self.app.scoped(self.warehouse, id, home, self.caller)
    }

    /// Refuses if a rule of level deny is broken, unless the rules are only logged; else what to remember once the
    /// change is made.
    pub(super) fn judge(self, report: Report) -> Result<Vec<Warning>, Error> {
        count_not_checked(&report);
        if !report.refused.is_empty() && self.warehouse.rules_mode == RulesMode::Enforce {
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
        let now = self.app.clock.now_ms();
        Warning {
            id: format!("{now:015}-{}", self.app.ids.uuid()),
            warehouse_id: self.warehouse.row.id.clone(),
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
