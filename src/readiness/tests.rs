use super::*;
use crate::spec::CreateTableRequest;

fn table(version: u8) -> TableMetadata {
    let request = r#"{"name": "t", "schema": {"type": "struct", "fields": []}}"#;
    let request = CreateTableRequest::parse(request.as_bytes()).unwrap();
    request.build_as(version, "gs://b/t", "9c12d441-03fe-4693-9a96-a0705ddf69c1", 1).unwrap()
}

fn report(counts: Counts) -> TableReport {
    let mut report = TableReport {
        table_uuid: String::new(),
        location: String::new(),
        format_version: 2,
        snapshots: Vec::new(),
        stopped: None,
    };
    report.snapshots.push(crate::validate::at_rest::SnapshotReport {
        snapshot_id: 1,
        sequence_number: 1,
        refs: Vec::new(),
        complete: true,
        report: crate::validate::Report::default(),
        remarks: Vec::new(),
        counts,
        most_deleted: Vec::new(),
    });
    report
}

const NOW: i64 = SEEN_WITHIN_MS * 10;

fn assessed(counts: Counts, seen: &[(&str, i64, i64)]) -> Readiness {
    let seen: Vec<(String, i64, i64)> = seen.iter().map(|(agent, r, w)| ((*agent).to_owned(), *r, *w)).collect();
    assess(&table(2), 3, &report(counts), Some(Users { seen: &seen, now_ms: NOW }), None)
}

#[test]
fn a_table_that_only_able_engines_use_is_ready() {
    let found = assessed(Counts::default(), &[("Apache Iceberg 1.10.2 (commit x)", NOW, NOW)]);
    assert_eq!((found.verdict, found.hindrances, found.remarks), (Answer::Ready, vec![], vec![]));
    assert_eq!(found.engines.unwrap()[0].known.name, "Apache Iceberg (Java)");
}

#[test]
fn engines_that_cannot_go_along_hinder_it_if_they_were_seen_lately() {
    let old = NOW - SEEN_WITHIN_MS - 1;
    let cannot_read = [("ClickHouse/26.9.2.1", NOW, 0), ("Apache Iceberg 1.7.0 (commit x)", old, 0)];
    let found = assessed(Counts::default(), &cannot_read);
    assert_eq!((found.verdict, found.hindrances.len()), (Answer::NotReady, 1));
    assert!(found.hindrances[0].starts_with("ClickHouse 26.9.2.1 uses the table and cannot read format version 3 ("));
    assert_eq!(found.engines.unwrap().len(), 1, "who was not seen lately does not count");
    let found = assessed(Counts::default(), &[("PyIceberg/0.12.0", NOW, NOW)]);
    assert!(found.hindrances[0].contains("cannot write"), "{:?}", found.hindrances);
    let found = assessed(Counts::default(), &[("PyIceberg/0.12.0", NOW, 0), ("curl/8", NOW, 0)]);
    assert_eq!((found.verdict, found.remarks.len()), (Answer::ReadyWithRemarks, 2), "{:?}", found.remarks);
}

#[test]
fn old_deletes_and_manifests_without_row_ids_are_remarked_upon() {
    let counts = Counts {
        data_manifests: 3,
        manifests_without_row_ids: 2,
        position_delete_files: 5,
        position_delete_files_of_one_file: 4,
        equality_delete_files: 1,
        ..Counts::default()
    };
    let found = assessed(counts, &[]);
    assert_eq!((found.verdict, found.remarks.len()), (Answer::ReadyWithRemarks, 3));
    assert!(
        found.remarks[0].starts_with("5 position delete files are left and stay valid: 4 for one data file each, ")
    );
    assert!(found.remarks[2].starts_with("2 of 3 data manifests have no row ids"));
    let to_two = assess(&table(1), 2, &report(counts), Some(Users { seen: &[], now_ms: NOW }), None);
    assert_eq!(to_two.verdict, Answer::Ready, "{:?}", to_two.remarks);
}

#[test]
fn what_is_broken_or_not_wanted_hinders_it() {
    let mut broken = report(Counts::default());
    broken.snapshots[0].complete = false;
    let found = assess(&table(2), 3, &broken, None, Some("the policy".to_owned()));
    assert_eq!((found.verdict, found.hindrances.len(), found.engines), (Answer::NotReady, 2, None));
    let done = assess(&table(3), 3, &report(Counts::default()), Some(Users { seen: &[], now_ms: NOW }), None);
    assert_eq!((done.verdict, done.remarks.len()), (Answer::ReadyWithRemarks, 1));
}
