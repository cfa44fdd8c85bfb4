//! Which files are a table's own, so that they may be deleted with it.
//!
//! Metadata names files anywhere, and who may write metadata may write any name into it. A file is deleted only where
//! the table keeps files, where its warehouse may have any, and where no other table lives.

use crate::app::App;
use crate::commit::places::PATHS;
use crate::spec::TableMetadata;
use crate::storage::Location;
use crate::store::{self, locations};
use std::collections::HashMap;

/// The places where a table keeps files.
#[derive(Debug, Clone)]
pub struct Owned {
    table_id: String,
    /// The location that it has.
    home: Option<Location>,
    /// The locations that it had.
    former: Vec<Location>,
    /// What its properties name besides.
    paths: Vec<Location>,
    allowed: Vec<Location>,
}

impl Owned {
    /// The places of a table: the locations that it has and had, and what its properties `write.*.path` name; of
    /// those, what lies under `allowed`.
    pub async fn of(
        app: &App,
        table_id: &str,
        metadata: &TableMetadata,
        allowed: &[Location],
    ) -> Result<Self, store::Error> {
        let had = locations::of_table(&app.db, table_id).await?;
        let had = had.iter().map(|place| place.location.as_str());
        Ok(Self::new(table_id, metadata, had, allowed))
    }

    fn new<'a>(
        table_id: &str,
        metadata: &'a TableMetadata,
        had: impl Iterator<Item = &'a str>,
        allowed: &[Location],
    ) -> Self {
        // Only these are checked when they are set.
        let paths = PATHS.iter().filter_map(|key| metadata.properties.get(*key)).map(String::as_str);
        // What is no location holds no file that could be deleted.
        let parse = |place| Location::parse(place).ok();
        Self {
            table_id: table_id.to_owned(),
            home: parse(metadata.location.as_str()),
            former: had.filter_map(parse).collect(),
            paths: paths.filter_map(parse).collect(),
            allowed: allowed.to_vec(),
        }
    }

    /// Whether a file lies where the table lives.
    fn is_home(&self, file: &Location) -> bool {
        self.home.as_ref().is_some_and(|home| file.is_under(home))
    }

    /// The length of the narrowest place of the table's that holds a file.
    fn narrowest(&self, file: &Location) -> usize {
        let own = self.former.iter().chain(&self.paths).filter(|place| file.is_under(place));
        own.map(|place| place.to_string().len()).max().unwrap_or(0)
    }

    /// Whether a file lies in one of the places, and in one that is allowed.
    fn holds(&self, file: &Location) -> bool {
        let lies_in = |place: &Location| file.is_under(place) && file != place;
        self.home.iter().chain(&self.former).chain(&self.paths).any(lies_in) && self.allowed.iter().any(lies_in)
    }

    /// Splits files into those that are the table's own and the number of the others. A file that lies where another
    /// table lives is not its own, whoever wrote it: the other one may need it.
    pub async fn split(&self, app: &App, files: Vec<String>) -> Result<(Vec<String>, usize), store::Error> {
        let mut folders: HashMap<String, bool> = HashMap::new();
        let mut own = Vec::with_capacity(files.len());
        let mut others = 0;
        for file in files {
            if self.is_own(app, &file, &mut folders).await? {
                own.push(file);
            } else {
                others += 1;
            }
        }
        Ok((own, others))
    }

    async fn is_own(&self, app: &App, file: &str, folders: &mut HashMap<String, bool>) -> Result<bool, store::Error> {
        let Some(location) = Location::parse(file).ok().filter(|location| self.holds(location)) else {
            return Ok(false);
        };
        let normal = location.to_string();
        // A location names a folder, so the file's folder tells all.
        let folder = normal.rsplit_once('/').map_or(normal.as_str(), |(folder, _)| folder);
        if let Some(known) = folders.get(folder) {
            return Ok(*known);
        }
        let mut free = locations::covering(&app.db, folder, &self.table_id).await?.is_none();
        if free && !app.auth.is_open() && !self.is_home(&location) {
            // Of those who may write metadata not everybody may be trusted with what it names: a place makes nothing this
            // table's that another one has as narrowly, or left behind.
            let own = self.narrowest(&location);
            let held = locations::held(&app.db, folder, false, &self.table_id).await?;
            free = held.iter().all(|held| held.location.len() < own);
        }
        folders.insert(folder.to_owned(), free);
        Ok(free)
    }

    /// Another table that lives where this one does, as after it was registered twice: then any file may be needed,
    /// wherever it lies.
    pub async fn cohabitant(&self, app: &App) -> Result<Option<String>, store::Error> {
        let Some(home) = &self.home else { return Ok(None) };
        let other = locations::covering(&app.db, &home.to_string(), &self.table_id).await?;
        Ok(other.map(|other| other.table_id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(properties: &str, had: &[&str]) -> Owned {
        let metadata = format!(
            r#"{{"format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "gs://b/t",
                "last-sequence-number": 0, "last-updated-ms": 1, "last-column-id": 1, "current-schema-id": 0,
                "schemas": [{{"type": "struct", "schema-id": 0, "fields": []}}], "default-spec-id": 0,
                "partition-specs": [{{"spec-id": 0, "fields": []}}], "last-partition-id": 999,
                "default-sort-order-id": 0, "sort-orders": [{{"order-id": 0, "fields": []}}],
                "properties": {properties}}}"#
        );
        let metadata = TableMetadata::parse(metadata.as_bytes()).unwrap();
        Owned::new("id", &metadata, had.iter().copied(), &[Location::parse("gs://b").unwrap()])
    }

    #[test]
    fn a_tables_places_are_its_locations_and_write_paths() {
        let owned = owned(
            r#"{"write.data.path": "gs://b/data/", "write.metadata.path": "gs://other/x", "read.data.path": "gs://b/r"}"#,
            &["gs://b/old"],
        );
        let holds = |file: &str| owned.holds(&Location::parse(file).unwrap());
        for own in ["gs://b/t/data/x.parquet", "gs://b/t/metadata/v1.json", "gs://b/data/x", "gs://b/old/x"] {
            assert!(holds(own), "{own}");
        }
        for foreign in ["gs://b/t2/x", "gs://b/t", "gs://b/r/x", "gs://other/x/y", "gs://b/x", "s3://b/t/x"] {
            assert!(!holds(foreign), "{foreign}");
        }
    }
}
