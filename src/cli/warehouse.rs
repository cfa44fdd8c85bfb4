//! `guillemot warehouse set`.

use super::AnyError;
use crate::app::{App, WarehouseSettings};
use crate::commit::{self, StorageSecret, WarehouseChange};
use crate::store::warehouses;
use crate::vending::Mode;
use clap::Args;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What to change; what is left out stays, and an empty text takes a setting away.
#[derive(Debug, Args)]
pub(super) struct Change {
    /// How clients get at files of tables
    #[arg(long)]
    credentials: Option<Mode>,
    /// Seconds that temporary S3 keys live
    #[arg(long)]
    credential_lifetime_s: Option<u32>,
    /// The role that temporary S3 keys are of
    #[arg(long)]
    s3_role_arn: Option<String>,
    /// What the role's owner asks of whoever takes it on
    #[arg(long)]
    s3_external_id: Option<String>,
    /// The KMS key that the bucket's objects are encrypted with
    #[arg(long)]
    s3_kms_key_arn: Option<String>,
    /// A file with what the warehouse's store is reached with: a service account's key file of Google, or JSON with
    /// `access-key-id` and `secret-access-key`; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "no_storage_secret")]
    storage_secret: Option<PathBuf>,
    /// Reach the store with the server's own credentials again
    #[arg(long)]
    no_storage_secret: bool,
}

/// Changes a warehouse, and says how it is set now.
pub(super) async fn set(app: &App, name: &str, change: Change) -> Result<String, AnyError> {
    let row = warehouses::load(&app.db, name).await?.ok_or_else(|| format!("warehouse {name} does not exist"))?;
    let mut settings: WarehouseSettings = serde_json::from_str(&row.properties)?;
    settings.credentials = change.credentials.or(settings.credentials);
    settings.credential_lifetime_s = change.credential_lifetime_s.or(settings.credential_lifetime_s);
    for (setting, said) in [
        (&mut settings.s3_role_arn, change.s3_role_arn),
        (&mut settings.s3_external_id, change.s3_external_id),
        (&mut settings.s3_kms_key_arn, change.s3_kms_key_arn),
    ] {
        if let Some(text) = said {
            *setting = Some(text).filter(|text| !text.is_empty());
        }
    }
    let secret = match (change.storage_secret, change.no_storage_secret) {
        (Some(path), _) => Some(Some(read_secret(&path)?)),
        (None, true) => Some(None),
        (None, false) => None,
    };
    let change = WarehouseChange { settings: Some(settings.clone()), secret, ..WarehouseChange::default() };
    let row = commit::change_warehouse(app, name, &change).await?;
    let mode = serde_json::to_value(settings.credentials.unwrap_or_default())?;
    let secret = if row.storage_secret.is_some() { "a secret of its own" } else { "the server's own credentials" };
    Ok(format!("{name}: credentials {}, reached with {secret}\n", mode.as_str().unwrap_or_default()))
}

/// Reads a secret in the form that its maker gives it. No error quotes it.
fn read_secret(path: &Path) -> Result<StorageSecret, AnyError> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(path)?;
    }
    let wrong =
        || format!("{}: expected a service account's key file, or access-key-id and secret-access-key", path.display());
    let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).map_err(|_| wrong())?;
    if object.get("type").and_then(|kind| kind.as_str()) == Some("service_account") {
        return Ok(StorageSecret::GcsServiceAccount { key: object });
    }
    object.entry("type").or_insert_with(|| "s3-access-key".into());
    Ok(serde_json::from_value(object.into()).map_err(|_| wrong())?)
}
