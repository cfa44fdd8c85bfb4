//! Picks the files of a scan, and says what is left for other replies.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::TryStreamExt;

use super::cache::{Cache, Files};
use super::content_file::{push_delete, push_task};
use super::deletes::{Delete, DeleteIndex, Target};
use super::filter::{Filter, Residual};
use super::scan::{Range, Scan, Snapshots};
use super::source::{Source, may_match};
use super::{Error, metrics};
use crate::manifest::{DataFile, ManifestContent, ManifestEntry, ManifestFile, ManifestList, Status};
use crate::spec::json::{ObjectWriter, push_string};
use crate::validate::ReadBytes;

/// How many data manifests one reply reads; what is behind them becomes plan tasks.
const MANIFESTS_PER_REPLY: usize = 1_000;
/// How many plan tasks one reply may name, and how long they may be together.
const MOST_TASKS: usize = 100;
const MOST_TASK_BYTES: usize = 256 * 1024;
/// Files of a manifest whose list does not say how many it has.
const FILES_OF_A_MANIFEST: usize = 1_000;

/// How much one reply holds.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// File scan tasks of one reply; the others are left to plan tasks.
    pub tasks: usize,
}

/// A data file to read.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) entry: Arc<ManifestEntry>,
    pub(super) spec_id: i32,
    /// The row id of its first row, its own or that which its manifest assigns.
    pub(super) first_row_id: Option<i64>,
    pub(super) residual: Residual,
    /// Places of its deletes.
    deletes: Vec<usize>,
}

/// What a reply holds.
#[derive(Debug)]
pub struct Planned<'a> {
    scan: &'a Scan<'a>,
    tasks: Vec<Task>,
    deletes: Vec<Delete>,
    rest: Vec<Range>,
}

/// Plans a scan, or the part of it that a plan task stands for.
///
/// # Errors
/// [`Error::Read`] if a file of the table cannot be read, [`Error::Corrupt`] if the files contradict each other.
pub async fn plan<'a, R: ReadBytes>(
    reader: &R,
    cache: &Cache,
    scan: &'a Scan<'a>,
    limits: Limits,
) -> Result<Planned<'a>, Error> {
    let source = Source { reader, cache };
    let manifests = match &scan.of {
        Snapshots::None => Manifests::Found(Vec::new()),
        Snapshots::One(snapshot) => Manifests::Listed(source.list(snapshot).await?),
        Snapshots::Appends(snapshots) => Manifests::Found(source.appended(snapshots).await?),
    };
    let wanted = wanted(scan, manifests.rows())?;
    let deletes = match &manifests {
        Manifests::Listed(list) if !wanted.is_empty() => source.deletes(scan, list, &wanted).await?,
        _ => Vec::new(),
    };
    let deletes = DeleteIndex::of(deletes, scan.table)?;
    let range = Range { end: scan.range.end.min(manifests.rows().len()), ..scan.range };
    let mut planner = Planner::new(scan, &deletes, limits);
    planner.run(&source, &wanted, range).await?;
    Ok(planner.planned)
}

/// The manifests of a scan, of which its ranges count the places.
enum Manifests {
    Listed(Arc<ManifestList>),
    Found(Vec<ManifestFile>),
}

impl Manifests {
    fn rows(&self) -> &[ManifestFile] {
        match self {
            Self::Listed(list) => &list.manifests,
            Self::Found(found) => found,
        }
    }
}

/// The data manifests of the scan's range that may list files with rows which pass, with their places.
fn wanted<'m>(scan: &Scan<'_>, manifests: &'m [ManifestFile]) -> Result<Vec<(usize, &'m ManifestFile)>, Error> {
    let mut wanted = Vec::new();
    for (place, file) in manifests.iter().enumerate().take(scan.range.end).skip(scan.range.manifest) {
        if file.content == ManifestContent::Data && may_match(scan, file)? {
            wanted.push((place, file));
        }
    }
    Ok(wanted)
}

