//! Commits that arrive a second time (spec.md 4.2 check 3).
//!
//! A proxy or a transport may send a request twice. For a snapshot on a branch the moved branch answers first. For a
//! staged one there is no such requirement, and both 400 and 409 would do harm: after 400 the client deletes the files
//! of a snapshot that is in the table, after 409 it publishes the snapshot.

use std::collections::HashMap;

use super::TableUpdate;
use super::apply::stale;
use crate::spec::error::Result;
use crate::spec::snapshot::Snapshot;
use crate::spec::table::TableMetadata;

/// Whether the table already has this commit: all the snapshots that it adds, and where it sets branches or tags to
/// them, these hold them.
///
/// # Errors
/// A conflict if the snapshots are there but a branch or tag is not where the commit put it.
pub(super) fn is_resend(base: &TableMetadata, updates: &[TableUpdate]) -> Result<bool> {
    let added = updates.iter().filter_map(|update| match update {
        TableUpdate::AddSnapshot { snapshot } => Some(snapshot),
        _ => None,
    });
    let mut any = false;
    for snapshot in added.clone() {
        if !base.snapshot(snapshot.snapshot_id).is_some_and(|stored| snapshot.is_resend_of(stored)) {
            return Ok(false);
        }
        any = true;
    }
    for (name, id) in refs_to(&added, updates) {
        if !contains(base, name, id) {
            return Err(stale(format_args!("snapshot {id} is in the table, but {name} does not contain it")));
        }
    }
    Ok(any)
}

/// Where the updates leave branches and tags that they set to added snapshots.
fn refs_to<'a>(
    added: &(impl Iterator<Item = &'a Snapshot> + Clone),
    updates: &'a [TableUpdate],
) -> HashMap<&'a str, i64> {
    let mut refs = HashMap::new();
    for update in updates {
        if let TableUpdate::SetSnapshotRef { ref_name, reference } = update
            && added.clone().any(|snapshot| snapshot.snapshot_id == reference.snapshot_id)
        {
            refs.insert(ref_name.as_str(), reference.snapshot_id);
        }
    }
    refs
}

/// Whether a branch or tag points to the snapshot or to one that was made from it.
fn contains(base: &TableMetadata, name: &str, id: i64) -> bool {
    let parents: HashMap<i64, Option<i64>> =
        base.snapshots.iter().map(|snapshot| (snapshot.snapshot_id, snapshot.parent_snapshot_id)).collect();
    let mut at = base.refs.get(name).map(|reference| reference.snapshot_id);
    // A chain of parents that is longer than the list of snapshots runs in a circle.
    for _ in 0..=parents.len() {
        match at {
            Some(found) if found == id => return true,
            Some(found) => at = parents.get(&found).copied().flatten(),
            None => return false,
        }
    }
    false
}
