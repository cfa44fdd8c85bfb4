use crate::support::server::{Server, on_both_servers};
use reqwest::Method;
use serde_json::{Value, json};

on_both_servers!(reports_are_kept, reports_go_with_their_table, what_is_no_report_is_refused);

fn scan(snapshot_id: i64) -> Value {
    json!({
        "report-type": "scan-report", "table-name": "ns.t", "snapshot-id": snapshot_id, "filter": true,
        "schema-id": 0, "projected-field-ids": [1], "projected-field-names": ["id"],
        "metrics": {"total-file-size-in-bytes": {"unit": "bytes", "value": i64::MAX}, "brand-new": {"x": 1}}
    })
}

async fn kept(server: &Server, table: &str) -> Vec<Value> {
    let path = format!("/management/v1/warehouses/lake/namespaces/ns/tables/{table}/metrics");
    server.send(Method::GET, &path, None, &[]).await.expect(200)["reports"].as_array().unwrap().clone()
}

async fn reports_are_kept(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    server.table("other", 2).await;
    assert!(kept(&server, "t").await.is_empty());
    let reply = server.post("/namespaces/ns/tables/t/metrics", scan(1)).await;
    assert_eq!((reply.status.as_u16(), reply.text.as_str()), (204, ""));
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    let commit = json!({"report-type": "commit-report", "table-name": "ns.t", "snapshot-id": 2,
        "sequence-number": 1, "operation": "append", "metrics": {}});
    server.post("/namespaces/ns/tables/t/metrics", commit.clone()).await.expect(204);
    let reports = kept(&server, "t").await;
    assert_eq!(reports.iter().map(|one| &one["report"]).collect::<Vec<_>>(), [&commit, &scan(1)]);
    assert!(reports[0]["received-ms"].as_i64() > reports[1]["received-ms"].as_i64());
    assert!(kept(&server, "other").await.is_empty());
}

async fn reports_go_with_their_table(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    server.post("/namespaces/ns/tables/t/metrics", scan(1)).await.expect(204);
    server.delete("/namespaces/ns/tables/t").await.expect(204);
    server.post("/namespaces/ns/tables/t/metrics", scan(1)).await.error(404, "NoSuchTableException");
    let path = "/management/v1/warehouses/lake/namespaces/ns/tables/t/metrics";
    server.send(Method::GET, path, None, &[]).await.error(404, "NoSuchTableException");
    server.table("t", 2).await;
    assert!(kept(&server, "t").await.is_empty());
}

async fn what_is_no_report_is_refused(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let path = "/namespaces/ns/tables/t/metrics";
    for body in [json!({}), json!([]), json!({"report-type": "rumour"}), json!({"report-type": 7})] {
        server.post(path, body).await.error(400, "BadRequestException");
    }
    let large = json!({"report-type": "scan-report", "filter": "x".repeat(64 * 1024)});
    assert_eq!(server.post(path, large).await.status.as_u16(), 413);
    assert!(kept(&server, "t").await.is_empty());
}
