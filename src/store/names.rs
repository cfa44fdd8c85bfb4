//! A walk over all names of a catalog.

use sqlx::query;

use super::Db;
use super::error::{Entity, Result};
use super::namespaces::{entity, from_key};
use super::tables::Kind;
use super::text::text;

/// Rows of one look.
const ROWS: i64 = 1000;

/// The first namespace, or else table or view, whose name `is_wrong`.
pub async fn find(db: &Db, is_wrong: impl Fn(&str) -> bool) -> Result<Option<Entity>> {
    Ok(match find_namespace(db, &is_wrong).await? {
        Some(found) => Some(found),
        None => find_table(db, &is_wrong).await?,
    })
}

async fn find_namespace(db: &Db, is_wrong: impl Fn(&str) -> bool) -> Result<Option<Entity>> {
    const SQL: &str = "
        SELECT warehouse_id, name FROM namespaces WHERE (warehouse_id, name) > ($1, $2)
        ORDER BY warehouse_id, name LIMIT $3";
    let (mut warehouse_id, mut name) = (String::new(), String::new());
    loop {
        let rows = db.rows(query(SQL).bind(warehouse_id.clone()).bind(name.clone()).bind(ROWS)).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        for row in &rows {
            (warehouse_id, name) = (text(row, "warehouse_id")?, text(row, "name")?);
            if is_wrong(&name) {
                return Ok(Some(entity(&from_key(&name)?)));
            }
        }
    }
}

async fn find_table(db: &Db, is_wrong: impl Fn(&str) -> bool) -> Result<Option<Entity>> {
    const SQL: &str = "
        SELECT warehouse_id, namespace, name, kind FROM tables WHERE (warehouse_id, namespace, name) > ($1, $2, $3)
        ORDER BY warehouse_id, namespace, name LIMIT $4";
    let mut last = [String::new(), String::new(), String::new()];
    loop {
        let [warehouse_id, namespace, name] = last.clone();
        let rows = db.rows(query(SQL).bind(warehouse_id).bind(namespace).bind(name).bind(ROWS)).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        for row in &rows {
            let (namespace, name) = (text(row, "namespace")?, text(row, "name")?);
            if is_wrong(&name) {
                let whole = format!("{}.{name}", from_key(&namespace)?);
                return Ok(Some(match Kind::parse(&text(row, "kind")?) {
                    Some(Kind::View) => Entity::View(whole),
                    _ => Entity::Table(whole),
                }));
            }
            last = [text(row, "warehouse_id")?, namespace, name];
        }
    }
}
