//! Namespaces, which may be nested. A namespace's key is its levels joined by 0x1F, which no level contains.

use std::collections::BTreeMap;

use sqlx::any::AnyRow;
use sqlx::query;

use super::error::{Entity, Error, Result, on_foreign_key};
use super::text::{Listing, Page, check_name, number, text};
use super::{Db, Tx, grants};
use crate::spec::Namespace;

/// Properties of a namespace.
pub type Properties = BTreeMap<String, String>;

/// A namespace as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceRow {
    /// Its properties, sorted by key.
    pub properties: Properties,
    /// When it was created, epoch milliseconds.
    pub created_ms: i64,
    /// When it was last changed, epoch milliseconds.
    pub updated_ms: i64,
}

/// Adds a namespace.
///
/// # Errors
/// [`Error::AlreadyExists`]; [`Error::NotFound`] with the parent if that does not exist (or, for a top-level
/// namespace, with the warehouse's id).
pub async fn create(
    tx: &mut Tx,
    warehouse_id: &str,
    namespace: &Namespace,
    properties: &Properties,
    now_ms: i64,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO namespaces (warehouse_id, name, parent, properties, created_ms, updated_ms)
        VALUES ($1, $2, $3, $4, $5, $5)
        ON CONFLICT (warehouse_id, name) DO NOTHING";
    let name = key(namespace);
    check_name("namespace", &name)?;
    let parent = namespace.parent();
    let insert = query(SQL).bind(warehouse_id).bind(&name).bind(parent.as_ref().map(key));
    let inserted = tx.execute(insert.bind(to_json(properties)).bind(now_ms)).await;
    let missing = match &parent {
        Some(parent) => entity(parent),
        None => Entity::Warehouse(warehouse_id.to_owned()),
    };
    match inserted.map_err(|e| on_foreign_key(e, Error::NotFound(missing)))? {
        0 => Err(Error::AlreadyExists(entity(namespace))),
        _ => Ok(()),
    }
}

/// A part of the list of namespaces directly under `parent`, or of the top-level ones. [`Page::after`] is opaque.
///
/// # Errors
/// [`Error::NotFound`] if the parent does not exist.
pub async fn list(db: &Db, warehouse_id: &str, parent: Option<&Namespace>, page: &Page) -> Result<Listing<Namespace>> {
    const TOP: &str = "
        SELECT name FROM namespaces
        WHERE warehouse_id = $1 AND parent IS NULL AND name > $2 ORDER BY name LIMIT $3";
    const CHILDREN: &str = "
        SELECT name FROM namespaces
        WHERE warehouse_id = $1 AND name > $2 AND parent = $4 ORDER BY name LIMIT $3";
    let sql = if parent.is_some() { CHILDREN } else { TOP };
    let statement = query(sql).bind(warehouse_id).bind(page.after_key()).bind(page.rows());
    let statement = match parent {
        Some(parent) => statement.bind(key(parent)),
        None => statement,
    };
    let rows = db.rows(statement).await?;
    if rows.is_empty()
        && let Some(parent) = parent
    {
        require(db, warehouse_id, parent).await?;
    }
    let namespaces = rows.iter().map(|row| from_key(&text(row, "name")?)).collect::<Result<Vec<_>>>()?;
    Ok(Listing::cut(namespaces, page, key))
}

/// A namespace with its properties.
pub async fn load(db: &Db, warehouse_id: &str, namespace: &Namespace) -> Result<Option<NamespaceRow>> {
    const SQL: &str = "
        SELECT properties, created_ms, updated_ms FROM namespaces WHERE warehouse_id = $1 AND name = $2";
    let row = db.optional(query(SQL).bind(warehouse_id).bind(key(namespace))).await?;
    row.map(|row| read(&row, namespace)).transpose()
}

/// Whether there is such a namespace.
pub async fn exists(db: &Db, warehouse_id: &str, namespace: &Namespace) -> Result<bool> {
    const SQL: &str = "SELECT name FROM namespaces WHERE warehouse_id = $1 AND name = $2";
    Ok(db.optional(query(SQL).bind(warehouse_id).bind(key(namespace))).await?.is_some())
}

/// Removes a namespace that holds neither tables nor views nor namespaces.
///
/// # Errors
/// [`Error::NotFound`], [`Error::NotEmpty`].
pub async fn drop(tx: &mut Tx, warehouse_id: &str, namespace: &Namespace) -> Result<()> {
    const SQL: &str = "DELETE FROM namespaces WHERE warehouse_id = $1 AND name = $2";
    grants::forget_namespace(tx, warehouse_id, namespace).await?;
    let deleted = tx.execute(query(SQL).bind(warehouse_id).bind(key(namespace))).await;
    match deleted.map_err(|e| on_foreign_key(e, Error::NotEmpty(entity(namespace))))? {
        0 => Err(Error::NotFound(entity(namespace))),
        _ => Ok(()),
    }
}

