//! What the rules look at: everything about one added snapshot that its files say, already read.

use std::sync::Arc;

use crate::manifest::{DataFile, Manifest, ManifestEntry, ManifestFile, ManifestList, Partition};
use crate::puffin::Footer;
use crate::spec::{Snapshot, TableMetadata};

use super::finding::{Finding, NotChecked};

mod change;

pub(super) use change::{ChangeFacts, FieldChange, StatisticsFacts, StatisticsRead};

/// What gathering found out about one snapshot.
#[derive(Debug, Default)]
pub(super) struct Gathered<'a> {
    /// None if the manifest list could not be read: there is nothing else to look at then.
    pub(super) facts: Option<Facts<'a>>,
    /// Files that could not be read or understood, each under the id of the rule it breaks.
    pub(super) failures: Vec<Failure>,
    pub(super) not_checked: Vec<NotChecked>,
}

/// A file that breaks a rule by how it reads.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) rule: &'static str,
    pub(super) finding: Finding,
}

/// The facts about one snapshot whose manifest list was read.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    /// The format version in force where the snapshot was added.
    pub(super) format_version: u8,
    pub(super) request: Request<'a>,
    /// The table with the snapshot in it.
    pub(super) table: &'a TableMetadata,
    pub(super) snapshot: &'a Snapshot,
    /// Location of the manifest list.
    pub(super) list_location: &'a str,
    pub(super) list: Arc<ManifestList>,
    /// Where each manifest of the list comes from, in the list's order.
    pub(super) origins: Vec<Origin>,
    pub(super) parent: Parent,
    /// Manifests that this snapshot wrote and that could be read, in the list's order.
    pub(super) manifests: Vec<NewManifest>,
    /// Row ids that the list assigns, in ascending order of their starts.
    pub(super) row_ranges: Vec<RowRange>,
    /// Deletion vectors that this snapshot adds.
    pub(super) vectors: Vec<Vector>,
    /// Pairs of live vectors for one data file, of which this snapshot adds at least one.
    pub(super) duplicate_vectors: Vec<DuplicateVector>,
    /// Deletes of the parent that are gone while their data file stays.
    pub(super) lost_deletes: Vec<LostDelete>,
    /// Deletes that stay although their data file is gone, or a vector took their place.
    pub(super) stale_deletes: Vec<StaleDelete>,
    /// What the manifests that this snapshot replaced held; none if that is not known.
    pub(super) history: History,
    /// Objects of added files, where a rule asks for them.
    pub(super) objects: Vec<FileObject>,
}

/// Where a manifest of the list comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// This snapshot wrote it (503 is its id).
    New,
    /// The parent's list has it, at this place.
    Parent(usize),
    /// The list of another snapshot of the table has it, unchanged.
    OtherSnapshot(i64),
    /// No list of the table has it as it is here.
    Nowhere,
    /// It was not looked for, or not in every list.
    NotSearched,
}

/// The parent snapshot's manifest list.
#[derive(Debug)]
pub(super) enum Parent {
    /// The snapshot has no parent.
    None,
    /// It has one whose list cannot be read; that is not this commit's fault.
    Unreadable,
    Known(Arc<ManifestList>),
}

/// A manifest that this snapshot wrote.
#[derive(Debug)]
pub(super) struct NewManifest {
    /// Its place in the list.
    pub(super) place: usize,
    pub(super) manifest: Arc<Manifest>,
    /// The size of the object in bytes.
    pub(super) size: u64,
}

/// Row ids that a manifest list assigns to the rows of one data manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowRange {
    /// The manifest.
    pub(super) object: String,
    pub(super) start: i64,
    /// How many rows get ids: exactly if the manifest was read, else at most.
    pub(super) rows: i64,
    pub(super) exact: bool,
}

/// What is known of a data file that a delete refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DataFileFacts {
    pub(super) spec_id: i32,
    pub(super) partition: Partition,
    pub(super) record_count: i64,
    pub(super) sequence_number: i64,
}

/// Whether the data file of a vector is part of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DataFileState {
    Live(DataFileFacts),
    /// Not live, but it was in this snapshot's history.
    Removed {
        /// Where it was last seen live, or was removed.
        by: String,
    },
    /// In no manifest of the snapshot or its history.
    Unknown,
    /// Not every manifest that could hold it was read.
    NotSearched,
}

/// A deletion vector that this snapshot adds: an ADDED entry, or an EXISTING one that its parent does not have.
#[derive(Debug)]
pub(super) struct Vector {
    /// The manifest that lists it.
    pub(super) manifest: Box<str>,
    /// The manifest's partition spec.
    pub(super) spec_id: i32,
    /// Its data sequence number, inherited if need be.
    pub(super) sequence_number: i64,
    pub(super) entry: ManifestEntry,
    pub(super) data_file: DataFileState,
    /// None if the file was not read, or could not be.
    pub(super) puffin: Option<Arc<PuffinFacts>>,
    /// None if the blob was not read, or is no deletion vector.
    pub(super) decoded: Option<Decoded>,
    /// The parent's vectors and position delete files for the same data file.
    pub(super) previous: Vec<PreviousDelete>,
}

/// A Puffin file that could be read.
#[derive(Debug)]
pub(super) struct PuffinFacts {
    /// The size of the object in bytes.
    pub(super) size: u64,
    /// None if the footer cannot be understood.
    pub(super) footer: Option<Footer>,
    pub(super) frame: Frame,
}

