//! Attacks, and what each is answered. None succeeds, and nothing has changed afterwards. `docs/attacks.md` is made of
//! this table.

use super::access::{As, make_table, view};
use crate::support::server::{Server, on_both_secured, schema};
use crate::support::snapshots::Appender;
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write;

on_both_secured!(
    no_attack_succeeds,
    a_manifest_list_cannot_lend_the_manifests_of_another_table,
    a_manifest_list_cannot_lend_the_manifests_of_a_dropped_table,
);

/// The attacker: an editor of the namespace `evil` of the warehouse `lake`, and of nothing else.
const ATTACKER: &str = "mallory";

/// One attack. In path and body, `{lake}` is the warehouse's location, `{victim}` that of the table `ns.t`, which the
/// attacker must not know of, `{file}` and `{list}` its metadata file and manifest list, `{vault}` the location of a table
/// of another warehouse that lies in this one's, `{mine}` that of the attacker's own table `evil.m`, and `{left}` that of the
/// table `ns.gone`, which was dropped without purge, `{leftfile}` its metadata file.
struct Attack {
    kind: &'static str,
    what: &'static str,
    request: (&'static str, &'static str, &'static str),
    reply: (u16, &'static str),
}

const fn attack(
    kind: &'static str,
    what: &'static str,
    request: (&'static str, &'static str, &'static str),
    reply: (u16, &'static str),
) -> Attack {
    Attack { kind, what, request, reply }
}

const BAD: (u16, &str) = (400, "BadRequestException");
const FORBIDDEN: (u16, &str) = (403, "ForbiddenException");
const NO_TABLE: (u16, &str) = (404, "NoSuchTableException");
const NO_NAMESPACE: (u16, &str) = (404, "NoSuchNamespaceException");

const TABLES: &str = "/iceberg/v1/lake/namespaces/evil/tables";
const MINE: &str = "/iceberg/v1/lake/namespaces/evil/tables/m";
const REGISTER: &str = "/iceberg/v1/lake/namespaces/evil/register";

/// Creates a table at a location.
const fn create(what: &'static str, kind: &'static str, body: &'static str) -> Attack {
    attack(kind, what, ("POST", TABLES, body), BAD)
}

/// Commits to the attacker's own table.
const fn commit(what: &'static str, kind: &'static str, body: &'static str) -> Attack {
    attack(kind, what, ("POST", MINE, body), BAD)
}

const fn register(what: &'static str, kind: &'static str, body: &'static str) -> Attack {
    attack(kind, what, ("POST", REGISTER, body), BAD)
}

macro_rules! at {
    ($location:literal) => {
        concat!(r#"{"name": "x", "schema": {schema}, "location": ""#, $location, r#""}"#)
    };
}

macro_rules! named {
    ($location:literal) => {
        concat!(r#"{"name": "x", "metadata-location": ""#, $location, r#""}"#)
    };
}

macro_rules! updates {
    ($update:literal) => {
        concat!(r#"{"requirements": [], "updates": ["#, $update, r#"]}"#)
    };
}

const ATTACKS: &[Attack] = &[
    create("location with `..`", "traversal", at!("{lake}/evil/../ns/x")),
    create("location with `%2e%2e`", "traversal", at!("{lake}/evil/%2e%2e/ns/x")),
    create("location with `..%2F`", "traversal", at!("{lake}/evil/..%2Fns/x")),
    create("location with `..` and backslashes", "traversal", at!("{lake}/evil/..\\\\ns\\\\x")),
    create("location with `.`", "traversal", at!("{lake}/./evil/x")),
    create("location with an empty segment", "traversal", at!("{lake}//evil/x")),
    create("location with a null byte", "traversal", at!("{lake}/evil/x\\u0000/y")),
    create("location with a line feed", "traversal", at!("{lake}/evil/x\\ny")),
    create("location whose beginning looks like the warehouse's", "traversal", at!("{lake}2/x")),
    attack(
        "traversal",
        "`..` among the levels of a namespace",
        ("GET", "/iceberg/v1/lake/namespaces/evil%1F..%1Fns/tables/t", ""),
        NO_TABLE,
    ),
    attack(
        "traversal",
        "an encoded slash in a namespace",
        ("GET", "/iceberg/v1/lake/namespaces/evil%2F..%2Fns/tables/t", ""),
        NO_TABLE,
    ),
    create("location by plain path", "foreign place", at!("/etc/x")),
    create("location with `file:/`", "foreign place", at!("file:/etc/x")),
    create("location on another host", "foreign place", at!("file://host/etc/x")),
    create("location in another bucket", "foreign place", at!("gs://another-bucket/x")),
    create("location with user information", "foreign place", at!("gs://me:pw@bucket/x")),
    create("location with a port", "foreign place", at!("gs://bucket:80/x")),
    create("location with the scheme `gcs`", "foreign place", at!("gcs://bucket/x")),
    create("location with the scheme `s3a`", "foreign place", at!("s3a://bucket/x")),
    create("location with the scheme `s3n`", "foreign place", at!("s3n://bucket/x")),
    create("location with the scheme `http`", "SSRF", at!("http://169.254.169.254/latest/")),
    register("`metadata-location` by `http`", "SSRF", named!("http://127.0.0.1:1/x.metadata.json")),
    register("`metadata-location` by `https`", "SSRF", named!("https://127.0.0.1:1/x.metadata.json")),
    register("`metadata-location` of a file of the server", "SSRF", named!("file:///etc/passwd")),
    commit(
        "`manifest-list` by `http`",
        "SSRF",
        updates!(
            r#"{"action": "add-snapshot", "snapshot": {"snapshot-id": 7, "sequence-number": 2, "timestamp-ms": {now},
            "schema-id": 0, "summary": {"operation": "append"}, "manifest-list": "http://127.0.0.1:1/l.avro"}},
            {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 7}"#
        ),
    ),
    commit(
        "`write.metadata.path` by `http`",
        "SSRF",
        updates!(r#"{"action": "set-properties", "updates": {"write.metadata.path": "http://127.0.0.1:1/"}}"#),
    ),
    commit(
        "`statistics-path` by `http`",
        "SSRF",
        updates!(
            r#"{"action": "set-statistics", "statistics": {"snapshot-id": 1000, "statistics-path":
            "http://127.0.0.1:1/s.puffin", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1, "blob-metadata": []}}"#
        ),
    ),
    attack(
        "SSRF",
        "the `location` property of a namespace by `http`",
        ("POST", "/iceberg/v1/lake/namespaces/evil/properties", r#"{"updates": {"location": "http://127.0.0.1:1/"}}"#),
        BAD,
    ),
    create("location of another table", "overlap", at!("{victim}")),
    create("location in that of another table", "overlap", at!("{victim}/data")),
    create("location around that of another table", "overlap", at!("{lake}/ns")),
    create("location of another warehouse's table", "overlap", at!("{vault}")),
    attack(
        "overlap",
        "location of a view in that of a table",
        (
            "POST",
            "/iceberg/v1/lake/namespaces/evil/views",
            r#"{"name": "x", "schema": {schema}, "view-version": {version}, "properties": {}, "location": "{victim}/v"}"#,
        ),
        BAD,
    ),
    create(
        "a table staged at the location of another one",
        "overlap",
        r#"{"name": "x", "schema": {schema}, "stage-create": true, "location": "{victim}"}"#,
    ),
    commit(
        "`set-location` to that of another table",
        "overlap",
        updates!(r#"{"action": "set-location", "location": "{victim}"}"#),
    ),
    commit(
        "`set-location` around another table",
        "overlap",
        updates!(r#"{"action": "set-location", "location": "{lake}"}"#),
    ),
    commit(
        "`write.data.path` in another table",
        "overlap",
        updates!(r#"{"action": "set-properties", "updates": {"write.data.path": "{victim}/data"}}"#),
    ),
    commit(
        "`write.data.path` outside of the warehouse",
        "foreign place",
        updates!(r#"{"action": "set-properties", "updates": {"write.data.path": "gs://another-bucket/data"}}"#),
    ),
    commit(
        "`write.metadata.path` in another table",
        "overlap",
        updates!(r#"{"action": "set-properties", "updates": {"write.metadata.path": "{victim}/metadata"}}"#),
    ),
    attack(
        "overlap",
        "a transaction that creates a table at the location of another one",
        (
            "POST",
            "/iceberg/v1/lake/transactions/commit",
            r#"{"table-changes": [{"identifier": {"namespace": ["evil"], "name": "x"}, "requirements": [{"type":
            "assert-create"}], "updates": [{"action": "add-schema", "schema": {schema}}, {"action": "set-current-schema",
            "schema-id": -1}, {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}}, {"action": "set-default-spec",
            "spec-id": -1}, {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}}, {"action":
            "set-default-sort-order", "sort-order-id": -1}, {"action": "set-location", "location": "{victim}"}]}]}"#,
        ),
        BAD,
    ),
    register("the metadata file of another table", "confused deputy", named!("{file}")),
    register(
        "the metadata file of another table, over one's own",
        "confused deputy",
        r#"{"name": "m", "metadata-location": "{file}", "overwrite": true}"#,
    ),
    attack(
        "confused deputy",
        "the metadata file of a table, as a view",
        ("POST", "/iceberg/v1/lake/namespaces/evil/register-view", named!("{file}")),
        BAD,
    ),
    commit(
        "the manifest list of another table",
        "confused deputy",
        updates!(
            r#"{"action": "add-snapshot", "snapshot": {"snapshot-id": 7, "sequence-number": 2, "timestamp-ms": {now},
            "schema-id": 0, "summary": {"operation": "append"}, "manifest-list": "{list}"}},
            {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 7}"#
        ),
    ),
    commit(
        "a statistics file of another table",
        "confused deputy",
        updates!(
            r#"{"action": "set-statistics", "statistics": {"snapshot-id": 1000, "statistics-path":
            "{victim}/metadata/s.puffin", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1, "blob-metadata": []}}"#
        ),
    ),
    attack("grants", "another table", ("GET", "/iceberg/v1/lake/namespaces/ns/tables/t", ""), NO_TABLE),
    attack("foreign folder", "location in no folder", ("POST", TABLES, at!("{lake}/loose")), FORBIDDEN),
    attack(
        "foreign folder",
        "location in another namespace's folder",
        ("POST", TABLES, at!("{lake}/ns/new")),
        FORBIDDEN,
    ),
    attack(
        "foreign folder",
        "a namespace's `location` that is another one's folder",
        ("POST", "/iceberg/v1/lake/namespaces/evil/properties", r#"{"updates": {"location": "{lake}/ns"}}"#),
        FORBIDDEN,
    ),
    attack(
        "foreign folder",
        "`write.data.path` around everything",
        ("POST", MINE, updates!(r#"{"action": "set-properties", "updates": {"write.data.path": "{lake}"}}"#)),
        FORBIDDEN,
    ),
    attack(
        "foreign folder",
        "statistics in another namespace's folder",
        (
            "POST",
            MINE,
            updates!(
                r#"{"action": "set-statistics", "snapshot-id": 1000, "statistics": {"snapshot-id": 1000,
                "statistics-path": "{lake}/ns/new/s.puffin", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1,
                "blob-metadata": []}}"#
            ),
        ),
        FORBIDDEN,
    ),
    attack("remains", "location of a dropped table", ("POST", TABLES, at!("{left}")), FORBIDDEN),
    attack("remains", "location in that of a dropped table", ("POST", TABLES, at!("{left}/metadata")), FORBIDDEN),
    attack(
        "remains",
        "a table staged at the location of a dropped one",
        ("POST", TABLES, r#"{"name": "x", "schema": {schema}, "stage-create": true, "location": "{left}"}"#),
        FORBIDDEN,
    ),
    attack(
        "remains",
        "location of a view at that of a dropped table",
        (
            "POST",
            "/iceberg/v1/lake/namespaces/evil/views",
            r#"{"name": "x", "schema": {schema}, "view-version": {version}, "properties": {}, "location": "{left}"}"#,
        ),
        FORBIDDEN,
    ),
    attack(
        "remains",
        "`set-location` to that of a dropped table",
        ("POST", MINE, updates!(r#"{"action": "set-location", "location": "{left}"}"#)),
        FORBIDDEN,
    ),
    attack(
        "remains",
        "`write.data.path` in a dropped table",
        ("POST", MINE, updates!(r#"{"action": "set-properties", "updates": {"write.data.path": "{left}/metadata"}}"#)),
        FORBIDDEN,
    ),
    attack(
        "remains",
        "the metadata file of a dropped table",
        ("POST", REGISTER, r#"{"name": "x", "metadata-location": "{leftfile}"}"#),
        FORBIDDEN,
    ),
    attack(
        "remains",
        "the metadata file of a dropped table, over one's own",
        ("POST", REGISTER, r#"{"name": "m", "metadata-location": "{leftfile}", "overwrite": true}"#),
        FORBIDDEN,
    ),
    attack(
        "grants",
        "another table, through a view",
        ("GET", "/iceberg/v1/lake/namespaces/ns/tables/t?referenced-by=evil%1Fv", ""),
        NO_TABLE,
    ),
    attack(
        "grants",
        "the plan of another table",
        ("POST", "/iceberg/v1/lake/namespaces/ns/tables/t/plan", "{}"),
        NO_TABLE,
    ),
    attack(
        "grants",
        "credentials for another table",
        ("GET", "/iceberg/v1/lake/namespaces/ns/tables/t/credentials", ""),
        NO_TABLE,
    ),
    attack(
        "grants",
        "a rename of another table into one's own namespace",
        (
            "POST",
            "/iceberg/v1/lake/tables/rename",
            r#"{"source": {"namespace": ["ns"], "name": "t"}, "destination": {"namespace": ["evil"], "name": "x"}}"#,
        ),
        NO_TABLE,
    ),
    attack(
        "grants",
        "a rename into a namespace of others",
        (
            "POST",
            "/iceberg/v1/lake/tables/rename",
            r#"{"source": {"namespace": ["evil"], "name": "m"}, "destination": {"namespace": ["ns"], "name": "x"}}"#,
        ),
        NO_NAMESPACE,
    ),
    attack(
        "grants",
        "a rename of a view that is a table of others",
        (
            "POST",
            "/iceberg/v1/lake/views/rename",
            r#"{"source": {"namespace": ["ns"], "name": "t"}, "destination": {"namespace": ["evil"], "name": "x"}}"#,
        ),
        (404, "NoSuchViewException"),
    ),
    attack(
        "grants",
        "a register over a table of others",
        (
            "POST",
            "/iceberg/v1/lake/namespaces/ns/register",
            r#"{"name": "t", "metadata-location": "{mine}/metadata/x.metadata.json", "overwrite": true}"#,
        ),
        NO_NAMESPACE,
    ),
    attack(
        "grants",
        "a transaction over one's own table and another one",
        (
            "POST",
            "/iceberg/v1/lake/transactions/commit",
            r#"{"table-changes": [
            {"identifier": {"namespace": ["evil"], "name": "m"}, "requirements": [], "updates": [
            {"action": "set-properties", "updates": {"a": "b"}}]},
            {"identifier": {"namespace": ["ns"], "name": "t"}, "requirements": [], "updates": []}]}"#,
        ),
        NO_TABLE,
    ),
    commit(
        "a body that names another table than the path",
        "grants",
        r#"{"identifier": {"namespace": ["ns"], "name": "t"}, "requirements": [], "updates": []}"#,
    ),
    attack(
        "grants",
        "an upgrade of one's own table, which editors may not do",
        (
            "POST",
            "/iceberg/v1/lake/namespaces/evil/tables/m",
            updates!(r#"{"action": "upgrade-format-version", "format-version": 3}"#),
        ),
        FORBIDDEN,
    ),
    attack(
        "grants",
        "a dropped table of others, brought back into one's own namespace",
        (
            "POST",
            "/management/v1/warehouses/lake/undrop",
            r#"{"identifier": {"namespace": ["ns"], "name": "t"}, "destination": {"namespace": ["evil"], "name": "x"}}"#,
        ),
        NO_TABLE,
    ),
    attack(
        "grants",
        "a grant to oneself",
        (
            "POST",
            "/management/v1/grants",
            r#"{"grantee": {"user": "mallory"}, "privilege": "admin", "on": {"warehouse": "lake"}}"#,
        ),
        FORBIDDEN,
    ),
    attack(
        "grants",
        "a warehouse at a place of one's choice",
        ("POST", "/management/v1/warehouses", r#"{"name": "x", "location": "file:///etc"}"#),
        FORBIDDEN,
    ),
    attack(
        "grants",
        "a warehouse that may use any place",
        ("PATCH", "/management/v1/warehouses/lake", r#"{"settings": {"allow-prefixes": ["file:///"]}}"#),
        FORBIDDEN,
    ),
    attack(
        "grants",
        "another warehouse",
        ("GET", "/iceberg/v1/vault/namespaces", ""),
        (404, "NoSuchWarehouseException"),
    ),
    attack("grants", "the audit log", ("GET", "/management/v1/audit", ""), FORBIDDEN),
];

/// What templates name.
struct Places(Vec<(&'static str, String)>);

impl Places {
    fn fill(&self, template: &str) -> String {
        self.0.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

async fn no_attack_succeeds(server: Server) {
    let places = furnish(&server).await;
    let before = state(&server).await;
    assert!(ATTACKS.len() >= 40);
    for Attack { kind, what, request: (method, path, body), reply: (status, error) } in ATTACKS {
        let method: Method = method.parse().unwrap();
        let body = places.fill(body);
        let reply = server.send_text(method, &places.fill(path), &body, ATTACKER).await;
        let text = &reply.text;
        assert_eq!(reply.status.as_u16(), *status, "{kind}: {what}: {text}");
        let message = reply.error(*status, error);
        let told = ["overlaps the location of another table", "in the location of another table", "outside"];
        let is_about_places = ["overlap", "confused deputy"].contains(kind);
        assert!(!is_about_places || told.iter().any(|text| message.contains(text)), "{what}: {message}");
        assert!(!message.contains("ns.t") || body.contains("ns") || path.contains("ns"), "{what}: {message}");
    }
    assert_eq!(state(&server).await, before);
}

/// The victim and the attacker, each with a table.
async fn furnish(server: &Server) -> Places {
    let root = As(server, "root");
    for namespace in ["ns", "evil"] {
        root.post("/namespaces", json!({"namespace": [namespace]})).await.expect(200);
    }
    let victim = make_table(server, "ns", "t").await;
    let mine = make_table(server, "evil", "m").await;
    let last = Appender::new("t", &victim).by("root").append(server, 1).await;
    Appender::of("evil", "m", &mine).by("root").append(server, 1).await;
    let gone = make_table(server, "ns", "gone").await;
    let gone = Appender::new("gone", &gone).by("root").append(server, 1).await;
    root.delete("/namespaces/ns/tables/gone").await.expect(204);
    server.grant_in(ATTACKER, "editor", "evil", "").await;
    let place = format!("{}/vault", server.warehouse);
    let vault = json!({"name": "vault", "location": place});
    root.manage(Method::POST, "/warehouses", Some(vault)).await.expect(200);
    root.post("/vault/namespaces", json!({"namespace": ["safe"]})).await.expect(200);
    let body = json!({"name": "t", "schema": schema()});
    let vault = root.post("/vault/namespaces/safe/tables", body).await.expect(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Places(vec![
        ("{schema}", schema().to_string()),
        ("{version}", view("x")["view-version"].to_string()),
        ("{now}", server.app.clock.now_ms().to_string()),
        ("{lake}", server.warehouse.clone()),
        ("{victim}", text(&victim["metadata"]["location"])),
        ("{mine}", text(&mine["metadata"]["location"])),
        ("{leftfile}", text(&gone["metadata-location"])),
        ("{left}", text(&gone["metadata"]["location"])),
        ("{vault}", text(&vault["metadata"]["location"])),
        ("{file}", text(&last["metadata-location"])),
        ("{list}", text(&last["metadata"]["snapshots"][0]["manifest-list"])),
    ])
}

/// All that an attack could have changed.
async fn state(server: &Server) -> Vec<Value> {
    let root = As(server, "root");
    let mut all = Vec::new();
    for path in [
        "/lake/namespaces",
        "/lake/namespaces/ns",
        "/lake/namespaces/evil",
        "/lake/namespaces/ns/tables",
        "/lake/namespaces/evil/tables",
        "/lake/namespaces/evil/views",
        "/lake/namespaces/ns/tables/t",
        "/lake/namespaces/evil/tables/m",
        "/vault/namespaces/safe/tables",
    ] {
        all.push(root.get(path).await.expect(200));
    }
    for path in ["/warehouses", "/grants"] {
        all.push(root.manage(Method::GET, path, None).await.expect(200));
    }
    all
}

async fn a_manifest_list_cannot_lend_the_manifests_of_another_table(server: Server) {
    lend(&server, "{victim}").await;
}

async fn a_manifest_list_cannot_lend_the_manifests_of_a_dropped_table(server: Server) {
    lend(&server, "{left}").await;
}

/// A list that the attacker wrote, in a place of its own, names a manifest of another table: planning would read that and
/// tell what files the other table has.
async fn lend(server: &Server, owner: &str) {
    let places = furnish(server).await;
    let mine = As(server, "root").get("/lake/namespaces/evil/tables/m").await.expect(200);
    let theirs = format!("{}/metadata/1000-m0.avro", places.fill(owner));
    assert!(server.app.storage.size(&theirs).await.is_ok());
    let reply = Appender::of("evil", "m", &mine).by(ATTACKER).try_lend(server, &theirs).await;
    let message = reply.error(400, "BadRequestException");
    assert!(message.contains("outside"), "{message}");
    let now = As(server, "root").get("/lake/namespaces/evil/tables/m").await.expect(200);
    assert_eq!(now["metadata-location"], mine["metadata-location"]);
}

#[test]
fn the_page_of_attacks_is_current() {
    let mut page = String::from(
        "# Attacks\n\n\
         What an editor of one namespace tries against a warehouse that others use, and what it is answered. None of it\n\
         changes anything. `tests/it/http/attacks.rs` sends each of them to real servers, on SQLite with local files and on\n\
         PostgreSQL with a bucket, and makes this page. `{victim}` is the location of a table that the attacker must not\n\
         know of, `{left}` that of a dropped one.\n\n\
         | kind | attack | request | reply |\n|---|---|---|---|\n",
    );
    for Attack { kind, what, request: (method, path, _), reply: (status, error) } in ATTACKS {
        writeln!(page, "| {kind} | {what} | `{method} {path}` | {status} `{error}` |").unwrap();
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = std::fs::read_to_string(root.join("docs/attacks.md")).unwrap_or_default();
    if kept != page {
        std::fs::write(root.join("target/attacks.md"), page).unwrap();
        panic!("copy target/attacks.md to docs/attacks.md and read the difference");
    }
}
