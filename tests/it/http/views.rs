use crate::support::server::{Server, on_both_servers, schema};
use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Read;

on_both_servers!(
    the_life_of_a_view,
    what_spark_sends_is_taken,
    tables_and_views_share_their_names,
    a_view_is_no_table_and_a_table_no_view,
    a_missing_namespace_has_no_views,
    a_commit_adds_a_version,
    a_commit_that_does_not_fit_changes_nothing,
    commits_that_meet_all_happen,
    the_metadata_file_is_where_and_how_the_view_says,
    places_outside_the_warehouse_are_refused,
    a_registered_view_is_the_file_that_was_named,
    a_view_whose_file_is_gone_can_be_moved_and_dropped,
    views_are_listed_by_the_page,
);

fn version(sql: &str, dialect: &str) -> Value {
    json!({
        "version-id": 1, "timestamp-ms": 1_700_000_000_000_i64, "schema-id": 0, "summary": {"engine-name": "test"},
        "representations": [{"type": "sql", "sql": sql, "dialect": dialect}], "default-namespace": ["ns"]
    })
}

fn view(name: &str) -> Value {
    json!({"name": name, "schema": schema(), "view-version": version("SELECT 1", "spark"), "properties": {}})
}

async fn make(server: &Server, name: &str) -> Value {
    server.post("/namespaces/ns/views", view(name)).await.expect(200)
}

fn replace(version: &Value) -> Value {
    json!({"updates": [
        {"action": "add-view-version", "view-version": version},
        {"action": "set-current-view-version", "view-version-id": -1}
    ]})
}

fn rename(from: &str, namespace: &str, to: &str) -> Value {
    json!({"source": {"namespace": ["ns"], "name": from}, "destination": {"namespace": [namespace], "name": to}})
}

async fn the_life_of_a_view(server: Server) {
    server.namespace().await;
    let made = make(&server, "v").await;
    let metadata = &made["metadata"];
    assert_eq!(metadata["location"], format!("{}/ns/v", server.warehouse));
    assert_eq!((&metadata["format-version"], &metadata["current-version-id"]), (&json!(1), &json!(1)));
    assert_eq!(metadata["versions"][0]["representations"][0]["sql"], "SELECT 1");
    server.forget_files().await;
    assert_eq!(server.get("/namespaces/ns/views/v").await.expect(200), made);
    assert_eq!(server.head("/namespaces/ns/views/v").await.status.as_u16(), 204);
    let again = server.post("/namespaces/ns/views", view("v")).await;
    assert_eq!(again.error(409, "AlreadyExistsException"), "View already exists: ns.v");
    let full = server.delete("/namespaces/ns").await.error(409, "NamespaceNotEmptyException");
    assert!(full.contains("is not empty"), "{full}");

    let renamed = server.post("/views/rename", rename("v", "ns", "w")).await;
    assert_eq!((renamed.status.as_u16(), renamed.text.as_str()), (204, ""));
    assert_eq!(server.get("/namespaces/ns/views/w").await.expect(200), made);
    let missing = server.post("/views/rename", rename("v", "ns", "w")).await.error(404, "NoSuchViewException");
    assert_eq!(missing, "View does not exist: ns.v");
    server.post("/views/rename", rename("w", "none", "v")).await.error(404, "NoSuchNamespaceException");

    server.delete("/namespaces/ns/views/w").await.expect(204);
    let gone = server.get("/namespaces/ns/views/w").await.error(404, "NoSuchViewException");
    assert_eq!(gone, "View does not exist: ns.w");
    server.delete("/namespaces/ns/views/w").await.error(404, "NoSuchViewException");
    assert_eq!(server.head("/namespaces/ns/views/w").await.status.as_u16(), 404);
    server.delete("/namespaces/ns").await.expect(204);
}

/// Recorded from Spark 3.5.8 with Iceberg 1.10.2: its column ids begin with 0, its default namespace is empty.
async fn what_spark_sends_is_taken(server: Server) {
    server.namespace().await;
    let body = json!({
        "name": "v11",
        "view-version": {
            "version-id": 1, "timestamp-ms": 1_795_975_635_076_i64, "schema-id": 0,
            "summary": {"engine-version": "3.5.8", "app-id": "local-1795975534436", "engine-name": "spark"},
            "default-namespace": [],
            "representations": [{"type": "sql", "sql": "SELECT id FROM lk.dv.t WHERE id > 10", "dialect": "spark"}]
        },
        "schema": {"type": "struct", "schema-id": 0, "fields": [
            {"id": 0, "name": "id", "required": false, "type": "long"}
        ]},
        "properties": {"create_engine_version": "Spark 3.5.8", "spark.query-column-names": "id"}
    });
    let made = server.post("/namespaces/ns/views", body.clone()).await.expect(200);
    let metadata = &made["metadata"];
    assert_eq!(metadata["schemas"], json!([body["schema"]]));
    assert_eq!(metadata["versions"], json!([body["view-version"]]));
    assert_eq!(metadata["properties"], body["properties"]);
}

