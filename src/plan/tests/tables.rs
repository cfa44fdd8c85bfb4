//! Whole plans over the tables that engines wrote.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde_json::{Value as Json, json};

use crate::plan::{Cache, Error, Limits, PlanRequest, Scan, plan};
use crate::spec::TableMetadata;
use crate::validate::{ReadBytes, ReadError};

/// A fixture table: its folder, and what its location is called.
struct Table {
    folder: PathBuf,
    metadata: TableMetadata,
    cache: Cache,
}

impl ReadBytes for Table {
    fn permit(&self, location: &str) -> Result<(), ReadError> {
        let allowed = vec![self.metadata.location.clone()];
        if location.starts_with(&self.metadata.location) {
            Ok(())
        } else {
            Err(ReadError::Outside { location: location.to_owned(), allowed })
        }
    }

    async fn size(&self, location: &str) -> Result<u64, ReadError> {
        Ok(self.read(location, None).await?.len() as u64)
    }

    async fn read(&self, location: &str, _: Option<Range<u64>>) -> Result<Bytes, ReadError> {
        self.permit(location)?;
        let below = location.trim_start_matches(&self.metadata.location).trim_start_matches('/');
        let missing = |_| ReadError::NotFound { location: location.to_owned() };
        std::fs::read(self.folder.join(below)).map(Bytes::from).map_err(missing)
    }
}

impl Table {
    fn open(name: &str) -> Self {
        let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fixtures"));
        let index: Json = serde_json::from_slice(&std::fs::read(fixtures.join("tables.json")).unwrap()).unwrap();
        let entry = index.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
        let folder = fixtures.join(name);
        let metadata = std::fs::read(folder.join(entry["current-metadata"].as_str().unwrap())).unwrap();
        Self { folder, metadata: TableMetadata::parse(&metadata).unwrap(), cache: Cache::new(1 << 24) }
    }

    fn plan(&self, request: &Json, tasks: usize) -> Result<Json, Error> {
        self.run(Scan::new(&self.metadata, PlanRequest::parse(request.to_string().as_bytes())?)?, tasks, true)
    }

    fn run(&self, scan: Scan<'_>, tasks: usize, whole: bool) -> Result<Json, Error> {
        let planned = futures::executor::block_on(plan(self, &self.cache, &scan, Limits { tasks }))?;
        let text = if whole { planned.completed_json() } else { planned.tasks_json() };
        Ok(serde_json::from_str(&text).unwrap())
    }

    /// Every task of a plan, its plan tasks included: data file, deletes, residual.
    fn all(&self, request: &Json, tasks: usize) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut replies = vec![self.plan(request, tasks).unwrap()];
        while let Some(reply) = replies.pop() {
            assert!(reply["file-scan-tasks"].as_array().unwrap().len() <= tasks);
            for task in reply["file-scan-tasks"].as_array().unwrap() {
                assert!(found.insert(shown(task, &reply)), "a file twice: {task}");
            }
            for token in reply["plan-tasks"].as_array().into_iter().flatten() {
                let scan = Scan::of_plan_task(&self.metadata, token.as_str().unwrap()).unwrap();
                replies.push(self.run(scan, tasks, false).unwrap());
            }
        }
        found
    }
}

fn shown(task: &Json, reply: &Json) -> String {
    let name = |path: &Json| path.as_str().unwrap().rsplit('/').next().unwrap().chars().take(12).collect::<String>();
    let places = task["delete-file-references"].as_array().into_iter().flatten();
    let mut deletes: Vec<String> = places
        .map(|place| {
            let delete = &reply["delete-files"][usize::try_from(place.as_u64().unwrap()).unwrap()];
            if let Some(of) = delete["referenced-data-file"].as_str().filter(|_| delete["file-format"] == "puffin") {
                assert_eq!(of, task["data-file"]["file-path"].as_str().unwrap());
            }
            format!("{}@{}", name(&delete["file-path"]), delete["content-offset"])
        })
        .collect();
    deletes.sort();
    format!("{} {:?} {}", name(&task["data-file"]["file-path"]), deletes, task["residual-filter"])
}

#[test]
fn every_table_is_planned_alike_in_one_reply_and_in_many() {
    let index = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fixtures/tables.json");
    let index: Json = serde_json::from_slice(&std::fs::read(index).unwrap()).unwrap();
    for entry in index.as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        let table = Table::open(name);
        if name == "t16_bad_java" {
            continue; // its vector of a data file that is not there applies to none
        }
        let whole = table.all(&json!({}), 1_000);
        assert!(!whole.is_empty(), "{name}");
        for tasks in [1, 2, 3] {
            assert_eq!(table.all(&json!({}), tasks), whole, "{name} {tasks}");
        }
    }
}

#[test]
fn each_data_file_gets_its_own_vector_of_a_shared_puffin() {
    let table = Table::open("t02b_manyfiles");
    let found: Vec<String> = table.all(&json!({}), 100).into_iter().collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
    00000-12-cfa ["00000-18-fa0@4"] true
    00000-13-a3d ["00000-20-acd@4"] true
    00000-14-757 ["00000-20-acd@71"] true
    00000-15-8d2 ["00000-18-fa0@278"] true
    00000-16-359 ["00000-18-fa0@142"] true
    "#);
}

