//! One snapshot: as the commit that it was, then as the state that it is.

use std::collections::HashSet;
use std::sync::Arc;

use crate::manifest::{ManifestContent, ManifestFile, ManifestList};
use crate::spec::{Snapshot, TableMetadata};
use crate::validate::cache::{Cache, Index};
use crate::validate::facts::{DataFileState, Facts, Failure, NewManifest, Origin, Request};
use crate::validate::finding::NotChecked;
use crate::validate::gather::{self, Context, Notes, Source, TOGETHER, Whole, whole_manifests};
use crate::validate::judge::{self, Tally};
use crate::validate::levels::Levels;
use crate::validate::read::{ReadBytes, Unavailable};
use crate::validate::report::Report;

use super::deletes::{Deletes, blob_key};
use super::files::LiveData;
use super::report::SnapshotReport;
use super::{BlobKey, Progress, Scope, Seen, Watch, version_of, writers};

/// Rules about what is too large to be looked at.
const LIMITS: &[&str] =
    &[COMMIT_TOO_LARGE, "manifest-list-too-large", "manifest-too-large", "puffin-too-large", "dv-too-large"];
const COMMIT_TOO_LARGE: &str = "commit-too-large";

/// The check of one snapshot.
pub(super) struct Work<'a, R> {
    pub(super) reader: &'a R,
    pub(super) cache: &'a Cache,
    pub(super) levels: &'a Levels,
    pub(super) table: &'a TableMetadata,
    pub(super) snapshot: &'a Snapshot,
    pub(super) scope: Scope,
    pub(super) watch: Watch<'a>,
    pub(super) progress: Progress,
}

/// What is known of the snapshot before it is looked at as a state.
#[derive(Default)]
pub(super) struct Own {
    pub(super) list: Option<Arc<ManifestList>>,
    /// Manifests that could not be read: that is said already.
    broken: HashSet<Box<str>>,
    /// Vectors that were judged wholly.
    pub(super) vectors: HashSet<BlobKey>,
    /// Data files whose second vector is said already.
    pub(super) duplicates: HashSet<Box<str>>,
}

/// The check of one snapshot, as far as it is.
pub(super) struct State<'a, R> {
    pub(super) context: &'a Context<'a, R>,
    pub(super) seen: &'a mut Seen,
    pub(super) own: Own,
    pub(super) tally: Tally,
    pub(super) not_checked: Vec<NotChecked>,
    pub(super) complete: bool,
    watch: Watch<'a>,
    progress: Progress,
}

impl<R: ReadBytes> Work<'_, R> {
    pub(super) async fn check(self, seen: &mut Seen) -> Result<SnapshotReport, Unavailable> {
        let source = Source::new(self.reader, self.cache, self.levels);
        let format_version = version_of(self.table, self.snapshot);
        let mut done = SnapshotReport::of(self.table, self.snapshot);
        {
            let (levels, table, snapshot) = (self.levels, self.table, self.snapshot);
            let request = Request::default();
            let context = Context { source: &source, levels, table, snapshot, format_version, request, thrifty: false };
            self.check_in(&context, seen, &mut done).await?;
        }
        source.keep().await;
        Ok(done)
    }

    async fn check_in(
        &self,
        context: &Context<'_, R>,
        seen: &mut Seen,
        done: &mut SnapshotReport,
    ) -> Result<(), Unavailable> {
        let own = Own { list: gather::read_list(context, self.snapshot).await?, ..Own::default() };
        let mut state = State {
            context,
            seen,
            own,
            tally: Tally::default(),
            not_checked: Vec::new(),
            complete: true,
            watch: self.watch,
            progress: self.progress,
        };
        // First, so that what was read of a manifest is there when the commit is judged.
        state.judge_carried().await?;
        gather::read_replaced(context).await?;
        if state.as_commit(&mut done.report).await? {
            self.as_state(&mut state, done).await?;
        } else {
            state.complete = false;
        }
        done.complete = state.complete;
        done.report.not_checked.append(&mut state.not_checked);
        state.tally.report(self.levels, &mut done.report);
        Ok(())
    }

    async fn as_state(&self, state: &mut State<'_, R>, done: &mut SnapshotReport) -> Result<(), Unavailable> {
        let most = self.scope.most_files;
        let list = state.list();
        let mut indexes = Vec::new();
        state.read(ManifestContent::Deletes, |place, _, index| indexes.push((place, Arc::clone(index)))).await?;
        let deletes = Deletes::of(&indexes, &list, &mut done.counts);
        let fits = deletes.len() <= most;
        let mut data = LiveData::seeking(deletes.wanted(state.context.source.keys()).filter(|_| fits));
        let counts = &mut done.counts;
        state.read(ManifestContent::Data, |place, file, index| data.take(place, file, index, most, counts)).await?;
        data.judge(state).await?;
        if fits {
            deletes.judge(state, &data, done).await?;
        } else {
            state.skip("dv-*", &self.table.location, "the snapshot has too many delete files");
        }
        Ok(())
    }
}

