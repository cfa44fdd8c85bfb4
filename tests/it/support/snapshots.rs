//! Snapshots with real files: data files (any bytes), manifests and manifest lists, as an engine would commit them.

use super::server::{Reply, Server, TEST_USER};
use reqwest::Method;
use serde_json::{Value, json};

pub(crate) const LIST: &str = r#"{"type": "record", "name": "manifest_file", "fields": [
    {"name": "manifest_path", "type": "string", "field-id": 500},
    {"name": "manifest_length", "type": "long", "field-id": 501},
    {"name": "partition_spec_id", "type": "int", "field-id": 502},
    {"name": "content", "type": "int", "field-id": 517},
    {"name": "sequence_number", "type": "long", "field-id": 515},
    {"name": "min_sequence_number", "type": "long", "field-id": 516},
    {"name": "added_snapshot_id", "type": "long", "field-id": 503},
    {"name": "added_files_count", "type": "int", "field-id": 504},
    {"name": "existing_files_count", "type": "int", "field-id": 505},
    {"name": "deleted_files_count", "type": "int", "field-id": 506},
    {"name": "added_rows_count", "type": "long", "field-id": 512},
    {"name": "existing_rows_count", "type": "long", "field-id": 513},
    {"name": "deleted_rows_count", "type": "long", "field-id": 514}]}"#;

const MANIFEST: &str = r#"{"type": "record", "name": "manifest_entry", "fields": [
    {"name": "status", "type": "int", "field-id": 0},
    {"name": "snapshot_id", "type": ["null", "long"], "field-id": 1},
    {"name": "sequence_number", "type": ["null", "long"], "field-id": 3},
    {"name": "file_sequence_number", "type": ["null", "long"], "field-id": 4},
    {"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [
        {"name": "content", "type": "int", "field-id": 134},
        {"name": "file_path", "type": "string", "field-id": 100},
        {"name": "file_format", "type": "string", "field-id": 101},
        {"name": "partition", "type": {"type": "record", "name": "r102", "fields": []}, "field-id": 102},
        {"name": "record_count", "type": "long", "field-id": 103},
        {"name": "file_size_in_bytes", "type": "long", "field-id": 104}]}}]}"#;

/// Appends snapshots to one format version 2 table, each with a manifest of its own.
pub(crate) struct Appender {
    path: String,
    location: String,
    /// Who commits, on a secured server.
    user: Option<&'static str>,
    head: Option<i64>,
    next: i64,
    /// Rows of the last manifest list.
    manifests: Vec<Vec<u8>>,
    /// Every file that was written.
    pub(crate) files: Vec<String>,
}

impl Appender {
    /// For a table of the namespace `ns`, by the `LoadTableResult` of its create.
    pub(crate) fn new(name: &str, created: &Value) -> Self {
        Self::of("ns", name, created)
    }

    /// For a table of any namespace, by what it was loaded as: with one snapshot at most.
    pub(crate) fn of(namespace: &str, name: &str, loaded: &Value) -> Self {
        let metadata = &loaded["metadata"];
        let location = metadata["location"].as_str().unwrap().to_owned();
        let path = format!("/lake/namespaces/{namespace}/tables/{name}");
        let head = metadata["current-snapshot-id"].as_i64().filter(|id| *id >= 0);
        let next = if head.is_some() { 2 } else { 1 };
        Self { path, location, user: None, head, next, manifests: Vec::new(), files: Vec::new() }
    }

    /// Commits in the name of a user.
    pub(crate) fn by(self, user: &'static str) -> Self {
        Self { user: Some(user), ..self }
    }

    /// Commits a snapshot whose manifest list names a manifest that is there already; answers the reply.
    pub(crate) async fn try_lend(&mut self, server: &Server, manifest: &str) -> Reply {
        let id = self.next * 1000;
        let size = usize::try_from(server.app.storage.size(manifest).await.unwrap()).unwrap();
        let list = format!("{}/metadata/snap-{id}.avro", self.location);
        let rows = [list_row(manifest, size, 0, self.next, id, 1)];
        server.app.storage.write_new(&list, container(LIST, &[], &rows).into()).await.unwrap();
        self.send(server, id, &list).await
    }

    /// Writes so many data files, and commits them; answers the reply.
    pub(crate) async fn append(&mut self, server: &Server, count: usize) -> Value {
        let names = (0..count).map(|i| format!("{}/data/{}-{i}.parquet", self.location, self.next)).collect();
        self.append_named(server, names).await
    }

