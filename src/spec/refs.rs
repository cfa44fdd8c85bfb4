//! Snapshot references: branches and tags (spec.md 2.4).

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Object, ObjectWriter, Raw, raw_from_valid};

/// The branch whose head is the table's current snapshot.
pub const MAIN_BRANCH: &str = "main";

/// What a reference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefKind {
    /// Moves with every commit to it.
    Branch,
    /// Stays where it was put.
    Tag,
}

impl RefKind {
    /// The word in metadata and in errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Tag => "tag",
        }
    }

    /// Reads the word in any letter case, as Java does.
    fn parse(text: &str) -> Result<Self> {
        match text {
            _ if text.eq_ignore_ascii_case("branch") => Ok(Self::Branch),
            _ if text.eq_ignore_ascii_case("tag") => Ok(Self::Tag),
            _ => Err(Error::invalid(format!("Invalid snapshot ref type: {text}"))),
        }
    }
}

/// A named pointer to a snapshot, with the rules for expiring what it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotRef {
    /// The snapshot it points to.
    pub snapshot_id: i64,
    /// Branch or tag.
    pub kind: RefKind,
    /// Branches only: how many snapshots expiry keeps at least.
    pub min_snapshots_to_keep: Option<i32>,
    /// Branches only: age in milliseconds up to which expiry keeps snapshots.
    pub max_snapshot_age_ms: Option<i64>,
    /// Age in milliseconds after which the reference itself may be removed.
    pub max_ref_age_ms: Option<i64>,
    rest: Object,
}

impl SnapshotRef {
    /// A branch with no rules of its own.
    pub fn branch(snapshot_id: i64) -> Self {
        Self {
            snapshot_id,
            kind: RefKind::Branch,
            min_snapshots_to_keep: None,
            max_snapshot_age_ms: None,
            max_ref_age_ms: None,
            rest: Object::default(),
        }
    }

    /// Reads a reference of table metadata.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a member is missing or wrong, or a rule does not fit the kind.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        let mut object = Object::parse_raw(raw)?;
        let mut reference = Self::take(&mut object)?;
        reference.rest = object;
        Ok(reference)
    }

    /// Takes the members of a reference out of an object that has others too (`set-snapshot-ref`).
    pub(super) fn take(object: &mut Object) -> Result<Self> {
        let reference = Self {
            snapshot_id: object.required_i64("snapshot-id")?,
            kind: RefKind::parse(&object.required_str("type")?)?,
            min_snapshots_to_keep: object.optional_i32("min-snapshots-to-keep")?,
            max_snapshot_age_ms: object.optional_i64("max-snapshot-age-ms")?,
            max_ref_age_ms: object.optional_i64("max-ref-age-ms")?,
            rest: Object::default(),
        };
        reference.check()?;
        Ok(reference)
    }

    /// The rules that fit the kind, with Java's texts.
    fn check(&self) -> Result<()> {
        let tag = self.kind == RefKind::Tag;
        let not_positive = |value: Option<i64>| value.is_some_and(|value| value <= 0);
        let wrong = match () {
            () if tag && self.min_snapshots_to_keep.is_some() => "Tags do not support setting minSnapshotsToKeep",
            () if tag && self.max_snapshot_age_ms.is_some() => "Tags do not support setting maxSnapshotAgeMs",
            () if not_positive(self.min_snapshots_to_keep.map(i64::from)) => {
                "Min snapshots to keep must be greater than 0"
            }
            () if not_positive(self.max_snapshot_age_ms) => "Max snapshot age must be greater than 0 ms",
            () if not_positive(self.max_ref_age_ms) => "Max reference age must be greater than 0",
            () => return Ok(()),
        };
        Err(Error::invalid(wrong))
    }

    /// Whether the two point to one snapshot under the same rules; members that nobody knows do not count.
    pub fn same_as(&self, other: &Self) -> bool {
        self.snapshot_id == other.snapshot_id
            && self.kind == other.kind
            && self.min_snapshots_to_keep == other.min_snapshots_to_keep
            && self.max_snapshot_age_ms == other.max_snapshot_age_ms
            && self.max_ref_age_ms == other.max_ref_age_ms
    }

    /// This reference in the place of `old`: what nobody knows about the old one stays.
    pub(super) fn replacing(mut self, old: &Self) -> Self {
        self.rest = old.rest.clone();
        self
    }

    /// The reference as table metadata holds it.
    pub fn to_json(&self) -> Raw {
        let mut out = String::new();
        self.write(&mut out);
        raw_from_valid(out)
    }

    /// Appends the reference as table metadata holds it.
    pub(super) fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.int("snapshot-id", self.snapshot_id);
        object.str("type", self.kind.as_str());
        if let Some(count) = self.min_snapshots_to_keep {
            object.int("min-snapshots-to-keep", count);
        }
        if let Some(age) = self.max_snapshot_age_ms {
            object.int("max-snapshot-age-ms", age);
        }
        if let Some(age) = self.max_ref_age_ms {
            object.int("max-ref-age-ms", age);
        }
        object.rest(&self.rest);
        object.finish();
    }
}
