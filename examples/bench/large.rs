//! A table of 10,000 data files in 100 manifests: commits that give 1,000 of them another deletion vector, and loads of
//! another table while commits add 10,000 files each.

use crate::avro::{self, Row, field};
use crate::catalog::Catalog;
use crate::load::{run, single};
use crate::vectors::blob;
use crate::{Result, say};
use roaring::RoaringBitmap;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const TABLE: &str = "large";
const MANIFESTS: i64 = 100;
const FILES_EACH: i64 = 100;
const ROWS: i64 = 100_000;
/// Of each manifest, the first so many files have vectors: 1,000 in all.
const DELETED_EACH: i64 = 10;
const VECTORS_A_FILE: usize = 100;
const START_MS: i64 = 1_700_000_000_000;

/// Such a table, registered.
pub(crate) struct Large<'a, 'c> {
    catalog: &'c Catalog<'a>,
    location: String,
    folder: PathBuf,
    last: Mutex<Last>,
}

/// The last snapshot.
struct Last {
    number: i64,
    /// Rows of its list for data manifests.
    data: Vec<Vec<u8>>,
    /// Row for the delete manifest, and its vectors.
    deletes: Option<Vec<u8>>,
    vectors: Vec<Vector>,
    rows: i64,
}

/// A vector in its Puffin file.
#[derive(Clone)]
struct Vector {
    path: String,
    size: i64,
    of: String,
    cardinality: i64,
    offset: i64,
    length: i64,
}

impl<'a, 'c> Large<'a, 'c> {
    /// Writes the table without vectors under the (local) warehouse, and registers it.
    pub(crate) fn register(catalog: &'c Catalog<'a>, warehouse: &Path) -> Result<Self> {
        let folder = warehouse.join(&catalog.namespace).join(TABLE);
        let location = format!("file://{}", folder.display());
        let last = Last { number: 1, data: Vec::new(), deletes: None, vectors: Vec::new(), rows: 0 };
        let mut table = Self { catalog, location, folder, last: Mutex::new(last) };
        fs::create_dir_all(table.folder.join("metadata"))?;
        fs::create_dir_all(table.folder.join("data"))?;
        let mut last = Last { number: 1, data: Vec::new(), deletes: None, vectors: Vec::new(), rows: 0 };
        for manifest in 0..MANIFESTS {
            table.add_manifest(&mut last, 1, manifest, FILES_EACH)?;
        }
        table.write_list(&last)?;
        let name = "metadata/00000-5ca1ab1e-0000-4000-8000-00000000d1e5.metadata.json";
        table.write(name, metadata(&table.location, &table.snapshot(1, 0, last.rows)).to_string().as_bytes())?;
        catalog.register(TABLE, &format!("{}/{name}", table.location))?;
        table.last = Mutex::new(last);
        Ok(table)
    }

    /// Writes a data manifest of so many files and adds it to the list.
    fn add_manifest(&self, last: &mut Last, snapshot: i64, manifest: i64, files: i64) -> Result<()> {
        let entries = (0..files).map(|n| data_entry(&self.data_file(manifest, n))).collect::<Vec<_>>();
        let name = format!("metadata/d{manifest}.avro");
        let length = self.write(&name, &manifest_file("data", &entries)?)?;
        let row = Row::default().text(&format!("{}/{name}", self.location));
        let row = row.longs(&[length, 0, 0, snapshot, snapshot, snapshot, files, 0, 0, files * ROWS, 0, 0]);
        last.data.push(row.optional_long(Some(last.rows)).0);
        last.rows += files * ROWS;
        Ok(())
    }

    fn write_list(&self, last: &Last) -> Result<()> {
        let metadata = [("snapshot-id", &*last.number.to_string()), ("format-version", "3")];
        let manifests: Vec<Vec<u8>> = last.data.iter().chain(&last.deletes).cloned().collect();
        self.write(&list_name(last.number), &avro::file(&list_schema(), &metadata, &manifests)?)?;
        Ok(())
    }

    /// The first commit, which finds no manifest of the table in memory, then commits that find all; prints both.
    pub(crate) fn measure(&self, time: Duration) -> Result<()> {
        let cold = single(self.catalog.server, &self.delete_request()?)?;
        let warm = run(self.catalog.server, 1, time, |_, _| {
            // What cannot be written makes the commit fail, which the table of results shows.
            self.delete_request().unwrap_or_default()
        })?;
        let shown = |ms: Option<f64>| ms.map_or_else(|| "unknown".to_owned(), |ms| format!("{ms:.0}"));
        let (cold_ms, warm_ms) = (shown(cold.server_ms()), shown(warm.server_ms()));
        say(&cold.line("commit, 1000 vectors, cold"))?;
        say(&warm.line("commit, 1000 vectors, warm"))?;
        say(&format!("CPU of the server for 1000 vectors: {cold_ms} ms cold, {warm_ms} ms warm"))
    }

