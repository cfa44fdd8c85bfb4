//! The API of grants, and what other servers notice of it.

use super::{As, furnish};
use crate::support::server::{Server, on_both_secured};
use reqwest::Method;
use serde_json::{Value, json};

on_both_secured!(
    nobody_grants_more_than_they_have,
    grants_are_made_listed_and_taken_back,
    check_tells_what_decides,
    roles_give_what_they_are_given,
    another_server_notices_at_once,
);

fn grant(user: &str, privilege: &str, on: &Value) -> Value {
    json!({"grantee": {"user": user}, "privilege": privilege, "on": on})
}

async fn nobody_grants_more_than_they_have(server: Server) {
    furnish(&server).await;
    server.grant_in("mia", "viewer", "ns", "").await;
    server.grant_in("mia", "manage-grants", "ns", "").await;
    let admin = server.grant_in("ada", "admin", "ns", "").await;
    let mia = As(&server, "mia");
    let on = json!({"warehouse": "lake", "namespace": ["ns"]});
    mia.manage(Method::POST, "/grants", Some(grant("bob", "viewer", &on))).await.expect(200);
    mia.manage(Method::POST, "/grants", Some(grant("bob", "manage-grants", &on))).await.expect(200);
    for more in ["editor", "admin", "drop", "purge", "upgrade-format-version"] {
        mia.manage(Method::POST, "/grants", Some(grant("mia", more, &on))).await.error(403, "ForbiddenException");
    }
    // Neither on what lies around, nor beside, nor on the server.
    let lake = json!({"warehouse": "lake"});
    mia.manage(Method::POST, "/grants", Some(grant("bob", "viewer", &lake))).await.error(403, "ForbiddenException");
    mia.manage(Method::POST, "/grants", Some(grant("bob", "viewer", &json!({}))))
        .await
        .error(403, "ForbiddenException");
    let other = json!({"warehouse": "lake", "namespace": ["other"]});
    mia.manage(Method::POST, "/grants", Some(grant("bob", "viewer", &other)))
        .await
        .error(404, "NoSuchNamespaceException");
    // Nor may a lesser one take it from the admin.
    let path = format!("/grants/{admin}");
    mia.manage(Method::DELETE, &path, None).await.error(403, "ForbiddenException");
    As(&server, "bob").manage(Method::DELETE, &path, None).await.error(403, "ForbiddenException");
    As(&server, "ada").manage(Method::DELETE, &path, None).await.expect(204);
    As(&server, "ada").manage(Method::DELETE, &path, None).await.error(404, "NotFoundException");
}

async fn grants_are_made_listed_and_taken_back(server: Server) {
    furnish(&server).await;
    let root = As(&server, "root");
    let on = json!({"warehouse": "lake", "namespace": ["ns", "inner"], "table": "t"});
    let made = root.manage(Method::POST, "/grants", Some(grant("tom", "viewer", &on))).await.expect(200);
    assert_eq!((&made["on"], &made["created-by"]), (&on, &json!("root")));
    let again = root.manage(Method::POST, "/grants", Some(grant("tom", "viewer", &on))).await.expect(200);
    assert_eq!(again, made);
    let mut commit = grant("tom", "commit-to-ref", &on);
    root.manage(Method::POST, "/grants", Some(commit.clone())).await.error(400, "BadRequestException");
    commit["ref"] = json!("audit");
    root.manage(Method::POST, "/grants", Some(commit)).await.expect(200);
    root.manage(Method::POST, "/grants", Some(grant("tom", "owner", &on))).await.error(400, "BadRequestException");
    let tom = As(&server, "tom");
    let mine = tom.manage(Method::GET, "/grants", None).await.expect(200);
    assert_eq!(mine["grants"].as_array().unwrap().len(), 2);
    let first = tom.manage(Method::GET, "/grants?pageSize=1", None).await.expect(200);
    let next = first["next-page-token"].as_str().unwrap();
    let second = tom.manage(Method::GET, &format!("/grants?pageSize=1&pageToken={next}"), None).await.expect(200);
    assert_eq!(json!([first["grants"][0], second["grants"][0]]), mine["grants"]);
    assert_eq!(root.manage(Method::GET, "/grants", None).await.expect(200)["grants"].as_array().unwrap().len(), 3);
    tom.get("/namespaces/ns%1Finner/tables/t").await.expect(200);
    let path = format!("/grants/{}", made["id"].as_str().unwrap());
    tom.manage(Method::DELETE, &path, None).await.error(403, "ForbiddenException");
    root.manage(Method::DELETE, &path, None).await.expect(204);
    tom.get("/namespaces/ns%1Finner/tables/t").await.error(403, "ForbiddenException");
    for wrong in [json!({"namespace": ["ns"]}), json!({"warehouse": "lake", "table": "t"}), json!({"x": 1})] {
        root.manage(Method::POST, "/grants", Some(grant("tom", "viewer", &wrong)))
            .await
            .error(400, "BadRequestException");
    }
    for missing in [
        json!({"warehouse": "mere"}),
        json!({"warehouse": "lake", "namespace": ["no"]}),
        json!({"warehouse": "lake", "namespace": ["ns"], "table": "no"}),
    ] {
        root.manage(Method::POST, "/grants", Some(grant("tom", "viewer", &missing))).await.expect(404);
    }
}

