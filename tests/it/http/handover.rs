//! Unregistering, and what clients ask for that is not there: functions, credentials, tokens.

use crate::support::server::{Server, on_both_servers};
use reqwest::Method;
use serde_json::json;

on_both_servers!(
    an_unregistered_table_is_handed_over_with_its_files,
    there_are_no_functions,
    no_credentials_are_vended,
    no_tokens_are_issued,
    views_that_refer_to_a_table_are_bounded,
);

async fn an_unregistered_table_is_handed_over_with_its_files(server: Server) {
    server.namespace().await;
    let made = server.table("t", 3).await;
    let path = "/namespaces/ns/tables/t/unregister";
    let key = [("idempotency-key", "0197a5b0-7c1e-7def-8123-456789abcdef")];
    let unregister = async || server.send(Method::POST, &format!("/iceberg/v1{path}"), None, &key).await;
    let reply = unregister().await.expect(200);
    assert_eq!((&reply["metadata-location"], &reply["metadata"]), (&made["metadata-location"], &made["metadata"]));
    assert_eq!(unregister().await.expect(200)["metadata-location"], made["metadata-location"], "a replay");
    server.get("/namespaces/ns/tables/t").await.error(404, "NoSuchTableException");
    server.post(path, json!({})).await.error(404, "NoSuchTableException");
    let body = json!({"name": "u", "metadata-location": reply["metadata-location"]});
    let again = server.post("/namespaces/ns/register", body).await.expect(200);
    assert_eq!(again["metadata"], made["metadata"]);
    server.post("/namespaces/none/tables/t/unregister", json!({})).await.error(404, "NoSuchTableException");
}

async fn there_are_no_functions(server: Server) {
    server.namespace().await;
    let list = server.get("/namespaces/ns/functions?pageToken=&pageSize=5").await.expect(200);
    assert_eq!(list, json!({"identifiers": []}));
    let missing = server.get("/namespaces/ns/functions/f").await.error(404, "NoSuchFunctionException");
    assert_eq!(missing, "Function does not exist: ns.f");
    server.get("/namespaces/none/functions").await.error(404, "NoSuchNamespaceException");
    server.get("/namespaces/none/functions/f").await.error(404, "NoSuchNamespaceException");
    server.get("/namespaces/ns/functions?pageToken=&pageSize=0").await.error(400, "BadRequestException");
}

async fn no_credentials_are_vended(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let reply = server.get("/namespaces/ns/tables/t/credentials?planId=x").await.expect(200);
    assert_eq!(reply, json!({"storage-credentials": []}));
    server.get("/namespaces/ns/tables/none/credentials").await.error(404, "NoSuchTableException");
    let asks = [("x-iceberg-access-delegation", "vended-credentials,remote-signing")];
    let table = server.send(Method::GET, "/iceberg/v1/namespaces/ns/tables/t", None, &asks).await.expect(200);
    assert_eq!(table.get("storage-credentials"), None);
}

async fn no_tokens_are_issued(server: Server) {
    for base in ["/iceberg/v1", "/iceberg/v1/restcatalog/v1"] {
        let path = format!("{base}/oauth/tokens");
        let reply = server.send_raw(Method::POST, &path, b"grant_type=client_credentials".to_vec()).await;
        let error = reply.expect(501);
        assert_eq!(error["error"], "unsupported_grant_type");
        assert!(error["error_description"].is_string());
    }
}

async fn views_that_refer_to_a_table_are_bounded(server: Server) {
    server.namespace().await;
    server.table("t", 2).await;
    let (few, many) = (["ns%1Fv"; 64].join(","), ["ns%1Fv"; 65].join(","));
    for path in ["/namespaces/ns/tables/t", "/namespaces/ns/tables/t/credentials"] {
        server.get(&format!("{path}?referenced-by={few}")).await.expect(200);
        server.get(&format!("{path}?referenced-by={many}")).await.error(400, "BadRequestException");
        let long = "x".repeat(9_000);
        server.get(&format!("{path}?referenced-by={long}")).await.error(400, "BadRequestException");
    }
    server.get(&format!("/namespaces/ns/views/v?referenced-by={many}")).await.error(400, "BadRequestException");
    server.get("/namespaces/ns/views/v?referenced-by=ns%1Fw").await.error(404, "NoSuchViewException");
}
