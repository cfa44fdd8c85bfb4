//! The live data files of a snapshot: each once, with row ids that no other row has.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::manifest::{ManifestContent, ManifestFile};
use crate::validate::cache::{DataFiles, Index, PathKey};
use crate::validate::facts::DataFileFacts;
use crate::validate::finding::Finding;
use crate::validate::gather::{TOGETHER, Whole, whole_manifests};
use crate::validate::read::{ReadBytes, Unavailable};

use super::report::Counts;
use super::snapshot::State;

/// How many files that are there twice are named.
const MOST_NAMED: usize = 5;

/// What is kept of the live data files.
#[derive(Debug, Default)]
pub(super) struct LiveData {
    /// Data files that deletes refer to; none until one is found.
    pub(super) wanted: HashMap<PathKey, Option<DataFileFacts>>,
    /// Every file; none if there are too many.
    keys: Option<Vec<PathKey>>,
    ranges: Vec<Range>,
}

/// Row ids of a manifest's files that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    start: i64,
    end: i64,
    /// The manifest's place in the list.
    place: usize,
}

impl LiveData {
    pub(super) fn seeking(wanted: impl Iterator<Item = PathKey>) -> Self {
        Self { wanted: wanted.map(|key| (key, None)).collect(), keys: Some(Vec::new()), ranges: Vec::new() }
    }

    /// Takes the files of one manifest.
    pub(super) fn take(
        &mut self,
        place: usize,
        file: &ManifestFile,
        index: &Arc<Index>,
        most_files: usize,
        counts: &mut Counts,
    ) {
        let Index::Data(files) = &**index else { return };
        counts.data_manifests += 1;
        counts.manifests_without_row_ids += u64::from(file.first_row_id.is_none());
        for (key, indexed) in files.iter() {
            counts.data_files += 1;
            counts.records = counts.records.saturating_add(u64::try_from(indexed.record_count).unwrap_or(0));
            if let Some(found @ None) = self.wanted.get_mut(&key) {
                *found = index.data_file(key, file);
            }
            if let Some(keys) = &mut self.keys {
                keys.push(key);
            }
        }
        if self.keys.as_ref().is_some_and(|keys| keys.len() > most_files) {
            self.keys = None;
        }
        self.ranges.extend(ranges(place, file, files));
    }

    /// Judges them together.
    pub(super) async fn judge<R: ReadBytes>(&mut self, state: &mut State<'_, R>) -> Result<(), Unavailable> {
        if state.context.format_version >= 3 {
            self.judge_row_ids(state);
        }
        let Some(mut keys) = self.keys.take() else {
            state.skip("file-already-live", &state.context.table.location, "the snapshot has too many data files");
            return Ok(());
        };
        keys.sort_unstable();
        let twice = keys.iter().zip(keys.iter().skip(1)).filter(|(first, second)| first == second);
        let twice: HashSet<PathKey> = twice.map(|(key, _)| *key).collect();
        name_twice(&twice, state).await
    }

    fn judge_row_ids<R: ReadBytes>(&mut self, state: &mut State<'_, R>) {
        self.ranges.sort_unstable();
        let manifests = state.list();
        let path = |place: usize| manifests.manifests.get(place).map_or("", |file| &*file.manifest_path);
        let mut last: Option<Range> = None;
        for range in &self.ranges {
            if let Some(last) = last.filter(|last| range.start < last.end) {
                state.tally.add("row-id-ranges-overlap", || {
                    let expected = format!("row ids from {} on, after those of {}", last.end, path(last.place));
                    Finding::new(path(range.place), expected, format!("{}..{}", range.start, range.end))
                });
            }
            last = last.filter(|last| last.end >= range.end).or(Some(*range));
        }
        let next = state.context.table.next_row_id.unwrap_or(0);
        if let Some(last) = last.filter(|last| last.end > next) {
            state.tally.add("next-row-id-behind", || {
                Finding::new(path(last.place), format!("row ids below next-row-id {next}"), last.end - 1)
            });
        }
    }
}

/// The row ids of a manifest's files. Writers give them in order, so there is one range where files have none of their
/// own, and hardly more where they have.
fn ranges(place: usize, file: &ManifestFile, files: &DataFiles) -> Vec<Range> {
    let range = |start: i64, rows: i64| Range { start, end: start.saturating_add(rows), place };
    let own = files.iter().filter_map(|(_, indexed)| Some(range(indexed.first_row_id?, indexed.record_count)));
    let inherited = file.first_row_id.map(|start| range(start, files.unassigned_rows));
    let mut all: Vec<Range> = own.chain(inherited).filter(|range| range.end > range.start).collect();
    all.sort_unstable();
    all.dedup_by(|next, last| {
        let follows = next.start == last.end;
        if follows {
            last.end = next.end;
        }
        follows
    });
    all
}

/// Names files that are live twice: only now are their paths looked for.
async fn name_twice<R: ReadBytes>(twice: &HashSet<PathKey>, state: &mut State<'_, R>) -> Result<(), Unavailable> {
    let mut named = HashSet::new();
    let list = state.list();
    let rows = list.manifests.iter().enumerate();
    let data = rows.filter(|(_, file)| file.content == ManifestContent::Data && file.may_be_live() && !file.encrypted);
    let places: Vec<(usize, bool)> = data.map(|(place, _)| (place, false)).collect();
    for some in places.chunks(TOGETHER) {
        if named.len() >= twice.len().min(MOST_NAMED) {
            break;
        }
        for (place, read) in whole_manifests(state.context, &list, some).await? {
            let (Whole::Read(new, _), Some(file)) = (read, list.manifests.get(place)) else { continue };
            let paths = new.manifest.entries.iter().filter(|entry| entry.is_live()).map(|e| &*e.data_file.file_path);
            for path in paths {
                let key = state.context.source.keys().key(path);
                if named.len() < MOST_NAMED && twice.contains(&key) && named.insert(key) {
                    state.tally.add("file-already-live", || {
                        Finding::new(&file.manifest_path, format!("{path} once"), "twice")
                    });
                }
            }
        }
    }
    Ok(())
}
