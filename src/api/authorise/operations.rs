//! Which operation needs what: every route once. A route that is not here is refused.

use crate::auth::Action;
use crate::store::tables::Kind;
use axum::http::Method;

/// What an operation needs, told by what its request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    /// Nothing, not even to say who is calling.
    Open,
    /// Only to say who is calling.
    Anyone,
    /// The handler decides, by [`super::require`]: only it knows what the request is about, or it shows of a list what
    /// may be seen.
    Inside,
    /// An action on the server.
    Server(Action),
    /// The warehouse of the query may be seen.
    Config,
    /// What the query calls `parent`, or else the warehouse, may be seen.
    ListNamespaces,
    /// A namespace may be created in the parent of the one that the body names.
    CreateNamespace,
    /// An action on the namespace of the path.
    Namespace(Action),
    /// An action on the table of the path.
    Table(Action),
    /// An action on the view of the path.
    View(Action),
    /// The table of the path may be read. What is in memory decides; the handler finds out whether it is old.
    LoadTable,
    /// A table may be dropped, and purged if the query says so.
    DropTable,
    /// A table may be read and dropped.
    Unregister,
    /// What a commit changes may be changed, or the table created.
    Commit,
    /// The same, of each table.
    Transaction,
    /// A table or view may leave its place, and be created in another.
    Rename(Kind),
    /// A table or view may be created, or replaced.
    Register(Kind),
    /// An action on the warehouse of a management path.
    Managed(Action),
    /// An action on the table of a management path.
    ManagedTable(Action),
}

impl Rule {
    /// Whether an operation changes anything, as far as its method and what it needs tell.
    pub(super) fn changes(&self, method: &Method) -> bool {
        ![Method::GET, Method::HEAD].contains(method) && *self != Self::Table(Action::Read)
    }
}

/// An operation: method and matched route, and what it needs.
pub(super) type Operation = (Method, &'static str, Rule);

const NAMESPACES: &str = "/iceberg/v1/{prefix}/namespaces";
const NAMESPACE: &str = "/iceberg/v1/{prefix}/namespaces/{namespace}";
const TABLES: &str = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables";
const TABLE: &str = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}";
const PLAN: &str = "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}";
const VIEWS: &str = "/iceberg/v1/{prefix}/namespaces/{namespace}/views";
const VIEW: &str = "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}";
const WAREHOUSES: &str = "/management/v1/warehouses";
const WAREHOUSE: &str = "/management/v1/warehouses/{warehouse}";

