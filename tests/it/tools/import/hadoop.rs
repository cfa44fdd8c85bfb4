//! From the folders of a Hadoop catalog: real tables, laid out under its names.

use super::import;
use crate::support::fixture::lay_out;
use crate::support::server::{Server, on_both_servers};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::Write;

on_both_servers!(
    a_catalog_is_imported_and_then_it_is_there,
    a_table_is_imported_alone,
    a_table_that_went_on_is_moved_on_if_that_is_asked_for,
    what_has_the_name_already_stays,
    what_lies_elsewhere_is_refused_and_it_is_said_what_to_do,
    a_renamed_table_is_named_by_what_it_is_called_here,
    a_broken_table_is_told_of_and_refused_if_that_is_asked_for,
);

/// `00002-….metadata.json` as a Hadoop catalog calls it, which begins with version 1.
fn hadoop_name(name: &str) -> String {
    let number: u64 = name.split('-').next().unwrap().parse().unwrap();
    format!("v{}.metadata.json", number + 1)
}

async fn write(server: &Server, place: &str, content: impl Into<Bytes>) {
    server.app.storage.write_new(place, content.into()).await.unwrap();
}

pub(super) async fn lay(server: &Server, fixture: &str, folder: &str) -> String {
    lay_out(server, fixture, &format!("{}/h/{folder}", server.warehouse), hadoop_name).await
}

async fn a_catalog_is_imported_and_then_it_is_there(server: Server) {
    let root = format!("{}/h", server.warehouse);
    let merge = lay(&server, "t04_merge", "sales/merge").await;
    write(&server, &format!("{root}/sales/merge/metadata/version-hint.text"), "2\n").await;
    let seed = lay(&server, "seed_v3", "sales/eu/seed").await;
    write(&server, &format!("{root}/sales/eu/seed/metadata/version-hint.text"), "garbage").await;
    // Compressed, in both ways that Java reads.
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&server.app.storage.read(&seed).await.unwrap()).unwrap();
    let compressed = format!("{root}/sales/eu/seed/metadata/v5.gz.metadata.json");
    write(&server, &compressed, gzip.finish().unwrap()).await;
    write(&server, &format!("{root}/sales/foreign/metadata/00000-x.metadata.json"), "{}").await;
    write(&server, &format!("{root}/sales/torn/metadata/v1.metadata.json"), "{").await;
    write(&server, &format!("{root}/lonely/metadata/v1.metadata.json"), "{}").await;
    write(&server, &format!("{root}/no/table/data/x.parquet"), "PAR1").await;

    let would = import(&server, &["hadoop", &root, "--dry-run"]);
    would.ends(1, "would import 2 tables, 0 views, 2 namespaces; 0 already there; 3 failed");
    would.line(&format!("would import table sales.merge at {merge}"));
    assert_eq!(server.get("/namespaces").await.expect(200)["namespaces"], json!([]));

    let ran = import(&server, &["hadoop", &root]);
    ran.ends(1, "imported 2 tables, 0 views, 2 namespaces; 0 already there; 3 failed");
    ran.line(&format!("imported table sales.eu.seed at {compressed}"));
    let foreign = ran.line("failed table sales.foreign: ");
    assert!(
        foreign.contains("expected metadata files vN.metadata.json") && foreign.contains("found 00000-x"),
        "{foreign}"
    );
    let torn = ran.line("failed table sales.torn: ");
    assert!(torn.contains("sales/torn/metadata/v1.metadata.json"), "{torn}");
    assert!(ran.line(&format!("failed table {root}/lonely: ")).contains("--as"), "{}", ran.out);

    let loaded = server.get("/namespaces/sales/tables/merge").await.expect(200);
    assert_eq!(loaded["metadata-location"], merge);
    assert_eq!(loaded["metadata"]["table-uuid"], "48040f08-29a9-4405-ba6b-fd168933770a");
    let loaded = server.get("/namespaces/sales%1Feu/tables/seed").await.expect(200);
    assert_eq!(loaded["metadata"]["table-uuid"], "05bb5ec6-841b-46e7-871b-54260fe71e12");

    let again = import(&server, &["hadoop", &root]);
    again.ends(1, "imported 0 tables, 0 views, 0 namespaces; 4 already there; 3 failed");
    again.line("present table sales.merge");
    let part = import(&server, &["hadoop", &format!("{root}/no")]);
    part.ends(1, "imported 0 tables, 0 views, 0 namespaces; 0 already there; 1 failed");
    assert!(part.line("failed import: ").contains("holds no table"), "{}", part.out);
}

