//! Settings: every key once, with its default. Flag beats environment variable beats TOML file beats default.

pub mod auth;
mod lifetime;
mod limits;
mod modes;
mod tls;

pub use auth::{AuthConfig, AuthSettings};
pub use lifetime::Lifetime;
pub use limits::{LimitConfig, LimitSettings};
pub use modes::{RegisterCheck, RulesMode};
pub use tls::{TlsConfig, TlsSettings};

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What can be set, each as flag, environment variable and key of the TOML file. `None` and empty mean "not said".
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Address to listen on; port 0 picks a free one and prints it [default: 127.0.0.1:8181]
    #[arg(long, env = "GUILLEMOT_LISTEN", global = true)]
    pub listen: Option<String>,
    /// `sqlite://FILE` or `postgres://USER:PASSWORD@HOST/DATABASE` [default: <sqlite://guillemot.db>]
    #[arg(long, env = "GUILLEMOT_DATABASE_URL", global = true, hide_env_values = true)]
    pub database_url: Option<String>,
    /// Connections to the database at most [default: 16]
    #[arg(long, env = "GUILLEMOT_DATABASE_CONNECTIONS", global = true)]
    pub database_connections: Option<u32>,
    /// A warehouse as NAME=URI, made if absent (repeatable) [default: default=file://$PWD/warehouse]
    #[arg(long, env = "GUILLEMOT_WAREHOUSE", value_delimiter = ',', global = true)]
    pub warehouse: Vec<String>,
    /// The level of a validation rule as ID=deny|warn|off (repeatable)
    #[arg(long = "rule", env = "GUILLEMOT_RULES", value_delimiter = ',', global = true)]
    pub rules: Vec<String>,
    /// Whether broken rules of level deny refuse commits, or are only logged [default: enforce]
    #[arg(long, env = "GUILLEMOT_RULES_MODE", global = true)]
    pub rules_mode: Option<RulesMode>,
    /// What is done with what is found in a table that is registered [default: warn]
    #[arg(long, env = "GUILLEMOT_REGISTER_CHECK", global = true)]
    pub register_check: Option<RegisterCheck>,
    /// Seconds that checking a table may take when it is registered [default: 20]
    #[arg(long, env = "GUILLEMOT_REGISTER_CHECK_S", global = true)]
    pub register_check_s: Option<u64>,
    /// A place outside the warehouses that locations and register may name (repeatable)
    #[arg(long, env = "GUILLEMOT_ALLOW_PREFIX", value_delimiter = ',', global = true)]
    pub allow_prefix: Vec<String>,
    /// Take names of namespaces, tables and views in any case, and keep them in lower case [default: false]
    #[arg(long, env = "GUILLEMOT_NAMES_IN_ANY_CASE", num_args = 0..=1, default_missing_value = "true", global = true)]
    pub names_in_any_case: Option<bool>,
    /// Give every new table a location with a unique suffix [default: false]
    #[arg(long, env = "GUILLEMOT_UNIQUE_TABLE_LOCATIONS", num_args = 0..=1, default_missing_value = "true", global = true)]
    pub unique_table_locations: Option<bool>,
    /// Ask storage at every load whether the metadata file is still there, even if it is cached [default: false]
    #[arg(long, env = "GUILLEMOT_VERIFY_METADATA_ON_LOAD", num_args = 0..=1, default_missing_value = "true", global = true)]
    pub verify_metadata_on_load: Option<bool>,
    /// Largest request body in MiB [default: 64]
    #[arg(long, env = "GUILLEMOT_MAX_BODY_MIB", global = true)]
    pub max_body_mib: Option<usize>,
    /// How long an Idempotency-Key is honoured, as an ISO-8601 duration [default: PT30M]
    #[arg(long, env = "GUILLEMOT_IDEMPOTENCY_KEY_LIFETIME", global = true)]
    pub idempotency_key_lifetime: Option<String>,
    /// Seconds between looks for background work; 0 leaves it to other servers [default: 10]
    #[arg(long, env = "GUILLEMOT_TASK_INTERVAL_S", global = true)]
    pub task_interval_s: Option<u64>,
    /// Seconds after which the work of a server that died is taken over [default: 60]
    #[arg(long, env = "GUILLEMOT_TASK_LEASE_S", global = true)]
    pub task_lease_s: Option<u64>,
    /// Days that the audit log is kept [default: 90]
    #[arg(long, env = "GUILLEMOT_AUDIT_RETENTION_DAYS", global = true)]
    pub audit_retention_days: Option<u32>,
    /// Memory for cached table metadata in MiB [default: 128]
    #[arg(long, env = "GUILLEMOT_METADATA_CACHE_MIB", global = true)]
    pub metadata_cache_mib: Option<u64>,
    /// Memory for what validation has read of manifests, in MiB [default: 128]
    #[arg(long, env = "GUILLEMOT_MANIFEST_CACHE_MIB", global = true)]
    pub manifest_cache_mib: Option<u64>,
    /// Memory for what scan planning has read of manifests, in MiB [default: 128]
    #[arg(long, env = "GUILLEMOT_PLAN_CACHE_MIB", global = true)]
    pub plan_cache_mib: Option<u64>,
    /// Files that one reply of scan planning holds; what is more becomes plan tasks [default: 5000]
    #[arg(long, env = "GUILLEMOT_PLAN_TASK_FILES", global = true)]
    pub plan_task_files: Option<usize>,
    /// `text` or `json` [default: text]
    #[arg(long, env = "GUILLEMOT_LOG_FORMAT", global = true)]
    pub log_format: Option<LogFormat>,
    /// What to log, as a tracing filter [default: info]
    #[arg(long, env = "GUILLEMOT_LOG", global = true)]
    pub log: Option<String>,
    /// Seconds that running requests get after SIGTERM [default: 30]
    #[arg(long, env = "GUILLEMOT_SHUTDOWN_GRACE_S", global = true)]
    pub shutdown_grace_s: Option<u64>,
    /// Base URL of a GCS emulator; `gs://` goes there instead of to Google
    #[arg(long, env = "GUILLEMOT_GCS_ENDPOINT", global = true)]
    pub gcs_endpoint: Option<String>,
    /// Base URL of the emulator as clients see it [default: the same]
    #[arg(long, env = "GUILLEMOT_GCS_PUBLIC_ENDPOINT", global = true)]
    pub gcs_public_endpoint: Option<String>,
    /// Base URL of an S3-compatible store
    #[arg(long, env = "GUILLEMOT_S3_ENDPOINT", global = true)]
    pub s3_endpoint: Option<String>,
    /// Base URL of that store as clients see it [default: the same]
    #[arg(long, env = "GUILLEMOT_S3_PUBLIC_ENDPOINT", global = true)]
    pub s3_public_endpoint: Option<String>,
    /// Region of the S3 buckets [default: `AWS_REGION`, else us-east-1]
    #[arg(long, env = "GUILLEMOT_S3_REGION", global = true)]
    pub s3_region: Option<String>,
    /// Address buckets by path instead of by host name [default: true with an endpoint]
    #[arg(long, env = "GUILLEMOT_S3_PATH_STYLE", num_args = 0..=1, default_missing_value = "true", global = true)]
    pub s3_path_style: Option<bool>,
    /// Where Google's tokens are exchanged for tokens of one table [default: <https://sts.googleapis.com/v1/token>]
    #[arg(long, env = "GUILLEMOT_GCS_STS_URL", global = true)]
    pub gcs_sts_url: Option<String>,
    /// Where Google gives tokens to service accounts [default: <https://oauth2.googleapis.com/token>]
    #[arg(long, env = "GUILLEMOT_GCS_TOKEN_URL", global = true)]
    pub gcs_token_url: Option<String>,
    /// Base URL of the service that gives temporary S3 keys [default: the S3 endpoint, else the region's own of Amazon]
    #[arg(long, env = "GUILLEMOT_S3_STS_ENDPOINT", global = true)]
    pub s3_sts_endpoint: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the program's description")]
    pub limits: LimitSettings,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the program's description")]
    pub tls: TlsSettings,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the program's description")]
    pub auth: AuthSettings,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One readable line an event.
    #[default]
    Text,
    /// One JSON object an event.
    Json,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file named by `--config` cannot be read.
    #[error("settings file {} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no TOML of ours.
    #[error("settings file {} is not understood", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and what.
        source: Box<toml::de::Error>,
    },
    /// A value has the wrong shape.
    #[error("{key}: expected {expected}, found `{found}`")]
    Value {
        /// The setting.
        key: &'static str,
        /// Its shape.
        expected: &'static str,
        /// What was given.
        found: String,
    },
}