/// Every operation, in the order of the routes.
pub(super) const OPERATIONS: &[Operation] = &[
    (Method::GET, "/iceberg/v1/config", Rule::Config),
    (Method::POST, "/iceberg/v1/oauth/tokens", Rule::Open),
    (Method::GET, "/.well-known/jwks.json", Rule::Open),
    (Method::GET, NAMESPACES, Rule::ListNamespaces),
    (Method::POST, NAMESPACES, Rule::CreateNamespace),
    // Its properties are shown only to those who may read it.
    (Method::GET, NAMESPACE, Rule::Namespace(Action::See)),
    (Method::HEAD, NAMESPACE, Rule::Namespace(Action::See)),
    (Method::DELETE, NAMESPACE, Rule::Namespace(Action::Drop)),
    (Method::POST, "/iceberg/v1/{prefix}/namespaces/{namespace}/properties", Rule::Namespace(Action::Write)),
    // Lists show what may be seen.
    (Method::GET, TABLES, Rule::Namespace(Action::See)),
    (Method::POST, TABLES, Rule::Namespace(Action::Create)),
    (Method::POST, "/iceberg/v1/{prefix}/namespaces/{namespace}/register", Rule::Register(Kind::Table)),
    (Method::GET, TABLE, Rule::LoadTable),
    (Method::HEAD, TABLE, Rule::Table(Action::See)),
    (Method::POST, TABLE, Rule::Commit),
    (Method::DELETE, TABLE, Rule::DropTable),
    (Method::POST, "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister", Rule::Unregister),
    (Method::POST, "/iceberg/v1/{prefix}/tables/rename", Rule::Rename(Kind::Table)),
    (Method::GET, "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials", Rule::Table(Action::Read)),
    // What a request to storage would do is for the handler to judge.
    (Method::POST, "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/sign", Rule::Table(Action::Read)),
    (Method::POST, "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/plan", Rule::Table(Action::Read)),
    (Method::GET, PLAN, Rule::Table(Action::Read)),
    (Method::DELETE, PLAN, Rule::Table(Action::Read)),
    (Method::POST, "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/tasks", Rule::Table(Action::Read)),
    // Who reads tells how it went.
    (Method::POST, "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics", Rule::Table(Action::Read)),
    (Method::POST, "/iceberg/v1/{prefix}/transactions/commit", Rule::Transaction),
    (Method::GET, "/iceberg/v1/{prefix}/namespaces/{namespace}/functions", Rule::Namespace(Action::See)),
    (Method::GET, "/iceberg/v1/{prefix}/namespaces/{namespace}/functions/{function}", Rule::Namespace(Action::See)),
    (Method::GET, VIEWS, Rule::Namespace(Action::See)),
    (Method::POST, VIEWS, Rule::Namespace(Action::Create)),
    (Method::GET, VIEW, Rule::View(Action::Read)),
    (Method::HEAD, VIEW, Rule::View(Action::See)),
    (Method::POST, VIEW, Rule::View(Action::Write)),
    (Method::DELETE, VIEW, Rule::View(Action::Drop)),
    (Method::POST, "/iceberg/v1/{prefix}/views/rename", Rule::Rename(Kind::View)),
    (Method::POST, "/iceberg/v1/{prefix}/namespaces/{namespace}/register-view", Rule::Register(Kind::View)),
    (Method::GET, WAREHOUSES, Rule::Inside),
    (Method::POST, WAREHOUSES, Rule::Server(Action::Administer)),
    (Method::GET, WAREHOUSE, Rule::Managed(Action::Read)),
    // Places outside the warehouse are the server's to allow, and the handler sees to that.
    (Method::PATCH, WAREHOUSE, Rule::Managed(Action::Administer)),
    (Method::DELETE, WAREHOUSE, Rule::Managed(Action::Administer)),
    (Method::GET, "/management/v1/warehouses/{warehouse}/dropped", Rule::Managed(Action::See)),
    (Method::POST, "/management/v1/warehouses/{warehouse}/undrop", Rule::Inside),
    (Method::DELETE, "/management/v1/warehouses/{warehouse}/dropped/{id}", Rule::Inside),
    (Method::GET, "/management/v1/tasks", Rule::Inside),
    (Method::GET, "/management/v1/tasks/{task}", Rule::Inside),
    (Method::POST, "/management/v1/tasks/{task}/retry", Rule::Inside),
    (
        Method::GET,
        "/management/v1/warehouses/{warehouse}/namespaces/{namespace}/tables/{table}/metrics",
        Rule::ManagedTable(Action::Read),
    ),
    (Method::GET, "/management/v1/warehouses/{warehouse}/warnings", Rule::Managed(Action::See)),
    (
        Method::GET,
        "/management/v1/warehouses/{warehouse}/namespaces/{namespace}/tables/{table}/upgrade-check",
        Rule::ManagedTable(Action::Read),
    ),
    (
        Method::GET,
        "/management/v1/warehouses/{warehouse}/namespaces/{namespace}/tables/{table}/deletes",
        Rule::ManagedTable(Action::Read),
    ),
    (Method::GET, "/management/v1/grants", Rule::Inside),
    (Method::POST, "/management/v1/grants", Rule::Inside),
    (Method::DELETE, "/management/v1/grants/{grant}", Rule::Inside),
    (Method::GET, "/management/v1/check", Rule::Inside),
    (Method::GET, "/management/v1/audit", Rule::Server(Action::Administer)),
    (Method::GET, "/health", Rule::Open),
    (Method::GET, "/ready", Rule::Open),
    (Method::GET, "/metrics", Rule::Server(Action::Read)),
    (Method::GET, "/openapi.json", Rule::Anyone),
];

/// The operation of a request. A GET route answers HEAD, too.
pub(super) fn find(method: &Method, route: &str) -> Option<&'static Operation> {
    let of = |method: &Method| OPERATIONS.iter().find(|(known, path, _)| known == method && *path == route);
    of(method).or_else(|| if method == Method::HEAD { of(&Method::GET) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_route_is_listed_once_and_nothing_else_is() {
        let document: serde_json::Value = serde_json::from_str(&crate::api::openapi_json()).unwrap();
        let mut served = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                served.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
        let listed: BTreeSet<String> = OPERATIONS.iter().map(|(method, path, _)| format!("{method} {path}")).collect();
        assert_eq!(listed.len(), OPERATIONS.len());
        assert_eq!(listed, served);
    }

    #[test]
    fn what_is_open_to_everybody_may_only_become_less() {
        let open = OPERATIONS.iter().filter(|(_, _, rule)| *rule == Rule::Open).map(|(_, path, _)| *path);
        assert_eq!(
            open.collect::<Vec<_>>(),
            ["/iceberg/v1/oauth/tokens", "/.well-known/jwks.json", "/health", "/ready"]
        );
    }

    #[test]
    fn a_head_of_a_get_route_needs_the_same() {
        assert_eq!(find(&Method::HEAD, "/iceberg/v1/config").map(|found| &found.2), Some(&Rule::Config));
        assert_eq!(find(&Method::HEAD, TABLE).map(|found| &found.2), Some(&Rule::Table(Action::See)));
        assert_eq!(find(&Method::PUT, TABLE), None);
        assert_eq!(find(&Method::GET, "/iceberg/v1/{prefix}/new"), None);
    }
}
