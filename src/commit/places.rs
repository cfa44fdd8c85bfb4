//! The places that a request names for a table or view: its location, and where its files are to go.

use crate::app::{App, Closed, Reach, Warehouse};
use crate::auth::{Action, Caller};
use crate::commit::{Document, Error};
use crate::spec::{Namespace, TableMetadata, TableUpdate};
use crate::storage::Location;
use crate::store::tables::TableRow;

/// Properties that say where files are to go.
pub(super) const PATHS: [&str; 4] =
    ["write.metadata.path", "write.data.path", "write.object-storage.path", "write.folder-storage.path"];

/// Refuses a location that lies outside of the warehouse and of what it allows besides.
pub(super) fn check_inside(warehouse: &Warehouse, what: &str, location: &str) -> Result<Location, Error> {
    let parsed = Location::parse(location).map_err(|e| Error::Invalid(format!("Invalid {what}: {e}")))?;
    if warehouse.allowed.iter().any(|prefix| parsed.is_under(prefix)) {
        return Ok(parsed);
    }
    let allowed: Vec<String> = warehouse.allowed.iter().map(ToString::to_string).collect();
    Err(Error::Invalid(format!("Invalid {what}: expected a place under {}, found {location}", allowed.join(" or "))))
}

/// What places are asked for, and who asks: they lie in the warehouse, and are nobody else's ([`Reach`]).
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) app: &'a App,
    pub(super) warehouse: &'a Warehouse,
    /// Who asks.
    pub(super) caller: &'a Caller,
    /// The namespace of the table or view.
    pub(super) namespace: &'a Namespace,
    /// What it was until now; nothing for what is new.
    pub(super) row: Option<&'a TableRow>,
}

impl Places<'_> {
    /// Checks the places that metadata names: its location, and where its files are to go. Answers the location.
    pub(super) async fn check_metadata<M: Document>(&self, metadata: &M) -> Result<Location, Error> {
        let location = check_inside(self.warehouse, "location", metadata.location())?;
        self.check("location", &location, true).await?;
        self.check_paths(None, metadata, &location).await?;
        Ok(location)
    }

    /// As [`Self::check_metadata`], for a location that was chosen, and checked if a client wished for it.
    pub(super) async fn check_chosen<M: Document>(&self, metadata: &M) -> Result<(), Error> {
        let location = check_inside(self.warehouse, "location", metadata.location())?;
        self.check_paths(None, metadata, &location).await
    }

    /// Checks the places that changed metadata names, if it names others than before; answers the location in normal
    /// form, or nothing if it stays as it is.
    pub(super) async fn check_changed<M: Document>(&self, old: &M, new: &M) -> Result<String, Error> {
        let moved = self.row.is_none_or(|row| new.location() != row.location);
        if !moved && PATHS.iter().all(|path| old.property(path) == new.property(path)) {
            return Ok(String::new());
        }
        let location = check_inside(self.warehouse, "location", new.location())?;
        if moved {
            self.check("location", &location, true).await?;
        }
        self.check_paths(Some(old), new, &location).await?;
        Ok(location.to_string())
    }

    async fn check_paths<M: Document>(&self, old: Option<&M>, new: &M, location: &Location) -> Result<(), Error> {
        for (name, path) in PATHS.iter().filter_map(|name| Some((name, new.property(name)?))) {
            if old.is_some_and(|old| old.property(name) == Some(path)) {
                continue;
            }
            let place = check_inside(self.warehouse, name, path)?;
            if !place.is_under(location) {
                self.check_known(name, &place, false, old).await?;
            }
        }
        Ok(())
    }

    /// Checks the files that updates name and that no rule of validation looks at: statistics.
    pub(super) async fn check_files<M: Document>(&self, updates: &[TableUpdate], new: &M) -> Result<(), Error> {
        for update in updates {
            let path = match update {
                TableUpdate::SetStatistics { statistics } => &statistics.statistics_path,
                TableUpdate::SetPartitionStatistics { partition_statistics } => &partition_statistics.statistics_path,
                _ => continue,
            };
            let place = check_inside(self.warehouse, "statistics-path", path)?;
            self.check_known("statistics-path", &place.folder(), false, Some(new)).await?;
        }
        Ok(())
    }

    /// Refuses a place that is closed; with `around` also for what lies in it. For a location that is early, with no file
    /// written: the insert still has the last word.
    pub(super) async fn check(&self, what: &str, place: &Location, around: bool) -> Result<(), Error> {
        self.check_known::<TableMetadata>(what, place, around, None).await
    }

    /// As [`Self::check`], where what metadata names is known to be open.
    async fn check_known<M: Document>(
        &self,
        what: &str,
        place: &Location,
        around: bool,
        named: Option<&M>,
    ) -> Result<(), Error> {
        // Whose it is may be nobody's business.
        let forbidden = |why: &str| Err(Error::Forbidden(format!("Not allowed: {what} {place} {why}")));
        match self.reach(named.into_iter().flat_map(paths_of).collect()).ask(place, around).await? {
            None => Ok(()),
            Some(Closed::Live) if around => {
                Err(Error::Invalid(format!("Invalid {what}: {place} overlaps the location of another table")))
            }
            Some(Closed::Live) => {
                Err(Error::Invalid(format!("Invalid {what}: {place} is in the location of another table")))
            }
            Some(Closed::Held) => forbidden(
                "has files of a table of another namespace, or what one left behind: only those use it who may write there",
            ),
            Some(Closed::Foreign) => forbidden(
                "is in the folder of no namespace that you may write, and takes the right to write the whole warehouse",
            ),
        }
    }

    /// How far the caller gets for the table, whose metadata names these places.
    pub(super) fn reach(&self, paths: Vec<Location>) -> Reach {
        Reach {
            app: self.app.clone(),
            warehouse_id: self.warehouse.row.id.clone(),
            warehouse_location: self.warehouse.row.location.clone(),
            caller: self.caller.clone(),
            action: Action::Write,
            namespace: self.namespace.clone(),
            table_id: self.row.map_or_else(String::new, |row| row.id.clone()),
            home: self.row.and_then(|row| Location::parse(&row.location).ok()),
            paths,
        }
    }
}

/// The places that metadata names for its files: its location first.
pub(super) fn paths_of<M: Document>(metadata: &M) -> impl Iterator<Item = Location> {
    let named = PATHS.iter().filter_map(|name| metadata.property(name));
    std::iter::once(metadata.location()).chain(named).filter_map(|path| Location::parse(path).ok())
}

/// The places besides its location where metadata has files go, in normal form.
pub(super) fn shared_paths<M: Document>(metadata: &M) -> Vec<String> {
    let home = Location::parse(metadata.location()).ok();
    let apart = |place: &Location| home.as_ref().is_none_or(|home| !place.is_under(home));
    let mut paths: Vec<String> = paths_of(metadata).skip(1).filter(apart).map(|place| place.to_string()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}