/// A warehouse named by a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedWarehouse {
    /// Its name, which is also the prefix of its routes.
    pub name: String,
    /// Its root, as a URI.
    pub location: String,
}

/// The settings in force.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each is described at the setting of the same name")]
pub struct Config {
    pub listen: String,
    pub database_url: String,
    pub database_connections: u32,
    pub warehouses: Vec<NamedWarehouse>,
    pub rules: Vec<(String, String)>,
    pub rules_mode: RulesMode,
    pub register_check: RegisterCheck,
    pub register_check_s: u64,
    pub allow_prefix: Vec<String>,
    pub names_in_any_case: bool,
    pub unique_table_locations: bool,
    pub verify_metadata_on_load: bool,
    pub max_body_bytes: usize,
    pub idempotency_key_lifetime: Lifetime,
    pub task_interval_s: u64,
    pub task_lease_s: u64,
    pub audit_retention_days: u32,
    pub metadata_cache_bytes: u64,
    pub manifest_cache_bytes: u64,
    pub plan_cache_bytes: u64,
    pub plan_task_files: usize,
    pub log_format: LogFormat,
    pub log: String,
    pub shutdown_grace_s: u64,
    pub gcs_endpoint: Option<String>,
    pub gcs_public_endpoint: Option<String>,
    pub s3_endpoint: Option<String>,
    pub s3_public_endpoint: Option<String>,
    pub s3_region: Option<String>,
    pub s3_path_style: Option<bool>,
    pub gcs_sts_url: String,
    pub gcs_token_url: String,
    pub s3_sts_endpoint: Option<String>,
    pub limits: LimitConfig,
    pub tls: Option<TlsConfig>,
    pub auth: AuthConfig,
}

