//! The life of a warehouse: added, changed, switched off, removed.

use crate::app::{App, WarehouseSettings, seal_secret};
use crate::commit::Error;
use crate::storage::{Location, StorageSecret};
use crate::store::warehouses::{self, Status, Warehouse, WarehouseChange as Row};
use crate::store::{self, Entity};

/// A warehouse to add.
#[derive(Debug, Clone)]
pub struct NewWarehouse {
    /// What clients call it; also the prefix of its routes.
    pub name: String,
    /// Where its tables are, as a URI.
    pub location: String,
    /// What differs from the server's settings.
    pub settings: WarehouseSettings,
    /// What its store is reached with, where the server's own credentials do not do.
    pub secret: Option<StorageSecret>,
}

/// What to change of a warehouse; `None` leaves it as it is. Name and location never change.
#[derive(Debug, Clone, Default)]
pub struct WarehouseChange {
    /// Replaces the settings.
    pub settings: Option<WarehouseSettings>,
    /// Switches it on or off.
    pub active: Option<bool>,
    /// Replaces the secret, or takes it away.
    pub secret: Option<Option<StorageSecret>>,
}

/// Adds a warehouse.
pub async fn add_warehouse(app: &App, new: &NewWarehouse) -> Result<Warehouse, Error> {
    check_name(&new.name)?;
    let location = Location::parse(&new.location).map_err(Error::from_storage)?.to_string();
    let id = app.ids.uuid();
    let secret = new.secret.as_ref().map(|secret| seal(app, &id, secret)).transpose()?;
    let row = warehouses::NewWarehouse {
        id: &id,
        name: &new.name,
        location: &location,
        properties: &properties(&new.settings)?,
        storage_secret: secret.as_deref(),
        now_ms: app.clock.now_ms(),
    };
    let mut tx = app.db.begin().await?;
    let added = warehouses::create(&mut tx, &row).await?;
    // Settings that do not fit are refused before they are kept.
    let ready = app.ready_warehouse(added.clone())?;
    tx.commit().await?;
    app.storage.use_secret(ready.place(), ready.credentials.secret.clone());
    app.forget_warehouses();
    Ok(added)
}

/// Adds a warehouse that a setting names, or finds it; refuses one that is there with another location.
pub async fn ensure_warehouse(app: &App, name: &str, location: &str) -> Result<(), Error> {
    let settings = WarehouseSettings::default();
    let new = NewWarehouse { name: name.into(), location: location.into(), settings, secret: None };
    match add_warehouse(app, &new).await {
        Err(Error::Store(store::Error::AlreadyExists(_))) => {}
        done => return done.map(drop),
    }
    let wanted = Location::parse(location).map_err(Error::from_storage)?.to_string();
    match warehouses::load(&app.db, name).await? {
        Some(row) if row.location == wanted => Ok(()),
        Some(row) => Err(Error::Invalid(format!(
            "warehouse {name} is at {}, and a setting says {wanted}: a warehouse does not move",
            row.location
        ))),
        None => Err(Error::Invalid(format!("another warehouse than {name} is at {wanted}"))),
    }
}

/// Changes a warehouse's settings, or switches it on or off.
pub async fn change_warehouse(app: &App, name: &str, change: &WarehouseChange) -> Result<Warehouse, Error> {
    let missing = || store::Error::NotFound(Entity::Warehouse(name.to_owned()));
    let read = warehouses::load(&app.db, name).await?.ok_or_else(missing)?;
    let properties = match &change.settings {
        Some(settings) => properties(settings)?,
        None => read.properties.clone(),
    };
    let status = match change.active {
        Some(true) => Status::Active,
        Some(false) => Status::Inactive,
        None => read.status,
    };
    let secret = match &change.secret {
        Some(secret) => secret.as_ref().map(|secret| seal(app, &read.id, secret)).transpose()?,
        None => read.storage_secret.clone(),
    };
    let wanted = Warehouse { properties: properties.clone(), storage_secret: secret.clone(), ..read.clone() };
    let ready = app.ready_warehouse(wanted)?;
    let mut tx = app.db.begin().await?;
    let now_ms = app.clock.now_ms();
    let row = Row { properties: &properties, status, storage_secret: secret.as_deref(), now_ms };
    let changed = warehouses::update(&mut tx, &read, &row).await?;
    tx.commit().await?;
    app.storage.use_secret(ready.place(), ready.credentials.secret.clone());
    app.forget_warehouses();
    Ok(changed)
}

/// Removes a warehouse that holds no namespace. Its files stay.
pub async fn remove_warehouse(app: &App, name: &str) -> Result<(), Error> {
    let mut tx = app.db.begin().await?;
    warehouses::delete(&mut tx, name).await?;
    tx.commit().await?;
    app.forget_warehouses();
    Ok(())
}

/// Seals a warehouse's secret. Without a key none is kept.
fn seal(app: &App, warehouse_id: &str, secret: &StorageSecret) -> Result<String, Error> {
    secret.check().map_err(Error::Invalid)?;
    seal_secret(&app.sealer, warehouse_id, secret).map_err(|error| Error::Invalid(error.to_string()))
}

fn properties(settings: &WarehouseSettings) -> Result<String, Error> {
    serde_json::to_string(settings).map_err(|e| Error::Invalid(format!("settings cannot be kept: {e}")))
}

/// A name is a prefix of URLs as it stands: one or more segments of letters, digits, `-`, `.` and `_`.
fn check_name(name: &str) -> Result<(), Error> {
    let good = |segment: &str| {
        segment.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
            && segment.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    if name.is_empty() || !name.split('/').all(good) {
        return Err(Error::Invalid(format!(
            "Invalid warehouse name: expected segments of letters, digits, `-`, `.` and `_`, found `{name}`"
        )));
    }
    match name.split('/').find(|segment| RESERVED_NAMES.contains(segment)) {
        Some(reserved) => Err(Error::Invalid(format!("Invalid warehouse name: `{reserved}` is a word of the routes"))),
        None => Ok(()),
    }
}

/// Words that begin the routes of the specification; in a prefix they would hide where it ends.
pub const RESERVED_NAMES: [&str; 7] =
    ["restcatalog", "config", "oauth", "namespaces", "tables", "views", "transactions"];

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("lake", true)]
    #[case("projects/P-1/catalogs/c.2", true)]
    #[case("", false)]
    #[case("a//b", false)]
    #[case("..", false)]
    #[case("~", false)]
    #[case("a b", false)]
    #[case("views", false)]
    #[case("a/config", false)]
    fn names_fit_into_urls(#[case] name: &str, #[case] good: bool) {
        assert_eq!(check_name(name).is_ok(), good);
    }
}
