//! How a warehouse lets clients at its tables' files, and what its own store is reached with.

use super::WarehouseSettings;
use crate::auth::{Sealer, sealed};
use crate::storage::{Location, Scheme, StorageSecret};
use crate::store::warehouses;
use crate::vending::{Mode, Role};
use std::sync::Arc;

/// The life of temporary keys where a warehouse does not say.
const USUAL_LIFETIME_S: u32 = 3600;

/// What the settings may say: what Amazon takes.
const LIFETIMES_S: std::ops::RangeInclusive<u32> = 900..=43_200;

/// How a warehouse lets clients at its tables' files.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// What it offers.
    pub mode: Mode,
    /// How temporary S3 keys are made.
    pub role: Role,
    /// How long they live, in seconds.
    pub lifetime_s: u32,
    /// What its own store is reached with; none where the server's own credentials do.
    pub secret: Option<Arc<StorageSecret>>,
}

impl Credentials {
    /// Reads the settings and the secret of a warehouse. The error says what is wrong with them.
    pub(super) fn of(
        settings: &WarehouseSettings,
        row: &warehouses::Warehouse,
        location: &Location,
        sealer: &Sealer,
    ) -> Result<Self, String> {
        let mode = settings.credentials.unwrap_or_default();
        let offers = match location.scheme() {
            Scheme::File => mode == Mode::None,
            Scheme::Gs => mode != Mode::RemoteSigning,
            Scheme::S3 => true,
        };
        if !offers {
            return Err(format!("credentials: expected another mode for {location}, which has no such thing"));
        }
        let lifetime_s = settings.credential_lifetime_s.unwrap_or(USUAL_LIFETIME_S);
        if !LIFETIMES_S.contains(&lifetime_s) {
            let (least, most) = (LIFETIMES_S.start(), LIFETIMES_S.end());
            return Err(format!("credential-lifetime-s: expected {least} to {most}, found {lifetime_s}"));
        }
        let secret = row.storage_secret.as_deref().map(|sealed| open(sealer, &row.id, sealed)).transpose()?;
        let fits = match (&secret, location.scheme()) {
            (None, _)
            | (Some(StorageSecret::GcsServiceAccount { .. }), Scheme::Gs)
            | (Some(StorageSecret::S3AccessKey { .. }), Scheme::S3) => true,
            (Some(_), _) => false,
        };
        if !fits {
            return Err(format!("storage-secret: expected one for {location}, found one of another kind of store"));
        }
        let role = Role {
            arn: settings.s3_role_arn.clone(),
            external_id: settings.s3_external_id.clone(),
            kms_key: settings.s3_kms_key_arn.clone(),
        };
        Ok(Self { mode, role, lifetime_s, secret: secret.map(Arc::new) })
    }
}

/// Seals a warehouse's secret for its row alone.
pub fn seal_secret(sealer: &Sealer, warehouse_id: &str, secret: &StorageSecret) -> Result<String, sealed::Error> {
    // A secret always has a JSON form.
    let plain = serde_json::to_vec(secret).unwrap_or_default();
    sealer.seal(&context(warehouse_id), &plain)
}

fn open(sealer: &Sealer, warehouse_id: &str, text: &str) -> Result<StorageSecret, String> {
    let plain = sealer.open(&context(warehouse_id), text).map_err(|error| error.to_string())?;
    // What the parser says could quote the secret.
    serde_json::from_slice(&plain).map_err(|_| "storage-secret: what was kept is not understood".to_owned())
}

fn context(warehouse_id: &str) -> String {
    format!("warehouse-storage:{warehouse_id}")
}