const MIB: u64 = 1024 * 1024;

impl Settings {
    /// Reads a TOML file of settings.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
        toml::from_str(&text).map_err(|e| Error::Parse { path: path.into(), source: Box::new(e) })
    }

    /// These settings, with what they leave out taken from `other`.
    pub fn or(self, other: Self) -> Self {
        let list = |a: Vec<String>, b: Vec<String>| if a.is_empty() { b } else { a };
        Self {
            listen: self.listen.or(other.listen),
            database_url: self.database_url.or(other.database_url),
            database_connections: self.database_connections.or(other.database_connections),
            warehouse: list(self.warehouse, other.warehouse),
            rules: list(self.rules, other.rules),
            rules_mode: self.rules_mode.or(other.rules_mode),
            register_check: self.register_check.or(other.register_check),
            register_check_s: self.register_check_s.or(other.register_check_s),
            allow_prefix: list(self.allow_prefix, other.allow_prefix),
            names_in_any_case: self.names_in_any_case.or(other.names_in_any_case),
            unique_table_locations: self.unique_table_locations.or(other.unique_table_locations),
            verify_metadata_on_load: self.verify_metadata_on_load.or(other.verify_metadata_on_load),
            max_body_mib: self.max_body_mib.or(other.max_body_mib),
            idempotency_key_lifetime: self.idempotency_key_lifetime.or(other.idempotency_key_lifetime),
            task_interval_s: self.task_interval_s.or(other.task_interval_s),
            task_lease_s: self.task_lease_s.or(other.task_lease_s),
            audit_retention_days: self.audit_retention_days.or(other.audit_retention_days),
            metadata_cache_mib: self.metadata_cache_mib.or(other.metadata_cache_mib),
            manifest_cache_mib: self.manifest_cache_mib.or(other.manifest_cache_mib),
            plan_cache_mib: self.plan_cache_mib.or(other.plan_cache_mib),
            plan_task_files: self.plan_task_files.or(other.plan_task_files),
            log_format: self.log_format.or(other.log_format),
            log: self.log.or(other.log),
            shutdown_grace_s: self.shutdown_grace_s.or(other.shutdown_grace_s),
            gcs_endpoint: self.gcs_endpoint.or(other.gcs_endpoint),
            gcs_public_endpoint: self.gcs_public_endpoint.or(other.gcs_public_endpoint),
            s3_endpoint: self.s3_endpoint.or(other.s3_endpoint),
            s3_public_endpoint: self.s3_public_endpoint.or(other.s3_public_endpoint),
            s3_region: self.s3_region.or(other.s3_region),
            s3_path_style: self.s3_path_style.or(other.s3_path_style),
            gcs_sts_url: self.gcs_sts_url.or(other.gcs_sts_url),
            gcs_token_url: self.gcs_token_url.or(other.gcs_token_url),
            s3_sts_endpoint: self.s3_sts_endpoint.or(other.s3_sts_endpoint),
            limits: self.limits.or(other.limits),
            tls: self.tls.or(other.tls),
            auth: self.auth.or(other.auth),
        }
    }

    /// The settings in force: every key has its value.
    pub fn resolve(self) -> Result<Config, Error> {
        let warehouses = match self.warehouse.as_slice() {
            [] => vec![default_warehouse()],
            named => named.iter().map(|w| parse_warehouse(w)).collect::<Result<_, _>>()?,
        };
        let rules = self.rules.iter().filter(|r| !r.is_empty()).map(|r| parse_rule(r)).collect::<Result<_, _>>()?;
        Ok(Config {
            listen: self.listen.unwrap_or_else(|| "127.0.0.1:8181".into()),
            database_url: self.database_url.unwrap_or_else(|| "sqlite://guillemot.db".into()),
            database_connections: self.database_connections.unwrap_or(16),
            warehouses,
            rules,
            rules_mode: self.rules_mode.unwrap_or_default(),
            register_check: self.register_check.unwrap_or_default(),
            register_check_s: self.register_check_s.unwrap_or(20),
            allow_prefix: self.allow_prefix.into_iter().filter(|p| !p.is_empty()).collect(),
            names_in_any_case: self.names_in_any_case.unwrap_or(false),
            unique_table_locations: self.unique_table_locations.unwrap_or(false),
            verify_metadata_on_load: self.verify_metadata_on_load.unwrap_or(false),
            max_body_bytes: self.max_body_mib.unwrap_or(64).saturating_mul(1024 * 1024),
            idempotency_key_lifetime: Lifetime::parse(self.idempotency_key_lifetime.as_deref().unwrap_or("PT30M"))?,
            task_interval_s: self.task_interval_s.unwrap_or(10),
            task_lease_s: self.task_lease_s.unwrap_or(60).max(1),
            audit_retention_days: self.audit_retention_days.unwrap_or(90),
            metadata_cache_bytes: self.metadata_cache_mib.unwrap_or(128).saturating_mul(MIB),
            manifest_cache_bytes: self.manifest_cache_mib.unwrap_or(128).saturating_mul(MIB),
            plan_cache_bytes: self.plan_cache_mib.unwrap_or(128).saturating_mul(MIB),
            plan_task_files: self.plan_task_files.unwrap_or(5_000).max(1),
            log_format: self.log_format.unwrap_or_default(),
            log: self.log.unwrap_or_else(|| "info".into()),
            shutdown_grace_s: self.shutdown_grace_s.unwrap_or(30),
            gcs_endpoint: self.gcs_endpoint.or_else(emulator_from_environment),
            gcs_public_endpoint: self.gcs_public_endpoint,
            s3_endpoint: self.s3_endpoint,
            s3_public_endpoint: self.s3_public_endpoint,
            s3_region: self.s3_region,
            s3_path_style: self.s3_path_style,
            gcs_sts_url: self.gcs_sts_url.unwrap_or_else(|| "https://sts.googleapis.com/v1/token".into()),
            gcs_token_url: self.gcs_token_url.unwrap_or_else(|| "https://oauth2.googleapis.com/token".into()),
            s3_sts_endpoint: self.s3_sts_endpoint,
            limits: self.limits.resolve()?,
            tls: self.tls.resolve()?,
            auth: self.auth.resolve()?,
        })
    }
}

