//! The audit log: who, what, on what, and what was decided.

use super::{As, furnish};
use crate::support::server::{Server, Setting, TEST_USER, on_both_secured};
use guillemot::clock::Clock;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

on_both_secured!(
    changes_and_refusals_are_kept_and_reads_are_not,
    only_admins_of_the_server_read_it,
    who_is_not_known_does_not_fill_it,
);

async fn entries(server: &Server) -> Vec<Value> {
    let list = As(server, "root").manage(Method::GET, "/audit", None).await.expect(200);
    list["entries"].as_array().unwrap().clone()
}

async fn changes_and_refusals_are_kept_and_reads_are_not(server: Server) {
    furnish(&server).await;
    let grant = server.grant_in("eve", "editor", "ns", "t").await;
    let before = entries(&server).await.len();
    let headers = [
        (TEST_USER, "eve"),
        ("user-agent", "engine/1"),
        ("x-goog-user-project", "billing"),
        ("x-request-id", "id-of-eve"),
    ];
    let send = async |method: Method, path: &str, body: Option<Value>| {
        // The order of what happens within a millisecond is not kept.
        tokio::time::sleep(Duration::from_millis(3)).await;
        server.send(method, &format!("/iceberg/v1{path}"), body, &headers).await
    };
    let set = json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "b"}}]});
    send(Method::GET, "/namespaces/ns/tables/t", None).await.expect(200);
    send(Method::POST, "/namespaces/ns/tables/t", Some(set)).await.expect(200);
    send(Method::DELETE, "/namespaces/ns/tables/t?purgeRequested=true", None).await.expect(403);
    send(Method::GET, "/namespaces/other/tables/t", None).await.expect(404);
    tokio::time::sleep(Duration::from_millis(3)).await;
    server.send(Method::GET, "/iceberg/v1/namespaces", None, &[]).await.expect(401);
    let mut kept = entries(&server).await;
    kept.truncate(kept.len() - before);
    let told: Vec<[&Value; 4]> =
        kept.iter().map(|one| [&one["principal"], &one["decision"], &one["status"], &one["actions"]]).collect();
    let see = "see on the warehouse, ";
    assert_eq!(
        json!(told),
        json!([
            ["", "denied", 401, ""],
            ["eve", "denied", 404, format!("{see}read on table other.t")],
            ["eve", "denied", 403, format!("{see}drop on table ns.t, purge on table ns.t")],
            ["eve", "allowed", 200, format!("{see}read on table ns.t, write on table ns.t")],
        ])
    );
    let change = kept.last().unwrap();
    assert_eq!((&change["grant-id"], &change["user-agent"]), (&json!(grant), &json!("engine/1")));
    assert_eq!((&change["project"], &change["request-id"]), (&json!("billing"), &json!("id-of-eve")));
    assert_eq!(change["operation"], "POST /iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}");
    assert_eq!(change["path"], "/iceberg/v1/namespaces/ns/tables/t");
    let list = async |query: &str| As(&server, "root").manage(Method::GET, &format!("/audit?{query}"), None).await;
    let since = kept.last().unwrap()["at-ms"].to_string();
    let of_eve = list(&format!("principal=eve&since={since}")).await.expect(200);
    assert_eq!(of_eve["entries"].as_array().unwrap()[..], kept[1..]);
    let of_nobody = list("principal=").await.expect(200);
    assert_eq!(of_nobody["entries"].as_array().unwrap()[..], kept[..1]);
    list("since=yesterday").await.error(400, "BadRequestException");
}

async fn who_is_not_known_does_not_fill_it(server: Server) {
    for _ in 0..250 {
        server.send(Method::GET, "/iceberg/v1/namespaces", None, &[]).await.expect(401);
    }
    let of_nobody = As(&server, "root").manage(Method::GET, "/audit?principal=", None).await.expect(200);
    let kept = of_nobody["entries"].as_array().unwrap().len();
    // A minute may end in between.
    assert!((100..=200).contains(&kept), "{kept}");
}

async fn only_admins_of_the_server_read_it(server: Server) {
    server.grant_in("wanda", "admin", "", "").await;
    As(&server, "wanda").manage(Method::GET, "/audit", None).await.error(403, "ForbiddenException");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_are_kept_as_long_as_the_settings_say() {
    let clock = Clock::Fixed(Clock::System.now_ms().into());
    let server = Server::start_secured_at(Setting::Local, clock).await;
    furnish(&server).await;
    assert!(!entries(&server).await.is_empty());
    server.pass(89 * 24 * 3600);
    server.work_off().await;
    assert!(!entries(&server).await.is_empty());
    server.pass(2 * 24 * 3600);
    server.work_off().await;
    assert_eq!(entries(&server).await, [json!(null); 0]);
}