async fn a_table_is_imported_alone(server: Server) {
    lay(&server, "t04_merge", "sales/merge").await;
    let place = format!("{}/h/sales/merge", server.warehouse);
    import(&server, &["hadoop", &place]).ends(0, "imported 1 table, 0 views, 1 namespace; 0 already there; 0 failed");
    server.get("/namespaces/sales/tables/merge").await.expect(200);
    server.delete("/namespaces/sales/tables/merge").await.expect(204);
    let ran = import(&server, &["hadoop", &place, "--as", "other.eu.t"]);
    ran.ends(0, "imported 1 table, 0 views, 2 namespaces; 0 already there; 0 failed");
    server.get("/namespaces/other%1Feu/tables/t").await.expect(200);
    let no_table = import(&server, &["hadoop", &format!("{}/h", server.warehouse), "--as", "a.b"]);
    assert!(no_table.code == 1 && no_table.out.contains("is no table"), "{}", no_table.out);
}

async fn a_table_that_went_on_is_moved_on_if_that_is_asked_for(server: Server) {
    let last = lay(&server, "t04_merge", "sales/merge").await;
    let root = format!("{}/h", server.warehouse);
    let newest = server.app.storage.read(&last).await.unwrap();
    server.app.storage.delete(&last).await.unwrap();
    import(&server, &["hadoop", &root]).ends(0, "imported 1 table, 0 views, 1 namespace; 0 already there; 0 failed");
    write(&server, &last, newest.clone()).await;

    let behind = import(&server, &["hadoop", &root]);
    behind.ends(1, "imported 0 tables, 0 views, 0 namespaces; 1 behind the source; 1 already there; 0 failed");
    assert!(behind.line("behind table sales.merge: here at ").contains(&last), "{}", behind.out);
    let would = import(&server, &["hadoop", &root, "--update", "--dry-run"]);
    would.ends(0, "would import 0 tables, 0 views, 0 namespaces; 1 to be updated; 1 already there; 0 failed");
    assert_ne!(server.get("/namespaces/sales/tables/merge").await.expect(200)["metadata-location"], last);
    let updated = import(&server, &["hadoop", &root, "--update"]);
    updated.ends(0, "imported 0 tables, 0 views, 0 namespaces; 1 updated; 1 already there; 0 failed");
    assert_eq!(server.get("/namespaces/sales/tables/merge").await.expect(200)["metadata-location"], last);

    // What was committed here is newer than what it came from, and stays so.
    let set = json!({"updates": [{"action": "set-properties", "updates": {"a": "b"}}]});
    server.post("/namespaces/sales/tables/merge", set).await.expect(200);
    let here = server.get("/namespaces/sales/tables/merge").await.expect(200)["metadata-location"].clone();
    let sum = "imported 0 tables, 0 views, 0 namespaces; 2 already there; 0 failed";
    import(&server, &["hadoop", &root, "--update"]).ends(0, sum);

    // Both went on: nobody is overwritten.
    let next = last.replace("v5.", "v6.");
    let mut metadata: serde_json::Value = serde_json::from_slice(&newest).unwrap();
    let log = metadata["metadata-log"].as_array_mut().unwrap();
    log.push(json!({"timestamp-ms": 1, "metadata-file": last}));
    metadata["last-updated-ms"] = json!(metadata["last-updated-ms"].as_i64().unwrap() + 1);
    metadata["metadata-log"].as_array_mut().unwrap().sort_by_key(|entry| entry["timestamp-ms"].as_i64());
    write(&server, &next, metadata.to_string()).await;
    let apart = import(&server, &["hadoop", &root, "--update"]);
    apart.ends(1, "imported 0 tables, 0 views, 0 namespaces; 1 in conflict; 1 already there; 0 failed");
    apart.line("conflict table sales.merge: ");
    assert_eq!(server.get("/namespaces/sales/tables/merge").await.expect(200)["metadata-location"], here);
}

