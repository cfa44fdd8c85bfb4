//! Validation: opens what a commit adds, and says which rules it breaks.
//!
//! A catalog is the one place that every engine's commit passes. Engines disagree about what they check when they
//! read, so a file that one of them writes wrong gives different rows in different engines. Here every file that a new
//! snapshot adds is read before the snapshot becomes part of the table: manifest list, manifests, Puffin footers,
//! deletion vectors.
//!
//! First facts, then rules: `gather` reads through the trait [`ReadBytes`], and each rule is a pure function over
//! what was gathered ([`catalogue`] lists them all). A rule is passed, broken (refused or warned about, by its
//! [`Level`]), or not checked, with the reason; nothing is skipped silently.

pub mod at_rest;
mod cache;
mod checks;
mod facts;
mod finding;
mod gather;
mod judge;
mod level;
mod levels;
mod page;
mod read;
mod report;
mod rules;
#[cfg(test)]
mod tests;

pub use cache::Cache;
pub use finding::NotChecked;
pub use level::{Error as LevelError, Level};
pub use levels::Levels;
pub use page::rules_page;
pub use read::{ReadBytes, ReadError, Unavailable};
pub use report::{Report, Violation};
pub use rules::{Reads, Rule};

use facts::{Facts, Request};
use gather::{Context, Source};

use crate::manifest::ManifestContent;
use crate::spec::{AddedSnapshot, TableMetadata};

/// Every rule, from the manifest list down to the bits of a deletion vector.
pub fn catalogue() -> impl Iterator<Item = &'static Rule> {
    rules::all()
}

/// What a commit makes of a table.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The table before the commit; none for a new table.
    pub base: Option<&'a TableMetadata>,
    /// The table after it.
    pub new: &'a TableMetadata,
    /// The snapshots that it adds and that are to be judged, in the order in which it adds them.
    pub added: &'a [AddedSnapshot],
    /// Numbers that the request gave to partition specs and that the table did not.
    pub renumbered_specs: &'a [i32],
}

/// Judges what a commit does: the change of the metadata, and the snapshots that it adds; a later one may have an
/// earlier one as its parent.
///
/// The verdict holds as long as the files exist: they are immutable, so it need not be repeated when a lost swap is
/// tried again.
///
/// # Errors
/// [`Unavailable`] if storage did not answer: then there is no verdict, and nothing has changed.
pub async fn snapshots<R: ReadBytes>(
    reader: &R,
    cache: &Cache,
    levels: &Levels,
    change: &Change<'_>,
) -> Result<Report, Unavailable> {
    let source = Source::new(reader, cache, levels);
    let mut report = Report::default();
    for added in change.added {
        let Some(snapshot) = change.new.snapshot(added.snapshot_id) else { continue };
        let context = Context {
            source: &source,
            levels,
            table: change.new,
            snapshot,
            format_version: added.format_version,
            request: Request {
                base: change.base,
                renumbered_specs: change.renumbered_specs,
                next_row_id: added.next_row_id,
            },
            thrifty: true,
        };
        let gathered = gather::gather(&context).await?;
        let end = gathered.facts.as_ref().and_then(row_id_end);
        report.row_id_end = report.row_id_end.max(end);
        judge::check(gathered, levels, &mut report);
    }
    if let Some(base) = change.base {
        let facts = gather::change(&source, levels, base, change.new, &mut report.not_checked).await?;
        judge::check_change(&facts, levels, &mut report);
    }
    if report.refused.is_empty() {
        source.keep().await;
    }
    Ok(report)
}

/// The end of the row ids that a manifest list gives out, now or before: by the counts that Iceberg's writers reserve ids
/// by, or by the rows themselves where those are more. Manifests that are carried count too: another catalog may have
/// left the table with a `next-row-id` below their ids.
fn row_id_end(facts: &Facts<'_>) -> Option<i64> {
    if facts.format_version < 3 {
        return None;
    }
    let exact = facts.row_ranges.iter().map(|range| range.start.saturating_add(range.rows));
    let data = facts.list.manifests.iter().filter(|file| file.content == ManifestContent::Data);
    let reserved = data.filter_map(|file| file.first_row_id?.checked_add(file.live_rows()?));
    exact.chain(reserved).max()
}
