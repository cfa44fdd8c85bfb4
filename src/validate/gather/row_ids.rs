//! The row ids that a manifest list assigns (spec: "Row lineage").

use crate::manifest::{Manifest, ManifestContent, ManifestFile};
use crate::validate::cache::Index;
use crate::validate::facts::{Facts, Origin, RowRange};
use crate::validate::read::{ReadBytes, Unavailable};

use super::source::indexes;
use super::{Context, Notes};

/// How many manifests may be read to learn how many of their rows need an id.
const MOST_READ: usize = 2_000;

/// The ranges that this snapshot assigns, in ascending order. Manifests of the parent that had no row ids get them now;
/// how many of their rows need one is looked up only if the ranges would overlap otherwise.
pub(super) async fn ranges<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    notes: &mut Notes,
) -> Result<Vec<RowRange>, Unavailable> {
    if context.format_version < 3 {
        return Ok(Vec::new());
    }
    let mut ranges: Vec<(RowRange, &ManifestFile)> = Vec::new();
    for (place, (file, origin)) in facts.rows().enumerate() {
        let Some(start) = file.first_row_id.filter(|_| is_assigned_now(facts, file, origin)) else { continue };
        let read = facts.read_at(place);
        let exact = read.map(|new| unassigned_rows(&new.manifest));
        let rows = exact.or_else(|| file.live_rows()).unwrap_or(0);
        let object = file.manifest_path.to_string();
        ranges.push((RowRange { object, start, rows, exact: exact.is_some() }, file));
    }
    ranges.sort_by_key(|(range, _)| range.start);
    if overlap(&ranges) {
        make_exact(context, facts, &mut ranges, notes).await?;
    }
    Ok(ranges.into_iter().map(|(range, _)| range).collect())
}

/// Looks up how many rows of the parent's manifests need an id.
async fn make_exact<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    ranges: &mut [(RowRange, &ManifestFile)],
    notes: &mut Notes,
) -> Result<(), Unavailable> {
    let this = context.snapshot.snapshot_id;
    let is_unread = |(range, file): &&mut (RowRange, &ManifestFile)| {
        !range.exact && !file.encrypted && file.added_snapshot_id != Some(this)
    };
    let unread: Vec<_> = ranges.iter_mut().filter(is_unread).collect();
    if unread.len() > MOST_READ {
        let reason = format!("{} manifests get row ids and were not read (cost)", unread.len());
        notes.skip("row-id-ranges-overlap", facts.list_location, reason);
        return Ok(());
    }
    let files: Vec<&ManifestFile> = unread.iter().map(|(_, file)| *file).collect();
    for ((range, file), read) in unread.into_iter().zip(indexes(context.source, &files).await) {
        match read {
            Ok(index) => {
                if let Index::Data(files) = &*index {
                    (range.rows, range.exact) = (files.unassigned_rows, true);
                }
            }
            Err(fault) => notes.skip("row-id-ranges-overlap", &file.manifest_path, fault.reason()?),
        }
    }
    Ok(())
}

/// Whether this list is the one that gives the manifest its first row id.
fn is_assigned_now(facts: &Facts<'_>, file: &ManifestFile, origin: Origin) -> bool {
    let assigned = match origin {
        Origin::New | Origin::Nowhere => true,
        Origin::Parent(place) => facts.parent_row(place).is_some_and(|known| known.first_row_id.is_none()),
        Origin::OtherSnapshot(_) | Origin::NotSearched => false,
    };
    assigned && file.content == ManifestContent::Data
}

/// Rows of live files that have no row id of their own.
fn unassigned_rows(manifest: &Manifest) -> i64 {
    let live = manifest.entries.iter().filter(|entry| entry.is_live() && entry.data_file.first_row_id.is_none());
    live.map(|entry| entry.data_file.record_count.max(0)).fold(0, i64::saturating_add)
}

fn overlap(ranges: &[(RowRange, &ManifestFile)]) -> bool {
    let pairs = ranges.iter().zip(ranges.iter().skip(1));
    pairs.into_iter().any(|((first, _), (second, _))| first.start.saturating_add(first.rows) > second.start)
}
