//! What changes need: both ends of a rename, each table of a transaction, the updates of a commit.

use super::{As, furnish};
use crate::support::server::{Server, Setting, TEST_USER, on_both_secured};
use crate::support::snapshots::Appender;
use reqwest::Method;
use rstest::rstest;
use serde_json::{Value, json};

on_both_secured!(
    a_rename_needs_rights_at_both_ends,
    a_transaction_needs_rights_on_each_table,
    an_upgrade_needs_its_own_privilege,
    who_commits_to_a_branch_commits_to_no_other,
    a_purge_needs_more_than_a_drop,
    what_the_body_names_is_what_is_decided,
    a_replayed_answer_is_only_for_who_asked_first,
    a_change_that_takes_its_own_grant_away_is_answered_again,
    a_denial_is_kept_under_no_key,
    a_register_over_a_table_is_no_way_around_the_upgrade,
    views_that_refer_to_a_table_open_nothing,
    places_outside_are_the_servers_to_allow,
);

fn ident(namespace: &str, name: &str) -> Value {
    json!({"namespace": [namespace], "name": name})
}

fn commit(updates: &Value) -> Value {
    json!({"requirements": [], "updates": updates})
}

fn set(key: &str) -> Value {
    json!([{"action": "set-properties", "updates": {key: "1"}}])
}

async fn a_rename_needs_rights_at_both_ends(server: Server) {
    furnish(&server).await;
    server.grant_in("ned", "editor", "ns", "").await;
    server.grant_in("ned", "viewer", "other", "").await;
    let ned = As(&server, "ned");
    let rename = |source: Value, destination: Value| json!({"source": source, "destination": destination});
    let away = rename(ident("ns", "t"), ident("other", "stolen"));
    ned.post("/tables/rename", away).await.error(403, "ForbiddenException");
    let here = rename(ident("other", "t"), ident("ns", "stolen"));
    ned.post("/tables/rename", here).await.error(403, "ForbiddenException");
    ned.post("/tables/rename", rename(ident("ns", "t"), ident("ns", "mine"))).await.expect(204);
    // One who may only write to the table cannot take it out of its namespace.
    server.grant_in("tom", "commit-to-ref:main", "ns", "mine").await;
    let out = rename(ident("ns", "mine"), ident("ns", "tom"));
    As(&server, "tom").post("/tables/rename", out).await.error(403, "ForbiddenException");
}

async fn a_transaction_needs_rights_on_each_table(server: Server) {
    furnish(&server).await;
    server.grant_in("ned", "editor", "ns", "").await;
    let ned = As(&server, "ned");
    let change = |namespace: &str| {
        let mut change = commit(&set("a"));
        change["identifier"] = ident(namespace, "t");
        change
    };
    let both = json!({"table-changes": [change("ns"), change("other")]});
    ned.post("/transactions/commit", both.clone()).await.error(404, "NoSuchTableException");
    server.grant_in("ned", "viewer", "other", "").await;
    ned.post("/transactions/commit", both).await.error(403, "ForbiddenException");
    let table = ned.get("/namespaces/ns/tables/t").await.expect(200);
    assert!(table["metadata"]["properties"].get("a").is_none(), "nothing was changed");
    ned.post("/transactions/commit", json!({"table-changes": [change("ns")]})).await.expect(204);
    // To create a table by a transaction needs what creating one needs.
    let create =
        json!({"identifier": ident("other", "new"), "requirements": [{"type": "assert-create"}], "updates": []});
    ned.post("/transactions/commit", json!({"table-changes": [create]})).await.error(403, "ForbiddenException");
}