#[test]
fn partitions_and_bounds_leave_out_files() {
    let table = Table::open("t02_partitioned");
    let all = table.all(&json!({}), 100).len();
    let filter = json!({"filter": {"type": "eq", "term": "id", "value": 5}});
    let some = table.all(&filter, 100);
    assert!(!some.is_empty() && some.len() < all, "{some:?} of {all}");
    assert_eq!(table.all(&filter, 1), some);
    assert!(table.all(&json!({"filter": {"type": "lt", "term": "id", "value": -1}}), 100).is_empty());
    assert!(table.all(&json!({"filter": false}), 100).is_empty());
}

#[test]
fn equality_deletes_apply_to_older_files() {
    let table = Table::open("t13_eqdelete");
    let reply = table.plan(&json!({}), 100).unwrap();
    let equality: Vec<&Json> =
        reply["delete-files"].as_array().unwrap().iter().filter(|d| d["content"] == "equality-deletes").collect();
    assert_eq!(equality.len(), 1);
    assert!(equality[0]["equality-ids"].is_array());
    insta::assert_snapshot!(equality[0].as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" "), @"spec-id content file-path file-format partition file-size-in-bytes record-count column-sizes value-counts null-value-counts lower-bounds upper-bounds split-offsets equality-ids sort-order-id");
}

#[test]
fn only_the_statistics_that_are_asked_for_are_sent() {
    let table = Table::open("t02b_manyfiles");
    let bare = table.plan(&json!({}), 100).unwrap();
    assert_eq!(bare["file-scan-tasks"][0]["data-file"].get("value-counts"), None);
    let with = table.plan(&json!({"stats-fields": ["id", "_file", "none"]}), 100).unwrap();
    let file = &with["file-scan-tasks"][0]["data-file"];
    assert_eq!(file["value-counts"]["keys"], json!([1]));
    assert_eq!(file["lower-bounds"]["values"][0].as_str().unwrap().len() % 8, 0);
    assert!(file["first-row-id"].is_i64());
}

#[test]
fn an_incremental_scan_has_what_appends_added() {
    let table = Table::open("t08_lineage");
    let snapshots = &table.metadata.snapshots;
    let (first, last) = (snapshots[0].snapshot_id, table.metadata.current_snapshot_id.unwrap());
    let between = |start: i64, end: i64| json!({"start-snapshot-id": start, "end-snapshot-id": end});
    let appended = table.all(&between(first, last), 100);
    let appends = snapshots.iter().filter(|s| s.operation.as_deref() == Some("append")).count();
    assert!(!appended.is_empty(), "{appends} appends");
    assert!(appended.iter().all(|task| task.contains(" [] ")), "no deletes: {appended:?}");
    assert!(table.all(&between(last, last), 100).is_empty());
    let wrong = table.plan(&between(last, first), 100).unwrap_err().to_string();
    assert!(wrong.contains("is not a parent ancestor of end snapshot"), "{wrong}");
    assert_eq!(table.plan(&json!({"snapshot-id": 1}), 9).unwrap_err().to_string(), "Cannot find snapshot with ID 1");
}

#[test]
fn a_plan_stops_when_the_client_has_enough_rows() {
    let table = Table::open("t02b_manyfiles");
    let all = table.plan(&json!({}), 100).unwrap()["file-scan-tasks"].as_array().unwrap().len();
    let some = table.plan(&json!({"min-rows-requested": 1}), 100).unwrap();
    assert!(some["file-scan-tasks"].as_array().unwrap().len() <= all);
    assert_eq!(some.get("plan-tasks"), None);
    let filtered = json!({"min-rows-requested": 1, "filter": {"type": "gt", "term": "id", "value": 0}});
    let reply = table.plan(&filtered, 100).unwrap();
    assert!(reply["file-scan-tasks"].as_array().unwrap().len() > 1, "no row of the first file is sure to pass");
}

#[test]
fn tokens_belong_to_their_table() {
    let (table, other) = (Table::open("t02b_manyfiles"), Table::open("t02_partitioned"));
    let reply = table.plan(&json!({}), 1).unwrap();
    let (id, task) = (reply["plan-id"].as_str().unwrap(), reply["plan-tasks"][0].as_str().unwrap());
    assert!(Scan::of_plan_id(&table.metadata, id).is_ok());
    assert!(matches!(Scan::of_plan_id(&other.metadata, id), Err(Error::NoSuchPlan(_))));
    assert!(matches!(Scan::of_plan_id(&table.metadata, task), Err(Error::NoSuchPlan(_))));
    assert!(matches!(Scan::of_plan_task(&other.metadata, task), Err(Error::NoSuchTask(_))));
    assert!(matches!(Scan::of_plan_task(&table.metadata, id), Err(Error::NoSuchTask(_))));
    let mut expired = table.metadata.clone();
    expired.snapshots.clear();
    assert!(matches!(Scan::of_plan_task(&expired, task), Err(Error::NoSuchTask(_))));
}
