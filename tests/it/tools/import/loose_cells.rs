//! From an `SQLite` database, which takes anything in any column.

use super::jdbc::{Jdbc, location};
use super::{heir_of, import};
use crate::support::server::{Server, Setting};
use serde_json::json;

/// The schema with no types, and no keys that refuse anything.
const LOOSE: &str = "
    DROP TABLE iceberg_tables; DROP TABLE iceberg_namespace_properties;
    CREATE TABLE iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type);
    CREATE TABLE iceberg_namespace_properties (catalog_name, namespace, property_key, property_value)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_with_a_cell_of_another_kind_is_named_and_the_rest_is_imported() {
    let source = Server::start(Setting::Local).await;
    source.namespace().await;
    let (t, u) = (location(&source.table("t", 2).await), location(&source.table("u", 2).await));
    let mut jdbc = Jdbc::like(&source).await;
    jdbc.run(LOOSE.to_owned()).await;
    let rows = [
        format!("('c', 'a', 't', '{t}', NULL)"),
        format!("(x'00ff', 'a', 'cat', '{t}', NULL)"),
        format!("(NULL, 'a', 'cat', '{t}', NULL)"),
        format!("('c', x'ff', 'bytes', '{t}', NULL)"),
        format!("('c', 'a', 7, '{t}', NULL)"),
        format!("('c', 'a', NULL, '{t}', NULL)"),
        format!("('c', NULL, 'none', '{t}', NULL)"),
        "('c', 'a', 'at', x'00', NULL)".to_owned(),
        format!("('c', 'a', 'kind', '{t}', 1.5)"),
        format!("('c', 'a', CAST(x'ff' AS TEXT), '{t}', NULL)"),
        format!("('c', 'a', 'u', '{u}', 'TABLE')"),
        format!("(CAST(x'fe' AS TEXT), 'a', 'u', '{u}', 'TABLE')"),
    ];
    for row in rows {
        jdbc.run(format!("INSERT INTO iceberg_tables VALUES {row}")).await;
    }
    for row in ["'a', 'owner', 'me'", "'a', 1, 'x'", "x'00', 'k', 'v'", "'a', NULL, 'v'", "'a', 'k', x'01'"] {
        jdbc.run(format!("INSERT INTO iceberg_namespace_properties VALUES ('c', {row})")).await;
    }
    let target = heir_of(&source, Setting::Local).await;

    // Whose the last one is cannot be said.
    let which = import(&target, &["jdbc", "--database", &jdbc.url]);
    assert!(which.line("failed import: ").contains("a catalog_name is no text: "), "{}", which.out);
    jdbc.run("DELETE FROM iceberg_tables WHERE rowid = 12".to_owned()).await;
    let ran = import(&target, &["jdbc", "--database", &jdbc.url]);
    for line in [
        "2 of iceberg_tables (table_namespace a, table_name cat): catalog_name: expected text, found blob",
        "3 of iceberg_tables (table_namespace a, table_name cat): catalog_name: expected text, found null",
        "4 of iceberg_tables (catalog_name c, table_name bytes): table_namespace: expected text, found blob",
        "5 of iceberg_tables (catalog_name c, table_namespace a): table_name: expected text, found integer",
        "6 of iceberg_tables (catalog_name c, table_namespace a): table_name: expected text, found null",
        "7 of iceberg_tables (catalog_name c, table_name none): table_namespace: expected text, found null",
        "8 of iceberg_tables (catalog_name c, table_namespace a, table_name at): metadata_location: expected text, \
         found blob",
        "9 of iceberg_tables (catalog_name c, table_namespace a, table_name kind): iceberg_type: expected text, \
         found real",
        "10 of iceberg_tables: expected text, found ",
        "2 of iceberg_namespace_properties (catalog_name c, namespace a): property_key: expected text, found integer",
        "3 of iceberg_namespace_properties (catalog_name c, property_key k): namespace: expected text, found blob",
        "4 of iceberg_namespace_properties (catalog_name c, namespace a): property_key: expected text, found null",
        "5 of iceberg_namespace_properties (catalog_name c, namespace a, property_key k): property_value: expected \
         text, found blob",
    ] {
        ran.line(&format!("failed row {line}"));
    }
    ran.ends(1, "imported 2 tables, 0 views, 1 namespace; 0 already there; 13 failed");
    assert_eq!(location(&target.get("/namespaces/a/tables/u").await.expect(200)), u);
    assert_eq!(target.get("/namespaces/a").await.expect(200)["properties"], json!({"owner": "me"}));
}
