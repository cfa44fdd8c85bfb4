//! Looking at a table that is there, or is to be: before it is registered, and before it is upgraded.

use crate::app::{App, Warehouse};
use crate::auth::Caller;
use crate::commit::places::Places;
use crate::commit::verdict::{Subject, count_not_checked, timed};
use crate::commit::{Error, load};
use crate::config::{RegisterCheck, RulesMode};
use crate::readiness::{self, Readiness, Users};
use crate::spec::{TableIdent, TableMetadata};
use crate::storage::Scoped;
use crate::store::engines;
use crate::store::warnings::Warning;
use crate::validate::at_rest::{self, Burden, Scope, SnapshotReport, Snapshots, TableReport, Verdict};
use crate::validate::{Cache, Report};
use std::time::Duration;

/// What one check may keep of manifests, in bytes. It is not shared: files of a table that is not ours yet may change.
const CACHE_BYTES: u64 = 32 << 20;

/// How long somebody who asks about a table waits for a look at it.
const LOOK_LIMIT: Duration = Duration::from_mins(2);

/// Of how many live files one check may keep something.
const MOST_FILES: usize = 1_000_000;

/// What was found in a table that is registered nevertheless.
#[derive(Debug, Default)]
pub struct Findings {
    /// The rules that it breaks.
    pub warnings: Vec<Warning>,
    /// Why there is no verdict, or only one on a part of it.
    pub not_told: Option<String>,
}

/// Refuses a format version that the warehouse does not want.
pub(super) fn check_version(warehouse: &Warehouse, version: u8) -> Result<(), Error> {
    policy(warehouse, version).map_or(Ok(()), |against| Err(Error::Invalid(against)))
}

/// What speaks against a format version in this warehouse.
fn policy(warehouse: &Warehouse, version: u8) -> Option<String> {
    let versions = &warehouse.versions;
    (!versions.allow(version)).then(|| {
        let (name, allowed) = (&warehouse.row.name, versions.shown());
        format!(
            "Format version {version} is not allowed in warehouse {name}: its allowed-format-versions are {allowed}"
        )
    })
}

/// Checks the current snapshot of a table that is to be registered, within the time that the settings give.
///
/// # Errors
/// Only where the check refuses: [`Error::Refused`] if the table is broken, [`Error::Invalid`] or
/// [`Error::StorageUnavailable`] if that could not be told.
pub(super) async fn check_registered(
    subject: Subject<'_>,
    table: &TableMetadata,
    mode: RegisterCheck,
) -> Result<Findings, Error> {
    let Places { app, warehouse, .. } = subject.places;
    let refuses = mode == RegisterCheck::Deny && warehouse.rules_mode == RulesMode::Enforce;
    // Whoever may not use all of the warehouse could name what is somebody else's.
    if mode == RegisterCheck::Off && subject.is_free() {
        return Ok(Findings::default());
    }
    let limit = Duration::from_secs(app.config.register_check_s);
    let report = timed(subject.action, look_at(subject, subject.reader(), table, limit)).await;
    let verdict = report.verdict();
    count(verdict);
    let TableReport { mut snapshots, stopped, .. } = report;
    let found: SnapshotReport = match (snapshots.pop(), stopped) {
        (_, Some(stopped)) if refuses && verdict != Verdict::Broken => {
            return Err(Error::StorageUnavailable { location: stopped.location.clone(), source: Box::new(stopped) });
        }
        (None, Some(stopped)) => return not_told(subject, false, &stopped.to_string()),
        (None, None) => return Ok(Findings::default()),
        (Some(found), _) => found,
    };
    count_not_checked(&found.report);
    if subject.trespasses(&found.report) {
        return Err(subject.refuse(found.report));
    }
    match verdict {
        _ if mode == RegisterCheck::Off => Ok(Findings::default()),
        Verdict::Broken if refuses => Err(subject.refuse(found.report)),
        Verdict::NotChecked => {
            let warnings = subject.let_pass(&found.report);
            not_told(subject, refuses, &reasons(&found.report)).map(|findings| Findings { warnings, ..findings })
        }
        _ => Ok(Findings { warnings: subject.let_pass(&found.report), not_told: None }),
    }
}

