//! Updates of a view, as requests bring them (spec.md 2.3, 2.7).

use serde_json::value::RawValue;

use super::ViewVersion;
use crate::spec::error::{Error, Result};
use crate::spec::json::Object;
use crate::spec::schema::Schema;

/// One update of a view.
#[derive(Debug, Clone)]
pub enum ViewUpdate {
    /// Sets the identity, which must be the one the view has.
    AssignUuid(String),
    /// Raises the format version; there is only one.
    UpgradeFormatVersion(i32),
    /// Adds a schema, or finds an equal one.
    AddSchema(Schema),
    /// Moves the view's files to come.
    SetLocation(String),
    /// Sets properties.
    SetProperties(Vec<(String, String)>),
    /// Removes properties; missing ones do not matter.
    RemoveProperties(Vec<String>),
    /// Adds a version, or finds an equal one.
    AddViewVersion(ViewVersion),
    /// Makes a version current; -1 is the one that was added last.
    SetCurrentViewVersion(i32),
}

impl ViewUpdate {
    /// Reads an update. The action is read in any case.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the action is none of a view, or a member is missing or wrong.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        let mut object = Object::parse_raw(raw)?;
        let action = object.required_str("action")?;
        Ok(match action.to_ascii_lowercase().as_str() {
            "assign-uuid" => Self::AssignUuid(object.required_str("uuid")?),
            "upgrade-format-version" => Self::UpgradeFormatVersion(object.required_i32("format-version")?),
            "add-schema" => Self::AddSchema(Schema::parse(&object.required_raw("schema")?)?),
            "set-location" => Self::SetLocation(object.required_str("location")?),
            "set-properties" => {
                let key = present_or_legacy(&object, "updates", "updated");
                Self::SetProperties(object.required_string_map(key)?)
            }
            "remove-properties" => {
                let key = present_or_legacy(&object, "removals", "removed");
                Self::RemoveProperties(object.required_strings(key)?)
            }
            "add-view-version" => Self::AddViewVersion(ViewVersion::parse(&object.required_raw("view-version")?)?),
            "set-current-view-version" => Self::SetCurrentViewVersion(object.required_i32("view-version-id")?),
            _ => return Err(Error::invalid(format!("Cannot apply update {action} to a view"))),
        })
    }
}

/// Old clients use another name for a member.
fn present_or_legacy(object: &Object, name: &'static str, legacy: &'static str) -> &'static str {
    if object.has(legacy) && !object.has(name) { legacy } else { name }
}
