//! A whole server of a test's own: real database, real storage, real HTTP on a free port.

use super::gcs::Bucket;
use super::leaks::{self, Watch};
use super::postgres::Database;
use axum::ServiceExt;
use axum::extract::Request;
use guillemot::app::App;
use guillemot::auth::Principal;
use guillemot::auth::identity::{self, Wanted};
use guillemot::clock::{Clock, Ids};
use guillemot::config::auth::Method as AuthMethod;
use guillemot::config::{Config, Settings};
use guillemot::spec::Namespace;
use guillemot::store::grants::{Grantee, On};
use guillemot::store::{Page, audit};
use guillemot::{commit, server};
use metrics_exporter_prometheus::PrometheusHandle;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tower::util::MapRequest;
use url::Url;

/// Where a server's state and files are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Setting {
    /// SQLite and a local folder.
    Local,
    /// PostgreSQL and a bucket in the GCS emulator.
    Production,
}

/// Runs each case, an `async fn(Server)`, on SQLite with a local folder and on PostgreSQL with the GCS emulator.
macro_rules! on_both_servers {
    ($($case:ident),+ $(,)?) => {
        mod local {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $crate::support::server::{Server, Setting};
                super::$case(Server::start(Setting::Local).await).await;
            })+
        }
        mod production {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $crate::support::server::{Server, Setting};
                super::$case(Server::start(Setting::Production).await).await;
            })+
        }
    };
}
pub(crate) use on_both_servers;

/// As [`on_both_servers`], with a clock that stands still until the case moves it.
macro_rules! on_both_with_still_clocks {
    ($($case:ident),+ $(,)?) => {
        mod local_still {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $crate::support::server::{Server, Setting};
                super::$case(Server::start_still(Setting::Local).await).await;
            })+
        }
        mod production_still {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $crate::support::server::{Server, Setting};
                super::$case(Server::start_still(Setting::Production).await).await;
            })+
        }
    };
}
pub(crate) use on_both_with_still_clocks;

/// As [`on_both_servers`], with authentication by built-in identities.
macro_rules! on_both_with_identities {
    ($($case:ident),+ $(,)?) => {
        mod local_with_identities {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $crate::support::server::{Server, Setting, identities_on};
                super::$case(Server::start_still_with(Setting::Local, identities_on).await).await;
            })+
        }
        mod production_with_identities {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $crate::support::server::{Server, Setting, identities_on};
                super::$case(Server::start_still_with(Setting::Production, identities_on).await).await;
            })+
        }
    };
}
pub(crate) use on_both_with_identities;

/// The settings of [`on_both_with_identities`].
pub(crate) fn identities_on(settings: &mut Settings) {
    settings.auth.methods = vec![AuthMethod::Identities];
    settings.auth.secret_key = Some(SECRET_KEY.parse().unwrap());
}

/// 32 bytes that keep nothing secret.
pub(crate) const SECRET_KEY: &str = "dGhpcnR5LXR3byBieXRlcyB0aGF0IGhpZGUgbm90aGk=";

/// As [`on_both_servers`], with servers that demand to know who is calling.
macro_rules! on_both_secured {
    ($($case:ident),+ $(,)?) => {
        mod local_secured {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $crate::support::server::{Server, Setting};
                super::$case(Server::start_secured(Setting::Local).await).await;
            })+
        }
        mod production_secured {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $crate::support::server::{Server, Setting};
                super::$case(Server::start_secured(Setting::Production).await).await;
            })+
        }
    };
}
pub(crate) use on_both_secured;

/// A running server and a client for it.
pub(crate) struct Server {
    pub(crate) base: String,
    pub(crate) app: App,
    pub(crate) warehouse: String,
    believing: bool,
    client: Client,
    watch: Option<Watch>,
    _stop: oneshot::Sender<()>,
    places: Places,
}

/// What goes away with the server.
#[derive(Default)]
struct Places {
    folder: Option<TempDir>,
    _database: Option<Database>,
    _bucket: Option<Bucket>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {} {}", self.status, self.text))
    }

    /// Demands a status, and answers the body.
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// Demands an Iceberg error, and answers its message.
    pub(crate) fn error(&self, status: u16, kind: &str) -> String {
        let error = self.expect(status)["error"].clone();
        assert_eq!(
            (error["type"].as_str(), error["code"].as_u64()),
            (Some(kind), Some(status.into())),
            "{}",
            self.text
        );
        error["message"].as_str().unwrap().to_owned()
    }
}

impl Server {
    pub(crate) async fn start(setting: Setting) -> Self {
        Self::start_with(setting, |_| ()).await
    }

