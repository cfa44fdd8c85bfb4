//! From the database of a JDBC catalog, in the two versions of its schema.

use super::{heir_of, import};
use crate::support::postgres::Database;
use crate::support::server::{Server, Setting, on_both_servers};
use serde_json::json;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
use tempfile::TempDir;

on_both_servers!(tables_and_views_of_both_schemas_are_imported, of_several_catalogs_one_is_named,);

/// Version 0 of the schema, as Iceberg's `JdbcUtil` makes it; version 1 has one column more.
const V0: &str = "
    CREATE TABLE iceberg_tables (
        catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
        metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),
        PRIMARY KEY (catalog_name, table_namespace, table_name));
    CREATE TABLE iceberg_namespace_properties (
        catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255),
        property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key))";
const V1: &str = "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)";

/// A database like that, of the kind that the server's is.
pub(super) struct Jdbc {
    connection: AnyConnection,
    pub(super) url: String,
    _folder: Option<TempDir>,
    _database: Option<Database>,
}

impl Jdbc {
    pub(super) async fn like(server: &Server) -> Self {
        sqlx::any::install_default_drivers();
        let (url, folder, database) = if server.app.config.database_url.starts_with("sqlite") {
            let folder = tempfile::tempdir().unwrap();
            (format!("sqlite://{}", folder.path().join("jdbc.db").display()), Some(folder), None)
        } else {
            let database = Database::create().await;
            (database.url().to_owned(), None, Some(database))
        };
        let made = if folder.is_some() { format!("{url}?mode=rwc") } else { url.clone() };
        let mut connection = AnyConnection::connect(&made).await.unwrap();
        connection.execute(V0).await.unwrap();
        Self { connection, url, _folder: folder, _database: database }
    }

    pub(super) async fn run(&mut self, sql: String) {
        self.connection.execute(AssertSqlSafe(sql)).await.unwrap();
    }

    async fn table(&mut self, catalog: &str, namespace: &str, name: &str, location: &str) {
        let values = format!("('{catalog}', '{namespace}', '{name}', '{location}')");
        let columns = "(catalog_name, table_namespace, table_name, metadata_location)";
        self.run(format!("INSERT INTO iceberg_tables {columns} VALUES {values}")).await;
    }

    async fn property(&mut self, catalog: &str, namespace: &str, key: &str, value: &str) {
        let values = format!("('{catalog}', '{namespace}', '{key}', '{value}')");
        self.run(format!("INSERT INTO iceberg_namespace_properties VALUES {values}")).await;
    }
}

fn setting(server: &Server) -> Setting {
    if server.app.config.gcs_endpoint.is_some() { Setting::Production } else { Setting::Local }
}

pub(super) fn location(loaded: &serde_json::Value) -> String {
    loaded["metadata-location"].as_str().unwrap().to_owned()
}

