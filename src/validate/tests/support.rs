//! A reader over the fixture folders, and commits to judge.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bytes::Bytes;
use futures::executor::block_on;
use serde_json::Value as Json;

use crate::spec::{AddedSnapshot, Base, CommitTableRequest, Snapshot, TableMetadata, apply};
use crate::validate::{Cache, Change, Levels, ReadBytes, ReadError, Report, Unavailable, snapshots};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fixtures");

/// Objects by location, and what was read of them.
#[derive(Default)]
pub(super) struct Objects {
    bytes: HashMap<String, Bytes>,
    pub(super) reads: Mutex<Vec<String>>,
    /// Locations that may not be read.
    pub(super) forbidden: Vec<String>,
    /// Locations that do not answer.
    pub(super) unavailable: Vec<String>,
}

impl Objects {
    /// Adds every file of a fixture folder under a location.
    pub(super) fn add_folder(&mut self, folder: &Path, location: &str) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{location}/{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                self.add_folder(&path, &name);
            } else {
                self.put(&name, fs::read(&path).unwrap());
            }
        }
    }

    pub(super) fn put(&mut self, location: &str, bytes: impl Into<Bytes>) {
        self.bytes.insert(location.to_owned(), bytes.into());
    }

    pub(super) fn remove(&mut self, location: &str) {
        self.bytes.remove(location);
    }

    pub(super) fn object(&self, location: &str) -> Bytes {
        self.bytes[location].clone()
    }

    /// The names of what was read since the last call, without folders, sorted.
    pub(super) fn take_reads(&self) -> Vec<String> {
        let mut reads: Vec<String> = std::mem::take(&mut *self.reads.lock().unwrap())
            .iter()
            .map(|location| location.rsplit('/').next().unwrap().to_owned())
            .collect();
        reads.sort();
        reads
    }

    fn find(&self, location: &str) -> Result<&Bytes, ReadError> {
        self.permit(location)?;
        self.reads.lock().unwrap().push(location.to_owned());
        if self.unavailable.iter().any(|place| location.contains(place.as_str())) {
            return Err(ReadError::Unavailable { location: location.to_owned(), source: "it is down".into() });
        }
        self.bytes.get(location).ok_or_else(|| ReadError::NotFound { location: location.to_owned() })
    }
}

impl ReadBytes for Objects {
    fn permit(&self, location: &str) -> Result<(), ReadError> {
        let forbidden = self.forbidden.iter().any(|place| location.ends_with(place.as_str()));
        if location.starts_with("gs://warehouse/") && !forbidden {
            return Ok(());
        }
        Err(ReadError::Outside { location: location.to_owned(), allowed: vec!["gs://warehouse".to_owned()] })
    }

    async fn size(&self, location: &str) -> Result<u64, ReadError> {
        self.find(location).map(|bytes| bytes.len() as u64)
    }

    async fn read(&self, location: &str, range: Option<Range<u64>>) -> Result<Bytes, ReadError> {
        let bytes = self.find(location)?;
        let Some(range) = range else { return Ok(bytes.clone()) };
        let end = usize::try_from(range.end).unwrap().min(bytes.len());
        let start = usize::try_from(range.start).unwrap();
        if start > end {
            let source = format!("no range {range:?} in {} bytes", bytes.len()).into();
            return Err(ReadError::Unavailable { location: location.to_owned(), source });
        }
        Ok(bytes.slice(start..end))
    }
}

/// A fixture folder.
pub(super) fn folder(name: &str) -> PathBuf {
    Path::new(FIXTURES).join(name)
}

pub(super) fn json(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

pub(super) fn table(name: &str) -> Json {
    let tables = json(&folder("tables.json"));
    tables.as_array().unwrap().iter().find(|table| table["name"] == name).unwrap().clone()
}

/// The names of all real tables.
pub(super) fn table_names() -> Vec<String> {
    let tables = json(&folder("tables.json"));
    tables.as_array().unwrap().iter().map(|table| table["name"].as_str().unwrap().to_owned()).collect()
}

/// The files of a real table under its location.
pub(super) fn objects_of(name: &str) -> Objects {
    let mut objects = Objects::default();
    objects.add_folder(&folder(name), table(name)["location"].as_str().unwrap());
    objects
}

/// The metadata files of a real table, oldest first.
pub(super) fn versions(name: &str) -> Vec<TableMetadata> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(name).join("metadata"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(".metadata.json"))
        .collect();
    paths.sort();
    paths.iter().map(|path| TableMetadata::parse(&fs::read(path).unwrap()).unwrap()).collect()
}

/// A table before and after a commit.
pub(super) struct Commit {
    pub(super) base: Option<TableMetadata>,
    pub(super) new: TableMetadata,
    pub(super) added: Vec<AddedSnapshot>,
    pub(super) renumbered_specs: Vec<i32>,
}

impl Commit {
    /// What happened between two versions of a table.
    pub(super) fn between(base: Option<&TableMetadata>, new: &TableMetadata) -> Self {
        let known = |id: i64| base.is_some_and(|base| base.snapshot(id).is_some());
        let mut added: Vec<_> = new.snapshots.iter().filter(|snapshot| !known(snapshot.snapshot_id)).collect();
        added.sort_by_key(|snapshot| snapshot.sequence_number);
        let format_version = new.format_version;
        let mut next_row_id = base.map_or(Some(0), |base| base.next_row_id);
        let mut place = |snapshot: &Snapshot| {
            let added = AddedSnapshot { snapshot_id: snapshot.snapshot_id, format_version, next_row_id };
            next_row_id = snapshot.first_row_id.zip(snapshot.added_rows).map(|(first, rows)| first + rows);
            added
        };
        let added = added.into_iter().map(&mut place).collect();
        Self { base: base.cloned(), new: new.clone(), added, renumbered_specs: Vec::new() }
    }

    /// A commit request applied to a table.
    pub(super) fn of_request(base: &TableMetadata, request: &Json) -> Self {
        let request = CommitTableRequest::parse(request.to_string().as_bytes()).unwrap();
        let location = format!("{}/metadata/v0.metadata.json", base.location);
        let now = base.last_updated_ms + 60_000;
        let applied = apply(Some(Base { metadata: base, location: &location }), &request.updates, now).unwrap();
        Self {
            base: Some(base.clone()),
            new: applied.metadata,
            added: applied.added_snapshots,
            renumbered_specs: applied.renumbered_specs,
        }
    }

    pub(super) fn judge(&self, objects: &Objects, cache: &Cache, levels: &Levels) -> Result<Report, Unavailable> {
        let change = Change {
            base: self.base.as_ref(),
            new: &self.new,
            added: &self.added,
            renumbered_specs: &self.renumbered_specs,
        };
        block_on(snapshots(objects, cache, levels, &change))
    }
}

pub(super) fn new_cache() -> Cache {
    Cache::new(64 << 20)
}

/// The rules that a report refuses for, each once, sorted.
pub(super) fn refused(report: &Report) -> Vec<&'static str> {
    ids(&report.refused)
}

/// The rules that a report warns of, each once, sorted.
pub(super) fn warned(report: &Report) -> Vec<&'static str> {
    ids(&report.warnings)
}

fn ids(violations: &[crate::validate::Violation]) -> Vec<&'static str> {
    let mut ids: Vec<_> = violations.iter().map(|violation| violation.rule).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