async fn check_tells_what_decides(server: Server) {
    furnish(&server).await;
    let id = server.grant_in("tom", "editor", "ns", "").await;
    let about = "warehouse=lake&namespace=ns&table=t";
    let check = async |who: &str, query: &str| {
        As(&server, who).manage(Method::GET, &format!("/check?{query}&{about}"), None).await
    };
    let yes = check("tom", "action=write").await.expect(200);
    assert_eq!((&yes["allowed"], &yes["grant"]["id"]), (&json!(true), &json!(id)));
    assert_eq!(yes["reason"], "tom may write on table ns.t: granted as editor");
    let no = check("tom", "action=purge").await.expect(200);
    assert_eq!((&no["allowed"], &no["visible"], no.get("grant")), (&json!(false), &json!(true), None));
    let other = check("root", "action=write&user=tom").await.expect(200);
    assert_eq!(other["grant"]["id"], json!(id));
    let unseen = check("root", "action=see&user=nobody").await.expect(200);
    assert_eq!((&unseen["allowed"], &unseen["visible"]), (&json!(false), &json!(false)));
    check("tom", "action=read&user=root").await.error(403, "ForbiddenException");
    check("tom", "action=fly").await.error(400, "BadRequestException");
    check("nobody", "action=see").await.error(404, "NoSuchWarehouseException");
}

async fn roles_give_what_they_are_given(server: Server) {
    furnish(&server).await;
    let on = json!({"warehouse": "lake", "namespace": ["ns"]});
    let body = json!({"grantee": {"role": "etl"}, "privilege": "viewer", "on": on});
    As(&server, "root").manage(Method::POST, "/grants", Some(body)).await.expect(200);
    let ann = As(&server, "ann");
    let path = "/lake/namespaces/ns/tables/t";
    ann.get_with_roles(path, "sales,etl").await.expect(200);
    ann.get_with_roles(path, "sales").await.error(404, "NoSuchWarehouseException");
    ann.get(path).await.error(404, "NoSuchWarehouseException");
    // A user is no role.
    As(&server, "etl").get(path).await.error(404, "NoSuchWarehouseException");
    let check = "/check?action=read&user=x&role=sales&role=etl&warehouse=lake&namespace=ns";
    assert_eq!(As(&server, "root").manage(Method::GET, check, None).await.expect(200)["allowed"], json!(true));
}

async fn another_server_notices_at_once(server: Server) {
    furnish(&server).await;
    let id = server.grant_in("tom", "viewer", "ns", "t").await;
    let second = server.beside().await;
    let path = "/lake/namespaces/ns/tables/t";
    for _ in 0..2 {
        As(&second, "tom").get(path).await.expect(200);
    }
    As(&server, "root").manage(Method::DELETE, &format!("/grants/{id}"), None).await.expect(204);
    As(&second, "tom").get(path).await.error(404, "NoSuchWarehouseException");
    server.grant_in("tom", "viewer", "ns", "t").await;
    As(&second, "tom").get(path).await.expect(200);
}
