//! What updates do to a view (spec.md 2.7).

use std::collections::BTreeSet;

use super::{VersionLogEntry, ViewMetadata, ViewUpdate, ViewVersion, check_format_version};
use crate::spec::error::{Error, Result};
use crate::spec::schema::Schema;

/// In a request, the schema or version that was added last.
const LAST_ADDED: i32 = -1;

/// The property that lets a new version do without a dialect of the old one.
const DROP_DIALECT_ALLOWED: &str = "replace.drop-dialect.allowed";

/// The property that says how many versions are kept, and its default.
const HISTORY_SIZE: &str = "version.history.num-entries";
const DEFAULT_HISTORY_SIZE: usize = 10;

/// A view after updates.
#[derive(Debug, Clone)]
pub struct AppliedView {
    /// The new metadata.
    pub metadata: ViewMetadata,
    /// Whether it differs from the old one; if not, there is nothing to write.
    pub changed: bool,
}

/// Applies updates in order, then what holds for every new state: no dialect is lost, old versions are dropped.
/// `now_ms` is the time that the log gives to an old version which becomes current again.
///
/// # Errors
/// [`Error::IllegalArgument`] if two queries of a version have one dialect; [`Error::Invalid`] with the text of the
/// first problem else.
pub fn apply_view(base: &ViewMetadata, updates: &[ViewUpdate], now_ms: i64) -> Result<AppliedView> {
    let mut changes = Changes::new(base, now_ms);
    updates.iter().try_for_each(|update| changes.apply(update))?;
    changes.finish(base)
}

/// A view while updates are applied to it.
struct Changes {
    view: ViewMetadata,
    changed: bool,
    now_ms: i64,
    last_added_schema: Option<i32>,
    last_added_version: Option<i32>,
    added_versions: BTreeSet<i32>,
    /// The log entry of the version that became current; only the last one of a request is logged.
    log_entry: Option<VersionLogEntry>,
}

impl Changes {
    fn new(base: &ViewMetadata, now_ms: i64) -> Self {
        Self {
            view: base.clone(),
            changed: false,
            now_ms,
            last_added_schema: None,
            last_added_version: None,
            added_versions: BTreeSet::new(),
            log_entry: None,
        }
    }

    fn apply(&mut self, update: &ViewUpdate) -> Result<()> {
        match update {
            ViewUpdate::AssignUuid(uuid) if *uuid == self.view.view_uuid => Ok(()),
            ViewUpdate::AssignUuid(_) => Err(Error::invalid("Cannot reassign uuid")),
            ViewUpdate::UpgradeFormatVersion(to) => self.upgrade(*to),
            ViewUpdate::AddSchema(schema) => self.add_schema(schema),
            ViewUpdate::SetLocation(location) => self.set_location(location),
            ViewUpdate::SetProperties(properties) => {
                self.changed |= !properties.is_empty();
                self.view.properties.extend(properties.iter().cloned());
                Ok(())
            }
            ViewUpdate::RemoveProperties(keys) => {
                self.changed |= !keys.is_empty();
                let keys: BTreeSet<_> = keys.iter().collect();
                self.view.properties.retain(|key, _| !keys.contains(key));
                Ok(())
            }
            ViewUpdate::AddViewVersion(version) => self.add_version(version),
            ViewUpdate::SetCurrentViewVersion(id) => self.set_current(*id),
        }
    }

    fn upgrade(&self, to: i32) -> Result<()> {
        let from = self.view.format_version;
        if to < from {
            return Err(Error::invalid(format!("Cannot downgrade v{from} view to v{to}")));
        }
        check_format_version(to)
    }

    fn set_location(&mut self, location: &str) -> Result<()> {
        let location = clean_location(location)?;
        self.changed |= location != self.view.location;
        self.view.location = location;
        Ok(())
    }

    /// Adds the schema under the next number, unless there is an equal one.
    fn add_schema(&mut self, schema: &Schema) -> Result<()> {
        schema.check_valid()?;
        if let Some(equal) = self.view.schemas.iter().find(|known| known.same_as(schema)) {
            self.last_added_schema = Some(equal.schema_id);
            return Ok(());
        }
        let highest = self.view.schemas.iter().map(|known| known.schema_id).max();
        let id = next(highest.unwrap_or(LAST_ADDED), "schema")?.max(0);
        self.view.schemas.push(schema.clone().with_id(id));
        self.last_added_schema = Some(id);
        self.changed = true;
        Ok(())
    }

