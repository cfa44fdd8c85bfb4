use crate::support::server::{Server, on_both_servers};
use serde_json::json;

on_both_servers!(a_warehouse_is_found_by_name_and_location, an_unknown_warehouse_is_a_404, health_and_metrics_answer);

async fn a_warehouse_is_found_by_name_and_location(server: Server) {
    let location = server.warehouse.replace(':', "%3A").replace('/', "%2F");
    for query in
        [String::new(), "?warehouse=lake".into(), format!("?warehouse={location}"), format!("?warehouse={location}%2F")]
    {
        for base in ["/iceberg/v1/config", "/iceberg/v1/restcatalog/v1/config"] {
            let reply = server.send(reqwest::Method::GET, &format!("{base}{query}"), None, &[]).await;
            let config = reply.expect(200);
            assert_eq!(config["overrides"], json!({"prefix": "lake"}));
            assert_eq!(config["defaults"], json!({}));
        }
    }
}

async fn an_unknown_warehouse_is_a_404(server: Server) {
    let reply = server.get("/config?warehouse=none").await;
    assert_eq!(reply.error(404, "NoSuchWarehouseException"), "Warehouse does not exist: none");
    server.get("/none/namespaces").await.error(404, "NoSuchWarehouseException");
}

async fn health_and_metrics_answer(server: Server) {
    for path in ["/health", "/ready", "/metrics", "/openapi.json"] {
        let reply = server.send(reqwest::Method::GET, path, None, &[]).await;
        assert_eq!(reply.status.as_u16(), 200, "{path}: {}", reply.text);
    }
}
