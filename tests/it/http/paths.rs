//! Names and prefixes as every client writes them.

use crate::support::server::{Server, Setting, on_both_servers, schema};
use reqwest::Method;
use serde_json::json;

on_both_servers!(names_survive_every_encoding, prefixes_and_bases, what_has_an_empty_name_is_not_there);

async fn names_survive_every_encoding(server: Server) {
    server.namespace().await;
    let cases = [
        ("a b", &["a%20b", "a+b"][..]),
        ("a+b", &["a%2Bb"]),
        ("a/b", &["a%2Fb", "a%2fb"]),
        ("my_table", &["my_table", "my%5Ftable"]),
        ("\u{8868}.\u{1f600}", &["%E8%A1%A8.%F0%9F%98%80"]),
        ("it's \"100%\"; --", &["it%27s%20%22100%25%22%3B%20--"]),
    ];
    for (name, encodings) in cases {
        let made = server.post("/namespaces/ns/tables", json!({"name": name, "schema": schema()})).await.expect(200);
        for encoded in encodings {
            let loaded = server.get(&format!("/namespaces/ns/tables/{encoded}")).await.expect(200);
            assert_eq!(loaded["metadata"]["table-uuid"], made["metadata"]["table-uuid"], "{name} as {encoded}");
        }
        server.delete(&format!("/namespaces/ns/tables/{}", encodings[0])).await.expect(204);
    }
}

async fn prefixes_and_bases(server: Server) {
    server.namespace().await;
    for path in [
        "/iceberg/v1/namespaces/ns",
        "/iceberg/v1/lake/namespaces/ns",
        "/iceberg/v1/restcatalog/v1/namespaces/ns",
        "/iceberg/v1/restcatalog/v1/lake/namespaces/ns",
    ] {
        server.send(Method::GET, path, None, &[]).await.expect(200);
    }
}

/// Flink asks so for `db.table` while another database is the current one; a 400 would end its query.
async fn what_has_an_empty_name_is_not_there(server: Server) {
    server.namespace().await;
    for (path, kind) in [
        ("/namespaces//tables/flink", "NoSuchTableException"),
        ("/namespaces/ns%1F/tables/t", "NoSuchTableException"),
        ("/namespaces//views/v", "NoSuchViewException"),
        ("/namespaces/%1Fns", "NoSuchNamespaceException"),
    ] {
        let refused = server.get(path).await.expect(404);
        assert_eq!(refused["error"]["type"], kind, "{path}");
    }
    server.post("/namespaces//tables", json!({"name": "t", "schema": schema()})).await.expect(404);
    server.post("/namespaces", json!({"namespace": [""]})).await.expect(400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prefix_may_have_several_segments() {
    let server = Server::start_with(Setting::Local, |settings| {
        let location = settings.warehouse[0].split_once('=').unwrap().1.to_owned();
        settings.warehouse = vec![format!("projects/P/catalogs/C={location}")];
    })
    .await;
    server.namespace().await;
    let config = server.get("/config").await.expect(200);
    assert_eq!(config["overrides"]["prefix"], "projects/P/catalogs/C");
    for prefix in ["projects/P/catalogs/C", "projects%2FP%2Fcatalogs%2FC"] {
        server.get(&format!("/{prefix}/namespaces/ns")).await.expect(200);
        let path = format!("/iceberg/v1/restcatalog/v1/{prefix}/namespaces/ns");
        server.send(Method::GET, &path, None, &[]).await.expect(200);
    }
}
