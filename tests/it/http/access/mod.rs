//! Who may do what: every operation by callers of every kind, lists, and the API of grants.

mod audit;
mod changes;
mod files;
mod lists;
mod management;
mod operations;
mod places;

use crate::support::server::{Reply, Server, TEST_ROLES, TEST_USER};
use reqwest::Method;
use serde_json::Value;

/// A caller, and the server it calls.
pub(super) struct As<'a>(pub(super) &'a Server, pub(super) &'a str);

impl As<'_> {
    /// Sends a request to a path of the catalog.
    pub(super) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        self.0.send(method, &format!("/iceberg/v1{path}"), body, &[(TEST_USER, self.1)]).await
    }

    pub(super) async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(super) async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, None).await
    }

    /// Sends a request to a path of the management API.
    pub(super) async fn manage(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        self.0.send(method, &format!("/management/v1{path}"), body, &[(TEST_USER, self.1)]).await
    }

    /// Sends a request with roles.
    pub(super) async fn get_with_roles(&self, path: &str, roles: &str) -> Reply {
        let who = [(TEST_USER, self.1), (TEST_ROLES, roles)];
        self.0.send(Method::GET, &format!("/iceberg/v1{path}"), None, &who).await
    }
}

/// Namespaces `ns`, `ns.inner` and `other`, each with the tables `t` and `u`, and the view `v` in `ns`.
async fn furnish(server: &Server) {
    let root = As(server, "root");
    for levels in [&["ns"][..], &["ns", "inner"], &["other"]] {
        root.post("/namespaces", serde_json::json!({"namespace": levels})).await.expect(200);
        for name in ["t", "u"] {
            make_table(server, &levels.join("%1F"), name).await;
        }
    }
    root.post("/namespaces/ns/views", view("v")).await.expect(200);
}

pub(super) async fn make_table(server: &Server, namespace: &str, name: &str) -> Value {
    let body = serde_json::json!({"name": name, "schema": crate::support::server::schema()});
    As(server, "root").post(&format!("/namespaces/{namespace}/tables"), body).await.expect(200)
}

pub(super) fn view(name: &str) -> Value {
    serde_json::json!({
        "name": name, "schema": crate::support::server::schema(), "properties": {},
        "view-version": {
            "version-id": 1, "timestamp-ms": 1_700_000_000_000_i64, "schema-id": 0, "summary": {"engine-name": "test"},
            "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}], "default-namespace": ["ns"]
        }
    })
}
