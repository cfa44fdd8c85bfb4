//! `add-encryption-key`, `remove-encryption-key` (spec.md 2.3, 3.6).

use super::apply::Change;
use crate::spec::encryption::EncryptedKey;

impl Change<'_> {
    /// Adds a key. One that is there already is not replaced.
    pub(super) fn add_encryption_key(&mut self, key: &EncryptedKey) {
        if self.metadata.encryption_keys.iter().any(|known| known.key_id == key.key_id) {
            return;
        }
        self.metadata.encryption_keys.push(key.clone());
        self.changed = true;
    }

    pub(super) fn remove_encryption_key(&mut self, key_id: &str) {
        let before = self.metadata.encryption_keys.len();
        self.metadata.encryption_keys.retain(|key| key.key_id != key_id);
        self.changed |= before != self.metadata.encryption_keys.len();
    }
}
