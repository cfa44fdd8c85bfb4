//! Warehouses: named places in object storage that hold namespaces.

use sqlx::any::AnyRow;
use sqlx::query;

use super::error::{Entity, Error, Result, on_foreign_key};
use super::text::{Listing, Page, check_location, check_name, number, optional_text, text};
use super::{Db, Tx};

/// Whether a warehouse serves requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It does.
    Active,
    /// It is there, but switched off.
    Inactive,
}

impl Status {
    /// `active` or `inactive`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }
}

/// A warehouse as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warehouse {
    /// A uuid; never changes.
    pub id: String,
    /// What clients call it; never changes.
    pub name: String,
    /// Where its tables are, in normal form (`gs://bucket/path`); never changes.
    pub location: String,
    /// A JSON object: rule levels, allowed prefixes and what else belongs to a warehouse.
    pub properties: String,
    /// Whether it serves requests.
    pub status: Status,
    /// Goes up with every update.
    pub version: i64,
    /// When it was created, epoch milliseconds.
    pub created_ms: i64,
    /// When it was last changed, epoch milliseconds.
    pub updated_ms: i64,
    /// What its store is reached with, sealed; none where the server's own credentials do.
    pub storage_secret: Option<String>,
}

/// Adds a warehouse, active, at version 0. `location` is in normal form, without a slash at its end.
///
/// # Errors
/// [`Error::AlreadyExists`] with the name, or else the location, that another warehouse has.
pub async fn create(tx: &mut Tx, new: &NewWarehouse<'_>) -> Result<Warehouse> {
    const SQL: &str = "
        INSERT INTO warehouses
            (id, name, location, properties, status, version, created_ms, updated_ms, storage_secret)
        VALUES ($1, $2, $3, $4, 'active', 0, $5, $5, $6)
        ON CONFLICT DO NOTHING";
    check_name("warehouse name", new.name)?;
    check_location(new.location)?;
    let insert = query(SQL).bind(new.id).bind(new.name).bind(new.location).bind(new.properties).bind(new.now_ms);
    let insert = insert.bind(new.storage_secret.map(str::to_owned));
    if tx.execute(insert).await? == 0 {
        return Err(Error::AlreadyExists(Entity::Warehouse(taken(tx, new).await?)));
    }
    Ok(Warehouse {
        id: new.id.to_owned(),
        name: new.name.to_owned(),
        location: new.location.to_owned(),
        properties: new.properties.to_owned(),
        status: Status::Active,
        version: 0,
        created_ms: new.now_ms,
        updated_ms: new.now_ms,
        storage_secret: new.storage_secret.map(str::to_owned),
    })
}

/// What [`create`] adds.
#[derive(Debug, Clone)]
pub struct NewWarehouse<'a> {
    /// A fresh uuid.
    pub id: &'a str,
    /// What clients call it.
    pub name: &'a str,
    /// Where its tables are, in normal form.
    pub location: &'a str,
    /// A JSON object.
    pub properties: &'a str,
    /// [`Warehouse::storage_secret`].
    pub storage_secret: Option<&'a str>,
    /// The time of the request, epoch milliseconds.
    pub now_ms: i64,
}

/// Which of a new warehouse's two keys another one has.
async fn taken(tx: &mut Tx, new: &NewWarehouse<'_>) -> Result<String> {
    const SQL: &str = "SELECT id FROM warehouses WHERE name = $1";
    let by_name = tx.optional(query(SQL).bind(new.name)).await?;
    Ok(if by_name.is_some() { new.name } else { new.location }.to_owned())
}

/// A part of the list of warehouses, by name.
pub async fn list(db: &Db, page: &Page) -> Result<Listing<Warehouse>> {
    const SQL: &str = "
        SELECT id, name, location, properties, status, version, created_ms, updated_ms, storage_secret
        FROM warehouses WHERE name > $1 ORDER BY name LIMIT $2";
    let rows = db.rows(query(SQL).bind(page.after_key()).bind(page.rows())).await?;
    let warehouses = rows.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(Listing::cut(warehouses, page, |warehouse| warehouse.name.clone()))
}

