//! A table with a long history: what one commit to megabytes of metadata costs the server.

use crate::catalog::Catalog;
use crate::load::{Outcome, run};
use crate::{Result, avro, large};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The name of the table.
const TABLE: &str = "history";

/// Any time will do; each snapshot is a second after the one before.
const START_MS: i64 = 1_700_000_000_000;

/// A registered table with a history, and the number of its last snapshot.
pub(crate) struct History<'a, 'c> {
    catalog: &'c Catalog<'a>,
    location: String,
    folder: std::path::PathBuf,
    last: AtomicI64,
    /// Size of its metadata file, in bytes.
    pub(crate) size: usize,
}

impl<'a, 'c> History<'a, 'c> {
    /// Writes the metadata file of a table with so many snapshots under the (local) warehouse, and registers it.
    pub(crate) fn register(catalog: &'c Catalog<'a>, warehouse: &Path, snapshots: i64) -> Result<Self> {
        let folder = warehouse.join(&catalog.namespace).join(TABLE);
        let location = format!("file://{}", folder.display());
        let document = metadata(&location, snapshots).to_string();
        fs::create_dir_all(folder.join("metadata"))?;
        let name = "metadata/00000-5ca1ab1e-0000-4000-8000-000000000000.metadata.json";
        fs::write(folder.join(name), &document)?;
        catalog.register(TABLE, &format!("{location}/{name}"))?;
        Ok(Self { catalog, location, folder, last: AtomicI64::new(snapshots), size: document.len() })
    }

    /// Commits that set one property, one after the other.
    pub(crate) fn properties(&self, time: Duration) -> Result<Outcome> {
        run(self.catalog.server, 1, time, |_, n| self.catalog.property_request(TABLE, &n.to_string()))
    }

    /// Commits that append a snapshot, one after the other, each with a manifest list of its own.
    pub(crate) fn appends(&self, time: Duration) -> Result<Outcome> {
        run(self.catalog.server, 1, time, |_, _| {
            let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
            // A file that cannot be written makes the commit fail, which the table of results shows.
            let _ = fs::write(self.folder.join(list_name(number)), empty_manifest_list(number));
            let updates = json!([
                {"action": "add-snapshot", "snapshot": snapshot(&self.location, number)},
                {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": number}
            ]);
            self.catalog.commit_request(TABLE, &updates)
        })
    }
}

fn list_name(number: i64) -> String {
    format!("metadata/snap-{number}-1-5ca1ab1e-0000-4000-8000-{number:012}.avro")
}

/// A version 3 table whose only branch has so many snapshots, numbered from 1.
fn metadata(location: &str, snapshots: i64) -> Value {
    let at = |number: i64| START_MS + number * 1000;
    json!({
        "format-version": 3, "table-uuid": "5ca1ab1e-0000-4000-8000-00000000beef", "location": location,
        "last-sequence-number": snapshots, "last-updated-ms": at(snapshots), "last-column-id": 1,
        "current-schema-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [
            {"id": 1, "name": "id", "required": true, "type": "long"}
        ]}],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
        "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {"owner": "bench"}, "next-row-id": 0, "current-snapshot-id": snapshots,
        "refs": {"main": {"snapshot-id": snapshots, "type": "branch"}},
        "snapshots": (1..=snapshots).map(|number| snapshot(location, number)).collect::<Vec<_>>(),
        "snapshot-log": (1..=snapshots)
            .map(|number| json!({"snapshot-id": number, "timestamp-ms": at(number)}))
            .collect::<Vec<_>>(),
        "metadata-log": [], "statistics": [], "partition-statistics": []
    })
}

/// A snapshot as large as Spark's: about 800 bytes.
fn snapshot(location: &str, number: i64) -> Value {
    let mut snapshot = json!({
        "snapshot-id": number, "sequence-number": number, "timestamp-ms": START_MS + number * 1000,
        "manifest-list": format!("{location}/{}", list_name(number)),
        "schema-id": 0, "first-row-id": 0, "added-rows": 0,
        "summary": {
            "operation": "append", "spark.app.id": "application_1700000000000_0042", "added-data-files": "0",
            "added-records": "0", "added-files-size": "0", "changed-partition-count": "0", "total-records": "0",
            "total-files-size": "0", "total-data-files": "0", "total-delete-files": "0",
            "total-position-deletes": "0", "total-equality-deletes": "0", "engine-version": "3.5.6",
            "app-id": "application_1700000000000_0042", "engine-name": "spark",
            "iceberg-version": "Apache Iceberg 1.10.0 (commit 2114bf631e49af532d66e2ce148ee49dd1dd1f1f)"
        }
    });
    if let Some(members) = snapshot.as_object_mut().filter(|_| number > 1) {
        members.insert("parent-snapshot-id".into(), (number - 1).into());
    }
    snapshot
}

/// A manifest list without manifests: an Avro file that is all header.
fn empty_manifest_list(number: i64) -> Vec<u8> {
    let metadata = [
        ("format-version", "3"),
        ("snapshot-id", &number.to_string()),
        ("parent-snapshot-id", &(number - 1).to_string()),
        ("sequence-number", &number.to_string()),
        ("first-row-id", "0"),
    ];
    avro::file(&large::list_schema(), &metadata, &[]).unwrap_or_default()
}