    /// Starts a server whose settings are changed first.
    pub(crate) async fn start_with(setting: Setting, change: impl FnOnce(&mut Settings)) -> Self {
        let (mut settings, places) = match setting {
            Setting::Local => local(),
            Setting::Production => production().await,
        };
        change(&mut settings);
        let config = settings.resolve().unwrap();
        Self::serve(config, places, Clock::System).await
    }

    /// Starts a server whose clock stands still until [`Server::pass`].
    pub(crate) async fn start_still(setting: Setting) -> Self {
        Self::start_still_with(setting, |_| ()).await
    }

    /// As [`Server::start_still`], with settings that are changed first.
    pub(crate) async fn start_still_with(setting: Setting, change: impl FnOnce(&mut Settings)) -> Self {
        let (mut settings, places) = match setting {
            Setting::Local => local(),
            Setting::Production => production().await,
        };
        change(&mut settings);
        let now_ms = Clock::System.now_ms();
        Self::serve(settings.resolve().unwrap(), places, Clock::Fixed(now_ms.into())).await
    }

    /// Starts a server that demands to know who is calling. Its clients say so in [`TEST_USER`] and [`TEST_ROLES`], which
    /// only this server of the tests takes for the truth. `root` may do everything.
    pub(crate) async fn start_secured(setting: Setting) -> Self {
        Self::start_secured_at(setting, Clock::System).await
    }

    /// As [`Server::start_secured`], by this clock.
    pub(crate) async fn start_secured_at(setting: Setting, clock: Clock) -> Self {
        Self::start_secured_as(setting, clock, |_| ()).await
    }

    /// As [`Server::start_secured`], with settings that are changed first.
    pub(crate) async fn start_secured_with(setting: Setting, change: impl FnOnce(&mut Settings)) -> Self {
        Self::start_secured_as(setting, Clock::System, change).await
    }

    async fn start_secured_as(setting: Setting, clock: Clock, change: impl FnOnce(&mut Settings)) -> Self {
        let (mut settings, places) = match setting {
            Setting::Local => local(),
            Setting::Production => production().await,
        };
        identities_on(&mut settings);
        change(&mut settings);
        let server = Self::serve_to(settings.resolve().unwrap(), places, clock, true).await;
        server.grant("root", "admin", &On::Server).await;
        server
    }

    /// Grants something to a user, straight in the database; answers the grant's id.
    pub(crate) async fn grant(&self, user: &str, privilege: &str, on: &On) -> String {
        let (name, ref_name) = privilege.split_once(':').unwrap_or((privilege, ""));
        let grantee = Grantee::User(user.to_owned());
        let made = commit::make_grant(&self.app, &grantee, (name, ref_name), on, "test").await.unwrap();
        made.0.id
    }

    /// Grants something to a user on a part of the warehouse `lake`: nothing, a namespace or a table of one.
    pub(crate) async fn grant_in(&self, user: &str, privilege: &str, namespace: &str, table: &str) -> String {
        let levels = || namespace.split('.').map(str::to_owned).collect();
        let named = (!namespace.is_empty()).then(|| Namespace::new(levels()).unwrap());
        let table = (!table.is_empty()).then_some(table);
        let target = commit::find_target(&self.app, Some("lake"), named.as_ref(), table).await.unwrap();
        self.grant(user, privilege, &target.on).await
    }

    /// Lets so many seconds pass on a clock that stands still.
    pub(crate) fn pass(&self, seconds: i64) {
        let clock = &self.app.clock;
        clock.set(clock.now_ms() + seconds * 1000);
    }

    /// Makes an identity, and answers its secret.
    pub(crate) async fn identity(&self, name: &str) -> String {
        let made = identity::create(&self.app.db, &self.app.clock, name, Wanted::Secret).await;
        let secret = made.unwrap().reveal().to_owned();
        leaks::note(&secret);
        secret
    }

