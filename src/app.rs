//! What every request shares.

mod access;
mod audit;
mod credentials;
mod journal;
mod limits;
mod names;
mod policy;
mod reach;
mod turns;

pub use access::GrantCache;
pub use audit::AuditLog;
pub use credentials::{Credentials, seal_secret};
pub use journal::{Agent, Journal, Use};
pub use limits::{HeavyTurn, Limits, Slot, within};
pub use names::Names;
pub use policy::FormatVersions;
pub use reach::{Closed, Reach};
pub use turns::{Turn, Turns};

use crate::auth::{Auth, Sealer};
use crate::clock::{Clock, Ids};
use crate::config::{Config, RegisterCheck, RulesMode};
use crate::plan;
use crate::storage::{Location, Storage};
use crate::store::{self, Db, warehouses};
use crate::validate::{self, Levels};
use crate::vending::{Mode, Vending};
use moka::future::Cache;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

/// How long a replica may not notice that another one changed a warehouse.
const WAREHOUSE_TTL: Duration = Duration::from_secs(5);

/// A handle on [`Parts`]; cheap to clone.
#[derive(Debug, Clone)]
pub struct App(Arc<Parts>);

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// The parts of a running server.
#[derive(Debug)]
pub struct Parts {
    /// The catalog's state.
    pub db: Db,
    /// The objects.
    pub storage: Storage,
    /// Finds out who is calling.
    pub auth: Auth,
    /// The time.
    pub clock: Clock,
    /// New ids.
    pub ids: Ids,
    /// Table metadata by location. The use-cases own the type of what is in it.
    pub metadata: MetadataCache,
    /// What validation has read of manifests, by location.
    pub manifests: validate::Cache,
    /// What scan planning has read of manifests, by location.
    pub plans: plan::Cache,
    /// The server's rule levels.
    pub levels: Levels,
    /// Places outside the warehouses that locations may name.
    pub allowed: Vec<Location>,
    /// The settings in force.
    pub config: Config,
    /// How much is worked on at once.
    pub limits: Limits,
    /// Mutations in flight: they run to their end when the client hangs up, and shutdown waits for them.
    pub tasks: TaskTracker,
    /// Warehouses by name, as last read.
    pub warehouses: WarehouseCache,
    /// What callers were granted, as last read.
    pub grants: GrantCache,
    /// Idempotency keys of requests that run on this server: a second one finds the first one's answer.
    pub keys: Turns,
    /// Tables and views that commits on this server are changing.
    pub changing: Turns,
    /// Notes that wait to be written.
    pub journal: Journal,
    /// Entries of the audit log that wait to be written.
    pub audit: AuditLog,
    /// Seals and opens what is secret in the database.
    pub sealer: Arc<Sealer>,
    /// Gets credentials for clients.
    pub vending: Vending,
    /// Rung when background work was queued here, so that it need not wait for the next look.
    pub work: Notify,
}

/// A bounded cache of metadata files. A location is written once and never changes, so nothing in it is ever stale.
#[derive(Debug, Clone)]
pub struct MetadataCache(Cache<String, Weighed>);

#[derive(Debug, Clone)]
struct Weighed(Arc<dyn Any + Send + Sync>, u32);

impl MetadataCache {
    /// A cache that holds about so many bytes.
    pub fn new(bytes: u64) -> Self {
        Self(Cache::builder().max_capacity(bytes).weigher(|_, value: &Weighed| value.1).build())
    }

    /// What is cached at a location.
    pub async fn find<T: Send + Sync + 'static>(&self, location: &str) -> Option<Arc<T>> {
        self.0.get(location).await.and_then(|value| value.0.downcast().ok())
    }

    /// Forgets everything.
    pub async fn clear(&self) {
        self.0.invalidate_all();
        self.0.run_pending_tasks().await;
    }

    /// Keeps a value of so many bytes.
    pub async fn keep<T: Send + Sync + 'static>(&self, location: String, value: Arc<T>, bytes: u32) {
        self.0.insert(location, Weighed(value, bytes)).await;
    }
}

