use crate::support::server::{Server, Setting, on_both_servers, schema};
use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Read;

on_both_servers!(
    the_life_of_a_table,
    a_create_gives_fresh_ids_and_the_version_asked_for,
    a_staged_create_is_nothing_until_its_commit,
    a_table_whose_file_is_gone_can_be_moved_and_dropped,
    a_registered_table_is_the_file_that_was_named,
    places_outside_the_warehouse_are_refused,
    a_place_left_behind_is_not_given_again,
    tags_save_loading_again,
    replies_are_compressed_for_those_who_take_it,
    a_missing_namespace_has_no_tables,
    old_metadata_is_served_in_the_modern_form,
);

async fn the_life_of_a_table(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let location = made["metadata"]["location"].as_str().unwrap();
    assert_eq!(location, format!("{}/ns/t", server.warehouse));
    let file = made["metadata-location"].as_str().unwrap();
    assert!(file.starts_with(&format!("{location}/metadata/00000-")) && file.ends_with(".metadata.json"), "{file}");
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), made);
    assert_eq!(server.head("/namespaces/ns/tables/t").await.status.as_u16(), 204);
    let again = server.post("/namespaces/ns/tables", json!({"name": "t", "schema": schema()})).await;
    assert_eq!(again.error(409, "AlreadyExistsException"), "Table already exists: ns.t");

    let renamed = server.post("/tables/rename", rename("t", "ns", "u")).await;
    assert_eq!((renamed.status.as_u16(), renamed.text.as_str()), (204, ""));
    assert_eq!(server.get("/namespaces/ns/tables/u").await.expect(200), made);
    server.post("/tables/rename", rename("t", "ns", "u")).await.error(404, "NoSuchTableException");
    server.table("v", 2).await;
    let taken = server.post("/tables/rename", rename("u", "ns", "v")).await.error(409, "AlreadyExistsException");
    assert_eq!(taken, "Cannot rename ns.u to ns.v. Table already exists");
    server.post("/tables/rename", rename("u", "none", "v")).await.error(404, "NoSuchNamespaceException");

    let list = server.get("/namespaces/ns/tables").await.expect(200);
    assert_eq!(list["identifiers"], json!([{"namespace": ["ns"], "name": "u"}, {"namespace": ["ns"], "name": "v"}]));
    server.delete("/namespaces/ns/tables/u?purgeRequested=True").await.expect(204);
    server.delete("/namespaces/ns/tables/v?purgeRequested=false").await.expect(204);
    let gone = server.get("/namespaces/ns/tables/u").await.error(404, "NoSuchTableException");
    assert_eq!(gone, "Table does not exist: ns.u");
    assert_eq!(server.head("/namespaces/ns/tables/u").await.status.as_u16(), 404);
}

fn rename(from: &str, namespace: &str, to: &str) -> Value {
    json!({"source": {"namespace": ["ns"], "name": from}, "destination": {"namespace": [namespace], "name": to}})
}

async fn a_create_gives_fresh_ids_and_the_version_asked_for(server: Server) {
    server.namespace().await;
    for version in 1..=3 {
        let metadata = server.table(&format!("t{version}"), version).await["metadata"].clone();
        assert_eq!(metadata["format-version"], version);
        let ids: Vec<&Value> =
            metadata["schemas"][0]["fields"].as_array().unwrap().iter().map(|field| &field["id"]).collect();
        assert_eq!(ids, [1, 2]);
        assert_eq!(metadata["properties"].get("format-version"), None);
        assert_eq!(metadata.get("next-row-id").is_some(), version == 3);
    }
    let body = json!({"name": "t4", "schema": schema(), "properties": {"format-version": "4"}});
    server.post("/namespaces/ns/tables", body).await.error(400, "BadRequestException");
}