    /// Sends a form to the token endpoint.
    pub(crate) async fn ask_for_token(&self, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Reply {
        for (name, value) in form {
            if ["client_secret", "subject_token", "assertion"].contains(name) {
                leaks::note(value);
            }
        }
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.send_form_with(body.into_bytes(), headers).await
    }

    /// Sends bytes to the token endpoint, called a form.
    pub(crate) async fn send_form(&self, body: Vec<u8>) -> Reply {
        self.send_form_with(body, &[]).await
    }

    async fn send_form_with(&self, body: Vec<u8>, headers: &[(&str, &str)]) -> Reply {
        let path = "/iceberg/v1/oauth/tokens";
        let request = self.request(Method::POST, path, headers);
        reply(path, request.header("content-type", "application/x-www-form-urlencoded").body(body)).await
    }

    /// A request whose secrets are noted.
    fn request(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> RequestBuilder {
        headers
            .iter()
            .filter(|(name, _)| *name == "authorization")
            .for_each(|(_, value)| leaks::note_authorization(value));
        let request = self.client.request(method, format!("{}{path}", self.base));
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
    }

    /// A token of an identity.
    pub(crate) async fn token(&self, name: &str, secret: &str) -> String {
        let form = [("grant_type", "client_credentials"), ("client_id", name), ("client_secret", secret)];
        let given = self.ask_for_token(&form, &[]).await.expect(200);
        given["access_token"].as_str().unwrap().to_owned()
    }

    /// What a route that asks for a token and nothing else answers to one.
    pub(crate) async fn knock(&self, token: &str) -> Reply {
        self.send(Method::GET, "/openapi.json", None, &[("authorization", &format!("Bearer {token}"))]).await
    }

    /// The locations of the objects in a place.
    pub(crate) async fn objects(&self, place: &str) -> Vec<String> {
        if let Some(path) = place.strip_prefix("file://") {
            let entries = std::fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap());
            return entries.map(|entry| format!("{place}/{}", entry.file_name().display())).collect();
        }
        let (bucket, prefix) = place.strip_prefix("gs://").unwrap().split_once('/').unwrap();
        super::gcs::list(bucket, prefix).await
    }

    /// Does all background work that is due.
    pub(crate) async fn work_off(&self) {
        guillemot::tasks::work_off(&self.app).await.unwrap();
    }

    /// Another server on the same database and storage.
    pub(crate) async fn beside(&self) -> Self {
        Self::serve_to(self.app.config.clone(), Places::default(), Clock::System, self.believing).await
    }

    /// As [`Server::beside`], with a clock that stands where this one's does.
    pub(crate) async fn beside_still(&self) -> Self {
        let clock = Clock::Fixed(self.app.clock.now_ms().into());
        Self::serve(self.app.config.clone(), Places::default(), clock).await
    }

    async fn serve(config: Config, places: Places, clock: Clock) -> Self {
        Self::serve_to(config, places, clock, false).await
    }

    /// Starts a server that may believe what its clients say of themselves.
    async fn serve_to(config: Config, places: Places, clock: Clock, believing: bool) -> Self {
        let watch = Watch::begin();
        note_settings(&config);
        let warehouse = config.warehouses[0].location.clone();
        let listener = server::bind(&config).await.unwrap();
        let base = format!("{}://{}", config.scheme(), listener.local_addr().unwrap());
        let app = server::build_with(config, clock, Ids::Random).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        if believing {
            let service: MapRequest<_, fn(Request) -> Request> =
                MapRequest::new(guillemot::api::service(app.clone()), believe);
            let service = ServiceExt::<Request>::into_make_service(service);
            let serving = axum::serve(listener, service).with_graceful_shutdown(async { drop(stopped.await) });
            tokio::spawn(async { serving.await.unwrap() });
        } else {
            let serving = server::serve(listener, app.clone(), async { drop(stopped.await) });
            tokio::spawn(async { serving.await.unwrap() });
        }
        let watch = Some(watch);
        Self { base, app, warehouse, believing, client: Client::new(), watch, _stop: stop, places }
    }

    /// Sends a request to any path.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> Reply {
        let mut request = self.request(method, path, headers);
        if let Some(body) = body {
            leaks::note_json(&body);
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        reply(path, request).await
    }

    /// Sends a request that the server may cut off; the status, if there was an answer.
    pub(crate) async fn try_send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Option<u16> {
        self.request(method, path, headers).send().await.ok().map(|response| response.status().as_u16())
    }

    /// Sends bytes as they are.
    pub(crate) async fn send_raw(&self, method: Method, path: &str, body: Vec<u8>) -> Reply {
        reply(path, self.request(method, path, &[]).body(body)).await
    }

    /// Sends a text as it is, in the name of a user.
    pub(crate) async fn send_text(&self, method: Method, path: &str, body: &str, user: &str) -> Reply {
        reply(path, self.request(method, path, &[(TEST_USER, user)]).body(body.to_owned())).await
    }

    /// The content encoding and the bytes of a reply.
    pub(crate) async fn get_raw(&self, path: &str, accept_encoding: &str) -> (Option<String>, Vec<u8>) {
        let request = self.client.get(format!("{}{path}", self.base)).header("accept-encoding", accept_encoding);
        let response = request.send().await.unwrap();
        let encoding = response.headers().get("content-encoding").map(|value| value.to_str().unwrap().to_owned());
        (encoding, response.bytes().await.unwrap().to_vec())
    }

    /// Makes the server read every metadata file anew.
    pub(crate) async fn forget_files(&self) {
        self.app.metadata.clear().await;
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, &format!("/iceberg/v1{path}"), None, &[]).await
    }