async fn tables_and_views_share_their_names(server: Server) {
    server.namespace().await;
    let table = server.table("t", 2).await;
    let made = make(&server, "v").await;
    make(&server, "other").await;
    let taken = |reply: crate::support::server::Reply| reply.error(409, "AlreadyExistsException");
    let over_view = "View with same name already exists: ns.v";
    let over_table = "Table with same name already exists: ns.t";

    let create = json!({"name": "v", "schema": schema()});
    assert_eq!(taken(server.post("/namespaces/ns/tables", create).await), over_view);
    let staged = json!({"name": "v", "schema": schema(), "stage-create": true});
    assert_eq!(taken(server.post("/namespaces/ns/tables", staged).await), over_view);
    let register = json!({"name": "v", "metadata-location": table["metadata-location"], "overwrite": true});
    assert_eq!(taken(server.post("/namespaces/ns/register", register).await), over_view);
    let commit = json!({"requirements": [{"type": "assert-create"}], "updates": []});
    assert_eq!(taken(server.post("/namespaces/ns/tables/v", commit).await), over_view);
    let moved = server.post("/tables/rename", rename("t", "ns", "v")).await;
    assert_eq!(taken(moved), "Cannot rename ns.t to ns.v. View already exists");

    assert_eq!(taken(server.post("/namespaces/ns/views", view("t")).await), over_table);
    let register = json!({"name": "t", "metadata-location": made["metadata-location"]});
    assert_eq!(taken(server.post("/namespaces/ns/register-view", register).await), over_table);
    let moved = server.post("/views/rename", rename("v", "ns", "t")).await;
    assert_eq!(taken(moved), "Cannot rename ns.v to ns.t. Table already exists");
    let moved = server.post("/views/rename", rename("v", "ns", "other")).await;
    assert_eq!(taken(moved), "Cannot rename ns.v to ns.other. View already exists");
}

async fn a_view_is_no_table_and_a_table_no_view(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    make(&server, "v").await;
    server.get("/namespaces/ns/tables/v").await.error(404, "NoSuchTableException");
    server.get("/namespaces/ns/views/t").await.error(404, "NoSuchViewException");
    assert_eq!(server.head("/namespaces/ns/tables/v").await.status.as_u16(), 404);
    assert_eq!(server.head("/namespaces/ns/views/t").await.status.as_u16(), 404);
    let set = json!({"updates": [{"action": "set-properties", "updates": {"a": "b"}}]});
    server.post("/namespaces/ns/tables/v", set.clone()).await.error(404, "NoSuchTableException");
    server.post("/namespaces/ns/views/t", set).await.error(404, "NoSuchViewException");
    server.delete("/namespaces/ns/tables/v").await.error(404, "NoSuchTableException");
    server.delete("/namespaces/ns/views/t").await.error(404, "NoSuchViewException");
    server.post("/tables/rename", rename("v", "ns", "x")).await.error(404, "NoSuchTableException");
    server.post("/views/rename", rename("t", "ns", "x")).await.error(404, "NoSuchViewException");
    let names = |list: Value| list["identifiers"].as_array().unwrap().iter().map(|i| i["name"].clone()).collect();
    let (tables, views): (Vec<Value>, Vec<Value>) = (
        names(server.get("/namespaces/ns/tables").await.expect(200)),
        names(server.get("/namespaces/ns/views").await.expect(200)),
    );
    assert_eq!((tables, views), (vec![json!("t")], vec![json!("v")]));
}

async fn a_missing_namespace_has_no_views(server: Server) {
    let missing = server.get("/namespaces/none/views/v").await.error(404, "NoSuchViewException");
    assert_eq!(missing, "View does not exist: none.v");
    assert_eq!(server.head("/namespaces/none/views/v").await.status.as_u16(), 404);
    server.get("/namespaces/none/views").await.error(404, "NoSuchNamespaceException");
    let create = server.post("/namespaces/none/views", view("v")).await;
    assert_eq!(create.error(404, "NoSuchNamespaceException"), "Namespace does not exist: none");
    let register = json!({"name": "v", "metadata-location": format!("{}/x", server.warehouse)});
    server.post("/namespaces/none/register-view", register).await.error(404, "NoSuchNamespaceException");
}