/// The warehouses that requests named lately.
#[derive(Debug)]
pub struct WarehouseCache(Cache<String, Arc<Warehouse>>);

impl Default for WarehouseCache {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(10_000).time_to_live(WAREHOUSE_TTL).build())
    }
}

/// A warehouse, ready to serve requests.
#[derive(Debug)]
pub struct Warehouse {
    /// Its row.
    pub row: warehouses::Warehouse,
    /// Its settings, read from the row.
    pub settings: WarehouseSettings,
    /// The rule levels in force in it.
    pub levels: Levels,
    /// Whether broken rules refuse.
    pub rules_mode: RulesMode,
    /// What is done with what is found in a table that is registered.
    pub register_check: RegisterCheck,
    /// The format versions of its tables.
    pub versions: FormatVersions,
    /// How clients get at its tables' files.
    pub credentials: Credentials,
    /// Its location.
    location: Location,
    /// Where its tables may have their files: its own location first.
    pub allowed: Vec<Location>,
}

/// What can be set for one warehouse.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WarehouseSettings {
    /// Rule levels that differ from the server's: rule id to `deny`, `warn` or `off`.
    pub rules: BTreeMap<String, String>,
    /// Whether broken rules of level `deny` refuse commits (`enforce`) or are only logged (`log-only`); the server's
    /// setting where not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules_mode: Option<RulesMode>,
    /// Whether a table that is registered is checked first, and what is done with what is found; the server's setting
    /// where not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub register_check: Option<RegisterCheck>,
    /// The format version of a new table whose client does not ask for one; 2 where not said and allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_format_version: Option<u8>,
    /// The format versions that tables may have; all that the server knows where not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_format_versions: Option<Vec<u8>>,
    /// Places outside the warehouse that its locations may name.
    pub allow_prefixes: Vec<String>,
    /// Whether each new table gets a location with a unique suffix; the server's setting where not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_table_locations: Option<bool>,
    /// How clients get at the files of its tables; not at all, with this server's help, where not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Mode>,
    /// Seconds that temporary S3 keys live; 3600 where not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential_lifetime_s: Option<u32>,
    /// The role that temporary S3 keys are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s3_role_arn: Option<String>,
    /// What the role's owner asks of whoever takes it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s3_external_id: Option<String>,
    /// The KMS key that the bucket's objects are encrypted with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s3_kms_key_arn: Option<String>,
    /// Seconds that a dropped table is kept and can be brought back; dropped at once where not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_delete_hold_s: Option<u64>,
}

/// Why a warehouse cannot serve a request.
#[derive(Debug, thiserror::Error)]
pub enum WarehouseError {
    /// There is none of this name or location.
    #[error("Warehouse does not exist: {0}")]
    NotFound(String),
    /// The request names none, and it is not clear which is meant.
    #[error("no warehouse is named: name one in `warehouse` of the config call, or in the path")]
    NotNamed,
    /// It is switched off.
    #[error("Warehouse is not active: {0}")]
    Inactive(String),
    /// Its settings do not fit this server.
    #[error("warehouse {name}: {reason}")]
    Settings {
        /// The warehouse.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The database could not be asked.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Warehouse {
    /// Where its tables are.
    pub fn place(&self) -> &Location {
        &self.location
    }
}

impl App {
    /// Shares the parts.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Runs a mutation to its end, even when the client that waits for it goes away, or no longer is to wait. It takes up
    /// the room of its request until then.
    pub async fn finish<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        let slot = Slot::begin();
        let work = async move {
            let _slot = slot;
            work.await
        };
        match self.tasks.spawn(work).await {
            Ok(done) => done,
            Err(failed) => std::panic::resume_unwind(failed.into_panic()),
        }
    }

