//! What the deletes of a table cost.

use crate::support::fixture::install;
use crate::support::server::{Reply, Server, on_both_servers};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(
    deletes_are_told_file_by_file,
    a_table_without_snapshots_has_no_deletes,
    position_deletes_that_are_left_are_counted,
    validation_is_measured,
);

async fn ask(server: &Server, table: &str, query: &str) -> Reply {
    let path = format!("/management/v1/warehouses/lake/namespaces/ns/tables/{table}/deletes{query}");
    server.send(Method::GET, &path, None, &[]).await
}

async fn deletes_are_told_file_by_file(server: Server) {
    server.namespace().await;
    install(&server, "t02b_manyfiles").await;
    let found = ask(&server, "t02b_manyfiles", "").await.expect(200);
    assert_eq!((&found["format-version"], &found["complete"]), (&json!(3), &json!(true)), "{found}");
    let counts = &found["counts"];
    let number = |name: &str| counts[name].as_u64().unwrap();
    assert_eq!((number("deletion-vectors"), number("deleted-positions"), number("records")), (5, 159, 500));
    assert_eq!((number("puffin-files"), number("puffin-bytes-live"), number("puffin-bytes-dead")), (2, 342, 136));
    assert_eq!((number("fully-deleted-files"), number("position-delete-files")), (0, 0));
    assert_eq!(found["ratio"].to_string(), "0.318");

    let files = found["files"].as_array().unwrap();
    let deleted: Vec<u64> = files.iter().map(|file| file["deleted-rows"].as_u64().unwrap()).collect();
    assert_eq!((files.len(), deleted.iter().sum::<u64>(), &files[0]["records"]), (5, 159, &json!(100)));
    assert!(deleted.is_sorted_by(|one, other| one >= other), "{found}");
    assert!(files[0]["data-file"].as_str().unwrap().ends_with(".parquet"));
    assert!(files[0]["puffin-file"].as_str().unwrap().ends_with(".puffin"));

    let two = ask(&server, "t02b_manyfiles", "?top=2").await.expect(200);
    assert_eq!(two["files"].as_array().unwrap()[..], files[..2]);
    for wrong in ["?top=0", "?top=1001", "?top=x"] {
        ask(&server, "t02b_manyfiles", wrong).await.error(400, "BadRequestException");
    }
    ask(&server, "none", "").await.error(404, "NoSuchTableException");
}

async fn a_table_without_snapshots_has_no_deletes(server: Server) {
    server.namespace().await;
    server.table("t", 3).await;
    let found = ask(&server, "t", "").await.expect(200);
    assert_eq!((&found["snapshot-id"], &found["files"], &found["ratio"]), (&Value::Null, &json!([]), &json!(0.0)));
    assert_eq!(found["complete"], true);
}

async fn position_deletes_that_are_left_are_counted(server: Server) {
    server.namespace().await;
    install(&server, "t03_upgraded_partition").await;
    let found = ask(&server, "t03_upgraded_partition", "").await.expect(200);
    assert!(found["counts"]["position-delete-files"].as_u64() > Some(0), "{found}");
}

async fn validation_is_measured(server: Server) {
    server.namespace().await;
    let before = measured(&server).await;
    // Registering looks at the whole table.
    install(&server, "t02b_manyfiles").await;
    let after = measured(&server).await;
    for name in [
        "guillemot_validation_files_read_total{kind=\"manifest-list\"}",
        "guillemot_validation_files_read_total{kind=\"manifest\"}",
        "guillemot_validation_files_read_total{kind=\"puffin\"}",
        "guillemot_validation_read_bytes_total",
        "guillemot_validation_cache_hits_total",
        "guillemot_validation_cache_misses_total",
        "guillemot_validation_duration_seconds_count{action=\"register\"}",
        "guillemot_validation_duration_seconds_sum{action=\"register\"}",
    ] {
        assert!(value(&after, name) > value(&before, name), "{name}:\n{after}");
    }
}

async fn measured(server: &Server) -> String {
    server.send(Method::GET, "/metrics", None, &[]).await.text
}

/// A series' value; 0 before anything was measured.
fn value(metrics: &str, series: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok());
    line.unwrap_or(0.0)
}