    /// Loads of a small table, alone and while 10,000 files at a time are appended to this one.
    pub(crate) fn beside(&self, connections: usize, time: Duration) -> Result<()> {
        self.catalog.create("small", 3)?;
        let request = self.catalog.load_request("small");
        let loads = || run(self.catalog.server, connections, time, |_, _| request.clone());
        let alone = loads()?;
        // Files are written before the clock runs: the client's own work would be in the way.
        let requests = (0..200).map(|_| self.append_request()).collect::<Result<Vec<_>>>()?;
        let next = AtomicUsize::new(0);
        let (beside, commits) = std::thread::scope(|scope| {
            let commits = scope.spawn(|| {
                run(self.catalog.server, 1, time, |_, _| {
                    let prepared = requests.get(next.fetch_add(1, Ordering::Relaxed)).cloned();
                    prepared.unwrap_or_else(|| request.clone())
                })
            });
            (loads(), commits.join())
        });
        say(&alone.line("loadTable alone"))?;
        say(&beside?.line("loadTable beside appends"))?;
        let commits = commits.map_err(|_| "the commits panicked")??;
        say(&commits.line("append of 10,000 files"))
    }

    /// Writes the files of a commit that appends 10,000 data files.
    fn append_request(&self) -> Result<Vec<u8>> {
        let mut last = self.last.lock().map_err(|_| "another commit panicked")?;
        last.number += 1;
        let (number, before) = (last.number, last.rows);
        self.add_manifest(&mut last, number, 1000 + number, 10_000)?;
        self.write_list(&last)?;
        Ok(self.commit(number, before, last.rows - before))
    }

    /// Writes the files of the next commit: each vector gets one position more than the one in its place.
    fn delete_request(&self) -> Result<Vec<u8>> {
        let mut last = self.last.lock().map_err(|_| "another commit panicked")?;
        let number = last.number + 1;
        let vectors = self.write_vectors(number)?;
        let added = vectors.iter().map(|vector| vector.entry(1, None));
        let removed = last.vectors.iter().map(|vector| vector.entry(2, Some((number, last.number))));
        let entries: Vec<Vec<u8>> = added.chain(removed).collect();
        let name = format!("metadata/x{number}.avro");
        let length = self.write(&name, &manifest_file("deletes", &entries)?)?;
        let rows = |vectors: &[Vector]| vectors.iter().map(|vector| vector.cardinality).sum::<i64>();
        let counts = [i64::try_from(vectors.len())?, 0, i64::try_from(last.vectors.len())?];
        let row = Row::default().text(&format!("{}/{name}", self.location));
        let row = row.longs(&[length, 0, 1, number, number, number]).longs(&counts);
        let row = row.longs(&[rows(&vectors), 0, rows(&last.vectors)]).optional_long(None);
        (last.number, last.vectors, last.deletes) = (number, vectors, Some(row.0));
        self.write_list(&last)?;
        Ok(self.commit(number, last.rows, 0))
    }