    /// Writes data files of these names, and commits them.
    pub(crate) async fn append_named(&mut self, server: &Server, data_files: Vec<String>) -> Value {
        for file in &data_files {
            server.app.storage.write_new(file, "data".into()).await.unwrap();
        }
        let (id, rows) = (self.next * 1000, i64::try_from(data_files.len()).unwrap());
        let manifest = format!("{}/metadata/{id}-m0.avro", self.location);
        let bytes = manifest_of(id, &data_files);
        let row = list_row(&manifest, bytes.len(), 0, self.next, id, rows);
        server.app.storage.write_new(&manifest, bytes.into()).await.unwrap();
        self.manifests.push(row);
        let list = format!("{}/metadata/snap-{id}.avro", self.location);
        server.app.storage.write_new(&list, container(LIST, &[], &self.manifests).into()).await.unwrap();
        self.files.extend(data_files);
        self.files.extend([manifest, list.clone()]);
        self.commit(server, id, &list).await
    }

    async fn commit(&mut self, server: &Server, id: i64, list: &str) -> Value {
        let reply = self.send(server, id, list).await.expect(200);
        self.head = Some(id);
        self.next += 1;
        reply
    }

    async fn send(&self, server: &Server, id: i64, list: &str) -> Reply {
        let now_ms = server.app.clock.now_ms();
        let mut snapshot = json!({
            "snapshot-id": id, "sequence-number": self.next, "timestamp-ms": now_ms, "schema-id": 0,
            "summary": {"operation": "append"}, "manifest-list": list
        });
        if let Some(head) = self.head {
            snapshot["parent-snapshot-id"] = json!(head);
        }
        let body = json!({
            "requirements": [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": self.head}],
            "updates": [
                {"action": "add-snapshot", "snapshot": snapshot},
                {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": id}
            ]
        });
        let who: Vec<_> = self.user.iter().map(|user| (TEST_USER, *user)).collect();
        server.send(Method::POST, &format!("/iceberg/v1{}", self.path), Some(body), &who).await
    }
}

fn manifest_of(snapshot_id: i64, data_files: &[String]) -> Vec<u8> {
    let rows: Vec<Vec<u8>> = data_files.iter().map(|file| entry(snapshot_id, file)).collect();
    let metadata = [
        ("schema", r#"{"type": "struct", "schema-id": 0, "fields": []}"#),
        ("schema-id", "0"),
        ("partition-spec", "[]"),
        ("partition-spec-id", "0"),
        ("format-version", "2"),
        ("content", "data"),
    ];
    container(MANIFEST, &metadata, &rows)
}

/// One data file, added; its sequence numbers are inherited.
fn entry(snapshot_id: i64, file: &str) -> Vec<u8> {
    let (none, some) = (long(0), long(1));
    [long(1), some, long(snapshot_id), none.clone(), none, long(0), text(file), text("PARQUET"), long(1), long(4)]
        .concat()
}

/// A row about a manifest of added data files, of one row each.
pub(crate) fn list_row(
    manifest: &str,
    length: usize,
    spec_id: i64,
    sequence: i64,
    snapshot_id: i64,
    rows: i64,
) -> Vec<u8> {
    let mut row = text(manifest);
    let length = i64::try_from(length).unwrap();
    for number in [length, spec_id, 0, sequence, sequence, snapshot_id, rows, 0, 0, rows, 0, 0] {
        row.extend(long(number));
    }
    row
}

/// An Avro object container file of one block.
pub(crate) fn container(schema: &str, metadata: &[(&str, &str)], rows: &[Vec<u8>]) -> Vec<u8> {
    let header = [("avro.schema", schema), ("avro.codec", "null")];
    let pairs: Vec<_> = header.iter().chain(metadata).collect();
    let mut file = b"Obj\x01".to_vec();
    file.extend(long(i64::try_from(pairs.len()).unwrap()));
    for (key, value) in pairs {
        file.extend([text(key), text(value)].concat());
    }
    file.push(0);
    let sync = [7; 16];
    file.extend(sync);
    if !rows.is_empty() {
        let block = rows.concat();
        file.extend(long(i64::try_from(rows.len()).unwrap()));
        file.extend(long(i64::try_from(block.len()).unwrap()));
        file.extend(block);
        file.extend(sync);
    }
    file
}

fn text(value: &str) -> Vec<u8> {
    [long(i64::try_from(value.len()).unwrap()), value.as_bytes().to_vec()].concat()
}

/// Zigzag and variable length, as Avro writes integers.
fn long(value: i64) -> Vec<u8> {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    let mut bytes = Vec::new();
    while rest > 0x7f {
        bytes.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
        rest >>= 7;
    }
    bytes.push(u8::try_from(rest).unwrap());
    bytes
}
