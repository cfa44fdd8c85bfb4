//! The body of a commit, read and carried out on a small table; and of a commit to a view.
#![no_main]

use std::sync::LazyLock;

use guillemot_fuzz::limits;
use guillemot_fuzz::spec::{
    Base, CommitTableRequest, CommitViewRequest, TableMetadata, ViewMetadata, apply, apply_view,
};

const NOW_MS: i64 = 1_900_000_000_000;
const VIEW: &[u8] = br#"{"view-uuid":"fa6506c3-7681-40c8-86dc-e36561f83385","format-version":1,"location":"s3://b/v",
    "current-version-id":1,"versions":[{"version-id":1,"timestamp-ms":1573518431292,"schema-id":0,
    "default-namespace":["a"],"summary":{},"representations":[{"type":"sql","sql":"select 1","dialect":"spark"}]}],
    "version-log":[{"timestamp-ms":1573518431292,"version-id":1}],
    "schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":false,"type":"long"}]}]}"#;

static TABLE: LazyLock<TableMetadata> = LazyLock::new(|| {
    let document = include_bytes!(
        "../../tests/data/fixtures/t19_corrupt_base/metadata/00003-8fed95c8-2c10-41d3-9b42-4eb02df5816f.metadata.json"
    );
    TableMetadata::parse(document).expect("a fixture")
});
static VIEW_BASE: LazyLock<ViewMetadata> = LazyLock::new(|| ViewMetadata::parse(VIEW).expect("a view"));

libfuzzer_sys::fuzz_target!(init: { LazyLock::force(&TABLE); LazyLock::force(&VIEW_BASE); }, |body: &[u8]| {
    limits::hold(body, 500, |body| {
        let Ok(request) = CommitTableRequest::parse(body) else { return };
        let held = request.requirements.iter().all(|requirement| requirement.check(&TABLE).is_ok());
        let base = Base { metadata: &TABLE, location: "gs://b/t/metadata/v3.json" };
        let creates = request.is_create().unwrap_or(false);
        if let Ok(applied) = apply((!creates).then_some(base), &request.updates, NOW_MS) {
            let written = applied.metadata.to_bytes();
            let read = TableMetadata::parse(&written).expect("a table that was accepted is read");
            assert!(read.to_bytes() == written, "a table changes when it is written, held {held}");
        }
    });
    limits::hold(body, 500, |body| {
        let Ok(request) = CommitViewRequest::parse(body) else { return };
        if let Ok(applied) = apply_view(&VIEW_BASE, &request.updates, NOW_MS) {
            let written = applied.metadata.to_bytes();
            let read = ViewMetadata::parse(&written).expect("a view that was accepted is read");
            assert!(read.to_bytes() == written, "a view changes when it is written");
        }
    });
});
