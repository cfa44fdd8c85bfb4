//! What a warehouse's own store is reached with, where that is not what the server's environment gives.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// A secret of a warehouse. It is written, never read back; nothing prints it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum StorageSecret {
    /// A service account of Google.
    GcsServiceAccount {
        /// The key file that Google gives, as it is.
        #[schema(value_type = Object)]
        key: Map<String, Value>,
    },
    /// Keys of Amazon, or of a store that speaks S3.
    S3AccessKey {
        /// The key's name.
        access_key_id: String,
        /// The key.
        secret_access_key: String,
    },
}

impl StorageSecret {
    /// Says what is wrong with a secret, without showing it.
    pub fn check(&self) -> Result<(), String> {
        let missing = match self {
            Self::GcsServiceAccount { key } => {
                let is_text = |name: &&str| key.get(*name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
                ["client_email", "private_key", "private_key_id"].into_iter().find(|name| !is_text(name))
            }
            Self::S3AccessKey { access_key_id, .. } if access_key_id.is_empty() => Some("access-key-id"),
            Self::S3AccessKey { secret_access_key, .. } if secret_access_key.is_empty() => Some("secret-access-key"),
            Self::S3AccessKey { .. } => None,
        };
        missing.map_or(Ok(()), |name| Err(format!("storage-secret: expected `{name}`, found none")))
    }
}

impl fmt::Debug for StorageSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GcsServiceAccount { .. } => "GcsServiceAccount(***)",
            Self::S3AccessKey { .. } => "S3AccessKey(***)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let text = r#"{"type": "s3-access-key", "access-key-id": "AKIA", "secret-access-key": "hunter2"}"#;
        let secret: StorageSecret = serde_json::from_str(text).unwrap();
        assert!(secret.check().is_ok());
        assert_eq!(format!("{secret:?}"), "S3AccessKey(***)");
        assert_eq!(serde_json::from_str::<StorageSecret>(&serde_json::to_string(&secret).unwrap()).unwrap(), secret);
    }

    #[test]
    fn what_lacks_a_part_is_refused() {
        let secret: StorageSecret = serde_json::from_str(r#"{"type": "gcs-service-account", "key": {}}"#).unwrap();
        assert_eq!(secret.check().unwrap_err(), "storage-secret: expected `client_email`, found none");
        let unknown = r#"{"type": "s3-access-key", "access-key-id": "a", "secret-access-key": "b", "x": 1}"#;
        assert!(serde_json::from_str::<StorageSecret>(unknown).is_err());
    }
}