async fn an_upgrade_needs_its_own_privilege(server: Server) {
    furnish(&server).await;
    server.grant_in("ned", "editor", "ns", "").await;
    let ned = As(&server, "ned");
    let upgrade = commit(&json!([{"action": "upgrade-format-version", "format-version": 3}]));
    let path = "/namespaces/ns/tables/t";
    let message = ned.post(path, upgrade.clone()).await.error(403, "ForbiddenException");
    assert_eq!(message, "Not allowed: ned lacks upgrade-format-version on table ns.t");
    server.grant_in("ned", "upgrade-format-version", "ns", "t").await;
    assert_eq!(ned.post(path, upgrade.clone()).await.expect(200)["metadata"]["format-version"], 3);
    ned.post("/namespaces/ns/tables/u", upgrade).await.error(403, "ForbiddenException");
    // To create a table of any version is no upgrade.
    let body =
        json!({"name": "new", "schema": crate::support::server::schema(), "properties": {"format-version": "3"}});
    ned.post("/namespaces/ns/tables", body).await.expect(200);
}

async fn who_commits_to_a_branch_commits_to_no_other(server: Server) {
    furnish(&server).await;
    let (root, path) = (As(&server, "root"), "/namespaces/ns/tables/t");
    let table = root.get(path).await.expect(200);
    Appender::new("t", &table).by("root").append(&server, 1).await;
    let point = |name: &str, id: i64| json!({"action": "set-snapshot-ref", "ref-name": name, "type": "branch", "snapshot-id": id});
    let mut audit = point("audit", 1000);
    audit["max-ref-age-ms"] = json!(86_400_000);
    root.post(path, commit(&json!([audit]))).await.expect(200);
    server.grant_in("tom", "viewer", "ns", "t").await;
    server.grant_in("tom", "commit-to-ref:audit", "ns", "t").await;
    let tom = As(&server, "tom");
    let mut shorter = point("audit", 2000);
    shorter["max-ref-age-ms"] = json!(1);
    // No file is added, and the list of the last snapshot is the new one's.
    let list = root.get(path).await.expect(200)["metadata"]["snapshots"][0]["manifest-list"].clone();
    let add = |id: i64| {
        let now_ms = server.app.clock.now_ms();
        json!({"action": "add-snapshot", "snapshot": {
            "snapshot-id": id, "parent-snapshot-id": 1000, "sequence-number": id / 1000, "timestamp-ms": now_ms, "schema-id": 0,
            "summary": {"operation": "append"}, "manifest-list": list}})
    };
    for updates in [
        json!([add(2000), point("main", 2000)]),
        set("a"),
        json!([]),
        json!([{"action": "remove-snapshot-ref", "ref-name": "audit"}]),
        json!([{"action": "remove-snapshots", "snapshot-ids": [1000]}]),
        json!([add(2000), point("audit", 2000), point("main", 2000)]),
        json!([add(2000), point("audit", 2000), set("a")[0]]),
        // Moved, and nothing added.
        json!([point("audit", 1000)]),
        json!([add(2000), point("audit", 1000)]),
        // How long it keeps what it has.
        json!([add(2000), shorter]),
    ] {
        tom.post(path, commit(&updates)).await.error(403, "ForbiddenException");
    }
    // Java's clients say it once more with each snapshot, PyIceberg says nothing of it.
    audit["snapshot-id"] = json!(2000);
    for updates in [json!([add(2000), audit]), json!([add(3000), point("audit", 3000)])] {
        let reply = tom.post(path, commit(&updates)).await.expect(200);
        let kept = &reply["metadata"]["refs"]["audit"];
        assert_eq!((&kept["snapshot-id"], &kept["max-ref-age-ms"]), (&updates[1]["snapshot-id"], &json!(86_400_000)));
    }
    // The reply to a commit holds the metadata: who may not read gets none.
    server.grant_in("ann", "commit-to-ref:audit", "ns", "t").await;
    let updates = json!([add(4000), point("audit", 4000)]);
    As(&server, "ann").post(path, commit(&updates)).await.error(403, "ForbiddenException");
}

async fn a_purge_needs_more_than_a_drop(server: Server) {
    furnish(&server).await;
    server.grant_in("ned", "editor", "ns", "").await;
    server.grant_in("pat", "purge", "ns", "u").await;
    let (ned, pat) = (As(&server, "ned"), As(&server, "pat"));
    ned.delete("/namespaces/ns/tables/t?purgeRequested=true").await.error(403, "ForbiddenException");
    ned.delete("/namespaces/ns/tables/t").await.expect(204);
    pat.get("/namespaces/ns/tables/u").await.error(403, "ForbiddenException");
    pat.delete("/namespaces/ns/tables/u?purgeRequested=true").await.expect(204);
}

