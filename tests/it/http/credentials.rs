//! Credentials that are vended for tables in `gs://`, against a stand-in for Google's token services.

use crate::support::google::Google;
use crate::support::server::{Reply, Server, Setting, schema};
use guillemot::store::warehouses;
use reqwest::Method;
use serde_json::{Value, json};

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const ASKS: (&str, &str) = ("X-Iceberg-Access-Delegation", "remote-signing,vended-credentials");
const TABLE: &str = "/iceberg/v1/lake/namespaces/ns/tables/t";

/// A server on the emulator whose warehouse vends, at a time that stands still.
async fn vending(google: &Google) -> Server {
    let (sts, token) = (google.sts_url(), google.token_url());
    let server = Server::start_still_with(Setting::Production, |settings| {
        settings.auth.secret_key = Some(KEY.parse().unwrap());
        settings.gcs_sts_url = Some(sts);
        settings.gcs_token_url = Some(token);
    })
    .await;
    let secret = json!({"type": "gcs-service-account", "key": google.key_file()});
    change(&server, json!({"settings": {"credentials": "vended-credentials"}, "storage-secret": secret}))
        .await
        .expect(200);
    server.namespace().await;
    server.table("t", 2).await;
    server
}

async fn change(server: &Server, body: Value) -> Reply {
    server.send(Method::PATCH, "/management/v1/warehouses/lake", Some(body), &[]).await
}