impl Config {
    /// The scheme of the server's own addresses.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// The settings as TOML, for people: passwords are hidden.
    pub fn shown(&self) -> String {
        let hidden = Self { database_url: hide_password(&self.database_url), ..self.clone() };
        toml::to_string_pretty(&hidden).unwrap_or_else(|e| format!("# cannot be shown: {e}\n"))
    }
}

/// A database URL without its password, for logs and people.
pub fn hide_password(database_url: &str) -> String {
    match url::Url::parse(database_url) {
        Ok(mut url) if url.password().is_some() => {
            // Fails only for URLs that cannot have a password.
            let _ = url.set_password(Some("***"));
            url.to_string()
        }
        _ => database_url.to_owned(),
    }
}

fn default_warehouse() -> NamedWarehouse {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/tmp"));
    NamedWarehouse { name: "default".into(), location: format!("file://{}/warehouse", here.display()) }
}

fn parse_warehouse(text: &str) -> Result<NamedWarehouse, Error> {
    match text.split_once('=') {
        Some((name, location)) if !name.is_empty() && !location.is_empty() => {
            Ok(NamedWarehouse { name: name.into(), location: location.into() })
        }
        _ => Err(Error::Value { key: "warehouse", expected: "NAME=URI", found: text.into() }),
    }
}