/// Picks the files of one reply.
struct Planner<'a, 'd> {
    scan: &'a Scan<'a>,
    index: &'d DeleteIndex<'a>,
    limits: Limits,
    planned: Planned<'a>,
    /// Places of deletes that some task has already.
    places: HashMap<(Box<str>, Option<i64>, Option<i64>), usize>,
    /// Snapshots whose added files are wanted; none if all live files are.
    added_by: Option<HashSet<i64>>,
    /// Rows that pass for certain.
    certain_rows: i64,
}

impl<'a, 'd> Planner<'a, 'd> {
    fn new(scan: &'a Scan<'a>, index: &'d DeleteIndex<'a>, limits: Limits) -> Self {
        let added_by = match &scan.of {
            Snapshots::Appends(snapshots) => Some(snapshots.iter().map(|one| one.snapshot_id).collect()),
            Snapshots::None | Snapshots::One(_) => None,
        };
        let planned = Planned { scan, tasks: Vec::new(), deletes: Vec::new(), rest: Vec::new() };
        Self { scan, index, limits, planned, places: HashMap::new(), added_by, certain_rows: 0 }
    }

    async fn run<R: ReadBytes>(
        &mut self,
        source: &Source<'_, R>,
        wanted: &[(usize, &ManifestFile)],
        range: Range,
    ) -> Result<(), Error> {
        let now = wanted.get(..MANIFESTS_PER_REPLY).unwrap_or(wanted);
        let mut reads = source.read_ahead(now.iter().copied());
        while let Some((place, file, files)) = reads.try_next().await? {
            let start = if place == range.manifest { range.entry } else { 0 };
            if let Some(entry) = self.add(file, &files, start)? {
                self.planned.rest = self.parts(wanted, place, entry, range.end);
                return Ok(());
            }
            if self.has_enough() {
                return Ok(());
            }
        }
        if let Some((place, _)) = wanted.get(MANIFESTS_PER_REPLY) {
            self.planned.rest = self.parts(wanted, *place, 0, range.end);
        }
        Ok(())
    }

    /// Adds files of a manifest, from one of its entries on. The entry to go on from, if the reply is full.
    fn add(&mut self, file: &ManifestFile, files: &Files, start: usize) -> Result<Option<usize>, Error> {
        let spec = self.scan.spec(file.partition_spec_id)?;
        let mut next_row_id = file.first_row_id;
        for (place, entry) in files.iter().enumerate() {
            let data_file = &entry.data_file;
            // Row ids are assigned in the order of the manifest, to all its files.
            let first_row_id = data_file.first_row_id.or(next_row_id).filter(|_| file.first_row_id.is_some());
            if data_file.first_row_id.is_none() {
                next_row_id = next_row_id.and_then(|id| id.checked_add(data_file.record_count));
            }
            let passes = place >= start
                && self.is_wanted(file, entry)
                && spec.may_match(&self.scan.filter, &data_file.partition)
                && self.has_rows(entry);
            if !passes {
                continue;
            }
            if self.planned.tasks.len() >= self.limits.tasks.max(1) {
                return Ok(Some(place));
            }
            let residual = spec.residual(&self.scan.filter, &data_file.partition);
            self.push(file, entry, first_row_id, residual)?;
        }
        Ok(None)
    }

    fn is_wanted(&self, file: &ManifestFile, entry: &ManifestEntry) -> bool {
        let Some(added_by) = &self.added_by else { return true };
        let by = entry.snapshot_id.or(file.added_snapshot_id);
        entry.status == Status::Added && by.is_some_and(|id| added_by.contains(&id))
    }

    /// Whether the statistics of a file leave rows that pass.
    fn has_rows(&self, entry: &ManifestEntry) -> bool {
        match &self.scan.filter {
            Filter::Constant(constant) => *constant,
            _ if entry.data_file.record_count == 0 => false,
            filter => filter.may_match(&mut |asked| metrics::may_match(asked, &entry.data_file)),
        }
    }

    fn push(
        &mut self,
        file: &ManifestFile,
        entry: &Arc<ManifestEntry>,
        first_row_id: Option<i64>,
        residual: Residual,
    ) -> Result<(), Error> {
        let target = Target {
            file: &entry.data_file,
            spec_id: file.partition_spec_id,
            sequence_number: entry.sequence_number.unwrap_or(file.sequence_number),
        };
        let found = self.index.for_file(target)?;
        self.count_rows(&entry.data_file, &residual, &found);
        let deletes = found.into_iter().map(|delete| self.place(delete)).collect();
        let (entry, spec_id) = (Arc::clone(entry), file.partition_spec_id);
        self.planned.tasks.push(Task { entry, spec_id, first_row_id, residual, deletes });
        Ok(())
    }