async fn load(server: &Server, headers: &[(&str, &str)]) -> Reply {
    server.send(Method::GET, TABLE, None, headers).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_good_for_one_table() {
    let google = Google::start().await;
    let server = vending(&google).await;
    let loaded = load(&server, &[ASKS]).await;
    assert_eq!(loaded.headers["cache-control"], "no-store");
    let loaded = loaded.expect(200);
    let location = loaded["metadata"]["location"].as_str().unwrap();
    let (bucket, key) = location.strip_prefix("gs://").unwrap().split_once('/').unwrap();
    let exchanged = google.exchanged();
    assert_eq!(exchanged.len(), 1);
    let expected = format!(
        r#"{{"accessBoundary":{{"accessBoundaryRules":[{{"availablePermissions":["inRole:roles/storage.objectViewer"],"availableResource":"//storage.googleapis.com/projects/_/buckets/{bucket}","availabilityCondition":{{"expression":"resource.name.startsWith('projects/_/buckets/{bucket}/objects/{key}/') || api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith('{key}/')"}}}},{{"availablePermissions":["inRole:roles/storage.objectUser"],"availableResource":"//storage.googleapis.com/projects/_/buckets/{bucket}","availabilityCondition":{{"expression":"resource.name.startsWith('projects/_/buckets/{bucket}/objects/{key}/')"}}}}]}}}}"#
    );
    assert_eq!(exchanged[0]["options"], expected);
    for (field, value) in [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("subject_token", "ya29.base-1"),
    ] {
        assert_eq!(exchanged[0][field], value);
    }
    let expires = (server.app.clock.now_ms() + 3_600_000).to_string();
    let config = json!({
        "gcs.oauth2.token": "ya29.down-1",
        "gcs.oauth2.token-expires-at": expires,
        "gcs.oauth2.refresh-credentials-endpoint": "v1/lake/namespaces/ns/tables/t/credentials",
    });
    let credentials = json!([{"prefix": format!("{location}/"), "config": config}]);
    assert_eq!(loaded["storage-credentials"], credentials);
    for (key, value) in config.as_object().unwrap() {
        assert_eq!(&loaded["config"][key], value);
    }
    assert!(loaded["config"].get("gcs.no-auth").is_none() && loaded["config"].get("gcs.service.host").is_some());
    let again = server.get("/lake/namespaces/ns/tables/t/credentials").await;
    assert_eq!(again.headers["cache-control"], "no-store");
    assert_eq!(again.expect(200), json!({"storage-credentials": credentials}));
    assert_eq!(google.exchanged().len(), 1, "one token serves both");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_ask_gets_none() {
    let google = Google::start().await;
    let server = vending(&google).await;
    for headers in [&[][..], &[("X-Iceberg-Access-Delegation", "remote-signing")], &[(ASKS.0, "")]] {
        let loaded = load(&server, headers).await.expect(200);
        assert!(loaded.get("storage-credentials").is_none() && loaded["config"].get("gcs.oauth2.token").is_none());
        assert_eq!(loaded["config"]["gcs.no-auth"], "true");
    }
    change(&server, json!({"settings": {}})).await.expect(200);
    assert!(load(&server, &[ASKS]).await.expect(200).get("storage-credentials").is_none());
    let none = server.get("/lake/namespaces/ns/tables/t/credentials").await.expect(200);
    assert_eq!(none, json!({"storage-credentials": []}));
    assert_eq!(google.exchanged().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_served_has_half_of_its_life_before_it() {
    let google = Google::start().await;
    let server = vending(&google).await;
    let first = load(&server, &[ASKS]).await;
    let tag = first.headers["etag"].to_str().unwrap().to_owned();
    let held = [ASKS, ("If-None-Match", tag.as_str())];
    server.pass(1_799);
    assert_eq!(load(&server, &held).await.status.as_u16(), 304, "the client holds credentials that are good");
    server.pass(1);
    let second = load(&server, &held).await;
    assert_ne!(second.headers["etag"].to_str().unwrap(), tag);
    assert_eq!(second.expect(200)["config"]["gcs.oauth2.token"], "ya29.down-2");
    // Who holds a reply with credentials does not hold the one without, and the other way round.
    assert_eq!(load(&server, &[("If-None-Match", tag.as_str())]).await.status.as_u16(), 200);
    let plain = load(&server, &[]).await.headers["etag"].to_str().unwrap().to_owned();
    assert_eq!(load(&server, &[ASKS, ("If-None-Match", plain.as_str())]).await.status.as_u16(), 200);
    assert_eq!(load(&server, &[("If-None-Match", plain.as_str())]).await.status.as_u16(), 304);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_away_stops_those_who_ask_for_credentials() {
    let google = Google::start().await;
    let server = vending(&google).await;
    google.go_away(true);
    let refused = load(&server, &[ASKS]).await;
    assert_eq!(refused.headers["retry-after"], "1");
    let said = refused.error(503, "ServiceUnavailableException");
    assert!(said.contains("Google's token service is not reachable"), "{said}");
    load(&server, &[]).await.expect(200);
    server.get("/lake/namespaces/ns/tables/t/credentials").await.error(503, "ServiceUnavailableException");
    // A table that is made is there, with credentials or without.
    let body = json!({"name": "u", "schema": schema()});
    let path = "/iceberg/v1/lake/namespaces/ns/tables";
    let made = server.send(Method::POST, path, Some(body), &[ASKS]).await.expect(200);
    assert!(made.get("storage-credentials").is_none());
    let staged = json!({"name": "v", "schema": schema(), "stage-create": true});
    server.send(Method::POST, path, Some(staged), &[ASKS]).await.error(503, "ServiceUnavailableException");
    google.go_away(false);
    assert!(load(&server, &[ASKS]).await.expect(200).get("storage-credentials").is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_tables_come_with_credentials() {
    let google = Google::start().await;
    let server = vending(&google).await;
    let path = "/iceberg/v1/lake/namespaces/ns/tables";
    for stage in [true, false] {
        let body = json!({"name": "new one", "schema": schema(), "stage-create": stage});
        let made = server.send(Method::POST, path, Some(body), &[ASKS]).await.expect(200);
        let credential = &made["storage-credentials"][0];
        let prefix = format!("{}/", made["metadata"]["location"].as_str().unwrap());
        assert_eq!(credential["prefix"], prefix);
        let refresh = "v1/lake/namespaces/ns/tables/new%20one/credentials";
        assert_eq!(credential["config"]["gcs.oauth2.refresh-credentials-endpoint"], refresh);
    }
    let plan = format!("{TABLE}/plan");
    let planned = server.send(Method::POST, &plan, Some(json!({})), &[ASKS]).await.expect(200);
    assert!(planned["storage-credentials"][0]["config"].get("gcs.oauth2.token").is_some(), "{planned}");
    assert!(
        server.send(Method::POST, &plan, Some(json!({})), &[]).await.expect(200).get("storage-credentials").is_none()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_sealed_and_never_shown() {
    let google = Google::start().await;
    let server = vending(&google).await;
    let key = google.key_file();
    let part = &key["private_key"].as_str().unwrap()[40..80];
    let shown = server.send(Method::GET, "/management/v1/warehouses/lake", None, &[]).await;
    assert!(!shown.text.contains(part));
    assert_eq!(shown.expect(200)["storage-secret"], "***");
    let row = warehouses::load(&server.app.db, "lake").await.unwrap().unwrap();
    let sealed = row.storage_secret.clone().unwrap();
    assert!(sealed.starts_with("v1.") && !sealed.contains(part));
    let warehouse = server.app.warehouse(Some("lake")).await.unwrap();
    assert!(!format!("{warehouse:?} {:?} {:?}", server.app.config, server.app.sealer).contains(part));
    assert!(!format!("{:?} {}", server.app.config, server.app.config.shown()).contains(KEY));
    // Another server with the same key uses it; the settings stay when the secret goes.
    let beside = server.beside().await;
    assert!(load(&beside, &[ASKS]).await.expect(200).get("storage-credentials").is_some());
    let without = change(&server, json!({"storage-secret": null})).await.expect(200);
    assert!(without.get("storage-secret").is_none());
    assert_eq!(without["settings"]["credentials"], "vended-credentials");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_key_no_secret_is_taken() {
    let server = Server::start(Setting::Production).await;
    let secret = json!({"type": "gcs-service-account", "key": {"client_email": "a", "private_key_id": "k", "private_key": "hunter2"}});
    let said = change(&server, json!({"storage-secret": secret})).await.error(400, "BadRequestException");
    assert!(said.contains("GUILLEMOT_SECRET_KEY") && !said.contains("hunter2"), "{said}");
    for wrong in [json!("hunter2"), json!({"type": "hunter2"}), json!({"type": "s3-access-key", "hunter2": 1})] {
        let said = change(&server, json!({"storage-secret": wrong})).await.error(400, "BadRequestException");
        assert!(said.contains("storage-secret: expected") && !said.contains("hunter2"), "{said}");
    }
    let shown = server.send(Method::GET, "/management/v1/warehouses/lake", None, &[]).await.expect(200);
    assert!(shown.get("storage-secret").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_warehouse_offers_what_its_store_has() {
    let google = Google::start().await;
    let server = vending(&google).await;
    let said = change(&server, json!({"settings": {"credentials": "remote-signing"}})).await;
    assert!(said.error(400, "BadRequestException").contains("credentials: expected another mode"));
    let keys = json!({"type": "s3-access-key", "access-key-id": "a", "secret-access-key": "b"});
    let said = change(&server, json!({"storage-secret": keys})).await.error(400, "BadRequestException");
    assert!(said.contains("another kind of store"), "{said}");
    let said = change(&server, json!({"settings": {"credential-lifetime-s": 1}})).await;
    assert!(said.error(400, "BadRequestException").contains("expected 900 to 43200, found 1"));
    let body = json!({"region": "r", "uri": "https://b.s3.amazonaws.com/x", "method": "GET", "headers": {}});
    let said = server.post("/lake/namespaces/ns/tables/t/sign", body).await.error(403, "ForbiddenException");
    assert!(said.contains("does not sign"), "{said}");
}