/// The warehouse of this name.
pub async fn load(db: &Db, name: &str) -> Result<Option<Warehouse>> {
    const SQL: &str = "
        SELECT id, name, location, properties, status, version, created_ms, updated_ms, storage_secret
        FROM warehouses WHERE name = $1";
    db.optional(query(SQL).bind(name)).await?.as_ref().map(read).transpose()
}

/// The warehouse at this location, which is in normal form, without a slash at its end.
pub async fn load_by_location(db: &Db, location: &str) -> Result<Option<Warehouse>> {
    const SQL: &str = "
        SELECT id, name, location, properties, status, version, created_ms, updated_ms, storage_secret
        FROM warehouses WHERE location = $1";
    db.optional(query(SQL).bind(location)).await?.as_ref().map(read).transpose()
}

/// All warehouses that have a secret of their own.
pub async fn with_secrets(db: &Db) -> Result<Vec<Warehouse>> {
    const SQL: &str = "
        SELECT id, name, location, properties, status, version, created_ms, updated_ms, storage_secret
        FROM warehouses WHERE storage_secret IS NOT NULL";
    db.rows(query(SQL)).await?.iter().map(read).collect()
}

/// Replaces properties, status and secret of a warehouse that was read before, and answers the new row.
///
/// # Errors
/// [`Error::Conflict`] if it was changed or deleted since it was read.
pub async fn update(tx: &mut Tx, read: &Warehouse, change: &WarehouseChange<'_>) -> Result<Warehouse> {
    const SQL: &str = "
        UPDATE warehouses SET properties = $1, status = $2, updated_ms = $3, storage_secret = $4, version = version + 1
        WHERE id = $5 AND version = $6";
    let statement = query(SQL).bind(change.properties).bind(change.status.as_str()).bind(change.now_ms);
    let statement = statement.bind(change.storage_secret.map(str::to_owned));
    match tx.execute(statement.bind(&read.id).bind(read.version)).await? {
        0 => Err(Error::Conflict),
        _ => Ok(Warehouse {
            properties: change.properties.to_owned(),
            status: change.status,
            version: read.version + 1,
            updated_ms: change.now_ms,
            storage_secret: change.storage_secret.map(str::to_owned),
            ..read.clone()
        }),
    }
}

/// What [`update`] writes.
#[derive(Debug, Clone)]
pub struct WarehouseChange<'a> {
    /// A JSON object; replaces the old one.
    pub properties: &'a str,
    /// Whether it serves requests from now on.
    pub status: Status,
    /// [`Warehouse::storage_secret`]; replaces the old one.
    pub storage_secret: Option<&'a str>,
    /// The time of the request, epoch milliseconds.
    pub now_ms: i64,
}

/// Removes a warehouse that holds no namespace. No file is touched, and the locations that its tables had stay known.
///
/// # Errors
/// [`Error::NotFound`], [`Error::NotEmpty`].
pub async fn delete(tx: &mut Tx, name: &str) -> Result<()> {
    const SQL: &str = "DELETE FROM warehouses WHERE name = $1";
    let warehouse = || Entity::Warehouse(name.to_owned());
    let deleted = tx.execute(query(SQL).bind(name)).await;
    match deleted.map_err(|e| on_foreign_key(e, Error::NotEmpty(warehouse())))? {
        0 => Err(Error::NotFound(warehouse())),
        _ => Ok(()),
    }
}

fn read(row: &AnyRow) -> Result<Warehouse> {
    let id = text(row, "id")?;
    let status = match text(row, "status")?.as_str() {
        "active" => Status::Active,
        "inactive" => Status::Inactive,
        _ => return Err(Error::Corrupt { table: "warehouses", column: "status", row: id }),
    };
    Ok(Warehouse {
        id,
        name: text(row, "name")?,
        location: text(row, "location")?,
        properties: text(row, "properties")?,
        status,
        version: number(row, "version")?,
        created_ms: number(row, "created_ms")?,
        updated_ms: number(row, "updated_ms")?,
        storage_secret: optional_text(row, "storage_secret")?,
    })
}
