//! Writes tables as an engine would: manifests, manifest lists, Puffin files, metadata. The Avro files are written by
//! `apache-avro`, which shares no code with the reader.

use roaring::RoaringBitmap;
use serde_json::json;

use super::avro::{list, manifest};
use super::support::{Commit, Objects, new_cache};
use crate::spec::TableMetadata;
use crate::validate::{Cache, Levels, Report, Unavailable};

pub(super) const LOCATION: &str = "gs://warehouse/t";

/// An entry of a manifest, with what most of them have.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) status: i32,
    pub(super) snapshot_id: Option<i64>,
    pub(super) sequence_number: Option<i64>,
    pub(super) content: i32,
    pub(super) path: String,
    pub(super) format: &'static str,
    pub(super) partition: Option<i32>,
    pub(super) records: i64,
    pub(super) size: i64,
    pub(super) first_row_id: Option<i64>,
    pub(super) referenced: Option<String>,
    pub(super) offset: Option<i64>,
    pub(super) length: Option<i64>,
    pub(super) key_metadata: Option<Vec<u8>>,
}

/// A data file that is added.
pub(super) fn data(name: &str, records: i64) -> Entry {
    Entry {
        status: 1,
        snapshot_id: None,
        sequence_number: None,
        content: 0,
        path: format!("{LOCATION}/data/{name}.parquet"),
        format: "PARQUET",
        partition: None,
        records,
        size: 1000,
        first_row_id: None,
        referenced: None,
        offset: None,
        length: None,
        key_metadata: None,
    }
}

impl Entry {
    pub(super) fn in_partition(mut self, partition: i32) -> Self {
        self.partition = Some(partition);
        self
    }

    /// The same file in a later manifest: carried (0) or removed (2) there.
    pub(super) fn later(&self, status: i32, snapshot_id: i64, sequence_number: i64) -> Self {
        Self {
            status,
            snapshot_id: Some(snapshot_id),
            sequence_number: Some(sequence_number),
            first_row_id: (self.content == 0).then_some(0),
            ..self.clone()
        }
    }
}

/// A Puffin file with one vector for each data file; its entries point at them.
pub(super) fn puffin(objects: &mut Objects, name: &str, vectors: &[(&Entry, &[u32])]) -> Vec<Entry> {
    puffin_with(objects, name, vectors, 0)
}

/// The same with so many bytes of another blob between any two vectors.
pub(super) fn puffin_with(objects: &mut Objects, name: &str, vectors: &[(&Entry, &[u32])], gap: usize) -> Vec<Entry> {
    let path = format!("{LOCATION}/data/{name}.puffin");
    let mut file = b"PFA1".to_vec();
    let mut blobs = Vec::new();
    let mut entries = Vec::new();
    for (of, positions) in vectors {
        let blob = vector(positions);
        let (offset, length) = (i64::try_from(file.len()).unwrap(), i64::try_from(blob.len()).unwrap());
        blobs.push(json!({
            "type": "deletion-vector-v1", "fields": [2_147_483_645], "snapshot-id": -1, "sequence-number": -1,
            "offset": offset, "length": length,
            "properties": {"referenced-data-file": of.path, "cardinality": positions.len().to_string()},
        }));
        file.extend(blob);
        file.extend(vec![0; gap]);
        entries.push(Entry {
            content: 1,
            path: path.clone(),
            format: "PUFFIN",
            partition: of.partition,
            records: i64::try_from(positions.len()).unwrap(),
            referenced: Some(of.path.clone()),
            offset: Some(offset),
            length: Some(length),
            ..data(name, 0)
        });
    }
    let footer = json!({"blobs": blobs}).to_string();
    file.extend(b"PFA1");
    file.extend(footer.as_bytes());
    file.extend(u32::try_from(footer.len()).unwrap().to_le_bytes());
    file.extend([0; 4]);
    file.extend(b"PFA1");
    let size = i64::try_from(file.len()).unwrap();
    objects.put(&path, file);
    entries.into_iter().map(|entry| Entry { size, ..entry }).collect()
}