/// Whether the line of parents ends at a snapshot that is not there any more.
pub(super) fn history_is_expired(table: &TableMetadata, snapshot: &Snapshot) -> bool {
    let mut at = snapshot;
    // Parents are older; a line that is longer than the table's history runs in a circle.
    for _ in 0..=table.snapshots.len() {
        let Some(parent) = at.parent_snapshot_id else { return false };
        let Some(parent) = table.snapshot(parent) else { return true };
        at = parent;
    }
    true
}

/// A data file that is in no manifest may have been in an expired one.
fn excuse_unknown_files(facts: &mut Facts<'_>) {
    for vector in facts.vectors.iter_mut().filter(|vector| vector.data_file == DataFileState::Unknown) {
        vector.data_file = DataFileState::Removed { by: "some snapshot, or that never was there".to_owned() };
    }
}

impl Own {
    /// Keeps what the look at the commit read. `all_new` says that every manifest it wrote was tried to be read.
    fn note_judged<R: ReadBytes>(
        &mut self,
        context: &Context<'_, R>,
        facts: &Facts<'_>,
        seen: &mut Seen,
        all_new: bool,
    ) {
        let read: HashSet<usize> = facts.manifests.iter().map(|new| new.place).collect();
        let new = facts.rows().enumerate();
        let new = new.filter(|(_, (file, origin))| all_new && *origin == Origin::New && !file.encrypted);
        let broken = new.filter(|(place, _)| !read.contains(place)).map(|(_, (file, _))| file.manifest_path.clone());
        self.broken.extend(broken);
        seen.manifests.extend(facts.manifests.iter().filter_map(|new| Some(facts.row(new)?.manifest_path.clone())));
        let keys = context.source.keys();
        for vector in &facts.vectors {
            let Some(key) = blob_key(keys, &vector.entry.data_file) else { continue };
            seen.vectors.insert(key, vector.decoded);
            seen.note_puffin(key.0, vector.puffin.as_deref());
            if vector.data_file != DataFileState::NotSearched {
                self.vectors.insert(key);
            }
        }
        self.duplicates.extend(facts.duplicate_vectors.iter().map(|pair| pair.data_file.clone()));
        self.list = Some(Arc::clone(&facts.list));
    }
}

