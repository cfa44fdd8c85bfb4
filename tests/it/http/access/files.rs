//! How far callers get with the files of a table: as far as their grants go.

use super::{As, make_table};
use crate::support::google::Google;
use crate::support::s3::S3;
use crate::support::server::{Reply, Server, Setting, TEST_USER};
use guillemot::commit;
use reqwest::Method;
use serde_json::{Value, json};

const ASKS: (&str, &str) = ("X-Iceberg-Access-Delegation", "remote-signing,vended-credentials");
const TABLE: &str = "/iceberg/v1/lake/namespaces/ns/tables/t";
const SETTINGS: [Setting; 2] = [Setting::Local, Setting::Production];

/// The table `ns.t`, in a warehouse with these settings and this secret; `vic` views it, `eve` edits it, `tom` commits to
/// one of its branches.
async fn furnish(server: &Server, settings: Value, secret: Value) -> Value {
    let root = As(server, "root");
    let change = json!({"settings": settings, "storage-secret": secret});
    root.manage(Method::PATCH, "/warehouses/lake", Some(change)).await.expect(200);
    root.post("/namespaces", json!({"namespace": ["ns"]})).await.expect(200);
    let table = make_table(server, "ns", "t").await;
    let grants = [("vic", "viewer"), ("eve", "editor"), ("tom", "viewer"), ("tom", "commit-to-ref:main")];
    for (user, privilege) in grants {
        server.grant_in(user, privilege, "ns", "t").await;
    }
    table
}

async fn on_google(google: &Google) -> Server {
    let (sts, token) = (google.sts_url(), google.token_url());
    let server = Server::start_secured_with(Setting::Production, |settings| {
        settings.gcs_sts_url = Some(sts);
        settings.gcs_token_url = Some(token);
    })
    .await;
    let secret = json!({"type": "gcs-service-account", "key": google.key_file()});
    furnish(&server, json!({"credentials": "vended-credentials"}), secret).await;
    server
}

async fn on_s3(setting: Setting, store: &S3, settings: Value) -> (Server, Value) {
    let server = Server::start_secured_with(setting, |settings| {
        settings.warehouse = vec!["lake=s3://lake/w".to_owned()];
        settings.s3_endpoint = Some(store.endpoint().to_owned());
        settings.s3_region = Some("us-east-1".to_owned());
    })
    .await;
    let secret = json!({"type": "s3-access-key", "access-key-id": "own", "secret-access-key": "hunter2"});
    let table = furnish(&server, settings, secret).await;
    (server, table)
}