    /// The place of a delete among those of the reply.
    fn place(&mut self, delete: &Delete) -> usize {
        let (path, offset, length) = delete.key();
        let next = self.planned.deletes.len();
        let place = *self.places.entry((path.into(), offset, length)).or_insert(next);
        if place == next {
            self.planned.deletes.push(delete.clone());
        }
        place
    }

    /// Counts the rows of a file if all of them pass but those that a deletion vector takes away.
    fn count_rows(&mut self, file: &DataFile, residual: &Residual, deletes: &[&Delete]) {
        let deleted = match deletes {
            [] => 0,
            [only] if only.file().is_deletion_vector() => only.file().record_count,
            _ => return,
        };
        if *residual == Residual::Constant(true) {
            self.certain_rows = self.certain_rows.saturating_add((file.record_count - deleted).max(0));
        }
    }

    /// Whether the client needs no more rows than those.
    fn has_enough(&self) -> bool {
        !self.scan.is_task && self.scan.request.min_rows.is_some_and(|rows| self.certain_rows >= rows)
    }

    /// Splits what is left, from an entry of a manifest on, into parts of about as many files as a reply holds.
    fn parts(&self, wanted: &[(usize, &ManifestFile)], place: usize, entry: usize, end: usize) -> Vec<Range> {
        let token = self.scan.token(Some(Range { manifest: place, entry, end })).encode().len();
        let most = (MOST_TASK_BYTES / token.max(1)).clamp(1, MOST_TASKS);
        let left: Vec<_> = wanted.iter().filter(|(at, _)| *at >= place).collect();
        let files = |file: &ManifestFile| {
            let live = file.live_files().and_then(|files| usize::try_from(files).ok());
            live.unwrap_or(FILES_OF_A_MANIFEST)
        };
        let all: usize = left.iter().map(|(_, file)| files(file)).fold(0, usize::saturating_add);
        let size = self.limits.tasks.max(all / most).max(1);
        let mut parts: Vec<Range> = Vec::new();
        let mut in_part = usize::MAX;
        for (at, file) in left {
            if in_part >= size && parts.len() < most {
                if let Some(last) = parts.last_mut() {
                    last.end = *at;
                }
                let entry = if *at == place { entry } else { 0 };
                parts.push(Range { manifest: *at, entry, end });
                in_part = 0;
            }
            in_part = in_part.saturating_add(files(file));
        }
        parts
    }
}

impl Planned<'_> {
    /// The reply to `planTableScan` and to `fetchPlanningResult`.
    pub fn completed_json(&self) -> String {
        let mut out = String::new();
        let mut object = ObjectWriter::new(&mut out);
        object.str("status", "completed");
        object.str("plan-id", &self.scan.token(None).encode_id());
        self.push_tasks(&mut object);
        object.finish();
        out
    }

    /// The reply to `fetchScanTasks`.
    pub fn tasks_json(&self) -> String {
        let mut out = String::new();
        let mut object = ObjectWriter::new(&mut out);
        self.push_tasks(&mut object);
        object.finish();
        out
    }

    fn push_tasks(&self, object: &mut ObjectWriter<'_>) {
        if !self.rest.is_empty() {
            let tokens = self.rest.iter().map(|range| self.scan.token(Some(*range)).encode());
            object.array("plan-tasks", tokens, |out, token| push_string(out, &token));
        }
        // Without a task there is no delete either, and every task's spec was found before.
        if !self.deletes.is_empty() {
            object.array("delete-files", &self.deletes, |out, delete| {
                if let Some(spec) = self.scan.specs.get(&delete.spec_id) {
                    push_delete(out, delete, spec);
                }
            });
        }
        object.array("file-scan-tasks", &self.tasks, |out, task| {
            if let Some(spec) = self.scan.specs.get(&task.spec_id) {
                push_task(out, task, spec, &self.scan.stats, &task.deletes);
            }
        });
    }
}
