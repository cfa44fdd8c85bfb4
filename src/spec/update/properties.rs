//! `set-properties`, `remove-properties` (spec.md 2.3). As in Java, setting a property to the value it has is a change.

use std::collections::HashSet;

use super::apply::Change;

impl Change<'_> {
    pub(super) fn set_properties(&mut self, updates: &[(String, String)]) {
        self.metadata.properties.extend(updates.iter().cloned());
        self.changed |= !updates.is_empty();
    }

    /// Removes properties. Those that are not set are ignored.
    pub(super) fn remove_properties(&mut self, removals: &[String]) {
        let gone: HashSet<&String> = removals.iter().collect();
        self.metadata.properties.retain(|key, _| !gone.contains(key));
        self.changed |= !removals.is_empty();
    }
}
