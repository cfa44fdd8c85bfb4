//! Whether a table is ready for a newer format version: what is in it, and who uses it.

mod engines;

pub use engines::{Ability, Known, known};

use serde::Serialize;

use crate::spec::TableMetadata;
use crate::validate::Violation;
use crate::validate::at_rest::{Counts, TableReport, Verdict};

/// A client that was not seen for so long does not count, in milliseconds.
pub const SEEN_WITHIN_MS: i64 = 30 * 24 * 3_600_000;

/// The versions that a table can be upgraded to.
pub const VERSIONS: std::ops::RangeInclusive<u8> = 2..=3;

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Nothing speaks against it.
    Ready,
    /// Nothing hinders it, and there is something to know.
    ReadyWithRemarks,
    /// Something hinders it.
    NotReady,
}

/// A client that was seen on the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Engine {
    /// What it says of itself.
    pub agent: String,
    /// When it last read the table, epoch milliseconds; 0 for never.
    pub last_read_ms: i64,
    /// When it last changed the table, epoch milliseconds; 0 for never.
    pub last_wrote_ms: i64,
    /// What is known of it.
    #[serde(flatten)]
    pub known: Known,
}

/// Whether a table is ready for a format version, and why.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Readiness {
    /// The table's version now.
    pub format_version: u8,
    /// The version it is to get.
    pub to: u8,
    /// The answer.
    pub verdict: Answer,
    /// What hinders it, one sentence each.
    pub hindrances: Vec<String>,
    /// What is to be known, one sentence each.
    pub remarks: Vec<String>,
    /// What is live in the current snapshot; none if there is none.
    pub counts: Option<Counts>,
    /// Broken rules of level deny.
    pub refused: Vec<Violation>,
    /// Broken rules of level warn.
    pub warnings: Vec<Violation>,
    /// The clients that were seen on the table in the last 30 days; none if nobody kept watch.
    pub engines: Option<Vec<Engine>>,
}

/// What is known of the users of a table.
#[derive(Debug, Clone, Copy)]
pub struct Users<'a> {
    /// What they say of themselves, and when they last read and changed the table, in epoch milliseconds (0: never).
    pub seen: &'a [(String, i64, i64)],
    /// Now, in epoch milliseconds.
    pub now_ms: i64,
}

/// Tells whether a table is ready, from a check of its current snapshot and from who uses it. `policy` is what speaks
/// against the version itself.
pub fn assess(
    table: &TableMetadata,
    to: u8,
    report: &TableReport,
    users: Option<Users<'_>>,
    policy: Option<String>,
) -> Readiness {
    let mut hindrances: Vec<String> = policy.into_iter().collect();
    let mut remarks = Vec::new();
    let current = report.snapshots.first();
    match report.verdict() {
        Verdict::Ok => {}
        Verdict::Broken => hindrances.push("the current snapshot breaks rules: see `refused`".to_owned()),
        Verdict::NotChecked => hindrances.push("the current snapshot could not be checked wholly".to_owned()),
    }
    if table.format_version >= to {
        remarks.push(format!("the table has format version {} already", table.format_version));
    }
    let counts = current.map(|snapshot| snapshot.counts);
    if let Some(counts) = &counts {
        remark_on_deletes(counts, to, &mut remarks);
        remark_on_row_ids(counts, to, &mut remarks);
    }
    let warnings = current.map(|snapshot| snapshot.report.warnings.clone()).unwrap_or_default();
    if !warnings.is_empty() {
        remarks.push("the current snapshot breaks rules that only warn: see `warnings`".to_owned());
    }
    let engines = users.map(|users| engines_of(users, to, &mut hindrances, &mut remarks));
    if engines.is_none() && to >= 3 {
        remarks.push("which engines use the table is not known here".to_owned());
    }
    let verdict = if !hindrances.is_empty() {
        Answer::NotReady
    } else if remarks.is_empty() {
        Answer::Ready
    } else {
        Answer::ReadyWithRemarks
    };
    let refused = current.map(|snapshot| snapshot.report.refused.clone()).unwrap_or_default();
    Readiness {
        format_version: table.format_version,
        to,
        verdict,
        hindrances,
        remarks,
        counts,
        refused,
        warnings,
        engines,
    }
}

fn remark_on_deletes(counts: &Counts, to: u8, remarks: &mut Vec<String>) {
    if to < 3 {
        return;
    }
    let (files, of_one) = (counts.position_delete_files, counts.position_delete_files_of_one_file);
    if files > 0 {
        let rest = files - of_one.min(files);
        remarks.push(format!(
            "{files} position delete files are left and stay valid: {of_one} for one data file each, which a deletion \
             vector takes over, and {rest} for several, which stay until each of these has a vector or is rewritten"
        ));
    }
    if counts.equality_delete_files > 0 {
        remarks.push(format!(
            "{} equality delete files are left: they stay valid in version 3, and not every engine reads them",
            counts.equality_delete_files
        ));
    }
}

fn remark_on_row_ids(counts: &Counts, to: u8, remarks: &mut Vec<String>) {
    if to >= 3 && counts.manifests_without_row_ids > 0 {
        remarks.push(format!(
            "{} of {} data manifests have no row ids: the first commit after the upgrade gives ids to all of their rows",
            counts.manifests_without_row_ids, counts.data_manifests
        ));
    }
}

/// The clients of the last days, with what is known of them; who cannot go along is said.
fn engines_of(users: Users<'_>, to: u8, hindrances: &mut Vec<String>, remarks: &mut Vec<String>) -> Vec<Engine> {
    let mut engines = Vec::new();
    for (agent, read_ms, wrote_ms) in users.seen {
        if users.now_ms.saturating_sub(*read_ms.max(wrote_ms)) > SEEN_WITHIN_MS {
            continue;
        }
        let known = known(agent);
        if to >= 3 {
            judge_engine(&known, *wrote_ms > 0, hindrances, remarks);
        }
        engines.push(Engine { agent: agent.clone(), last_read_ms: *read_ms, last_wrote_ms: *wrote_ms, known });
    }
    engines
}

fn judge_engine(known: &Known, wrote: bool, hindrances: &mut Vec<String>, remarks: &mut Vec<String>) {
    let version = known.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
    let note = if known.note.is_empty() { String::new() } else { format!(" ({})", known.note) };
    let name = format!("{}{version}", known.name);
    let say = |list: &mut Vec<String>, text: String| {
        // Two clients may say the same of themselves but for their build.
        if !list.contains(&text) {
            list.push(text);
        }
    };
    if known.reads == Ability::No {
        say(hindrances, format!("{name} uses the table and cannot read format version 3{note}"));
    } else if wrote && known.writes == Ability::No {
        say(hindrances, format!("{name} writes to the table and cannot write format version 3{note}"));
    } else if known.reads == Ability::Unknown || wrote && known.writes == Ability::Unknown {
        say(remarks, format!("whether {name} can use format version 3 is not known{note}"));
    } else if !known.note.is_empty() {
        say(remarks, format!("{name} uses the table{note}"));
    }
}

#[cfg(test)]
mod tests;