async fn load(server: &Server, user: &str) -> Reply {
    server.send(Method::GET, TABLE, None, &[ASKS, (TEST_USER, user)]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_only_read_gets_a_token_to_read() {
    let google = Google::start().await;
    let server = on_google(&google).await;
    let token = |reply: &Value| reply["storage-credentials"][0]["config"]["gcs.oauth2.token"].clone();
    for user in ["vic", "tom"] {
        assert_eq!(token(&load(&server, user).await.expect(200)), "ya29.down-1", "{user}");
    }
    assert_eq!(token(&load(&server, "eve").await.expect(200)), "ya29.down-2");
    let boundary = |at: usize| google.exchanged()[at]["options"].clone();
    assert!(boundary(0).contains("storage.objectViewer") && !boundary(0).contains("storage.objectUser"));
    assert!(boundary(1).contains("storage.objectUser"));
    // Every other way to a credential gives the same.
    let who = |user| [ASKS, (TEST_USER, user)];
    for (user, expected) in [("vic", "ya29.down-1"), ("eve", "ya29.down-2")] {
        let anew = As(&server, user).get("/lake/namespaces/ns/tables/t/credentials").await.expect(200);
        assert_eq!(token(&anew), expected);
        let plan = format!("{TABLE}/plan");
        let planned = server.send(Method::POST, &plan, Some(json!({})), &who(user)).await.expect(200);
        assert_eq!(token(&planned), expected);
    }
    load(&server, "nobody").await.error(404, "NoSuchWarehouseException");
    // What is in memory of grants is not what decides: a change counts at once.
    let grant = server.grant_in("vic", "editor", "ns", "").await;
    assert_eq!(token(&load(&server, "vic").await.expect(200)), "ya29.down-2");
    commit::take_back(&server.app, &grant).await.unwrap();
    assert_eq!(token(&load(&server, "vic").await.expect(200)), "ya29.down-1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_only_read_gets_keys_to_read() {
    for setting in SETTINGS {
        let store = S3::start().await;
        let (server, _) = on_s3(setting, &store, json!({"credentials": "vended-credentials"})).await;
        let key = |reply: &Value| reply["storage-credentials"][0]["config"]["s3.access-key-id"].clone();
        for (user, expected) in [("vic", "temporary-1"), ("tom", "temporary-1"), ("eve", "temporary-2")] {
            assert_eq!(key(&load(&server, user).await.expect(200)), expected, "{user}");
        }
        let policies = store.policies();
        assert!(policies[0].contains("s3:GetObject") && !policies[0].contains("s3:PutObject"), "{policies:?}");
        assert!(!policies[0].contains("s3:DeleteObject"), "{policies:?}");
        assert!(policies[1].contains("s3:PutObject") && policies[1].contains("s3:DeleteObject"), "{policies:?}");
    }
}

async fn sign(server: &Server, user: &str, method: &str, uri: &str, body: Option<&str>) -> Reply {
    let request = json!({"region": "us-east-1", "uri": uri, "method": method, "headers": {}, "body": body});
    As(server, user).post("/lake/namespaces/ns/tables/t/sign", request).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_only_read_has_only_reads_signed() {
    for setting in SETTINGS {
        let store = S3::start().await;
        let (server, table) = on_s3(setting, &store, json!({"credentials": "remote-signing"})).await;
        let key = table["metadata"]["location"].as_str().unwrap().strip_prefix("s3://lake/").unwrap();
        let bucket = format!("{}/lake", store.endpoint());
        let object = format!("{bucket}/{key}/data/a.parquet");
        let delete = format!("<Delete><Object><Key>{key}/data/a.parquet</Key></Object></Delete>");
        for (method, uri, body, writes) in [
            ("GET", object.clone(), None, false),
            ("HEAD", object.clone(), None, false),
            ("GET", format!("{bucket}?list-type=2&prefix={key}/data/"), None, false),
            ("PUT", object.clone(), None, true),
            ("PUT", format!("{object}?partNumber=1&uploadId=u"), None, true),
            ("POST", format!("{object}?uploads"), None, true),
            ("POST", format!("{bucket}?delete"), Some(delete.as_str()), true),
            ("DELETE", object.clone(), None, true),
        ] {
            for user in ["vic", "tom"] {
                let reply = sign(&server, user, method, &uri, body).await;
                if writes {
                    let said = reply.error(403, "ForbiddenException");
                    assert!(said.contains("may read them only"), "{user} {method} {uri}: {said}");
                } else {
                    reply.expect(200);
                }
            }
            let signed = sign(&server, "eve", method, &uri, body).await.expect(200);
            assert!(signed["headers"]["authorization"][0].as_str().unwrap().contains("Credential=own/"), "{signed}");
            sign(&server, "nobody", method, &uri, body).await.error(404, "NoSuchWarehouseException");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metadata_that_names_the_place_of_another_table_opens_nothing() {
    for setting in SETTINGS {
        let store = S3::start().await;
        let (server, table) = on_s3(setting, &store, json!({"credentials": "vended-credentials"})).await;
        let other = make_table(&server, "ns", "u").await;
        let place = |table: &Value| table["metadata"]["location"].as_str().unwrap().to_owned();
        store.rewrite(table["metadata-location"].as_str().unwrap(), &place(&table), &place(&other));
        server.forget_files().await;
        assert!(load(&server, "eve").await.expect(200).get("storage-credentials").is_none());
        let anew = As(&server, "eve").get("/lake/namespaces/ns/tables/t/credentials").await;
        assert!(anew.error(400, "BadRequestException").contains("overlaps the location of another table"));
        let signing = json!({"settings": {"credentials": "remote-signing"}});
        As(&server, "root").manage(Method::PATCH, "/warehouses/lake", Some(signing)).await.expect(200);
        let uri = place(&other).replace("s3:/", store.endpoint()) + "/data/a.parquet";
        sign(&server, "eve", "GET", &uri, None).await.error(400, "BadRequestException");
        assert!(store.policies().is_empty());
    }
}
