//! `set-snapshot-ref`, `remove-snapshot-ref` (spec.md 2.4).

use super::apply::Change;
use crate::spec::error::{Error, Result};
use crate::spec::history::SnapshotLogEntry;
use crate::spec::refs::{MAIN_BRANCH, RefKind, SnapshotRef};

impl Change<'_> {
    /// Sets a branch or tag. Any snapshot will do: rollback, cherry-pick and fast-forward all come here.
    pub(super) fn set_snapshot_ref(&mut self, name: &str, reference: &SnapshotRef) -> Result<()> {
        let old = self.metadata.refs.get(name);
        if old.is_some_and(|old| old.same_as(reference)) {
            return Ok(());
        }
        let id = reference.snapshot_id;
        let unknown = || Error::invalid(format!("Cannot set {name} to unknown snapshot: {id}"));
        let at = *self.snapshots.get(&id).ok_or_else(unknown)?;
        if name == MAIN_BRANCH && reference.kind == RefKind::Tag {
            return Err(Error::invalid(format!("Cannot set {MAIN_BRANCH} to a tag, it must be a branch")));
        }
        let reference = match old {
            Some(old) => reference.clone().replacing(old),
            None => reference.clone(),
        };
        if name == MAIN_BRANCH {
            self.set_current(id, at);
        }
        self.metadata.refs.insert(name.to_owned(), reference);
        self.changed = true;
        Ok(())
    }

    /// Makes a snapshot the current one. The log says when: a new snapshot at its own time, an old one now.
    fn set_current(&mut self, id: i64, at: usize) {
        self.metadata.current_snapshot_id = Some(id);
        let own_time = self.metadata.snapshots.get(at).map(|snapshot| snapshot.timestamp_ms);
        let is_added = self.added_ids.contains(&id);
        if is_added {
            self.were_main.insert(id);
        }
        let time = own_time.filter(|_| is_added).unwrap_or(self.updated_ms);
        self.metadata.snapshot_log.push(SnapshotLogEntry::new(time, id));
    }

    /// Removes a branch or tag. Without `main` there is no current snapshot; the log stays.
    pub(super) fn remove_snapshot_ref(&mut self, name: &str) {
        if name == MAIN_BRANCH {
            self.metadata.current_snapshot_id = None;
        }
        if self.metadata.refs.shift_remove(name).is_some() {
            self.changed = true;
        }
    }
}
