//! Every operation of the OpenAPI document, by a viewer, by somebody who may do something elsewhere, by somebody who may
//! do nothing, and by nobody.

use super::{As, furnish, view};
use crate::support::server::{Server, TEST_USER, on_both_secured, schema};
use reqwest::Method;
use serde_json::{Value, json};

on_both_secured!(
    without_a_caller_nothing_but_health_and_tokens_answers,
    a_viewer_changes_nothing,
    a_viewer_reads,
    an_editor_changes,
    who_may_do_nothing_finds_nothing,
    what_may_not_be_seen_is_as_if_it_were_not_there,
    no_header_makes_a_caller,
);

/// Sent by POST or DELETE, and read all the same.
const READS: [&str; 6] =
    ["planTableScan", "cancelPlanning", "fetchScanTasks", "reportMetrics", "signRequest", "getToken"];

/// An operation with the request that a test sends.
struct Operation {
    id: String,
    method: Method,
    path: String,
    body: Option<Value>,
}

impl Operation {
    fn changes(&self) -> bool {
        self.method != Method::GET && self.method != Method::HEAD && !READS.contains(&self.id.as_str())
    }
}

/// Names that a request uses.
#[derive(Clone, Copy)]
struct Names<'a> {
    warehouse: &'a str,
    namespace: &'a str,
    table: &'a str,
    view: &'a str,
    grant: &'a str,
    /// A metadata file.
    file: &'a str,
}

/// Every operation that is documented, about what is named.
fn operations(names: Names<'_>) -> Vec<Operation> {
    let document: Value = serde_json::from_str(&guillemot::api::openapi_json()).unwrap();
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap().to_owned();
            let path = path
                .replace("{prefix}", names.warehouse)
                .replace("{warehouse}", names.warehouse)
                .replace("{namespace}", names.namespace)
                .replace("{table}", names.table)
                .replace("{view}", names.view)
                .replace("{grant}", names.grant)
                .replace("{function}", "f")
                .replace("{plan-id}", "p")
                .replace("{task}", "sweep-files");
            let path = format!("{path}{}", query(&id, names));
            let body = body(&id, names);
            all.push(Operation { id, method: method.to_uppercase().parse().unwrap(), path, body });
        }
    }
    assert!(all.len() > 50);
    all
}

fn query(id: &str, names: Names<'_>) -> String {
    let Names { warehouse, namespace, .. } = names;
    match id {
        "getConfig" => format!("?warehouse={warehouse}"),
        "listNamespaces" => format!("?parent={namespace}"),
        "checkAccess" => format!("?action=read&user=x&warehouse={warehouse}&namespace={namespace}"),
        _ => String::new(),
    }
}

fn body(id: &str, names: Names<'_>) -> Option<Value> {
    let Names { warehouse, namespace, table, file, .. } = names;
    let called = |name: &str| json!({"namespace": [namespace], "name": name});
    let commit = json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "b"}}]});
    Some(match id {
        "createNamespace" => json!({"namespace": [namespace, "new"]}),
        "updateProperties" => json!({"updates": {"a": "b"}}),
        "createTable" => json!({"name": "new", "schema": schema()}),
        "registerTable" | "registerView" => json!({"name": "new", "metadata-location": file}),
        "updateTable" => commit,
        "commitTransaction" => {
            let mut change = commit;
            change["identifier"] = called(table);
            json!({"table-changes": [change]})
        }
        "renameTable" => json!({"source": called(table), "destination": called("new")}),
        "renameView" => json!({"source": called(names.view), "destination": called("new")}),
        "planTableScan" => json!({}),
        "fetchScanTasks" => json!({"plan-task": "x"}),
        "signRequest" => json!({"region": "r", "uri": "https://b.s3.amazonaws.com/x", "method": "GET", "headers": {}}),
        "reportMetrics" => json!({"report-type": "scan-report"}),
        "createView" => view("new"),
        "replaceView" => json!({"updates": [{"action": "set-properties", "updates": {"a": "b"}}]}),
        "createWarehouse" => json!({"name": "new", "location": file}),
        "updateWarehouse" => json!({"active": true}),
        "undropTable" => json!({"identifier": called(table)}),
        "createGrant" => json!({
            "grantee": {"user": "x"}, "privilege": "viewer", "on": {"warehouse": warehouse, "namespace": [namespace]}
        }),
        _ => return None,
    })
}

/// What a furnished server has.
struct Furnished {
    grant: String,
    file: String,
}

async fn furnished(server: &Server) -> Furnished {
    furnish(server).await;
    let table = As(server, "root").get("/namespaces/other/tables/t").await.expect(200);
    let grant = server.grant_in("carol", "viewer", "ns", "").await;
    Furnished { grant, file: table["metadata-location"].as_str().unwrap().to_owned() }
}

impl Furnished {
    fn there(&self) -> Names<'_> {
        Names { warehouse: "lake", namespace: "ns", table: "t", view: "v", grant: &self.grant, file: &self.file }
    }
}

async fn send(server: &Server, user: &str, operation: &Operation) -> crate::support::server::Reply {
    let who = [(TEST_USER, user)];
    server.send(operation.method.clone(), &operation.path, operation.body.clone(), &who).await
}

async fn without_a_caller_nothing_but_health_and_tokens_answers(server: Server) {
    let furnished = furnished(&server).await;
    for operation in operations(furnished.there()) {
        let reply = server.send(operation.method.clone(), &operation.path, operation.body.clone(), &[]).await;
        let open = ["health", "ready", "getToken", "getPublicKeys"].contains(&operation.id.as_str());
        assert_eq!(reply.status == 401, !open, "{}: {} {}", operation.id, reply.status, reply.text);
        if !open && operation.method != Method::HEAD {
            reply.error(401, "NotAuthorizedException");
        }
    }
}