/// What is around the vectors of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// A Puffin file, or what should be one.
    Puffin,
    /// Nothing: the vector is the whole file. `allowed` if rule `bare-dv-blob` does not refuse that.
    Bare { allowed: bool },
}

/// What a vector's bitmaps say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) cardinality: u64,
    pub(super) max_position: Option<u64>,
}

/// A delete of the parent that a new vector takes the place of.
#[derive(Debug)]
pub(super) struct PreviousDelete {
    pub(super) file: DataFile,
    /// What the new vector lacks of it; none if that was not looked at.
    pub(super) lost: Option<LostPositions>,
}

/// Positions that a vector lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LostPositions {
    pub(super) count: u64,
    pub(super) first: Option<u64>,
}

/// Two live vectors for one data file.
#[derive(Debug)]
pub(super) struct DuplicateVector {
    /// The manifest that lists the one which this snapshot adds.
    pub(super) manifest: Box<str>,
    pub(super) data_file: Box<str>,
    pub(super) added: VectorPlace,
    pub(super) other: VectorPlace,
}

/// Where a vector is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VectorPlace {
    pub(super) file_path: Box<str>,
    pub(super) content_offset: Option<i64>,
}

/// A delete of the parent that is gone although its data file is still live.
#[derive(Debug)]
pub(super) struct LostDelete {
    pub(super) file: DataFile,
    pub(super) data_file: Box<str>,
}

/// A delete that applies to nothing any more and is still live.
#[derive(Debug)]
pub(super) struct StaleDelete {
    pub(super) manifest: Box<str>,
    pub(super) file: DataFile,
    pub(super) why: Stale,
}

/// Why a delete applies to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stale {
    /// This snapshot removes the data file.
    DataFileRemoved,
    /// This snapshot adds a vector for the data file of a position delete file.
    VectorAdded,
}

/// What this snapshot's entries say about files that were there before, against what was there.
#[derive(Debug, Default)]
pub(super) struct History {
    /// EXISTING entries that no replaced manifest holds, as `(manifest, file)`.
    pub(super) existing_unknown: Vec<(Box<str>, Box<str>)>,
    /// EXISTING entries that differ from the replaced one, with what differs.
    pub(super) existing_changed: Vec<(Box<str>, Box<str>, String)>,
    /// DELETED entries that no replaced manifest holds as live.
    pub(super) deleted_unknown: Vec<(Box<str>, Box<str>)>,
    /// How many live entries of replaced manifests are neither EXISTING nor DELETED now.
    pub(super) vanished: usize,
    /// ADDED data files that a carried manifest holds as live.
    pub(super) added_again: Vec<(Box<str>, Box<str>)>,
}

/// What is known of the request that adds a snapshot; of a table at rest nothing is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Request<'a> {
    /// The table before it.
    pub(super) base: Option<&'a TableMetadata>,
    /// Numbers that it gave to partition specs and that the table did not.
    pub(super) renumbered_specs: &'a [i32],
    /// The table's `next-row-id` where the snapshot is added.
    pub(super) next_row_id: Option<i64>,
}

/// The object of a file that this snapshot adds.
#[derive(Debug)]
pub(super) struct FileObject {
    /// The manifest that lists it.
    pub(super) manifest: Box<str>,
    pub(super) path: Box<str>,
    /// The size that the manifest says, in bytes.
    pub(super) declared: i64,
    pub(super) found: ObjectState,
}

/// What storage says of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectState {
    /// Its size in bytes.
    Size(u64),
    Missing,
    /// It lies in no place that the warehouse may use.
    Outside,
}

impl Facts<'_> {
    /// The manifests of the list with where they come from.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&ManifestFile, Origin)> {
        self.list.manifests.iter().zip(self.origins.iter().copied())
    }

    /// The manifests that this snapshot wrote, as the list describes them.
    pub(super) fn new_rows(&self) -> impl Iterator<Item = &ManifestFile> {
        self.rows().filter(|(_, origin)| *origin == Origin::New).map(|(file, _)| file)
    }

    /// The list's description of a manifest that was read.
    pub(super) fn row(&self, manifest: &NewManifest) -> Option<&ManifestFile> {
        self.list.manifests.get(manifest.place)
    }

    /// The manifest at a place of the list, if this snapshot wrote it and it was read.
    pub(super) fn read_at(&self, place: usize) -> Option<&NewManifest> {
        let found = self.manifests.binary_search_by_key(&place, |manifest| manifest.place).ok()?;
        self.manifests.get(found)
    }

    /// Whether every manifest that this snapshot wrote was read, of those that `which` picks.
    pub(super) fn all_read(&self, which: impl Fn(&ManifestFile) -> bool) -> bool {
        let mut new = self.rows().enumerate().filter(|(_, (file, origin))| *origin == Origin::New && which(file));
        new.all(|(place, _)| self.read_at(place).is_some())
    }

    /// The parent's description of the manifest at `place` of its list.
    pub(super) fn parent_row(&self, place: usize) -> Option<&ManifestFile> {
        match &self.parent {
            Parent::Known(list) => list.manifests.get(place),
            _ => None,
        }
    }
}

impl Vector {
    /// The data file that it deletes rows of.
    pub(super) fn referenced(&self) -> &str {
        self.entry.data_file.referenced_data_file.as_deref().unwrap_or_default()
    }
}