async fn tables_and_views_of_both_schemas_are_imported(source: Server) {
    source.namespace().await;
    let (t, u) = (source.table("t", 2).await, source.table("u", 3).await);
    let mut jdbc = Jdbc::like(&source).await;
    jdbc.table("c", "a", "t", &location(&t)).await;
    jdbc.table("c", "a.b.c", "u", &location(&u)).await;
    jdbc.table("c", "a..b", "x", &location(&u)).await;
    jdbc.run("INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name) VALUES ('c', 'a', 'null')".into())
        .await;
    for (key, value) in [("exists", "true"), ("owner", "me")] {
        jdbc.property("c", "a.p", key, value).await;
    }
    jdbc.property("c", "a", "exists", "true").await;
    let target = heir_of(&source, setting(&source)).await;

    let run = |more: &[&str]| import(&target, &[&["jdbc", "--database", &jdbc.url], more].concat());
    run(&["--dry-run"]).ends(1, "would import 2 tables, 0 views, 4 namespaces; 0 already there; 2 failed");
    let ran = run(&[]);
    ran.ends(1, "imported 2 tables, 0 views, 4 namespaces; 0 already there; 2 failed");
    ran.line("failed table a..b.x: Invalid namespace: a level is empty");
    assert!(ran.line("failed table a.null: ").contains("found NULL"), "{}", ran.out);
    let properties = target.get("/namespaces/a%1Fp").await.expect(200)["properties"].clone();
    assert_eq!(properties, json!({"owner": "me"}));
    assert_eq!(location(&target.get("/namespaces/a%1Fb%1Fc/tables/u").await.expect(200)), location(&u));

    jdbc.run(V1.to_owned()).await;
    jdbc.run("DELETE FROM iceberg_tables WHERE table_name IN ('x', 'null')".to_owned()).await;
    let version = json!({
        "version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": ["ns"],
        "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}]
    });
    let schema = crate::support::server::schema();
    let view = json!({"name": "v", "schema": schema, "view-version": version, "properties": {}});
    let view = source.post("/namespaces/ns/views", view).await.expect(200);
    jdbc.table("c", "a", "v", &location(&view)).await;
    jdbc.table("c", "a", "w", &location(&view)).await;
    jdbc.run("UPDATE iceberg_tables SET iceberg_type = 'TABLE' WHERE table_name = 't'".to_owned()).await;
    jdbc.run("UPDATE iceberg_tables SET iceberg_type = 'VIEW' WHERE table_name = 'v'".to_owned()).await;
    jdbc.run("UPDATE iceberg_tables SET iceberg_type = 'FUNC' WHERE table_name = 'w'".to_owned()).await;
    let run = |more: &[&str]| import(&target, &[&["jdbc", "--database", &jdbc.url], more].concat());
    let ran = run(&["--catalog-name", "c"]);
    ran.ends(1, "imported 0 tables, 1 view, 0 namespaces; 6 already there; 1 failed");
    ran.line("failed a.w: iceberg_type: expected TABLE or VIEW, found FUNC");
    assert_eq!(target.get("/namespaces/a/views/v").await.expect(200), view);
}

async fn of_several_catalogs_one_is_named(source: Server) {
    source.namespace().await;
    let t = source.table("t", 2).await;
    let mut jdbc = Jdbc::like(&source).await;
    let target = heir_of(&source, setting(&source)).await;
    let nothing = "imported 0 tables, 0 views, 0 namespaces; 0 already there; 1 failed";
    let none = import(&target, &["jdbc", "--database", &jdbc.url]);
    none.ends(1, nothing);
    assert!(none.line("failed import: ").contains("found none"), "{}", none.out);
    jdbc.table("c", "a", "t", &location(&t)).await;
    jdbc.property("d", "b", "exists", "true").await;
    let which = import(&target, &["jdbc", "--database", &jdbc.url]);
    which.ends(1, nothing);
    assert!(which.line("failed import: ").contains("found c, d: say --catalog-name"), "{}", which.out);
    let ran = import(&target, &["jdbc", "--database", &jdbc.url, "--catalog-name", "c"]);
    ran.ends(0, "imported 1 table, 0 views, 1 namespace; 0 already there; 0 failed");
    let wrong = import(&target, &["jdbc", "--database", &jdbc.url, "--catalog-name", "e"]);
    assert!(wrong.code == 1 && wrong.out.contains("expected e, found c, d"), "{}", wrong.out);
    jdbc.run("DROP TABLE iceberg_tables".to_owned()).await;
    assert_eq!(import(&target, &["jdbc", "--database", &jdbc.url]).code, 1);
    let missing = import(&target, &["jdbc", "--database", "sqlite:///no/such.db"]);
    assert!(missing.code == 1 && missing.out.contains("cannot be prepared"), "{}{}", missing.out, missing.err);
    assert!(import(&target, &["jdbc", "--database", "mysql://h/d"]).out.contains("begins with sqlite: or postgres:"));
}
