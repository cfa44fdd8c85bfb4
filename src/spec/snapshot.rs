//! Snapshots (spec.md 2.4): kept as the text they were sent as, with the members that rules need read beside it.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Raw, shown, str_of};
use super::members::{Key, equal_by_text, members, pick};

/// One snapshot of a table.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The id, unique in the table.
    pub snapshot_id: i64,
    /// The snapshot this one was made from; `None` for the first one and after a replace.
    pub parent_snapshot_id: Option<i64>,
    /// The order of commits; 0 in format version 1.
    pub sequence_number: i64,
    /// When the client made it, in milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Where the manifest list is; `None` only in old version 1 snapshots, which list their manifests themselves.
    pub manifest_list: Option<String>,
    /// The schema that was current when it was made.
    pub schema_id: Option<i32>,
    /// The first row id that it assigns (format version 3).
    pub first_row_id: Option<i64>,
    /// Upper bound of the row ids that it assigns (format version 3); `None` where `first_row_id` is.
    pub added_rows: Option<i64>,
    /// The key that protects the manifest list's key metadata.
    pub key_id: Option<String>,
    /// `append`, `replace`, `overwrite` or `delete`; `None` where the summary does not say.
    pub operation: Option<String>,
    /// Whether the snapshot has the member `manifests`, the list of version 1.
    pub embeds_manifests: bool,
    raw: Raw,
}

equal_by_text!(Snapshot);

members! {
    struct Members {
        snapshot_id: "snapshot-id",
        parent_snapshot_id: "parent-snapshot-id",
        sequence_number: "sequence-number",
        timestamp_ms: "timestamp-ms",
        manifest_list: "manifest-list",
        manifests: "manifests",
        schema_id: "schema-id",
        first_row_id: "first-row-id",
        added_rows: "added-rows",
        key_id: "key-id",
        summary: "summary",
    }
}

impl Snapshot {
    /// Reads a snapshot as leniently as Java reads a stored one (spec.md 2.4 item 7, 2.6).
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the member which is missing or wrong.
    pub fn parse(raw: Raw) -> Result<Self> {
        let picked: Members<'_> = pick("table version", &raw)?;
        let snapshot_id = picked.snapshot_id.required()?;
        let parent_snapshot_id = picked.parent_snapshot_id.present()?;
        let sequence_number = picked.sequence_number.present()?.unwrap_or(0);
        let timestamp_ms = picked.timestamp_ms.required()?;
        let operation = picked.summary.raw.map(operation_of).transpose()?.flatten();
        let schema_id = picked.schema_id.optional()?;
        let first_row_id = picked.first_row_id.optional()?;
        let added_rows = picked.added_rows.optional()?;
        let key_id = picked.key_id.optional()?;
        let manifest_list = picked.manifest_list.present()?;
        if manifest_list.is_none() {
            picked.manifests.required::<Vec<String>>()?;
        }
        let embeds_manifests = picked.manifests.raw.is_some();
        let added_rows = check_rows(first_row_id, added_rows)?;
        Ok(Self {
            snapshot_id,
            parent_snapshot_id,
            sequence_number,
            timestamp_ms,
            manifest_list,
            schema_id,
            first_row_id,
            added_rows,
            key_id,
            operation,
            embeds_manifests,
            raw,
        })
    }

    /// The manifests that a version 1 snapshot without a manifest list names itself.
    pub fn embedded_manifests(&self) -> Vec<String> {
        let picked: Result<Members<'_>> = pick("table version", &self.raw);
        picked.and_then(|picked| picked.manifests.optional()).ok().flatten().unwrap_or_default()
    }

    /// The snapshot as it was sent, unknown members included.
    pub fn to_json(&self) -> &RawValue {
        &self.raw
    }

    /// Whether this is the stored form of the same commit: same id, same manifest list (spec.md 4.2 check 3).
    pub(super) fn is_resend_of(&self, stored: &Self) -> bool {
        self.snapshot_id == stored.snapshot_id
            && self.manifest_list.is_some()
            && self.manifest_list == stored.manifest_list
    }

    /// What a new snapshot must be in itself, whatever the table looks like (spec.md 4.2 checks 4, 5, 15, 17).
    pub(super) fn check_new(&self, format_version: u8) -> Result<()> {
        let id = self.snapshot_id;
        if id <= 0 {
            return Err(Error::invalid(format!("Invalid snapshot-id: {id} (must be positive)")));
        }
        if self.manifest_list.as_deref() == Some("") {
            return Err(Error::invalid(format!("Invalid manifest-list of snapshot {id}: it is empty")));
        }
        let sequence = self.sequence_number;
        if format_version == 1 {
            if sequence != 0 {
                return Err(Error::invalid(format!("Sequence number must be 0 in v1: {sequence}")));
            }
            return Ok(());
        }
        if sequence <= 0 {
            let text = format!("Invalid sequence-number of snapshot {id}: {sequence} (must be positive)");
            return Err(Error::invalid(text));
        }
        if self.manifest_list.is_none() || self.embeds_manifests {
            let text = "it must have a manifest-list and no manifests";
            return Err(Error::invalid(format!("Invalid snapshot {id} for v{format_version}: {text}")));
        }
        if self.operation.is_none() {
            return Err(Error::invalid(format!("Invalid snapshot {id}: its summary has no operation")));
        }
        Ok(())
    }
}

/// Checks the members of row lineage as Java's snapshot does; `added-rows` alone means nothing.
fn check_rows(first_row_id: Option<i64>, added_rows: Option<i64>) -> Result<Option<i64>> {
    match (first_row_id, added_rows) {
        (Some(first), _) if first < 0 => {
            Err(Error::invalid(format!("Invalid first-row-id (cannot be negative): {first}")))
        }
        (_, Some(added)) if added < 0 => {
            Err(Error::invalid(format!("Invalid added-rows (cannot be negative): {added}")))
        }
        (Some(_), None) => Err(Error::invalid("Invalid added-rows (required when first-row-id is set): null")),
        (Some(_), added) => Ok(added),
        (None, _) => Ok(None),
    }
}

/// The operation of a summary, whose values must all be strings (spec.md 4.2 check 18).
fn operation_of(summary: &RawValue) -> Result<Option<String>> {
    let refused = || Error::invalid(format!("Cannot parse summary from non-object value: {}", shown(summary)));
    if !summary.get().starts_with('{') {
        return Err(refused());
    }
    let mut deserializer = serde_json::Deserializer::from_str(summary.get());
    deserializer.deserialize_map(SummaryVisitor).map_err(|_| refused())?
}

/// Looks at every value of a summary without copying it.
struct SummaryVisitor;

impl<'de> Visitor<'de> for SummaryVisitor {
    type Value = Result<Option<String>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a summary")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut operation = Ok(None);
        while let Some(Key(key)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            if operation.is_ok() && (key == "operation" || !value.get().starts_with('"')) {
                operation = str_of(&key, value).map(Some);
            }
        }
        Ok(operation)
    }
}
