//! Binding, serving and stopping: the one place that knows all parts.

mod connections;
mod header_case;
mod health;
mod pulse;
mod tls;

pub use health::{HealthError, ask_health};
pub use tls::TlsError;

use crate::app::{App, AuditLog, GrantCache, Journal, Limits, MetadataCache, Parts, Turns, WarehouseCache};
use crate::auth::{self, Auth, Sealer, SecretKeyError};
use crate::clock::{Clock, Ids};
use crate::config::Config;
use crate::storage::{Location, Storage, StorageConfig};
use crate::store::{self, Db, Entity};
use crate::validate::Levels;
use crate::vending::{Services, Vending};
use crate::{api, commit, plan, storage, tasks, telemetry, validate};
use connections::Connections;
use header_case::HeaderCase;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tls::Tls;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceBuilder;

/// Why the server does not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be used.
    #[error("database {url} cannot be used")]
    Database {
        /// Where it is, without its password.
        url: String,
        /// Why not.
        source: store::Error,
    },
    /// A rule that a setting names does not exist, or has no such level.
    #[error("{0}")]
    Rule(String),
    /// Names are to be read in lower case, and one that is there has capitals.
    #[error(
        "refusing to take names in any case: {0} has capitals in its name, and could not be reached any more. Rename it \
         without --names-in-any-case first; a namespace, by moving what is in it to another one"
    )]
    Capitals(Entity),
    /// A place that a setting names is none.
    #[error("setting names no usable place")]
    Place(#[source] storage::Error),
    /// A warehouse that a setting names cannot be had.
    #[error("warehouse {name} cannot be used")]
    Warehouse {
        /// Its name.
        name: String,
        /// Why not.
        source: Box<commit::Error>,
    },
    /// Authentication cannot be set up.
    #[error("authentication cannot be set up")]
    Auth(#[source] auth::SetupError),
    /// The keys that secrets are sealed with cannot be used.
    #[error("secrets cannot be sealed")]
    SecretKey(#[source] SecretKeyError),
    /// No HTTP client can be made.
    #[error("no HTTP client can be made")]
    Client(#[source] reqwest::Error),
    /// The certificate or its key cannot be used.
    #[error("HTTPS cannot be served")]
    Tls(#[from] TlsError),
    /// Whoever reaches the address could read, change and drop everything.
    #[error(
        "refusing to serve without authentication on {0}, which others may reach: add an identity \
         (`guillemot identity create NAME`), configure an issuer, or say --insecure-no-auth"
    )]
    Open(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The listener failed.
    #[error("serving failed")]
    Serve(#[source] std::io::Error),
}

/// Opens database and storage, runs the migrations, and makes sure that the configured warehouses exist.
pub async fn build(config: Config) -> Result<App, Error> {
    build_with(config, Clock::System, Ids::Random).await
}

/// [`build`] with a clock and ids of the caller's choice.
pub async fn build_with(config: Config, clock: Clock, ids: Ids) -> Result<App, Error> {
    telemetry::metrics();
    let db = open_database(&config).await?;
    let mut levels = Levels::default();
    for (rule, level) in &config.rules {
        levels.set(rule, level).map_err(|e| Error::Rule(e.to_string()))?;
    }
    let allowed = config.allow_prefix.iter().map(|p| Location::parse(p)).collect::<Result<_, _>>();
    let sealer = Arc::new(sealer(&config)?);
    let auth = Auth::start(&config.auth, Arc::clone(&sealer), &db).await.map_err(Error::Auth)?;
    let vending = Vending::new(services(&config)).map_err(Error::Client)?;
    let app = App::new(Parts {
        db,
        auth,
        storage: Storage::new(storage_config(&config)).map_err(Error::Place)?,
        clock,
        ids,
        metadata: MetadataCache::new(config.metadata_cache_bytes),
        manifests: validate::Cache::new(config.manifest_cache_bytes),
        plans: plan::Cache::new(config.plan_cache_bytes),
        levels,
        allowed: allowed.map_err(Error::Place)?,
        limits: Limits::new(&config.limits),
        config,
        tasks: TaskTracker::new(),
        warehouses: WarehouseCache::default(),
        grants: GrantCache::default(),
        keys: Turns::default(),
        changing: Turns::default(),
        journal: Journal::default(),
        audit: AuditLog::default(),
        sealer,
        vending,
        work: Notify::new(),
    });
    check_names(&app).await?;
    app.use_secrets().await.map_err(|source| database_error(&app.config, source))?;
    for warehouse in &app.config.warehouses {
        commit::ensure_warehouse(&app, &warehouse.name, &warehouse.location)
            .await
            .map_err(|source| Error::Warehouse { name: warehouse.name.clone(), source: Box::new(source) })?;
    }
    Ok(app)
}

/// Opens the database and brings its schema up to date.
pub async fn open_database(config: &Config) -> Result<Db, Error> {
    let failed = |source| database_error(config, source);
    let db = Db::connect_with(&config.database_url, config.database_connections).await.map_err(failed)?;
    db.migrate().await.map_err(failed)?;
    Ok(db)
}

/// A name with capitals could not be reached any more on a server that reads all names in lower case.
async fn check_names(app: &App) -> Result<(), Error> {
    if !app.config.names_in_any_case {
        return Ok(());
    }
    let found = store::names::find(&app.db, |name| name.to_lowercase() != name).await;
    found.map_err(|source| database_error(&app.config, source))?.map_or(Ok(()), |entity| Err(Error::Capitals(entity)))
}

fn database_error(config: &Config, source: store::Error) -> Error {
    Error::Database { url: crate::config::hide_password(&config.database_url), source }
}

/// Seals secrets. Without a key it refuses to: that matters to those alone who want one kept.
fn sealer(config: &Config) -> Result<Sealer, Error> {
    match auth::sealer(&config.auth, &config.database_url) {
        Err(SecretKeyError::Missing) => Ok(Sealer::default()),
        found => found.map_err(Error::SecretKey),
    }
}

/// Where credentials for clients come from.
fn services(config: &Config) -> Services {
    Services {
        google_sts_url: config.gcs_sts_url.clone(),
        google_token_url: config.gcs_token_url.clone(),
        // A store that speaks S3 gives its keys at the same address, if at all.
        s3_sts_endpoint: config.s3_sts_endpoint.clone().or_else(|| config.s3_endpoint.clone()),
    }
}

/// The settings of storage among those of the server.
pub(crate) fn storage_config(config: &Config) -> StorageConfig {
    StorageConfig {
        gcs_endpoint: config.gcs_endpoint.clone(),
        gcs_public_endpoint: config.gcs_public_endpoint.clone(),
        s3_endpoint: config.s3_endpoint.clone(),
        s3_public_endpoint: config.s3_public_endpoint.clone(),
        s3_region: config.s3_region.clone(),
        s3_path_style: config.s3_path_style,
        ..StorageConfig::default()
    }
}

/// Listens on the configured address.
pub async fn bind(config: &Config) -> Result<TcpListener, Error> {
    let failed = |source| Error::Bind { address: config.listen.clone(), source };
    TcpListener::bind(&config.listen).await.map_err(failed)
}

/// Demands that the certificate and its key can be used, if there are to be any.
pub fn check_tls(config: &Config) -> Result<(), Error> {
    tls(config).map(|_| ())
}

fn tls(config: &Config) -> Result<Option<Tls>, Error> {
    Ok(config.tls.as_ref().map(Tls::load).transpose()?)
}

/// Serves, and does background work, until `shutdown` resolves; then lets running requests end within the grace period.
pub async fn serve(
    listener: TcpListener,
    app: App,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Error> {
    check_exposure(&listener, &app)?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let letters = HeaderCase::learn().await.map_err(Error::Serve)?;
    let named = ServiceBuilder::new().map_response(move |reply| letters.apply(reply));
    let tls = tls(&app.config)?;
    let connections = Connections {
        service: named.service(api::service(app.clone())),
        tls: tls.as_ref().map(Tls::acceptor),
        limits: app.config.limits.clone(),
    };
    let stop_work = CancellationToken::new();
    app.tasks.spawn(tasks::run(app.clone(), stop_work.clone()));
    app.tasks.spawn(stop_work.clone().run_until_cancelled_owned(telemetry::keep_metrics_small()));
    if let Some(tls) = tls {
        app.tasks.spawn(stop_work.clone().run_until_cancelled_owned(tls.keep_fresh()));
    }
    let graceful = connections.serve(listener, async move {
        shutdown.await;
        tracing::info!("stopping: no new requests, running ones end");
        // The receiver is gone only when serving ended on its own.
        let _ = stop.send(());
    });
    let grace = Duration::from_secs(app.config.shutdown_grace_s);
    tokio::select! {
        () = graceful => {}
        () = async { if stopped.await.is_ok() { tokio::time::sleep(grace).await } else { std::future::pending().await } } => {
            tracing::warn!(grace_s = app.config.shutdown_grace_s, "requests still running are cut off");
        }
    }
    stop_work.cancel();
    finish(&app, grace).await;
    Ok(())
}

/// Mutations whose clients are gone still run to their end; background work gives back what it has not finished.
async fn finish(app: &App, grace: Duration) {
    app.tasks.close();
    if tokio::time::timeout(grace, app.tasks.wait()).await.is_err() {
        tracing::warn!(running = app.tasks.len(), "mutations still running are cut off");
    }
    app.db.close().await;
}

/// Refuses to serve everybody on an address that others may reach, unless that was asked for.
pub fn check_exposure(listener: &TcpListener, app: &App) -> Result<(), Error> {
    let address = listener.local_addr().map_err(Error::Serve)?;
    if !app.auth.is_open() || address.ip().is_loopback() {
        return Ok(());
    }
    if !app.config.auth.insecure_no_auth {
        return Err(Error::Open(address));
    }
    tracing::warn!(
        %address,
        "LISTENING WITHOUT AUTHENTICATION on an address that others may reach: \
         whoever connects can read, change and drop every table"
    );
    Ok(())
}