async fn what_the_body_names_is_what_is_decided(server: Server) {
    furnish(&server).await;
    server.grant_in("ned", "editor", "ns", "").await;
    let ned = As(&server, "ned");
    // Members that are there twice, and bodies that nobody understands: nothing is done.
    let twice = r#"{"source": {"namespace": ["ns"], "name": "t"}, "source": {"namespace": ["other"], "name": "t"},
        "destination": {"namespace": ["ns"], "name": "mine"}}"#;
    let sent = server.send_text(Method::POST, "/iceberg/v1/tables/rename", twice, "ned").await;
    sent.error(400, "BadRequestException");
    let twice = r#"{"identifier": {"namespace": ["ns"], "name": "t"}, "requirements": [], "updates": [],
        "updates": [{"action": "upgrade-format-version", "format-version": 3}]}"#;
    let sent = server.send_text(Method::POST, "/iceberg/v1/namespaces/ns/tables/t", twice, "ned").await;
    assert!([400, 403].contains(&sent.status.as_u16()), "{}", sent.text);
    assert_eq!(ned.get("/namespaces/ns/tables/t").await.expect(200)["metadata"]["format-version"], 2);
    // The path names one table, the body another.
    let mut other = commit(&set("a"));
    other["identifier"] = ident("other", "t");
    ned.post("/namespaces/ns/tables/t", other).await.error(400, "BadRequestException");
}

async fn a_replayed_answer_is_only_for_who_asked_first(server: Server) {
    furnish(&server).await;
    for user in ["ann", "bob"] {
        server.grant_in(user, "editor", "ns", "").await;
    }
    let key = "0197a5b0-7c1e-7def-8123-456789abcdef";
    let send = async |user: &str| {
        let headers = [("idempotency-key", key), (crate::support::server::TEST_USER, user)];
        server.send(Method::POST, "/iceberg/v1/namespaces/ns/tables/t", Some(commit(&set("a"))), &headers).await
    };
    let first = send("ann").await.expect(200);
    assert_eq!(send("ann").await.expect(200), first);
    send("bob").await.error(400, "BadRequestException");
    // Nor for one who may not ask any more.
    send("nobody").await.error(400, "BadRequestException");
}

async fn a_change_that_takes_its_own_grant_away_is_answered_again(server: Server) {
    furnish(&server).await;
    server.grant_in("tom", "viewer", "other", "").await;
    server.grant_in("tom", "drop", "ns", "t").await;
    let headers =
        [("idempotency-key", "0197a5b0-7c1e-7def-8123-456789abcdef"), (crate::support::server::TEST_USER, "tom")];
    for _ in 0..2 {
        let path = "/iceberg/v1/namespaces/ns/tables/t";
        server.send(Method::DELETE, path, None, &headers).await.expect(204);
    }
    As(&server, "tom").delete("/namespaces/ns/tables/t").await.expect(404);
}

async fn a_denial_is_kept_under_no_key(server: Server) {
    furnish(&server).await;
    server.grant_in("tom", "viewer", "other", "").await;
    let headers =
        [("idempotency-key", "0197a5b0-7c1e-7def-8123-456789abcdef"), (crate::support::server::TEST_USER, "tom")];
    let drop = async || server.send(Method::DELETE, "/iceberg/v1/namespaces/ns/tables/t", None, &headers).await;
    drop().await.error(404, "NoSuchTableException");
    server.grant_in("tom", "drop", "ns", "t").await;
    drop().await.expect(204);
}