async fn a_staged_create_is_nothing_until_its_commit(server: Server) {
    server.namespace().await;
    let body = json!({"name": "t", "schema": schema(), "stage-create": true});
    let staged = server.post("/namespaces/ns/tables", body).await.expect(200);
    assert_eq!(staged.get("metadata-location"), None);
    server.get("/namespaces/ns/tables/t").await.error(404, "NoSuchTableException");
    let metadata = &staged["metadata"];
    // The client has written data under these ids: they must stay.
    let mut schema = metadata["schemas"][0].clone();
    schema["fields"][0]["id"] = json!(41);
    let updates = json!([
        {"action": "assign-uuid", "uuid": metadata["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": 3},
        {"action": "add-schema", "schema": schema},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": metadata["location"]}
    ]);
    let commit = json!({"requirements": [{"type": "assert-create"}], "updates": updates});
    let made = server.post("/namespaces/ns/tables/t", commit.clone()).await.expect(200);
    assert_eq!(made["metadata"]["table-uuid"], metadata["table-uuid"]);
    assert_eq!(made["metadata"]["schemas"][0]["fields"][0]["id"], 41);
    assert_eq!(made["metadata"]["format-version"], 3);
    let again = server.post("/namespaces/ns/tables/t", commit).await.error(409, "CommitFailedException");
    assert!(again.starts_with("Requirement failed: table already exists"), "{again}");
}

async fn a_table_whose_file_is_gone_can_be_moved_and_dropped(server: Server) {
    server.namespace().await;
    let made = server.table("t", 2).await;
    let file = made["metadata-location"].as_str().unwrap();
    server.app.storage.delete(file).await.unwrap();
    server.forget_files().await;
    let lost = server.get("/namespaces/ns/tables/t").await.error(404, "NotFoundException");
    assert_eq!(lost, format!("Failed to open input stream for file: {file}"));
    assert_eq!(server.head("/namespaces/ns/tables/t").await.status.as_u16(), 204);
    assert_eq!(server.get("/namespaces/ns/tables").await.expect(200)["identifiers"].as_array().unwrap().len(), 1);
    server.post("/tables/rename", rename("t", "ns", "u")).await.expect(204);
    server.delete("/namespaces/ns/tables/u").await.expect(204);
}

async fn a_registered_table_is_the_file_that_was_named(server: Server) {
    server.namespace().await;
    let made = server.table("t", 3).await;
    let file = made["metadata-location"].as_str().unwrap();
    let register =
        |name: &str, overwrite: bool| json!({"name": name, "metadata-location": file, "overwrite": overwrite});
    server.post("/namespaces/ns/register", register("t", false)).await.error(409, "AlreadyExistsException");
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    let back = server.post("/namespaces/ns/register", register("back", false)).await.expect(200);
    assert_eq!(back, made);
    server.table("other", 2).await;
    // Two tables do not live at one place.
    server.post("/namespaces/ns/register", register("other", true)).await.error(400, "BadRequestException");
    server.delete("/namespaces/ns/tables/back").await.expect(204);
    let replaced = server.post("/namespaces/ns/register", register("other", true)).await.expect(200);
    assert_eq!(replaced["metadata"]["table-uuid"], made["metadata"]["table-uuid"]);
    server.delete("/namespaces/ns/tables/other").await.expect(204);
    let missing = json!({"name": "x", "metadata-location": format!("{file}.none")});
    server.post("/namespaces/ns/register", missing).await.error(404, "NotFoundException");
    server.post("/namespaces/none/register", register("x", false)).await.error(404, "NoSuchNamespaceException");
}

async fn places_outside_the_warehouse_are_refused(server: Server) {
    server.namespace().await;
    let places = [
        "gs://another/x".to_owned(),
        "file:///etc".into(),
        "http://127.0.0.1/x".into(),
        "relative".into(),
        String::new(),
        format!("{}/../x", server.warehouse),
        format!("{}2/x", server.warehouse),
        format!("{}/a/%2e%2e/x", server.warehouse),
    ];
    for place in &places {
        let body = json!({"name": "t", "schema": schema(), "location": place});
        server.post("/namespaces/ns/tables", body).await.error(400, "BadRequestException");
        let body = json!({"name": "t", "schema": schema(), "properties": {"write.metadata.path": place}});
        server.post("/namespaces/ns/tables", body).await.error(400, "BadRequestException");
        let body = json!({"name": "t", "metadata-location": place});
        server.post("/namespaces/ns/register", body).await.error(400, "BadRequestException");
    }
    server.table("t", 2).await;
    for place in &places {
        let commit = json!({"requirements": [], "updates": [{"action": "set-location", "location": place}]});
        server.post("/namespaces/ns/tables/t", commit).await.error(400, "BadRequestException");
    }
}

async fn a_place_left_behind_is_not_given_again(server: Server) {
    server.namespace().await;
    let first = server.table("t", 2).await["metadata"]["location"].clone();
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    let second = server.table("t", 2).await["metadata"]["location"].clone();
    assert_ne!(first, second);
    assert!(second.as_str().unwrap().starts_with(first.as_str().unwrap()), "{second}");
}

async fn tags_save_loading_again(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let path = "/iceberg/v1/namespaces/ns/tables/t";
    let tag = server.send(Method::GET, path, None, &[]).await.headers["etag"].to_str().unwrap().to_owned();
    let same = server.send(Method::GET, path, None, &[("if-none-match", &tag)]).await;
    assert_eq!((same.status.as_u16(), same.text.as_str()), (304, ""));
    let refs = server.send(Method::GET, &format!("{path}?snapshots=refs"), None, &[("if-none-match", &tag)]).await;
    assert_eq!(refs.status.as_u16(), 200);
    let commit = json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "b"}}]});
    let committed = server.post("/namespaces/ns/tables/t", commit).await;
    assert_ne!(committed.headers["etag"].to_str().unwrap(), tag);
    let newer = server.send(Method::GET, path, None, &[("if-none-match", &tag)]).await;
    assert_eq!(newer.expect(200)["metadata"]["properties"]["a"], "b");
}

