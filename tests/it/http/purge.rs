//! What becomes of the files of a dropped table.

use crate::support::server::{Server, on_both_servers, schema};
use crate::support::snapshots::Appender;
use serde_json::{Value, json};

on_both_servers!(
    a_purge_deletes_what_the_metadata_reaches,
    a_drop_without_purge_deletes_nothing,
    a_purge_spares_a_table_at_the_same_place,
    a_purge_spares_a_table_within_the_place,
    a_purge_deletes_nothing_outside_of_the_tables_places,
    of_two_tables_with_one_place_each_takes_its_own_files,
    a_table_that_does_not_collect_garbage_keeps_its_data,
    a_purge_goes_on_where_it_was_cut_off,
    an_unreadable_manifest_keeps_what_names_it,
    a_purge_without_a_metadata_file_is_done,
    the_name_and_the_place_are_free_after_a_purge,
);

async fn there(server: &Server, location: &str) -> bool {
    server.app.storage.size(location).await.is_ok()
}

async fn left_of(server: &Server, files: &[String]) -> Vec<String> {
    let mut left = Vec::new();
    for file in files {
        if there(server, file).await {
            left.push(file.clone());
        }
    }
    left
}

fn metadata_files(reply: &Value) -> Vec<String> {
    let log = reply["metadata"]["metadata-log"].as_array().unwrap();
    let log = log.iter().map(|entry| entry["metadata-file"].as_str().unwrap().to_owned());
    log.chain([reply["metadata-location"].as_str().unwrap().to_owned()]).collect()
}

async fn purge(server: &Server, name: &str) -> Value {
    server.delete(&format!("/namespaces/ns/tables/{name}?purgeRequested=true")).await.expect(204);
    server.work_off().await;
    last_purge(server).await
}

async fn last_purge(server: &Server) -> Value {
    let tasks = manage(server, "/tasks").await["tasks"].clone();
    let id = tasks.as_array().unwrap().iter().rfind(|task| task["kind"] == "purge-table").unwrap()["id"].clone();
    manage(server, &format!("/tasks/{}", id.as_str().unwrap())).await
}

async fn manage(server: &Server, path: &str) -> Value {
    server.send(reqwest::Method::GET, &format!("/management/v1{path}"), None, &[]).await.expect(200)
}

fn said(task: &Value) -> &str {
    task["log"].as_array().unwrap().last().unwrap()["message"].as_str().unwrap()
}

async fn create(server: &Server, name: &str, location: Option<&str>, properties: Value) -> Value {
    let body = json!({"name": name, "schema": schema(), "location": location, "properties": properties});
    server.post("/namespaces/ns/tables", body).await.expect(200)
}

async fn a_purge_deletes_what_the_metadata_reaches(server: Server) {
    server.namespace().await;
    let mut table = Appender::new("t", &server.table("t", 2).await);
    table.append(&server, 3).await;
    let location = server.get("/namespaces/ns/tables/t").await.json()["metadata"]["location"].clone();
    let statistics = format!("{}/metadata/stats.puffin", location.as_str().unwrap());
    server.app.storage.write_new(&statistics, "statistics".into()).await.unwrap();
    let set = json!({"requirements": [], "updates": [{"action": "set-statistics", "statistics": {
        "snapshot-id": 1000, "statistics-path": statistics, "file-size-in-bytes": 10,
        "file-footer-size-in-bytes": 5, "blob-metadata": []}}]});
    server.post("/namespaces/ns/tables/t", set).await.expect(200);
    let last = table.append(&server, 2).await;
    let bystander = format!("{}/data/nobody-names-me.parquet", location.as_str().unwrap());
    server.app.storage.write_new(&bystander, "data".into()).await.unwrap();

    let task = purge(&server, "t").await;
    assert_eq!((&task["state"], &task["subject"]), (&json!("done"), &json!("ns.t")), "{task}");
    let mut files = [table.files, metadata_files(&last), vec![statistics]].concat();
    assert_eq!(left_of(&server, &files).await, [""; 0]);
    files.sort();
    files.dedup();
    assert_eq!(task["progress"], json!({"files-deleted": files.len(), "files-kept": 0}));
    assert!(there(&server, &bystander).await, "never by prefix");
}

async fn a_drop_without_purge_deletes_nothing(server: Server) {
    server.namespace().await;
    let mut table = Appender::new("t", &server.table("t", 2).await);
    let last = table.append(&server, 2).await;
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    server.work_off().await;
    let files = [table.files, metadata_files(&last)].concat();
    assert_eq!(left_of(&server, &files).await, files);
}

async fn a_purge_spares_a_table_at_the_same_place(server: Server) {
    server.namespace().await;
    let data = format!("{}/elsewhere", server.warehouse);
    let made = create(&server, "t", None, json!({"write.data.path": data})).await;
    let mut table = Appender::new("t", &made);
    let last = table.append_named(&server, vec![format!("{data}/1.parquet")]).await;
    server.delete("/namespaces/ns/tables/t?purgeRequested=true").await.expect(204);
    // Somebody brings the table back before its files are gone.
    let register = json!({"name": "twin", "metadata-location": last["metadata-location"]});
    server.post("/namespaces/ns/register", register).await.expect(200);
    server.work_off().await;
    let task = last_purge(&server).await;
    assert_eq!(task["state"], "done");
    assert!(said(&task).contains("lives at the same place"), "{task}");
    let files = [table.files.clone(), metadata_files(&last)].concat();
    assert_eq!(left_of(&server, &files).await, files);
    server.forget_files().await;
    assert_eq!(server.get("/namespaces/ns/tables/twin").await.expect(200), last);
    // Once it is alone, its files are its own.
    purge(&server, "twin").await;
    assert_eq!(left_of(&server, &files).await, [""; 0]);
}

