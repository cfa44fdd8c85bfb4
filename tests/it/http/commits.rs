//! Commits to one table: requirements, updates, and what the client is told.

use crate::support::server::{Server, on_both_servers};
use serde_json::{Value, json};

on_both_servers!(
    a_commit_writes_the_next_file,
    a_commit_of_nothing_changes_nothing,
    requirements_that_do_not_hold_are_conflicts,
    unknown_words_are_refused,
    versions_go_up_and_never_down,
    a_refused_commit_leaves_no_file,
    the_path_and_the_body_name_one_table,
    old_metadata_files_go_when_the_table_says_so,
);

fn set(key: &str, value: &str) -> Value {
    json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {key: value}}]})
}

async fn a_commit_writes_the_next_file(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let first = server.post("/namespaces/ns/tables/t", set("a", "1")).await.expect(200);
    let file = first["metadata-location"].as_str().unwrap();
    assert!(file.contains("/metadata/00001-"), "{file}");
    assert_eq!(first["metadata"]["metadata-log"][0]["metadata-file"], made["metadata-location"]);
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), first);
    server.forget_files().await;
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), first, "read again from storage");
}

async fn a_commit_of_nothing_changes_nothing(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let same = server.post("/namespaces/ns/tables/t", json!({"requirements": [], "updates": []})).await.expect(200);
    assert_eq!(same["metadata-location"], made["metadata-location"]);
}

async fn requirements_that_do_not_hold_are_conflicts(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let uuid = made["metadata"]["table-uuid"].as_str().unwrap();
    let other = "00000000-0000-0000-0000-000000000000";
    let cases = [
        (
            json!({"type": "assert-table-uuid", "uuid": other}),
            format!("UUID does not match: expected {uuid} != {other}"),
        ),
        (
            json!({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7}),
            "branch or tag main is missing, expected 7".into(),
        ),
        (
            json!({"type": "assert-current-schema-id", "current-schema-id": 3}),
            "current schema changed: expected id 3 != 0".into(),
        ),
    ];
    for (requirement, text) in cases {
        let body = json!({"requirements": [requirement], "updates": set("a", "1")["updates"]});
        let message = server.post("/namespaces/ns/tables/t", body).await.error(409, "CommitFailedException");
        assert_eq!(message, format!("Requirement failed: {text}"));
    }
    let missing = server.post("/namespaces/ns/tables/none", set("a", "1")).await;
    assert_eq!(missing.error(404, "NoSuchTableException"), "Table does not exist: ns.none");
}

async fn unknown_words_are_refused(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    for body in [
        json!({"requirements": [], "updates": [{"action": "invent"}]}),
        json!({"requirements": [{"type": "assert-next-row-id"}], "updates": []}),
        json!({"requirements": [{}], "updates": []}),
        json!({"requirements": [], "updates": [null]}),
        json!({"requirements": [], "updates": [{"action": "set-current-schema", "schema-id": 99_999_999_999_u64}]}),
        json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": null}}]}),
    ] {
        server.post("/namespaces/ns/tables/t", body).await.error(400, "BadRequestException");
    }
}

async fn versions_go_up_and_never_down(server: Server) {
    server.namespace().await;
    server.table("t", 1).await;
    let to = |version: u8| json!({"requirements": [], "updates": [{"action": "upgrade-format-version", "format-version": version}]});
    for version in [2, 3] {
        let done = server.post("/namespaces/ns/tables/t", to(version)).await.expect(200);
        assert_eq!(done["metadata"]["format-version"], version);
    }
    let down = server.post("/namespaces/ns/tables/t", to(2)).await.error(400, "BadRequestException");
    assert_eq!(down, "Cannot downgrade v3 table to v2");
    server.post("/namespaces/ns/tables/t", to(4)).await.error(400, "BadRequestException");
}

async fn a_refused_commit_leaves_no_file(server: Server) {
    server.namespace().await;
    let made = server.table("t", 3).await;
    let location = made["metadata"]["location"].as_str().unwrap();
    let snapshot = json!({
        "snapshot-id": 1, "sequence-number": 1, "timestamp-ms": made["metadata"]["last-updated-ms"], "schema-id": 0,
        "first-row-id": 0, "added-rows": 0, "summary": {"operation": "append"},
        "manifest-list": format!("{location}/metadata/none.avro")
    });
    let body = json!({"requirements": [], "updates": [{"action": "add-snapshot", "snapshot": snapshot}]});
    let reply = server.post("/namespaces/ns/tables/t", body).await;
    let message = reply.error(400, "BadRequestException");
    assert!(message.contains("none.avro") && message.contains("manifest-list-missing"), "{message}");
    let violation = &reply.json()["error"]["violations"][0];
    assert_eq!(violation["rule"], "manifest-list-missing");
    assert_eq!(violation["object"], format!("{location}/metadata/none.avro"));
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), made);
    let next = server.post("/namespaces/ns/tables/t", set("a", "1")).await.expect(200);
    assert_eq!(next["metadata"]["metadata-log"].as_array().unwrap().len(), 1);
}

async fn the_path_and_the_body_name_one_table(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let mut body = set("a", "1");
    body["identifier"] = json!({"namespace": ["ns"], "name": "other"});
    server.post("/namespaces/ns/tables/t", body.clone()).await.error(400, "BadRequestException");
    body["identifier"]["name"] = json!("t");
    server.post("/namespaces/ns/tables/t", body).await.expect(200);
}

async fn old_metadata_files_go_when_the_table_says_so(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let keep = json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {
        "write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}}]});
    server.post("/namespaces/ns/tables/t", keep).await.expect(200);
    let second = server.post("/namespaces/ns/tables/t", set("a", "1")).await.expect(200);
    let log = second["metadata"]["metadata-log"].as_array().unwrap();
    assert_eq!(log.len(), 1);
    let first = made["metadata-location"].as_str().unwrap();
    assert!(server.app.storage.read(first).await.is_err(), "{first} left the log, and storage");
    server.app.storage.read(log[0]["metadata-file"].as_str().unwrap()).await.unwrap();
}