async fn replies_are_compressed_for_those_who_take_it(server: Server) {
    server.namespace().await;
    let long = json!({"name": "t", "schema": schema(), "properties": {"p": "x".repeat(5000)}});
    let plain = server.post("/namespaces/ns/tables", long).await.text;
    let (encoding, body) = server.get_raw("/iceberg/v1/namespaces/ns/tables/t", "gzip").await;
    assert_eq!(encoding.as_deref(), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(body.as_slice()).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain);
}

async fn a_missing_namespace_has_no_tables(server: Server) {
    // Metadata tables such as `ns.t.files` are looked up this way first (`spec.md` 6.5).
    let message = server.get("/namespaces/ns%1Ft/tables/files").await.error(404, "NoSuchTableException");
    assert_eq!(message, "Table does not exist: ns.t.files");
    server.get("/namespaces/none/tables").await.error(404, "NoSuchNamespaceException");
    let create = server.post("/namespaces/none/tables", json!({"name": "t", "schema": schema()})).await;
    assert_eq!(create.error(404, "NoSuchNamespaceException"), "Namespace does not exist: none");
}

async fn old_metadata_is_served_in_the_modern_form(server: Server) {
    server.namespace().await;
    let location = format!("{}/old", server.warehouse);
    let old = json!({
        "format-version": 1, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": location,
        "last-updated-ms": 1, "last-column-id": 1, "partition-spec": [], "properties": {}, "future": {"kept": 1.50},
        "schema": {"type": "struct", "fields": [{"id": 1, "name": "x", "required": true, "type": "long"}]}
    });
    let file = format!("{location}/metadata/v1.metadata.json");
    server.app.storage.write_new(&file, old.to_string().into()).await.unwrap();
    let body = json!({"name": "old", "metadata-location": file});
    let metadata = server.post("/namespaces/ns/register", body).await.expect(200)["metadata"].clone();
    assert_eq!(metadata["schemas"][0]["fields"][0]["name"], "x");
    assert_eq!((&metadata["current-schema-id"], &metadata["default-spec-id"]), (&json!(0), &json!(0)));
    assert_eq!(metadata["future"], json!({"kept": 1.5}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locations_can_be_made_unique() {
    let server = Server::start_with(Setting::Local, |settings| settings.unique_table_locations = Some(true)).await;
    server.namespace().await;
    let location = server.table("t", 2).await["metadata"]["location"].as_str().unwrap().to_owned();
    assert!(location.starts_with(&format!("{}/ns/t-", server.warehouse)), "{location}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_file_is_noticed_at_once_where_that_is_asked_for() {
    for verify in [false, true] {
        let server =
            Server::start_with(Setting::Local, |settings| settings.verify_metadata_on_load = Some(verify)).await;
        server.namespace().await;
        let file = server.table("t", 2).await["metadata-location"].as_str().unwrap().to_owned();
        let path = "/iceberg/v1/namespaces/ns/tables/t";
        let tag = server.send(Method::GET, path, None, &[]).await.headers["etag"].to_str().unwrap().to_owned();
        server.app.storage.delete(&file).await.unwrap();
        let again = server.send(Method::GET, path, None, &[("if-none-match", &tag)]).await;
        if verify {
            let message = again.error(404, "NotFoundException");
            assert_eq!(message, format!("Failed to open input stream for file: {file}"));
        } else {
            assert_eq!(again.status.as_u16(), 304);
            server.send(Method::GET, path, None, &[]).await.expect(200);
        }
    }
}
