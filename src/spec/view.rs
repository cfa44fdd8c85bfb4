//! View metadata (spec.md 2.7): versions of a query, the schemas they give, and the log of what was current when.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Object, ObjectWriter};
use super::schema::Schema;

mod apply;
mod request;
#[cfg(test)]
mod tests;
mod update;
mod version;

pub use apply::{AppliedView, apply_view};
pub use request::{CommitViewRequest, CreateViewRequest, ViewRequirement};
pub use update::ViewUpdate;
pub use version::{Representation, VersionLogEntry, ViewVersion};

/// The only format version of views.
const FORMAT_VERSION: i32 = 1;

/// The metadata of a view. Members that are not known are kept, at every level.
#[derive(Debug, Clone)]
pub struct ViewMetadata {
    /// The view's identity; it never changes.
    pub view_uuid: String,
    /// Always 1.
    pub format_version: i32,
    /// Where the view's files live.
    pub location: String,
    /// The view's properties.
    pub properties: IndexMap<String, String>,
    /// All schemas that a version has or had.
    pub schemas: Vec<Schema>,
    /// The version that is in force.
    pub current_version_id: i32,
    /// The versions that are kept.
    pub versions: Vec<ViewVersion>,
    /// Which version became current when, oldest first.
    pub version_log: Vec<VersionLogEntry>,
    rest: Object,
}

impl ViewMetadata {
    /// Reads a metadata file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not JSON, a member is missing or wrong, an id occurs twice, or the current version
    /// or its schema is not there.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut file = Object::parse_document(bytes)?;
        let metadata = Self {
            view_uuid: file.required_str("view-uuid")?,
            format_version: file.required_i32("format-version")?,
            location: file.required_str("location")?,
            properties: file.present_string_map("properties")?.unwrap_or_default().into_iter().collect(),
            schemas: each(&mut file, "schemas", Schema::parse)?,
            current_version_id: file.required_i32("current-version-id")?,
            versions: each(&mut file, "versions", ViewVersion::parse)?,
            version_log: each(&mut file, "version-log", VersionLogEntry::parse)?,
            rest: file,
        };
        metadata.check()?;
        Ok(metadata)
    }

    /// The text of a metadata file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = String::new();
        let mut file = ObjectWriter::new(&mut out);
        file.str("view-uuid", &self.view_uuid);
        file.int("format-version", self.format_version);
        file.str("location", &self.location);
        if !self.properties.is_empty() {
            file.string_map("properties", &self.properties);
        }
        file.array("schemas", &self.schemas, |out, schema| schema.write(out));
        file.int("current-version-id", self.current_version_id);
        file.array("versions", &self.versions, |out, version| version.write(out));
        file.array("version-log", &self.version_log, |out, entry| entry.write(out));
        file.rest(&self.rest);
        file.finish();
        out.into_bytes()
    }

    /// The version with this id.
    pub fn version(&self, id: i32) -> Option<&ViewVersion> {
        self.versions.iter().find(|version| version.version_id == id)
    }

    /// The version that is in force.
    pub fn current_version(&self) -> Option<&ViewVersion> {
        self.version(self.current_version_id)
    }

    /// The schema with this id.
    pub fn schema(&self, id: i32) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.schema_id == id)
    }

    /// What Java demands when it reads a view and when it uses it.
    fn check(&self) -> Result<()> {
        check_format_version(self.format_version)?;
        let mut ids = HashSet::new();
        if let Some(twice) = self.schemas.iter().find(|schema| !ids.insert(schema.schema_id)) {
            return Err(Error::invalid(format!("Invalid view: multiple schemas with id {}", twice.schema_id)));
        }
        let mut ids = HashSet::new();
        if let Some(twice) = self.versions.iter().find(|version| !ids.insert(version.version_id)) {
            return Err(Error::invalid(format!("Invalid view: multiple versions with id {}", twice.version_id)));
        }
        let Some(current) = self.current_version() else {
            let ids: Vec<_> = self.versions.iter().map(|version| version.version_id).collect();
            let id = self.current_version_id;
            return Err(Error::invalid(format!("Cannot find current version {id} in view versions: {ids:?}")));
        };
        if self.schema(current.schema_id).is_none() {
            let ids: Vec<_> = self.schemas.iter().map(|schema| schema.schema_id).collect();
            let id = current.schema_id;
            return Err(Error::invalid(format!("Cannot find current schema with id {id} in schemas: {ids:?}")));
        }
        Ok(())
    }
}

fn check_format_version(format_version: i32) -> Result<()> {
    if format_version == FORMAT_VERSION {
        return Ok(());
    }
    Err(Error::invalid(format!("Unsupported format version: {format_version}")))
}

/// Takes an array that must be there and reads its elements.
fn each<T>(object: &mut Object, key: &str, read: impl Fn(&RawValue) -> Result<T>) -> Result<Vec<T>> {
    object.required_array(key)?.iter().map(|raw| read(raw)).collect()
}
