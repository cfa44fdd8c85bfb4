//! What people are told of a check.

use std::fmt::Write;

use super::Outcome;
use crate::inspect::printable;
use crate::validate::at_rest::{Counts, SnapshotReport, Verdict};

/// How many reasons why something was not checked are shown of one snapshot.
const MOST_REASONS: usize = 10;

/// An outcome as text, ending in a line feed.
pub fn describe(outcome: &Outcome) -> String {
    let mut page = Page::default();
    page.line(0, outcome.metadata_location.as_ref().unwrap_or(&outcome.target));
    if let Some(report) = &outcome.report {
        page.line(0, format!("table {}, format version {}", report.table_uuid, report.format_version));
        page.line(0, format!("at {}", report.location));
        for snapshot in &report.snapshots {
            describe_snapshot(snapshot, &mut page);
        }
    }
    if let Some(error) = &outcome.error {
        page.line(0, error);
    }
    page.line(0, summary(outcome));
    page.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, depth: usize, text: impl AsRef<str>) {
        // Writing to a text does not fail.
        let _ = writeln!(self.0, "{:indent$}{}", "", printable(text.as_ref()), indent = 2 * depth);
    }
}

fn describe_snapshot(snapshot: &SnapshotReport, page: &mut Page) {
    let refs = if snapshot.refs.is_empty() { String::new() } else { format!(" ({})", snapshot.refs.join(", ")) };
    page.line(0, format!("snapshot {}{refs}, sequence number {}", snapshot.snapshot_id, snapshot.sequence_number));
    counts(&snapshot.counts, page);
    let report = &snapshot.report;
    let found =
        [("BROKEN", &report.refused, report.refused_count), ("warning", &report.warnings, report.warnings_count)];
    for (word, shown, count) in found {
        for violation in shown {
            page.line(1, format!("{word}: {}", violation.message));
        }
        if let Some(more) = count.checked_sub(shown.len()).filter(|more| *more > 0) {
            page.line(1, format!("{word}: {more} more"));
        }
    }
    for remark in &snapshot.remarks {
        page.line(1, format!("remark {}: {}: {}", remark.kind, remark.object, remark.message));
    }
    for not in report.not_checked.iter().take(MOST_REASONS) {
        page.line(1, format!("not checked {}: {}: {}", not.rule, not.object, not.reason));
    }
    if let Some(more) = report.not_checked.len().checked_sub(MOST_REASONS).filter(|more| *more > 0) {
        page.line(1, format!("not checked: {more} more"));
    }
}

fn counts(counts: &Counts, page: &mut Page) {
    page.line(
        1,
        format!(
            "{} data files with {} rows in {} manifests, {} delete manifests",
            counts.data_files, counts.records, counts.data_manifests, counts.delete_manifests
        ),
    );
    if counts.deletion_vectors > 0 {
        page.line(
            1,
            format!(
                "{} deletion vectors with {} positions in {} Puffin files, {} bytes live and {} dead",
                counts.deletion_vectors,
                counts.deleted_positions,
                counts.puffin_files,
                counts.puffin_bytes_live,
                counts.puffin_bytes_dead
            ),
        );
    }
    if counts.position_delete_files + counts.equality_delete_files > 0 {
        let (positions, equality) = (counts.position_delete_files, counts.equality_delete_files);
        page.line(1, format!("{positions} position delete files, {equality} equality delete files"));
    }
}

fn summary(outcome: &Outcome) -> String {
    let snapshots = outcome.report.as_ref().map_or(&[][..], |report| &report.snapshots);
    let sum = |of: fn(&SnapshotReport) -> usize| -> usize { snapshots.iter().map(of).sum() };
    let word = match outcome.verdict {
        Verdict::Ok => "ok",
        Verdict::Broken => "BROKEN",
        Verdict::NotChecked => "NOT CHECKED",
    };
    format!(
        "{word}: snapshots {}, broken rules {}, warnings {}, remarks {}",
        snapshots.len(),
        sum(|snapshot| snapshot.report.refused_count),
        sum(|snapshot| snapshot.report.warnings_count),
        sum(|snapshot| snapshot.remarks.len())
    )
}