fn parse_rule(text: &str) -> Result<(String, String), Error> {
    match text.split_once('=') {
        Some((id, level)) => Ok((id.trim().into(), level.trim().into())),
        None => Err(Error::Value { key: "rule", expected: "ID=deny|warn|off", found: text.into() }),
    }
}

fn emulator_from_environment() -> Option<String> {
    std::env::var("STORAGE_EMULATOR_HOST").ok().filter(|e| !e.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_beats_the_file() {
        let flags = Settings { listen: Some("127.0.0.1:1".into()), ..Settings::default() };
        let file: Settings = toml::from_str("listen = '127.0.0.1:2'\nrules = ['two-dvs=warn']").unwrap();
        let config = flags.or(file).resolve().unwrap();
        assert_eq!(config.listen, "127.0.0.1:1");
        assert_eq!(config.rules, [("two-dvs".to_owned(), "warn".to_owned())]);
    }

    #[test]
    fn an_unknown_key_in_the_file_is_refused() {
        assert!(toml::from_str::<Settings>("lisen = 'x'").is_err());
    }

    #[test]
    fn a_warehouse_without_a_location_is_refused() {
        let settings = Settings { warehouse: vec!["lake".into()], ..Settings::default() };
        assert_eq!(settings.resolve().unwrap_err().to_string(), "warehouse: expected NAME=URI, found `lake`");
    }

    #[test]
    fn passwords_are_not_shown() {
        let settings =
            Settings { database_url: Some("postgres://u:secret@h/d".into()), ..Settings::default() }.resolve().unwrap();
        let shown = settings.shown();
        assert!(!shown.contains("secret") && shown.contains("postgres://u:***@h/d"), "{shown}");
    }
}