    /// Adds the version under its number or, where that is taken, the next one; unless there is an equal one.
    fn add_version(&mut self, version: &ViewVersion) -> Result<()> {
        let mut version = version.clone();
        if version.schema_id == LAST_ADDED {
            let last = self.last_added_schema;
            version.schema_id =
                last.ok_or_else(|| Error::invalid("Cannot set last added schema: no schema has been added"))?;
        }
        if let Some(equal) = self.view.versions.iter().find(|known| known.same_as(&version)) {
            self.last_added_version = Some(equal.version_id);
            return Ok(());
        }
        if self.view.schema(version.schema_id).is_none() {
            return Err(Error::invalid(format!("Cannot add version with unknown schema: {}", version.schema_id)));
        }
        version.check_representations()?;
        if let Some(highest) = self.view.versions.iter().map(|known| known.version_id).max() {
            version.version_id = version.version_id.max(next(highest, "version")?);
        }
        self.last_added_version = Some(version.version_id);
        self.added_versions.insert(version.version_id);
        self.view.versions.push(version);
        self.changed = true;
        Ok(())
    }

    fn set_current(&mut self, id: i32) -> Result<()> {
        let id = match (id, self.last_added_version) {
            (LAST_ADDED, Some(last)) => last,
            (LAST_ADDED, None) => {
                return Err(Error::invalid("Cannot set last version id: no current version id has been set"));
            }
            (id, _) => id,
        };
        if id == self.view.current_version_id {
            return Ok(());
        }
        let Some(version) = self.view.version(id) else {
            return Err(Error::invalid(format!("Cannot set current version to unknown version: {id}")));
        };
        let added = self.added_versions.contains(&id);
        self.log_entry = Some(VersionLogEntry::new(if added { version.timestamp_ms } else { self.now_ms }, id));
        self.view.current_version_id = id;
        self.changed = true;
        Ok(())
    }

    fn finish(mut self, base: &ViewMetadata) -> Result<AppliedView> {
        self.view.version_log.extend(self.log_entry.take());
        check_dialects(base, &self.view)?;
        let keep = history_size(&self.view)?.max(self.protected().len());
        if self.view.versions.len() > keep {
            self.expire(keep);
        }
        Ok(AppliedView { metadata: self.view, changed: self.changed })
    }

    /// The versions that are never dropped: the current one and those that were just added.
    fn protected(&self) -> BTreeSet<i32> {
        let mut ids = self.added_versions.clone();
        ids.insert(self.view.current_version_id);
        ids
    }

    /// Keeps so many versions, the newest beside the protected ones, and the log after the last gap.
    fn expire(&mut self, keep: usize) {
        let mut kept = self.protected();
        let mut ids: Vec<_> = self.view.versions.iter().map(|version| version.version_id).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        for id in ids {
            if kept.len() >= keep {
                break;
            }
            kept.insert(id);
        }
        self.view.versions.retain(|version| kept.contains(&version.version_id));
        let gap = self.view.version_log.iter().rposition(|entry| !kept.contains(&entry.version_id));
        if let Some(gap) = gap {
            self.view.version_log.drain(..=gap);
        }
    }
}

/// A new current version must not lose a dialect, or engines that speak it lose the view.
fn check_dialects(base: &ViewMetadata, view: &ViewMetadata) -> Result<()> {
    if view.properties.get(DROP_DIALECT_ALLOWED).is_some_and(|allowed| allowed.eq_ignore_ascii_case("true")) {
        return Ok(());
    }
    let dialects = |view: &ViewMetadata| view.current_version().map(ViewVersion::dialects).unwrap_or_default();
    let (old, new) = (dialects(base), dialects(view));
    if new.is_superset(&old) {
        return Ok(());
    }
    let list = |dialects: BTreeSet<String>| dialects.into_iter().collect::<Vec<_>>().join(", ");
    Err(Error::invalid(format!(
        "Cannot replace view due to loss of view dialects ({DROP_DIALECT_ALLOWED}=false):\n\
         Previous dialects: [{}]\nNew dialects: [{}]",
        list(old),
        list(new)
    )))
}

fn history_size(view: &ViewMetadata) -> Result<usize> {
    let Some(text) = view.properties.get(HISTORY_SIZE) else { return Ok(DEFAULT_HISTORY_SIZE) };
    match text.parse::<i32>().map(usize::try_from) {
        Ok(Ok(size)) if size > 0 => Ok(size),
        _ => Err(Error::invalid(format!("{HISTORY_SIZE} must be positive but was {text}"))),
    }
}

fn next(highest: i32, what: &str) -> Result<i32> {
    highest.checked_add(1).ok_or_else(|| Error::invalid(format!("Cannot add {what}: there is no number left for it")))
}

/// A location without slashes at its end.
pub(super) fn clean_location(location: &str) -> Result<String> {
    let mut clean = location;
    while let Some(shorter) = clean.strip_suffix('/').filter(|_| !clean.ends_with("://")) {
        clean = shorter;
    }
    if clean.is_empty() {
        return Err(Error::invalid("Invalid location: empty"));
    }
    Ok(clean.to_owned())
}
