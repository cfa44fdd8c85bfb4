//! Where a table or view lives: the location it is given, and the places that a client may name.

use crate::app::{App, Warehouse};
use crate::commit::{Document, Error};
use crate::spec::{Namespace, TableIdent, TableUpdate};
use crate::storage::{Location, segment};
use crate::store::tables::TableRow;
use crate::store::{locations, namespaces};

/// A place for a new table or view: the one the client asks for, or else `<base>/<namespace>/<table>`.
///
/// A place that the catalog chooses overlaps no other table's, neither a live one's nor one whose files a dropped
/// table left behind: a unique suffix is added where it would.
pub(super) async fn choose(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    asked: Option<&str>,
) -> Result<Chosen, Error> {
    if let Some(asked) = asked {
        let location = asked.trim_end_matches('/').to_owned();
        let place = check_inside(warehouse, "location", &location)?;
        check_free(app, &place, "").await?;
        return Ok(Chosen { location, key: place.to_string(), claim: locations::Claim::Requested });
    }
    let plain = format!("{}/{}", base(app, warehouse, &ident.namespace).await?, segment(&ident.name));
    let unique = warehouse.settings.unique_table_locations.unwrap_or(app.config.unique_table_locations);
    let free = !unique && is_free(app, &normal(&plain)?).await?;
    let location = if free { plain } else { format!("{plain}-{}", app.ids.uuid()) };
    let key = check_inside(warehouse, "location", &location)?.to_string();
    Ok(Chosen { location, key, claim: locations::Claim::Exclusive })
}

/// Whether nothing stands in the way of a new table at this place. What a dropped table left behind does no more once
/// its files are gone, as after Spark's `DROP TABLE .. PURGE`.
async fn is_free(app: &App, place: &str) -> Result<bool, Error> {
    let Some(occupied) = locations::overlapping(&app.db, place).await? else { return Ok(true) };
    let emptied = occupied.state == locations::State::LeftBehind
        && occupied.location == place
        && !app.storage.list_any(place).await.map_err(Error::from_write)?;
    if emptied {
        let mut tx = app.db.begin().await?;
        locations::forget_left_behind(&mut tx, place).await?;
        tx.commit().await?;
        return Ok(locations::overlapping(&app.db, place).await?.is_none());
    }
    Ok(false)
}

/// A location for a new table or view.
#[derive(Debug)]
pub(super) struct Chosen {
    /// As it stands in the metadata.
    pub location: String,
    /// In normal form, for comparing.
    pub key: String,
    /// Whether it must still be free when the table is added.
    pub claim: locations::Claim,
}

/// The folder of a namespace's tables: its `location` property, or one segment a level under the warehouse.
async fn base(app: &App, warehouse: &Warehouse, namespace: &Namespace) -> Result<String, Error> {
    let row = namespaces::load(&app.db, &warehouse.row.id, namespace).await?;
    if let Some(location) = row.and_then(|mut row| row.properties.remove("location")) {
        return Ok(location.trim_end_matches('/').to_owned());
    }
    let levels: Vec<String> = namespace.levels().iter().map(|level| segment(level)).collect();
    Ok(format!("{}/{}", warehouse.row.location.trim_end_matches('/'), levels.join("/")))
}

fn normal(location: &str) -> Result<String, Error> {
    Ok(Location::parse(location).map_err(Error::from_storage)?.to_string())
}

/// Refuses a location that lies outside of the warehouse and of what it allows besides.
pub(super) fn check_inside(warehouse: &Warehouse, what: &str, location: &str) -> Result<Location, Error> {
    let parsed = Location::parse(location).map_err(|e| Error::Invalid(format!("Invalid {what}: {e}")))?;
    if warehouse.allowed.iter().any(|prefix| parsed.is_under(prefix)) {
        return Ok(parsed);
    }
    let allowed: Vec<String> = warehouse.allowed.iter().map(ToString::to_string).collect();
    Err(Error::Invalid(format!("Invalid {what}: expected a place under {}, found {location}", allowed.join(" or "))))
}

/// Properties that say where files are to go.
const PATHS: [&str; 4] =
    ["write.metadata.path", "write.data.path", "write.object-storage.path", "write.folder-storage.path"];

/// Checks the places that metadata names: its location, and where its files are to go. They lie in the warehouse, and not
/// where other tables than `table_id` live.
pub(super) async fn check_metadata<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    metadata: &M,
    table_id: &str,
) -> Result<Location, Error> {
    for (name, path) in PATHS.iter().filter_map(|name| Some((name, metadata.property(name)?))) {
        let place = check_inside(warehouse, name, path)?;
        check_no_neighbour(app, name, &place, table_id).await?;
    }
    let location = check_inside(warehouse, "location", metadata.location())?;
    check_free(app, &location, table_id).await?;
    Ok(location)
}

/// Checks the places that changed metadata names, if it names others than before; answers the location in normal form,
/// or nothing if it stays as it is.
pub(super) async fn check_changed<M: Document>(
    app: &App,
    warehouse: &Warehouse,
    row: &TableRow,
    old: &M,
    new: &M,
) -> Result<String, Error> {
    let moved = new.location() != row.location;
    if !moved && PATHS.iter().all(|path| old.property(path) == new.property(path)) {
        return Ok(String::new());
    }
    for (name, path) in PATHS.iter().filter_map(|name| Some((name, new.property(name)?))) {
        let place = check_inside(warehouse, name, path)?;
        check_no_neighbour(app, name, &place, &row.id).await?;
    }
    let location = check_inside(warehouse, "location", new.location())?;
    if moved {
        check_free(app, &location, &row.id).await?;
    }
    Ok(location.to_string())
}

/// Checks the files that updates name and that no rule of validation looks at: statistics.
pub(super) async fn check_files(
    app: &App,
    warehouse: &Warehouse,
    updates: &[TableUpdate],
    table_id: &str,
) -> Result<(), Error> {
    for update in updates {
        let path = match update {
            TableUpdate::SetStatistics { statistics } => &statistics.statistics_path,
            TableUpdate::SetPartitionStatistics { partition_statistics } => &partition_statistics.statistics_path,
            _ => continue,
        };
        let place = check_inside(warehouse, "statistics-path", path)?;
        check_no_neighbour(app, "statistics-path", &place.folder(), table_id).await?;
    }
    Ok(())
}

/// Refuses a location that another table has, or that lies in or around one: early, with no file written. The insert
/// still has the last word.
async fn check_free(app: &App, location: &Location, table_id: &str) -> Result<(), Error> {
    match locations::overlapping_live(&app.db, &location.to_string(), table_id).await? {
        // Whose it is may be nobody's business.
        Some(_) => Err(Error::Invalid(format!("Invalid location: {location} overlaps the location of another table"))),
        None => Ok(()),
    }
}

/// Refuses a place where another table lives.
pub(super) async fn check_no_neighbour(app: &App, what: &str, place: &Location, table_id: &str) -> Result<(), Error> {
    match locations::covering(&app.db, &place.to_string(), table_id).await? {
        Some(_) => Err(Error::Invalid(format!("Invalid {what}: {place} is in the location of another table"))),
        None => Ok(()),
    }
}