async fn what_has_the_name_already_stays(server: Server) {
    lay(&server, "t04_merge", "ns/t").await;
    lay(&server, "seed_v3", "ns/v").await;
    server.namespace().await;
    let made = server.table("t", 3).await;
    let version = json!({
        "version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": ["ns"],
        "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}]
    });
    let schema = crate::support::server::schema();
    let view = json!({"name": "v", "schema": schema, "view-version": version, "properties": {}});
    server.post("/namespaces/ns/views", view).await.expect(200);
    let ran = import(&server, &["hadoop", &format!("{}/h", server.warehouse), "--update"]);
    ran.ends(1, "imported 0 tables, 0 views, 0 namespaces; 2 in conflict; 1 already there; 0 failed");
    let table = ran.line("conflict table ns.t: ");
    assert!(table.contains("expected uuid 48040f08-29a9-4405-ba6b-fd168933770a"), "{table}");
    assert!(table.contains(made["metadata"]["table-uuid"].as_str().unwrap()), "{table}");
    assert!(ran.line("conflict table ns.v: ").contains("view ns.v has the name here"), "{}", ran.out);
    assert_eq!(server.get("/namespaces/ns/tables/t").await.expect(200), made);
}

async fn what_lies_elsewhere_is_refused_and_it_is_said_what_to_do(server: Server) {
    let elsewhere = Server::start(server_setting(&server)).await;
    lay(&elsewhere, "t04_merge", "sales/merge").await;
    let root = format!("{}/h", elsewhere.warehouse);
    let refused = import(&server, &["hadoop", &root]);
    refused.ends(1, "imported 0 tables, 0 views, 0 namespaces; 0 already there; 1 failed");
    let text = refused.line("failed import: ");
    let expected = ["is outside of warehouse lake", "expected a place under", &server.warehouse, "--allow-prefix"];
    assert!(expected.iter().all(|part| text.contains(part)), "{text}");
    let allowed = import(&server, &["hadoop", &root, "--allow-prefix", &elsewhere.warehouse]);
    allowed.ends(0, "imported 1 table, 0 views, 1 namespace; 0 already there; 0 failed");

    // A copy whose metadata still says where it was.
    let copy = format!("{}/copy/sales/merge/metadata/v1.metadata.json", server.warehouse);
    let original = format!("{}/h/sales/merge/metadata/v5.metadata.json", elsewhere.warehouse);
    write(&server, &copy, elsewhere.app.storage.read(&original).await.unwrap()).await;
    let place = format!("{}/copy/sales/merge", server.warehouse);
    let ran = import(&server, &["hadoop", &place, "--in", "lake", "--as", "other.t"]);
    ran.ends(1, "imported 0 tables, 0 views, 1 namespace; 0 already there; 1 failed");
    let text = ran.line("failed table other.t: location ");
    assert!(text.contains(&elsewhere.warehouse) && text.contains("is outside of warehouse lake"), "{text}");
}

fn server_setting(server: &Server) -> crate::support::server::Setting {
    use crate::support::server::Setting;
    if server.app.config.gcs_endpoint.is_some() { Setting::Production } else { Setting::Local }
}

async fn a_renamed_table_is_named_by_what_it_is_called_here(server: Server) {
    lay(&server, "t04_merge", "sales/merge").await;
    let root = format!("{}/h", server.warehouse);
    assert_eq!(import(&server, &["hadoop", &root]).code, 0);
    let rename = json!({
        "source": {"namespace": ["sales"], "name": "merge"}, "destination": {"namespace": ["sales"], "name": "renamed"}
    });
    server.post("/tables/rename", rename).await.expect(204);
    let ran = import(&server, &["hadoop", &root]);
    assert_eq!(ran.code, 1);
    assert!(ran.line("failed table sales.merge: ").contains("(sales.renamed here, at "), "{}", ran.out);
}

async fn a_broken_table_is_told_of_and_refused_if_that_is_asked_for(server: Server) {
    lay(&server, "t16_bad_java", "bad/java").await;
    let root = format!("{}/h", server.warehouse);
    let refused = import(&server, &["hadoop", &root, "--check", "deny"]);
    refused.ends(1, "imported 0 tables, 0 views, 1 namespace; 0 already there; 1 failed");
    let text = refused.line("failed table bad.java: ");
    assert!(text.contains("breaks rule dv-position-out-of-range"), "{text}");
    let ran = import(&server, &["hadoop", &root]);
    ran.ends(0, "imported 1 table, 0 views, 0 namespaces; 1 already there; 0 failed");
    assert!(ran.line("  BROKEN: ").contains("breaks rule "), "{}", ran.out);
}