fn count(verdict: Verdict) {
    let verdict = match verdict {
        Verdict::Ok => "ok",
        Verdict::Broken => "broken",
        Verdict::NotChecked => "not-checked",
    };
    metrics::counter!("guillemot_register_checks_total", "verdict" => verdict).increment(1);
}

/// The first reasons why something was not checked.
fn reasons(report: &Report) -> String {
    let reasons = report.not_checked.iter().take(3).map(|not| format!("{}: {}", not.object, not.reason));
    reasons.collect::<Vec<_>>().join("; ")
}

fn not_told(subject: Subject<'_>, refuses: bool, why: &str) -> Result<Findings, Error> {
    let table = subject.table;
    if refuses {
        let text =
            format!("Cannot register {table}: register-check is deny, and the table could not be checked: {why}");
        return Err(Error::Invalid(text));
    }
    tracing::warn!(%table, "registered without a verdict: {why}");
    Ok(Findings { warnings: Vec::new(), not_told: Some(why.to_owned()) })
}

/// Checks the current snapshot, as far as that goes within the time.
async fn look_at(subject: Subject<'_>, reader: Scoped, table: &TableMetadata, limit: Duration) -> TableReport {
    let cache = Cache::new(CACHE_BYTES);
    let scope = Scope { snapshots: Snapshots::Current, most_files: MOST_FILES };
    let look = at_rest::check(&reader, &cache, &subject.places.warehouse.levels, table, scope, &|_| ());
    match tokio::time::timeout(limit, look).await {
        // Without any time there is no verdict, however fast storage is.
        Ok(report) if !limit.is_zero() => report,
        _ => TableReport::unfinished(table, format!("it took more than {} seconds", limit.as_secs())),
    }
}

/// Tells whether a table is ready for a format version.
///
/// # Errors
/// [`Error::Invalid`] if there is no upgrade to that version.
pub async fn upgrade_check(
    app: &App,
    warehouse: &Warehouse,
    caller: &Caller,
    ident: &TableIdent,
    to: u8,
) -> Result<Readiness, Error> {
    if !readiness::VERSIONS.contains(&to) {
        return Err(Error::Invalid(format!("Invalid to: expected 2 or 3, found {to}")));
    }
    let (row, stored) = load::<TableMetadata>(app, warehouse, ident).await?;
    app.write_journal().await;
    let seen = engines::list(&app.db, &row.id).await?.into_iter();
    let seen: Vec<(String, i64, i64)> = seen.map(|seen| (seen.agent, seen.read_ms, seen.wrote_ms)).collect();
    let users = Users { seen: &seen, now_ms: app.clock.now_ms() };
    let places = Places { app, warehouse, caller, namespace: &ident.namespace, row: Some(&row) };
    let subject = Subject { places, paths: &[], table: ident, action: "upgrade-check" };
    let report = look_at(subject, subject.looking(), stored.metadata(), LOOK_LIMIT).await;
    Ok(readiness::assess(stored.metadata(), to, &report, Some(users), policy(warehouse, to)))
}

/// Tells what the deletes of a table cost, with at most so many of its data files.
///
/// # Errors
/// [`Error::StorageUnavailable`] if storage did not answer.
pub async fn burden(
    app: &App,
    warehouse: &Warehouse,
    caller: &Caller,
    ident: &TableIdent,
    most: usize,
) -> Result<Burden, Error> {
    let (row, stored) = load::<TableMetadata>(app, warehouse, ident).await?;
    let places = Places { app, warehouse, caller, namespace: &ident.namespace, row: Some(&row) };
    let subject = Subject { places, paths: &[], table: ident, action: "deletes" };
    let mut report = look_at(subject, subject.looking(), stored.metadata(), LOOK_LIMIT).await;
    match report.stopped.take() {
        Some(stopped) => {
            Err(Error::StorageUnavailable { location: stopped.location.clone(), source: Box::new(stopped) })
        }
        None => Ok(Burden::of(stored.metadata(), report, most)),
    }
}