    pub(crate) async fn head(&self, path: &str) -> Reply {
        self.send(Method::HEAD, &format!("/iceberg/v1{path}"), None, &[]).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, &format!("/iceberg/v1{path}"), None, &[]).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(Method::POST, &format!("/iceberg/v1{path}"), Some(body), &[]).await
    }

    /// Creates the namespace `ns`.
    pub(crate) async fn namespace(&self) {
        self.post("/namespaces", json!({"namespace": ["ns"]})).await.expect(200);
    }

    /// Creates a table in `ns`, and answers its `LoadTableResult`.
    pub(crate) async fn table(&self, name: &str, version: u8) -> Value {
        let body = json!({"name": name, "schema": schema(), "properties": {"format-version": version.to_string()}});
        self.post("/namespaces/ns/tables", body).await.expect(200)
    }
}

/// A test is over when it is done with its server: then no secret of it may be found where it has no business.
impl Drop for Server {
    fn drop(&mut self) {
        // One failure is enough, and the first one counts.
        let Some(watch) = self.watch.take().filter(|_| !std::thread::panicking()) else { return };
        let audit = tokio::task::block_in_place(|| Handle::current().block_on(audit_log(&self.app)));
        leaks::search("THE AUDIT LOG", audit.as_bytes());
        let metrics = guillemot::telemetry::metrics().map(PrometheusHandle::render);
        leaks::search("THE METRICS", metrics.unwrap_or_default().as_bytes());
        if let Some(folder) = &self.places.folder {
            for file in ["test.db", "test.db-wal"] {
                leaks::search("THE DATABASE", &std::fs::read(folder.path().join(file)).unwrap_or_default());
            }
        }
        watch.end();
    }
}

/// All entries, as they are shown. A database that the test took away has none.
async fn audit_log(app: &App) -> String {
    app.write_audit().await;
    let all = Page { after: None, limit: None };
    audit::list(&app.db, audit::Filter::default(), &all)
        .await
        .map(|entries| format!("{:?}", entries.items))
        .unwrap_or_default()
}

/// Notes the secrets among the settings.
fn note_settings(config: &Config) {
    config.auth.secret_key.iter().for_each(|key| leaks::note(key.reveal()));
    let introspection = config.auth.introspection.iter();
    introspection.for_each(|server| leaks::note(server.client_secret.reveal()));
    if let Ok(url) = Url::parse(&config.database_url) {
        url.password().into_iter().for_each(leaks::note);
    }
}

/// Sends a request, and hears what is answered.
async fn reply(path: &str, request: RequestBuilder) -> Reply {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.unwrap();
    leaks::answered(path, status.as_u16(), &text);
    Reply { status, headers, text }
}

/// Who a client of a secured test server is, and its roles, joined by commas.
pub(crate) const TEST_USER: &str = "x-test-user";
pub(crate) const TEST_ROLES: &str = "x-test-roles";

/// Stands in for authentication.
fn believe(mut request: Request) -> Request {
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    if let Some(name) = header(TEST_USER) {
        let roles = header(TEST_ROLES).iter().flat_map(|roles| roles.split(',')).map(str::to_owned).collect();
        request.extensions_mut().insert(Arc::new(Principal { name, roles, unrestricted: false }));
    }
    request
}

fn local() -> (Settings, Places) {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        listen: Some("127.0.0.1:0".into()),
        database_url: Some(format!("sqlite://{}", folder.path().join("test.db").display())),
        warehouse: vec![format!("lake=file://{}", folder.path().join("lake").display())],
        task_interval_s: Some(0),
        ..Settings::default()
    };
    (settings, Places { folder: Some(folder), ..Places::default() })
}

async fn production() -> (Settings, Places) {
    let (database, bucket) = (Database::create().await, Bucket::create().await);
    let settings = Settings {
        listen: Some("127.0.0.1:0".into()),
        database_url: Some(database.url().to_owned()),
        warehouse: vec![format!("lake={}", bucket.uri())],
        gcs_endpoint: Some(bucket.server().to_owned()),
        task_interval_s: Some(0),
        ..Settings::default()
    };
    (settings, Places { _database: Some(database), _bucket: Some(bucket), ..Places::default() })
}

/// The schema of the tests' tables.
pub(crate) fn schema() -> Value {
    json!({"type": "struct", "schema-id": 0, "fields": [
        {"id": 7, "name": "id", "required": true, "type": "long"},
        {"id": 9, "name": "data", "required": false, "type": "string"}
    ]})
}