async fn a_commit_adds_a_version(server: Server) {
    server.namespace().await;
    let made = make(&server, "v").await;
    let mut commit = replace(&version("SELECT 2", "spark"));
    commit["identifier"] = json!({"namespace": ["ns"], "name": "v"});
    commit["requirements"] = json!([{"type": "assert-view-uuid", "uuid": made["metadata"]["view-uuid"]}]);
    let changed = server.post("/namespaces/ns/views/v", commit.clone()).await.expect(200);
    assert_ne!(changed["metadata-location"], made["metadata-location"]);
    let file = changed["metadata-location"].as_str().unwrap().rsplit('/').next().unwrap();
    assert!(file.starts_with("00001-"), "{file}");
    assert_eq!(changed["metadata"]["current-version-id"], 2);
    assert_eq!(changed["metadata"]["versions"].as_array().unwrap().len(), 2);
    assert_eq!(server.get("/namespaces/ns/views/v").await.expect(200), changed);
    // The same again changes nothing: there is such a version, and it is current.
    let same = server.post("/namespaces/ns/views/v", commit).await.expect(200);
    assert_eq!(same, changed);
}

async fn a_commit_that_does_not_fit_changes_nothing(server: Server) {
    server.namespace().await;
    let made = make(&server, "v").await;
    let path = "/namespaces/ns/views/v";
    let mut other = replace(&version("SELECT 2", "spark"));
    other["requirements"] = json!([{"type": "assert-view-uuid", "uuid": "00000000-0000-4000-8000-000000000000"}]);
    let message = server.post(path, other).await.error(409, "CommitFailedException");
    assert!(message.starts_with("Requirement failed: view UUID does not match"), "{message}");
    let mut twice = version("SELECT 2", "trino");
    twice["representations"].as_array_mut().unwrap().push(json!({"type": "sql", "sql": "x", "dialect": "Trino"}));
    let message = server.post(path, replace(&twice)).await.error(400, "IllegalArgumentException");
    assert_eq!(message, "Invalid view version: Cannot add multiple queries for dialect trino");
    let lost = server.post(path, replace(&version("SELECT 2", "trino"))).await.error(400, "BadRequestException");
    assert!(lost.starts_with("Cannot replace view due to loss of view dialects"), "{lost}");
    let unknown = json!({"updates": [{"action": "add-snapshot", "snapshot": {}}]});
    server.post(path, unknown).await.error(400, "BadRequestException");
    let mut elsewhere = replace(&version("SELECT 2", "spark"));
    elsewhere["identifier"] = json!({"namespace": ["ns"], "name": "w"});
    server.post(path, elsewhere).await.error(400, "BadRequestException");
    assert_eq!(server.get(path).await.expect(200), made);

    let mut create = view("w");
    create["view-version"] = twice;
    let message = server.post("/namespaces/ns/views", create).await.error(400, "IllegalArgumentException");
    assert!(message.contains("Cannot add multiple queries for dialect trino"), "{message}");
}

async fn commits_that_meet_all_happen(server: Server) {
    server.namespace().await;
    make(&server, "v").await;
    let commits = (0..4).map(|n| {
        let commit = replace(&version(&format!("SELECT {n} + 10"), "spark"));
        let server = &server;
        async move { server.post("/namespaces/ns/views/v", commit).await.expect(200) }
    });
    futures::future::join_all(commits).await;
    let metadata = server.get("/namespaces/ns/views/v").await.expect(200)["metadata"].clone();
    let mut ids: Vec<i64> = metadata["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version-id"].as_i64().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    assert_eq!(metadata["version-log"].as_array().unwrap().len(), 5);
}

async fn the_metadata_file_is_where_and_how_the_view_says(server: Server) {
    server.namespace().await;
    let made = make(&server, "v").await;
    let file = made["metadata-location"].as_str().unwrap();
    assert!(file.ends_with(".gz.metadata.json"), "{file}");
    let mut text = String::new();
    GzDecoder::new(&*server.app.storage.read(file).await.unwrap()).read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), made["metadata"]);

    let mut plain = view("plain");
    let folder = format!("{}/views-of-ns", server.warehouse);
    plain["properties"] = json!({"write.metadata.compression-codec": "none", "write.metadata.path": folder});
    plain["location"] = json!(format!("{}/somewhere/", server.warehouse));
    let made = server.post("/namespaces/ns/views", plain).await.expect(200);
    assert_eq!(made["metadata"]["location"], format!("{}/somewhere", server.warehouse));
    let file = made["metadata-location"].as_str().unwrap();
    assert!(file.starts_with(&format!("{folder}/00000-")) && !file.ends_with(".gz.metadata.json"), "{file}");
    let stored: Value = serde_json::from_slice(&server.app.storage.read(file).await.unwrap()).unwrap();
    assert_eq!(stored, made["metadata"]);
}

