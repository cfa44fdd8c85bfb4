//! Requests that create and change views.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::apply::clean_location;
use super::{FORMAT_VERSION, VersionLogEntry, ViewMetadata, ViewUpdate, ViewVersion};
use crate::spec::error::{Error, Result};
use crate::spec::ident::TableIdent;
use crate::spec::json::Object;
use crate::spec::schema::Schema;

/// The number of a view's first version.
const FIRST_VERSION_ID: i32 = 1;

/// The body of `POST namespaces/{namespace}/views`.
#[derive(Debug, Clone)]
pub struct CreateViewRequest {
    /// The view's name.
    pub name: String,
    /// Where its files shall live, if the client cares.
    pub location: Option<String>,
    /// The schema of its rows.
    pub schema: Schema,
    /// Its first version.
    pub view_version: ViewVersion,
    /// Its properties.
    pub properties: IndexMap<String, String>,
}

impl CreateViewRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the member which is missing or wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut body = Object::parse_document(bytes)?;
        Ok(Self {
            name: body.required_str("name")?,
            location: body.optional_str("location")?,
            view_version: ViewVersion::parse(&body.required_raw("view-version")?)?,
            schema: Schema::parse(&body.required_raw("schema")?)?,
            properties: body.optional_string_map("properties")?.unwrap_or_default().into_iter().collect(),
        })
    }

    /// The metadata of the new view: the schema gets the number 0, the version 1.
    ///
    /// # Errors
    /// [`Error::IllegalArgument`] if two queries have one dialect; [`Error::Invalid`] if there is no query, one of an
    /// unknown form, or the schema cannot be added.
    pub fn build(&self, location: &str, uuid: &str) -> Result<ViewMetadata> {
        if self.view_version.representations.is_empty() {
            return Err(Error::invalid("Cannot create view without specifying a query"));
        }
        self.view_version.check_representations()?;
        self.schema.check_valid()?;
        let schema = self.schema.clone().with_id(0);
        let mut version = self.view_version.clone();
        (version.version_id, version.schema_id) = (FIRST_VERSION_ID, schema.schema_id);
        Ok(ViewMetadata {
            view_uuid: uuid.to_owned(),
            format_version: FORMAT_VERSION,
            location: clean_location(location)?,
            properties: self.properties.clone(),
            schemas: vec![schema],
            current_version_id: version.version_id,
            version_log: vec![VersionLogEntry::new(version.timestamp_ms, version.version_id)],
            versions: vec![version],
            rest: Object::default(),
        })
    }
}

/// The body of `POST namespaces/{namespace}/views/{view}`.
#[derive(Debug, Clone)]
pub struct CommitViewRequest {
    /// The view, if the body names it.
    pub identifier: Option<TableIdent>,
    /// What must hold for the view as it is.
    pub requirements: Vec<ViewRequirement>,
    /// What shall be changed, in order.
    pub updates: Vec<ViewUpdate>,
}

impl CommitViewRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a requirement or an update is none of a view, or a member is missing or wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut body = Object::parse_document(bytes)?;
        let requirements = body.optional_array("requirements")?.unwrap_or_default();
        let updates = body.optional_array("updates")?.unwrap_or_default();
        Ok(Self {
            identifier: body.optional_raw("identifier").map(|raw| TableIdent::parse(&raw)).transpose()?,
            requirements: requirements.iter().map(|raw| ViewRequirement::parse(raw)).collect::<Result<_>>()?,
            updates: updates.iter().map(|raw| ViewUpdate::parse(raw)).collect::<Result<_>>()?,
        })
    }
}

/// What must hold for the view as it is, or the commit fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewRequirement {
    /// The view has this identity.
    AssertViewUuid(String),
}

impl ViewRequirement {
    /// Reads a requirement. The type is read in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the type is none of a view.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        let mut object = Object::parse_raw(raw)?;
        let kind = object.required_str("type")?;
        match kind.to_ascii_lowercase().as_str() {
            "assert-view-uuid" => Ok(Self::AssertViewUuid(object.required_str("uuid")?)),
            _ => Err(Error::invalid(format!("Cannot validate {kind} against a view"))),
        }
    }

    /// Whether the requirement holds.
    ///
    /// # Errors
    /// [`Error::Conflict`] with the text of spec.md 2.2 if it does not.
    pub fn check(&self, base: &ViewMetadata) -> Result<()> {
        let Self::AssertViewUuid(given) = self;
        if given.eq_ignore_ascii_case(&base.view_uuid) {
            return Ok(());
        }
        let actual = &base.view_uuid;
        Err(Error::conflict(format!("Requirement failed: view UUID does not match: expected {actual} != {given}")))
    }
}