/// The blob of a vector.
pub(super) fn vector(positions: &[u32]) -> Vec<u8> {
    let mut body = vec![0xd1, 0xd3, 0x39, 0x64];
    body.extend(1_u64.to_le_bytes());
    body.extend([0; 4]);
    let bitmap: RoaringBitmap = positions.iter().copied().collect();
    bitmap.serialize_into(&mut body).unwrap();
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&length[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat()
}

/// A manifest that a snapshot lists.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) path: String,
    pub(super) length: i64,
    pub(super) spec_id: i32,
    pub(super) content: i32,
    pub(super) sequence_number: i64,
    pub(super) snapshot_id: i64,
    pub(super) entries: Vec<Entry>,
    pub(super) first_row_id: Option<i64>,
    pub(super) key_metadata: Option<Vec<u8>>,
}

impl Listed {
    pub(super) fn files(&self, status: i32) -> i32 {
        i32::try_from(self.entries.iter().filter(|entry| entry.status == status).count()).unwrap()
    }

    pub(super) fn rows(&self, status: i32) -> i64 {
        self.entries.iter().filter(|entry| entry.status == status).map(|entry| entry.records).sum()
    }
}

/// A table in the making: versions of its metadata, and the files of its snapshots.
pub(super) struct Table {
    pub(super) objects: Objects,
    pub(super) cache: Cache,
    pub(super) metadata: TableMetadata,
    pub(super) snapshots: Vec<Snapshot>,
    format_version: u8,
    partitioned: bool,
    next_row_id: i64,
}

/// A snapshot of such a table.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) id: i64,
    pub(super) parent: Option<i64>,
    pub(super) sequence_number: i64,
    pub(super) operation: &'static str,
    pub(super) manifests: Vec<Listed>,
    pub(super) first_row_id: i64,
    pub(super) added_rows: i64,
}

/// What one commit writes and drops.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) operation: Option<&'static str>,
    pub(super) data: Vec<Entry>,
    pub(super) deletes: Vec<Entry>,
    /// Names of manifests that are not carried over.
    pub(super) drop: Vec<String>,
}

impl Table {
    pub(super) fn new(format_version: u8, partitioned: bool) -> Self {
        let mut table = Self {
            objects: Objects::default(),
            cache: new_cache(),
            metadata: metadata(format_version, partitioned, &[], 0),
            snapshots: Vec::new(),
            format_version,
            partitioned,
            next_row_id: 0,
        };
        table.metadata = table.metadata_with(&[]);
        table
    }

    fn metadata_with(&self, snapshots: &[Snapshot]) -> TableMetadata {
        metadata(self.format_version, self.partitioned, snapshots, self.next_row_id)
    }

    /// Makes the next snapshot, without committing it. Its id is 100 times its place; its manifests are named
    /// `d<id>` and `x<id>`.
    pub(super) fn next(&mut self, changes: Changes) -> Snapshot {
        let place = i64::try_from(self.snapshots.len()).unwrap() + 1;
        let id = place * 100;
        let parent = self.snapshots.last().cloned();
        let carried = parent.as_ref().map(|parent| parent.manifests.clone()).unwrap_or_default();
        let dropped = |listed: &Listed| changes.drop.iter().any(|name| listed.path.ends_with(&format!("/{name}.avro")));
        let mut manifests: Vec<Listed> = carried.into_iter().filter(|listed| !dropped(listed)).collect();
        let mut next = self.next_row_id;
        for (prefix, content, entries) in [("d", 0, changes.data), ("x", 1, changes.deletes)] {
            if entries.is_empty() {
                continue;
            }
            let mut listed = Listed {
                path: format!("{LOCATION}/metadata/{prefix}{id}.avro"),
                length: 0,
                spec_id: 0,
                content,
                sequence_number: place,
                snapshot_id: id,
                entries,
                first_row_id: (content == 0 && self.format_version >= 3).then_some(next),
                key_metadata: None,
            };
            if content == 0 {
                next += listed.rows(0) + listed.rows(1);
            }
            self.put_manifest(&mut listed);
            manifests.push(listed);
        }
        Snapshot {
            id,
            parent: parent.map(|parent| parent.id),
            sequence_number: place,
            operation: changes.operation.unwrap_or("overwrite"),
            manifests,
            first_row_id: self.next_row_id,
            added_rows: next - self.next_row_id,
        }
    }