    fn commit(&self, number: i64, first_row_id: i64, added_rows: i64) -> Vec<u8> {
        let updates = json!([
            {"action": "add-snapshot", "snapshot": self.snapshot(number, first_row_id, added_rows)},
            {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": number}
        ]);
        self.catalog.commit_request(TABLE, &updates)
    }

    fn write_vectors(&self, number: i64) -> Result<Vec<Vector>> {
        let files = (0..MANIFESTS).flat_map(|manifest| (0..DELETED_EACH).map(move |n| (manifest, n)));
        let files: Vec<String> = files.map(|(manifest, n)| self.data_file(manifest, n)).collect();
        // An array of some 4 KB: 100 of them are more than what is read whole.
        let positions: RoaringBitmap =
            (0..2000_u32).map(|n| n * 37).chain(80_000..80_000 + u32::try_from(number)?).collect();
        let blob = blob(&positions)?;
        let mut all = Vec::with_capacity(files.len());
        for (place, files) in files.chunks(VECTORS_A_FILE).enumerate() {
            let name = format!("data/v{number}-{place}.puffin");
            let mut file = b"PFA1".to_vec();
            let mut vectors = Vec::with_capacity(files.len());
            for of in files {
                let offset = i64::try_from(file.len())?;
                file.extend_from_slice(&blob);
                let (path, of) = (format!("{}/{name}", self.location), of.clone());
                let (cardinality, length) = (i64::try_from(positions.len())?, i64::try_from(blob.len())?);
                vectors.push(Vector { path, size: 0, of, cardinality, offset, length });
            }
            let blobs: Vec<Value> = vectors.iter().map(Vector::in_footer).collect();
            let footer = json!({"blobs": blobs, "properties": {"created-by": "bench"}}).to_string();
            file.extend_from_slice(b"PFA1");
            file.extend_from_slice(footer.as_bytes());
            file.extend_from_slice(&u32::try_from(footer.len())?.to_le_bytes());
            file.extend_from_slice(b"\0\0\0\0PFA1");
            let size = self.write(&name, &file)?;
            all.extend(vectors.into_iter().map(|vector| Vector { size, ..vector }));
        }
        Ok(all)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<i64> {
        fs::write(self.folder.join(name), bytes)?;
        Ok(i64::try_from(bytes.len())?)
    }

    fn data_file(&self, manifest: i64, n: i64) -> String {
        format!("{}/data/{manifest:05}-{n:05}-5ca1ab1e-0000-4000-8000-0000000000d0.parquet", self.location)
    }

    fn snapshot(&self, number: i64, first_row_id: i64, added_rows: i64) -> Value {
        let mut snapshot = json!({
            "snapshot-id": number, "sequence-number": number, "timestamp-ms": START_MS + number * 1000,
            "manifest-list": format!("{}/{}", self.location, list_name(number)), "schema-id": 0,
            "first-row-id": first_row_id, "added-rows": added_rows,
            "summary": {"operation": if added_rows > 0 { "append" } else { "delete" }}
        });
        if let Some(members) = snapshot.as_object_mut().filter(|_| number > 1) {
            members.insert("parent-snapshot-id".into(), (number - 1).into());
        }
        snapshot
    }
}

impl Vector {
    fn in_footer(&self) -> Value {
        json!({
            "type": "deletion-vector-v1", "fields": [2_147_483_645], "snapshot-id": -1, "sequence-number": -1,
            "offset": self.offset, "length": self.length,
            "properties": {"referenced-data-file": self.of, "cardinality": self.cardinality.to_string()}
        })
    }

    /// Added, or removed by a snapshot after the one that added it.
    fn entry(&self, status: i64, removed: Option<(i64, i64)>) -> Vec<u8> {
        let sequence_number = removed.map(|(_, added)| added);
        let row = Row::default().longs(&[status]).optional_long(removed.map(|(by, _)| by));
        let row = row.optional_long(sequence_number).optional_long(sequence_number);
        let row = row.longs(&[1]).text(&self.path).text("PUFFIN").longs(&[self.cardinality, self.size]);
        let row = row.optional_long(None).optional_text(Some(&self.of));
        row.optional_long(Some(self.offset)).optional_long(Some(self.length)).0
    }
}

fn data_entry(path: &str) -> Vec<u8> {
    let row = Row::default().longs(&[1]).optional_long(None).optional_long(None).optional_long(None);
    let row = row.longs(&[0]).text(path).text("PARQUET").longs(&[ROWS, 50_000_000]);
    row.optional_long(None).optional_text(None).optional_long(None).optional_long(None).0
}

fn manifest_file(content: &str, entries: &[Vec<u8>]) -> Result<Vec<u8>> {
    let data_file = json!({"type": "record", "name": "r2", "fields": [
        field(134, "content", "int"), field(100, "file_path", "string"), field(101, "file_format", "string"),
        {"name": "partition", "type": {"type": "record", "name": "r102", "fields": []}, "field-id": 102},
        field(103, "record_count", "long"), field(104, "file_size_in_bytes", "long"),
        field(142, "first_row_id", "long?"), field(143, "referenced_data_file", "string?"),
        field(144, "content_offset", "long?"), field(145, "content_size_in_bytes", "long?")
    ]});
    let schema = json!({"type": "record", "name": "manifest_entry", "fields": [
        field(0, "status", "int"), field(1, "snapshot_id", "long?"), field(3, "sequence_number", "long?"),
        field(4, "file_sequence_number", "long?"), {"name": "data_file", "type": data_file, "field-id": 2}
    ]});
    let metadata = [
        ("partition-spec-id", "0"),
        ("partition-spec", "[]"),
        ("format-version", "3"),
        ("content", content),
        ("schema", r#"{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}"#),
    ];
    avro::file(&schema, &metadata, entries)
}

fn list_name(number: i64) -> String {
    format!("metadata/snap-{number}-1-5ca1ab1e-0000-4000-8000-{number:012}.avro")
}

/// The schema of manifest lists.
pub(crate) fn list_schema() -> Value {
    json!({"type": "record", "name": "manifest_file", "fields": [
        field(500, "manifest_path", "string"), field(501, "manifest_length", "long"),
        field(502, "partition_spec_id", "int"), field(517, "content", "int"),
        field(515, "sequence_number", "long"), field(516, "min_sequence_number", "long"),
        field(503, "added_snapshot_id", "long"), field(504, "added_files_count", "int"),
        field(505, "existing_files_count", "int"), field(506, "deleted_files_count", "int"),
        field(512, "added_rows_count", "long"), field(513, "existing_rows_count", "long"),
        field(514, "deleted_rows_count", "long"), field(520, "first_row_id", "long?")
    ]})
}

/// A version 3 table with this snapshot.
fn metadata(location: &str, snapshot: &Value) -> Value {
    json!({
        "format-version": 3, "table-uuid": "5ca1ab1e-0000-4000-8000-0000000d1e7e", "location": location,
        "last-sequence-number": 1, "last-updated-ms": START_MS + 1000, "last-column-id": 1, "current-schema-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [
            {"id": 1, "name": "id", "required": true, "type": "long"}
        ]}],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
        "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {}, "next-row-id": MANIFESTS * FILES_EACH * ROWS, "current-snapshot-id": 1,
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}}, "snapshots": [snapshot],
        "snapshot-log": [{"snapshot-id": 1, "timestamp-ms": START_MS + 1000}],
        "metadata-log": [], "statistics": [], "partition-statistics": []
    })
}