async fn a_viewer_changes_nothing(server: Server) {
    let furnished = furnished(&server).await;
    server.grant_in("vic", "viewer", "", "").await;
    let before = As(&server, "root").get("/namespaces/ns/tables/t").await.expect(200);
    for operation in operations(furnished.there()).iter().filter(|operation| operation.changes()) {
        let reply = send(&server, "vic", operation).await;
        // A grant of somebody else's is not the viewer's to see, nor is the server's own work; no table was dropped.
        if ["deleteGrant", "retryTask", "endDroppedTable"].contains(&operation.id.as_str()) {
            reply.expect(404);
        } else {
            let message = reply.error(403, "ForbiddenException");
            assert!(message.starts_with("Not allowed: vic "), "{}: {message}", operation.id);
        }
    }
    assert_eq!(As(&server, "root").get("/namespaces/ns/tables/t").await.expect(200), before);
}

async fn a_viewer_reads(server: Server) {
    let furnished = furnished(&server).await;
    server.grant_in("vic", "viewer", "", "").await;
    // What is about the server, about others, or not there.
    let refused = [
        ("loadTask", 404),
        ("metrics", 403),
        ("listAudit", 403),
        ("loadFunction", 404),
        ("checkAccess", 403),
        // Its warehouse does not sign.
        ("signRequest", 403),
    ];
    for operation in operations(furnished.there()).iter().filter(|operation| !operation.changes()) {
        let status = send(&server, "vic", operation).await.status.as_u16();
        match refused.iter().find(|(id, _)| *id == operation.id) {
            Some((id, expected)) => assert_eq!(status, *expected, "{id}"),
            None if ["fetchPlanningResult", "cancelPlanning", "fetchScanTasks"].contains(&operation.id.as_str()) => {
                assert_eq!(status, 404, "{}", operation.id);
            }
            None if operation.id == "getToken" => assert_eq!(status, 400),
            None => assert!((200..300).contains(&status), "{}: {status}", operation.id),
        }
    }
}

async fn an_editor_changes(server: Server) {
    let furnished = furnished(&server).await;
    server.grant_in("eve", "editor", "", "").await;
    let refused = ["createWarehouse", "updateWarehouse", "deleteWarehouse", "createGrant", "deleteGrant"];
    for operation in operations(furnished.there()).iter().filter(|operation| operation.changes()) {
        let reply = send(&server, "eve", operation).await;
        let forbidden = reply.status == 403 || reply.text.contains("Grant does not exist");
        let expected = refused.contains(&operation.id.as_str());
        assert_eq!(forbidden, expected, "{}: {} {}", operation.id, reply.status, reply.text);
    }
}

async fn who_may_do_nothing_finds_nothing(server: Server) {
    let furnished = furnished(&server).await;
    for operation in operations(furnished.there()) {
        let reply = send(&server, "nobody", &operation).await;
        let status = reply.status.as_u16();
        match operation.id.as_str() {
            "health" | "ready" | "openapi" | "getPublicKeys" => assert_eq!(status, 200, "{}", operation.id),
            "getToken" => assert_eq!(status, 400),
            // That there is a server is no secret.
            "metrics" | "listAudit" | "createWarehouse" => assert_eq!(status, 403, "{}", operation.id),
            "listWarehouses" => assert_eq!(reply.json(), json!({"warehouses": []})),
            "listTasks" => assert_eq!(reply.json(), json!({"tasks": []})),
            "listGrants" => assert_eq!(reply.json(), json!({"grants": []})),
            id => assert_eq!(status, 404, "{id}: {}", reply.text),
        }
    }
}

async fn what_may_not_be_seen_is_as_if_it_were_not_there(server: Server) {
    let furnished = furnished(&server).await;
    // One sees nothing of the warehouse, one another namespace of it, one another table of the namespace.
    for (user, namespace, table) in [("nobody", "", ""), ("ned", "other", ""), ("tom", "ns", "u")] {
        if !namespace.is_empty() {
            server.grant_in(user, "editor", namespace, table).await;
        }
        let names = match user {
            "nobody" => Names { warehouse: "mere", ..furnished.there() },
            "ned" => Names { namespace: "no", table: "n", view: "w", ..furnished.there() },
            _ => Names { table: "n", view: "w", ..furnished.there() },
        };
        let absent = Names { grant: "00000000-0000-0000-0000-000000000000", ..names };
        let pairs = operations(furnished.there()).into_iter().zip(operations(absent));
        for (hidden, absent) in pairs {
            let reply = send(&server, user, &hidden).await;
            if reply.status != 404 {
                continue;
            }
            // The one who may do everything asks for what is not there.
            let truth = send(&server, "root", &absent).await;
            assert_eq!(truth.status, reply.status, "{user} {}: {} {}", hidden.id, truth.text, reply.text);
            let found = reply.text.replace("ns.t", "ns.n").replace("ns.v", "ns.w").replace("lake", "mere");
            let found = if user == "ned" { found.replace("ns", "no") } else { found };
            let found = found.replace(&*furnished.grant, "00000000-0000-0000-0000-000000000000");
            assert_eq!(truth.text, found, "{user} {}", hidden.id);
        }
    }
}

async fn no_header_makes_a_caller(server: Server) {
    for name in ["x-user", "x-forwarded-user", "x-goog-user-project", "x-principal", "authorization"] {
        let reply = server.send(Method::GET, "/iceberg/v1/namespaces", None, &[(name, "root")]).await;
        reply.error(401, "NotAuthorizedException");
    }
}