    /// Writes a manifest's file and fills in its length.
    pub(super) fn put_manifest(&mut self, listed: &mut Listed) {
        let bytes = manifest(listed, self.partitioned, self.format_version);
        listed.length = i64::try_from(bytes.len()).unwrap();
        self.objects.put(&listed.path, bytes);
    }

    /// Judges snapshots that one commit adds to the table.
    pub(super) fn judge(&mut self, added: &[Snapshot]) -> Result<Report, Unavailable> {
        self.judge_with(added, &Levels::default())
    }

    pub(super) fn judge_with(&mut self, added: &[Snapshot], levels: &Levels) -> Result<Report, Unavailable> {
        for snapshot in added {
            let list = list(snapshot, self.format_version);
            self.objects.put(&list_location(snapshot.id), list);
        }
        self.objects.take_reads();
        self.commit_of_all(added).judge(&self.objects, &self.cache, levels)
    }

    /// The commit that adds a snapshot to the table.
    pub(super) fn commit_of(&self, added: &Snapshot) -> Commit {
        self.commit_of_all(std::slice::from_ref(added))
    }

    fn commit_of_all(&self, added: &[Snapshot]) -> Commit {
        let all = [&self.snapshots[..], added].concat();
        Commit::between(Some(&self.metadata), &self.metadata_with(&all))
    }

    /// Commits a snapshot; it must pass.
    pub(super) fn commit(&mut self, changes: Changes) -> Snapshot {
        let snapshot = self.next(changes);
        let report = self.judge(std::slice::from_ref(&snapshot)).unwrap();
        assert!(report.refused.is_empty(), "{:#?}", report.refused);
        self.accept(snapshot.clone());
        snapshot
    }

    /// Makes a snapshot part of the table, whatever it is.
    pub(super) fn accept(&mut self, snapshot: Snapshot) {
        self.next_row_id = snapshot.first_row_id + snapshot.added_rows;
        self.objects.put(&list_location(snapshot.id), list(&snapshot, self.format_version));
        self.snapshots.push(snapshot);
        self.metadata = self.metadata_with(&self.snapshots);
    }

    /// Forgets what was read.
    pub(super) fn cold(&mut self) {
        self.cache = new_cache();
    }
}

pub(super) fn list_location(id: i64) -> String {
    format!("{LOCATION}/metadata/snap-{id}.avro")
}

fn metadata(format_version: u8, partitioned: bool, snapshots: &[Snapshot], next_row_id: i64) -> TableMetadata {
    let fields = if partitioned {
        json!([{"name": "p", "transform": "identity", "source-id": 2, "field-id": 1000}])
    } else {
        json!([])
    };
    let of = |snapshot: &Snapshot| {
        let mut json = json!({
            "snapshot-id": snapshot.id, "sequence-number": snapshot.sequence_number, "timestamp-ms": snapshot.id,
            "manifest-list": list_location(snapshot.id), "schema-id": 0,
            "summary": {"operation": snapshot.operation},
        });
        if let Some(parent) = snapshot.parent {
            json["parent-snapshot-id"] = parent.into();
        }
        if format_version >= 3 {
            json["first-row-id"] = snapshot.first_row_id.into();
            json["added-rows"] = snapshot.added_rows.into();
        }
        json
    };
    let current = snapshots.last().map(|snapshot| snapshot.id);
    let mut json = json!({
        "format-version": format_version, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": LOCATION,
        "last-sequence-number": snapshots.last().map_or(0, |snapshot| snapshot.sequence_number),
        "last-updated-ms": 10_000, "last-column-id": 2, "current-schema-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [
            {"id": 1, "name": "id", "required": false, "type": "long"},
            {"id": 2, "name": "p", "required": false, "type": "int"}]}],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": fields}], "last-partition-id": 1000,
        "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
        "snapshots": snapshots.iter().map(of).collect::<Vec<_>>(),
    });
    if let Some(current) = current {
        json["current-snapshot-id"] = current.into();
        json["refs"] = json!({"main": {"snapshot-id": current, "type": "branch"}});
    }
    if format_version >= 3 {
        json["next-row-id"] = next_row_id.into();
    }
    TableMetadata::parse(json.to_string().as_bytes()).unwrap()
}