async fn a_purge_spares_a_table_within_the_place(server: Server) {
    server.namespace().await;
    let outer = server.table("outer", 2).await;
    let place = format!("{}/inner", outer["metadata"]["location"].as_str().unwrap());
    let mut table = Appender::new("outer", &outer);
    table.append(&server, 1).await;
    let shared = vec![format!("{place}/data/shared.parquet")];
    table.append_named(&server, shared.clone()).await;
    server.delete("/namespaces/ns/tables/outer?purgeRequested=true").await.expect(204);
    // Before its files are gone, a table moves in that needs one of them, as after Spark's `add_files`.
    let mut inner = Appender::new("inner", &create(&server, "inner", Some(&place), json!({})).await);
    let inner_last = inner.append_named(&server, shared).await;

    server.work_off().await;
    let task = last_purge(&server).await;
    assert_eq!((&task["state"], &task["progress"]["files-kept"]), (&json!("done"), &json!(1)), "{task}");
    assert_eq!(left_of(&server, &inner.files).await, inner.files);
    table.files.retain(|file| !inner.files.contains(file));
    assert_eq!(left_of(&server, &table.files).await, [""; 0]);
    server.forget_files().await;
    assert_eq!(server.get("/namespaces/ns/tables/inner").await.expect(200), inner_last);
}

async fn a_purge_deletes_nothing_outside_of_the_tables_places(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let mut table = Appender::new("t", &made);
    let foreign = format!("{}/other/1.parquet", server.warehouse);
    table.append_named(&server, vec![foreign.clone()]).await;
    let task = purge(&server, "t").await;
    assert_eq!((&task["state"], &task["progress"]["files-kept"]), (&json!("done"), &json!(1)), "{task}");
    assert_eq!(left_of(&server, &table.files).await, [foreign]);
}

/// On a server without authentication all who write metadata are trusted; on others see `access/places.rs`.
async fn of_two_tables_with_one_place_each_takes_its_own_files(server: Server) {
    server.namespace().await;
    let data = format!("{}/data", server.warehouse);
    let mut files = Vec::new();
    for name in ["one", "two"] {
        let made = create(&server, name, None, json!({"write.data.path": data})).await;
        let file = format!("{data}/{name}.parquet");
        Appender::new(name, &made).append_named(&server, vec![file.clone()]).await;
        files.push(file);
    }
    purge(&server, "one").await;
    assert_eq!(left_of(&server, &files).await, files[1..]);
    purge(&server, "two").await;
    assert_eq!(left_of(&server, &files).await, [""; 0]);
}

async fn a_table_that_does_not_collect_garbage_keeps_its_data(server: Server) {
    server.namespace().await;
    let made = create(&server, "t", None, json!({"gc.enabled": "false"})).await;
    let mut table = Appender::new("t", &made);
    let last = table.append(&server, 2).await;
    purge(&server, "t").await;
    let (data, rest): (Vec<_>, Vec<_>) = table.files.into_iter().partition(|file| file.ends_with(".parquet"));
    assert_eq!(left_of(&server, &data).await, data);
    assert_eq!(left_of(&server, &[rest, metadata_files(&last)].concat()).await, [""; 0]);
}

async fn a_purge_goes_on_where_it_was_cut_off(server: Server) {
    server.namespace().await;
    let mut table = Appender::new("t", &server.table("t", 2).await);
    table.append(&server, 2).await;
    let last = table.append(&server, 2).await;
    // What a purge that died has done already: one manifest with its files, and one list.
    for file in table.files.iter().filter(|file| file.contains("/1-") || file.contains("1000")) {
        server.app.storage.delete(file).await.unwrap();
    }
    let task = purge(&server, "t").await;
    assert_eq!(task["state"], "done", "{task}");
    assert_eq!(left_of(&server, &[table.files, metadata_files(&last)].concat()).await, [""; 0]);
}

async fn an_unreadable_manifest_keeps_what_names_it(server: Server) {
    server.namespace().await;
    let mut table = Appender::new("t", &server.table("t", 2).await);
    table.append(&server, 1).await;
    let last = table.append(&server, 1).await;
    let manifest = table.files.iter().find(|file| file.ends_with("1000-m0.avro")).unwrap();
    server.app.storage.delete(manifest).await.unwrap();
    server.app.storage.write_new(manifest, "no Avro at all".into()).await.unwrap();
    let task = purge(&server, "t").await;
    assert_eq!(task["state"], "failed", "{task}");
    let root = last["metadata-location"].as_str().unwrap().to_owned();
    assert!(task["error"].as_str().unwrap().contains(&root), "{task}");
    let left = left_of(&server, &[table.files.clone(), metadata_files(&last)].concat()).await;
    let expected: Vec<String> = ["1-0.parquet", "1000-m0.avro", "snap-1000.avro"]
        .iter()
        .map(|name| table.files.iter().find(|file| file.ends_with(name)).unwrap().clone())
        .chain([root])
        .collect();
    assert_eq!(left, expected);
}

async fn a_purge_without_a_metadata_file_is_done(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    server.app.storage.delete(made["metadata-location"].as_str().unwrap()).await.unwrap();
    server.forget_files().await;
    let task = purge(&server, "t").await;
    assert_eq!((&task["state"], &task["error"]), (&json!("done"), &Value::Null), "{task}");
}

async fn the_name_and_the_place_are_free_after_a_purge(server: Server) {
    server.namespace().await;
    let first = server.table("t", 2).await["metadata"]["location"].clone();
    purge(&server, "t").await;
    assert_eq!(server.table("t", 2).await["metadata"]["location"], first);
}