async fn places_outside_the_warehouse_are_refused(server: Server) {
    server.namespace().await;
    make(&server, "v").await;
    for place in ["gs://another/x", "file:///etc", "relative", &format!("{}/../x", server.warehouse)] {
        let mut create = view("w");
        create["location"] = json!(place);
        server.post("/namespaces/ns/views", create).await.error(400, "BadRequestException");
        let mut create = view("w");
        create["properties"] = json!({"write.metadata.path": place});
        server.post("/namespaces/ns/views", create).await.error(400, "BadRequestException");
        let moved = json!({"updates": [{"action": "set-location", "location": place}]});
        server.post("/namespaces/ns/views/v", moved).await.error(400, "BadRequestException");
        let register = json!({"name": "w", "metadata-location": place});
        server.post("/namespaces/ns/register-view", register).await.error(400, "BadRequestException");
    }
    let moved = json!({"updates": [
        {"action": "set-location", "location": format!("{}/new/", server.warehouse)}
    ]});
    let moved = server.post("/namespaces/ns/views/v", moved).await.expect(200);
    assert!(moved["metadata-location"].as_str().unwrap().starts_with(&format!("{}/new/metadata/", server.warehouse)));
}

async fn a_registered_view_is_the_file_that_was_named(server: Server) {
    server.namespace().await;
    let made = make(&server, "v").await;
    let register = |name: &str| json!({"name": name, "metadata-location": made["metadata-location"]});
    let taken = server.post("/namespaces/ns/register-view", register("v")).await.error(409, "AlreadyExistsException");
    assert_eq!(taken, "View already exists: ns.v");
    server.delete("/namespaces/ns/views/v").await.expect(204);
    let back = server.post("/namespaces/ns/register-view", register("back")).await.expect(200);
    assert_eq!(back, made);
    assert_eq!(server.get("/namespaces/ns/views/back").await.expect(200), made);

    let missing = json!({"name": "x", "metadata-location": format!("{}/none", server.warehouse)});
    server.post("/namespaces/ns/register-view", missing).await.error(404, "NotFoundException");
    let table = server.table("t", 2).await;
    let wrong = json!({"name": "x", "metadata-location": table["metadata-location"]});
    server.post("/namespaces/ns/register-view", wrong).await.error(400, "BadRequestException");
    let wrong = json!({"name": "x", "metadata-location": made["metadata-location"]});
    server.post("/namespaces/ns/register", wrong).await.error(400, "BadRequestException");
}

async fn a_view_whose_file_is_gone_can_be_moved_and_dropped(server: Server) {
    server.namespace().await;
    let made = make(&server, "v").await;
    let file = made["metadata-location"].as_str().unwrap();
    server.app.storage.delete(file).await.unwrap();
    server.forget_files().await;
    let lost = server.get("/namespaces/ns/views/v").await.error(404, "NotFoundException");
    assert_eq!(lost, format!("Failed to open input stream for file: {file}"));
    assert_eq!(server.head("/namespaces/ns/views/v").await.status.as_u16(), 204);
    server.post("/views/rename", rename("v", "ns", "w")).await.expect(204);
    server.delete("/namespaces/ns/views/w").await.expect(204);
}

async fn views_are_listed_by_the_page(server: Server) {
    server.namespace().await;
    server.table("b2", 2).await;
    for name in ["a", "b", "c"] {
        make(&server, name).await;
    }
    let path = "/iceberg/v1/namespaces/ns/views?pageToken=&pageSize=2";
    let first = server.send(Method::GET, path, None, &[]).await.expect(200);
    assert_eq!(first["identifiers"].as_array().unwrap().len(), 2);
    let token = first["next-page-token"].as_str().unwrap();
    let rest = server.get(&format!("/namespaces/ns/views?pageSize=2&pageToken={token}")).await.expect(200);
    assert_eq!(rest["identifiers"], json!([{"namespace": ["ns"], "name": "c"}]));
    assert_eq!(rest.get("next-page-token"), None);
}
