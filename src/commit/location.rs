//! Where a table or view lives: the location it is given, and the places that a client may name.

use crate::app::{App, Warehouse};
use crate::auth::Caller;
use crate::commit::{Document, Error};
use crate::spec::{Namespace, TableIdent, TableUpdate};
use crate::storage::{Location, segment};
use crate::store::tables::TableRow;
use crate::store::{locations, namespaces};

/// A place for a new table or view: the one the client asks for, or else `<base>/<namespace>/<table>`.
///
/// A place that the catalog chooses overlaps no other table's, neither a live one's nor one whose files a dropped
/// table left behind: a unique suffix is added where it would.
pub(super) async fn choose(places: Places<'_>, ident: &TableIdent, asked: Option<&str>) -> Result<Chosen, Error> {
    let Places { app, warehouse, .. } = places;
    if let Some(asked) = asked {
        let location = asked.trim_end_matches('/').to_owned();
        let place = check_inside(warehouse, "location", &location)?;
        places.check_free(&place).await?;
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

/// The places that a request names for a table or view: in its warehouse, not where others live, and where others left
/// files behind only for those who may write there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) app: &'a App,
    pub(super) warehouse: &'a Warehouse,
    /// Who asks.
    pub(super) caller: &'a Caller,
    /// What the places are for; empty for what is new.
    pub(super) table_id: &'a str,
}

impl Places<'_> {
    /// Checks the places that metadata names: its location, and where its files are to go. Answers the location.
    pub(super) async fn check_metadata<M: Document>(&self, metadata: &M) -> Result<Location, Error> {
        self.check_paths(metadata).await?;
        let location = check_inside(self.warehouse, "location", metadata.location())?;
        self.check_free(&location).await?;
        Ok(location)
    }

    /// Checks the places that changed metadata names, if it names others than before; answers the location in normal
    /// form, or nothing if it stays as it is.
    pub(super) async fn check_changed<M: Document>(&self, row: &TableRow, old: &M, new: &M) -> Result<String, Error> {
        let moved = new.location() != row.location;
        if !moved && PATHS.iter().all(|path| old.property(path) == new.property(path)) {
            return Ok(String::new());
        }
        self.check_paths(new).await?;
        let location = check_inside(self.warehouse, "location", new.location())?;
        if moved {
            self.check_free(&location).await?;
        }
        Ok(location.to_string())
    }

    async fn check_paths<M: Document>(&self, metadata: &M) -> Result<(), Error> {
        for (name, path) in PATHS.iter().filter_map(|name| Some((name, metadata.property(name)?))) {
            let place = check_inside(self.warehouse, name, path)?;
            self.check_no_neighbour(name, &place).await?;
        }
        Ok(())
    }

    /// Checks the files that updates name and that no rule of validation looks at: statistics.
    pub(super) async fn check_files(&self, updates: &[TableUpdate]) -> Result<(), Error> {
        for update in updates {
            let path = match update {
                TableUpdate::SetStatistics { statistics } => &statistics.statistics_path,
                TableUpdate::SetPartitionStatistics { partition_statistics } => &partition_statistics.statistics_path,
                _ => continue,
            };
            let place = check_inside(self.warehouse, "statistics-path", path)?;
            self.check_no_neighbour("statistics-path", &place.folder()).await?;
        }
        Ok(())
    }

    /// Refuses a location that another table has, or that lies in or around one: early, with no file written. The insert
    /// still has the last word.
    async fn check_free(&self, location: &Location) -> Result<(), Error> {
        if locations::overlapping_live(&self.app.db, &location.to_string(), self.table_id).await?.is_some() {
            // Whose it is may be nobody's business.
            let why = format!("Invalid location: {location} overlaps the location of another table");
            return Err(Error::Invalid(why));
        }
        self.check_left_behind("location", location, true).await
    }

    /// Refuses a place where another table lives.
    pub(super) async fn check_no_neighbour(&self, what: &str, place: &Location) -> Result<(), Error> {
        if locations::covering(&self.app.db, &place.to_string(), self.table_id).await?.is_some() {
            return Err(Error::Invalid(format!("Invalid {what}: {place} is in the location of another table")));
        }
        self.check_left_behind(what, place, false).await
    }

    /// Refuses a place with files that others left behind, to those who may not take them up.
    async fn check_left_behind(&self, what: &str, place: &Location, around: bool) -> Result<(), Error> {
        let place = place.to_string();
        let may = self.app.may_take_up(self.caller, &place, around, self.table_id).await?;
        // Whoever had it may have deleted its files, as Spark does.
        if may || !self.app.storage.list_any(&place).await.map_err(Error::from_write)? {
            return Ok(());
        }
        Err(Error::Forbidden(format!(
            "Not allowed: {what} {place} holds what a dropped table of another namespace left behind, which only those \
             take up who may write there"
        )))
    }
}