impl<R: ReadBytes> State<'_, R> {
    pub(super) fn list(&self) -> Arc<ManifestList> {
        self.own.list.clone().unwrap_or_default()
    }

    /// Reads manifests that other snapshots wrote and that nobody judged, some at a time, and judges them.
    async fn judge_carried(&mut self) -> Result<(), Unavailable> {
        let list = self.list();
        let this = self.context.snapshot.snapshot_id;
        let carried = list.manifests.iter().enumerate().filter(|(_, file)| {
            let by_another = file.added_snapshot_id.is_some_and(|writer| writer != this);
            by_another && file.may_be_live() && !file.encrypted && !self.seen.manifests.contains(&file.manifest_path)
        });
        let places: Vec<(usize, bool)> = carried.map(|(place, _)| (place, false)).collect();
        self.progress.manifests = places.len();
        for some in places.chunks(TOGETHER) {
            (self.watch)(self.progress);
            for (place, read) in whole_manifests(self.context, &list, some).await? {
                match (read, list.manifests.get(place)) {
                    (Whole::Read(new, _), Some(file)) => self.judge(file, new),
                    (Whole::Broken(failure), Some(file)) => self.is_broken(file, failure),
                    _ => {}
                }
            }
            self.progress.manifests_done += some.len();
        }
        (self.watch)(self.progress);
        Ok(())
    }

    /// Judges the snapshot by what it added; false if its list could not be read.
    async fn as_commit(&mut self, report: &mut Report) -> Result<bool, Unavailable> {
        let context = self.context;
        let mut gathered = gather::gather(context).await?;
        let readable = gathered.facts.is_some();
        let all_new = self.set_aside_limits(&mut gathered.failures);
        if let Some(facts) = &mut gathered.facts {
            if history_is_expired(context.table, context.snapshot) {
                excuse_unknown_files(facts);
            }
            self.own.note_judged(context, facts, self.seen, all_new);
        }
        judge::check(gathered, context.levels, report);
        // These look at every manifest that is known. The look at the state reads them all, and finds the same.
        report.not_checked.retain(|not_checked| !matches!(not_checked.rule, "file-already-live" | "dv-left-behind"));
        self.complete &= self.own.broken.is_empty();
        Ok(readable)
    }

    /// Hands on the live files of the live manifests of one content.
    async fn read(
        &mut self,
        content: ManifestContent,
        mut take: impl FnMut(usize, &ManifestFile, &Arc<Index>),
    ) -> Result<(), Unavailable> {
        let list = self.list();
        for some in self.live_places(&list, content).chunks(TOGETHER) {
            for (place, read) in whole_manifests(self.context, &list, some).await? {
                let Some(file) = list.manifests.get(place) else { continue };
                match read {
                    Whole::Known(index) => take(place, file, &index),
                    Whole::Read(new, index) => {
                        self.judge(file, new);
                        take(place, file, &index);
                    }
                    Whole::Broken(failure) => self.is_broken(file, failure),
                }
            }
        }
        Ok(())
    }

    /// Places of manifests that may list live files, with whether they were judged before.
    fn live_places(&mut self, list: &ManifestList, content: ManifestContent) -> Vec<(usize, bool)> {
        let rows = list.manifests.iter().enumerate().filter(|(_, file)| file.content == content && file.may_be_live());
        let mut places = Vec::new();
        for (place, file) in rows {
            if file.encrypted {
                self.skip("manifest-*", &file.manifest_path, "the manifest is encrypted");
            } else if !self.own.broken.contains(&file.manifest_path) {
                places.push((place, self.seen.manifests.contains(&file.manifest_path)));
            }
        }
        places
    }

    /// Takes out faults that say no more than that something is larger than what is looked at: a commit that large is
    /// refused, a table is not broken by it. Answers whether every manifest that the snapshot wrote was tried.
    fn set_aside_limits(&mut self, failures: &mut Vec<Failure>) -> bool {
        let mut all_new = true;
        for failure in failures.extract_if(.., |failure| LIMITS.contains(&failure.rule)) {
            let Failure { rule, finding } = failure;
            let reason = format!("it has {}, more than is looked at ({})", finding.found, finding.expected);
            if rule == COMMIT_TOO_LARGE {
                // Its manifests are looked at one by one.
                all_new = false;
                self.not_checked.push(NotChecked { rule, object: finding.object, reason });
            } else {
                self.skip(rule, &finding.object, &reason);
            }
        }
        all_new
    }

    fn is_broken(&mut self, file: &ManifestFile, failure: Failure) {
        let mut failures = vec![failure];
        self.set_aside_limits(&mut failures);
        for failure in failures {
            self.tally.failure(failure);
        }
        self.complete = false;
        self.own.broken.insert(file.manifest_path.clone());
    }

    fn judge(&mut self, file: &ManifestFile, new: NewManifest) {
        self.seen.manifests.insert(file.manifest_path.clone());
        let table = self.context.table;
        if let Some((writer, version)) = writers::writer(table, file, &new.manifest) {
            let facts = writers::facts(table, &writer, version, file, new);
            self.tally.manifests(&facts, self.context.levels);
        }
    }

    /// Notes that something was not looked at which makes the check incomplete.
    pub(super) fn skip(&mut self, rule: &'static str, object: &str, reason: &str) {
        self.complete = false;
        self.not_checked.push(NotChecked { rule, object: object.to_owned(), reason: reason.to_owned() });
    }

    /// Moves what reading found out into the tally.
    pub(super) fn take_notes(&mut self, notes: Notes) {
        let (mut failures, not_checked) = notes.into_parts();
        self.set_aside_limits(&mut failures);
        for failure in failures {
            self.tally.failure(failure);
        }
        self.complete &= not_checked.is_empty();
        self.not_checked.extend(not_checked);
    }

    /// Tells how many vectors there are, and how many are done.
    pub(super) fn vectors(&mut self, done: usize, all: usize) {
        (self.progress.vectors_done, self.progress.vectors) = (done, all);
        (self.watch)(self.progress);
    }
}