/// What [`update_properties`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PropertiesChange {
    /// Keys that were set, whether or not the value is new.
    pub updated: Vec<String>,
    /// Keys that were removed.
    pub removed: Vec<String>,
    /// Keys to remove that were not there.
    pub missing: Vec<String>,
}

/// Removes some properties and sets others. Concurrent calls take effect one after the other.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn update_properties(
    tx: &mut Tx,
    warehouse_id: &str,
    namespace: &Namespace,
    change: &PropertiesUpdate<'_>,
) -> Result<PropertiesChange> {
    // Writes first, so that the row is ours before its properties are read.
    const LOCK: &str = "
        UPDATE namespaces SET updated_ms = $3 WHERE warehouse_id = $1 AND name = $2
        RETURNING properties, created_ms, updated_ms";
    const STORE: &str = "UPDATE namespaces SET properties = $3 WHERE warehouse_id = $1 AND name = $2";
    let name = key(namespace);
    let lock = query(LOCK).bind(warehouse_id).bind(&name).bind(change.now_ms);
    let Some(row) = tx.optional(lock).await? else {
        return Err(Error::NotFound(entity(namespace)));
    };
    let mut properties = read(&row, namespace)?.properties;
    let done = edit(&mut properties, change);
    tx.execute(query(STORE).bind(warehouse_id).bind(&name).bind(to_json(&properties))).await?;
    Ok(done)
}

/// What [`update_properties`] is to do. No key is in both lists.
#[derive(Debug, Clone)]
pub struct PropertiesUpdate<'a> {
    /// Keys to remove.
    pub removals: &'a [String],
    /// Keys to set.
    pub updates: &'a Properties,
    /// The time of the request, epoch milliseconds.
    pub now_ms: i64,
}

fn edit(properties: &mut Properties, change: &PropertiesUpdate<'_>) -> PropertiesChange {
    let mut done = PropertiesChange::default();
    for key in change.removals {
        let list = if properties.remove(key).is_some() { &mut done.removed } else { &mut done.missing };
        list.push(key.clone());
    }
    for (key, value) in change.updates {
        properties.insert(key.clone(), value.clone());
        done.updated.push(key.clone());
    }
    done
}

/// Fails if there is no such namespace.
pub(super) async fn require(db: &Db, warehouse_id: &str, namespace: &Namespace) -> Result<()> {
    if exists(db, warehouse_id, namespace).await? { Ok(()) } else { Err(Error::NotFound(entity(namespace))) }
}

/// What [`Page::after`] says of the page that begins after this namespace.
pub fn page_key(namespace: &Namespace) -> String {
    key(namespace)
}

/// The text a namespace is stored under.
pub(super) fn key(namespace: &Namespace) -> String {
    namespace.levels().join("\u{1f}")
}

pub(super) fn entity(namespace: &Namespace) -> Entity {
    Entity::Namespace(namespace.to_string())
}

pub(super) fn from_key(key: &str) -> Result<Namespace> {
    let levels = key.split('\u{1f}').map(str::to_owned).collect();
    Namespace::new(levels).map_err(|_| Error::Corrupt { table: "namespaces", column: "name", row: key.to_owned() })
}

fn to_json(properties: &Properties) -> String {
    let pairs = properties.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    pairs.collect::<serde_json::Value>().to_string()
}

fn read(row: &AnyRow, namespace: &Namespace) -> Result<NamespaceRow> {
    let properties = serde_json::from_str(&text(row, "properties")?).map_err(|_| Error::Corrupt {
        table: "namespaces",
        column: "properties",
        row: namespace.to_string(),
    })?;
    Ok(NamespaceRow { properties, created_ms: number(row, "created_ms")?, updated_ms: number(row, "updated_ms")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_levels_apart() {
        let dotted = Namespace::new(vec!["a.b".to_owned()]).unwrap();
        let nested = Namespace::new(vec!["a".to_owned(), "b".to_owned()]).unwrap();
        assert_ne!(key(&dotted), key(&nested));
        for namespace in [dotted, nested] {
            assert_eq!(from_key(&key(&namespace)).unwrap(), namespace);
        }
    }

    #[test]
    fn an_edit_tells_removed_from_missing() {
        let mut properties = Properties::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]);
        let updates = Properties::from([("b".to_owned(), "3".to_owned()), ("c".to_owned(), "4".to_owned())]);
        let removals = ["a".to_owned(), "x".to_owned()];
        let done = edit(&mut properties, &PropertiesUpdate { removals: &removals, updates: &updates, now_ms: 0 });
        assert_eq!(done.removed, ["a"]);
        assert_eq!(done.missing, ["x"]);
        assert_eq!(done.updated, ["b", "c"]);
        assert_eq!(properties, updates);
    }
}