    /// The warehouse that a request means: by name, by location, or the only one (else the one named `default`).
    pub async fn warehouse(&self, named: Option<&str>) -> Result<Arc<Warehouse>, WarehouseError> {
        let key = named.unwrap_or_default();
        if let Some(known) = self.warehouses.0.get(key).await {
            return Ok(known);
        }
        let row = match named {
            Some(named) => self.named_warehouse(named).await?,
            None => self.unnamed_warehouse().await?,
        };
        if row.status == warehouses::Status::Inactive {
            return Err(WarehouseError::Inactive(row.name));
        }
        let warehouse = Arc::new(self.ready_warehouse(row)?);
        self.storage.use_secret(warehouse.place(), warehouse.credentials.secret.clone());
        self.warehouses.0.insert(key.to_owned(), Arc::clone(&warehouse)).await;
        Ok(warehouse)
    }

    /// The warehouse of this name or at this location, whether it serves requests or not.
    pub async fn warehouse_row(&self, named: &str) -> Result<Option<warehouses::Warehouse>, WarehouseError> {
        match self.named_warehouse(named).await {
            Ok(row) => Ok(Some(row)),
            Err(WarehouseError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Forgets what is known of warehouses, after one was changed here.
    pub fn forget_warehouses(&self) {
        self.warehouses.0.invalidate_all();
    }

    async fn named_warehouse(&self, named: &str) -> Result<warehouses::Warehouse, WarehouseError> {
        if let Some(row) = warehouses::load(&self.db, named).await? {
            return Ok(row);
        }
        let missing = || WarehouseError::NotFound(named.to_owned());
        let location = Location::parse(named).map_err(|_| missing())?;
        warehouses::load_by_location(&self.db, &location.to_string()).await?.ok_or_else(missing)
    }

    async fn unnamed_warehouse(&self) -> Result<warehouses::Warehouse, WarehouseError> {
        let two = store::Page { after: None, limit: Some(2) };
        let mut some = warehouses::list(&self.db, &two).await?.items;
        match (some.pop(), some.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => warehouses::load(&self.db, "default").await?.ok_or(WarehouseError::NotNamed),
        }
    }

    /// Reads a warehouse's settings and checks that they fit this server.
    pub fn ready_warehouse(&self, row: warehouses::Warehouse) -> Result<Warehouse, WarehouseError> {
        let wrong = |reason: String| WarehouseError::Settings { name: row.name.clone(), reason };
        let settings: WarehouseSettings = serde_json::from_str(&row.properties).map_err(|e| wrong(e.to_string()))?;
        let mut levels = self.levels.clone();
        for (rule, level) in &settings.rules {
            levels.set(rule, level).map_err(|e| wrong(e.to_string()))?;
        }
        let mut allowed = vec![Location::parse(&row.location).map_err(|e| wrong(e.to_string()))?];
        for prefix in &settings.allow_prefixes {
            allowed.push(Location::parse(prefix).map_err(|e| wrong(e.to_string()))?);
        }
        allowed.extend(self.allowed.iter().cloned());
        let versions = FormatVersions::of(&settings).map_err(wrong)?;
        let location = Location::parse(&row.location).map_err(|e| wrong(e.to_string()))?;
        let credentials = Credentials::of(&settings, &row, &location, &self.sealer).map_err(wrong)?;
        let rules_mode = settings.rules_mode.unwrap_or(self.config.rules_mode);
        let register_check = settings.register_check.unwrap_or(self.config.register_check);
        Ok(Warehouse { row, settings, levels, rules_mode, register_check, versions, credentials, location, allowed })
    }

    /// Reaches the stores of warehouses that have secrets with them: at the start, and before background work, which
    /// meets files of warehouses that no request named here.
    pub async fn use_secrets(&self) -> Result<(), store::Error> {
        for row in warehouses::with_secrets(&self.db).await? {
            let name = row.name.clone();
            match self.ready_warehouse(row) {
                Ok(warehouse) => self.storage.use_secret(warehouse.place(), warehouse.credentials.secret.clone()),
                Err(error) => tracing::warn!(warehouse = name, %error, "the storage secret cannot be used"),
            }
        }
        Ok(())
    }
}