async fn a_register_over_a_table_is_no_way_around_the_upgrade(server: Server) {
    furnish(&server).await;
    server.grant_in("ned", "editor", "ns", "").await;
    let ned = As(&server, "ned");
    let (path, root) = ("/namespaces/ns/tables/t", As(&server, "root"));
    let old = ned.get(path).await.expect(200)["metadata-location"].clone();
    let upgrade = commit(&json!([{"action": "upgrade-format-version", "format-version": 3}]));
    let new = root.post(path, upgrade).await.expect(200)["metadata-location"].clone();
    let register = |location: &Value| json!({"name": "t", "metadata-location": location, "overwrite": true});
    ned.post("/namespaces/ns/register", register(&old)).await.expect(200);
    let said = ned.post("/namespaces/ns/register", register(&new)).await.error(403, "ForbiddenException");
    let expected =
        "Not allowed: that would take table ns.t from version 2 to 3, which takes upgrade-format-version on it";
    assert_eq!(said, expected);
    assert_eq!(ned.get(path).await.expect(200)["metadata-location"], old);
    server.grant_in("ned", "upgrade-format-version", "ns", "t").await;
    ned.post("/namespaces/ns/register", register(&new)).await.expect(200);
}

async fn views_that_refer_to_a_table_open_nothing(server: Server) {
    furnish(&server).await;
    server.grant_in("tom", "viewer", "ns", "v").await;
    let tom = As(&server, "tom");
    tom.get("/namespaces/ns/views/v").await.expect(200);
    let path = "/namespaces/other/tables/t?referenced-by=ns%1Fv";
    tom.get(path).await.error(404, "NoSuchTableException");
    // Nor does a table of the kind that the grant is not on.
    tom.get("/namespaces/ns/tables/v").await.error(404, "NoSuchTableException");
}

async fn places_outside_are_the_servers_to_allow(server: Server) {
    server.grant_in("wanda", "admin", "", "").await;
    let wanda = As(&server, "wanda");
    let settings = |settings: Value| Some(json!({"settings": settings}));
    let rules = settings(json!({"rules": {"dv-dangling": "warn"}}));
    wanda.manage(Method::PATCH, "/warehouses/lake", rules).await.expect(200);
    let wide = settings(json!({"allow-prefixes": ["file:///etc"]}));
    wanda.manage(Method::PATCH, "/warehouses/lake", wide).await.error(403, "ForbiddenException");
    let new = json!({"name": "mine", "location": "file:///etc"});
    wanda.manage(Method::POST, "/warehouses", Some(new)).await.error(403, "ForbiddenException");
}

/// The metadata file that a commit was answered with is gone, and with it the right to read the table.
#[rstest]
#[case::local(Setting::Local)]
#[case::production(Setting::Production)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_then_shows_nothing_of_now(#[case] setting: Setting) {
    let server = Server::start_secured_with(setting, |settings| settings.metadata_cache_mib = Some(0)).await;
    furnish(&server).await;
    let grant = server.grant_in("ned", "editor", "ns", "").await;
    let root = As(&server, "root");
    let path = "/namespaces/ns/tables/t";
    let who = [("idempotency-key", "0197a5b0-7c1e-7def-8123-456789abcdef"), (TEST_USER, "ned")];
    let commit_once =
        async || server.send(Method::POST, &format!("/iceberg/v1{path}"), Some(commit(&set("a"))), &who).await;
    let first = commit_once().await.expect(200);
    let again = commit_once().await.expect(200);
    assert_eq!(again["metadata-location"], first["metadata-location"]);
    root.post(path, commit(&set("secret"))).await.expect(200);
    server.app.storage.delete(first["metadata-location"].as_str().unwrap()).await.unwrap();
    // Who may read it is answered with what there is.
    assert_eq!(commit_once().await.expect(200)["metadata"]["properties"]["secret"], "1");
    root.manage(Method::DELETE, &format!("/grants/{grant}"), None).await.expect(204);
    let reply = commit_once().await;
    assert!(!reply.status.is_success() && !reply.text.contains("secret"), "{}", reply.text);
    let audit = root.manage(Method::GET, "/audit?principal=ned", None).await.expect(200);
    let told: Vec<_> = audit["entries"].as_array().unwrap().iter().map(|one| one["actions"].clone()).collect();
    assert_eq!(told.iter().filter(|actions| *actions == "answer of then").count(), 2, "{told:?}");
}
