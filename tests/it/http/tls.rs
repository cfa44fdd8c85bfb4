//! HTTPS, with certificates that the tests make.

use crate::support::leaks;
use crate::support::server::{Server, Setting};
use guillemot::config::{Config, Settings};
use guillemot::telemetry::chain;
use guillemot::{clock, server};
use reqwest::{Certificate, Client};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// A certificate for this machine, and its key.
struct Pair {
    cert: String,
    key: String,
}

impl Pair {
    fn new() -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let key = made.signing_key.serialize_pem();
        leaks::note(&key);
        Self { cert: made.cert.pem(), key }
    }

    /// A client that trusts this certificate alone, and has no connection yet.
    fn client(&self) -> Client {
        let root = Certificate::from_pem(self.cert.as_bytes()).unwrap();
        Client::builder().tls_certs_only([root]).timeout(Duration::from_secs(10)).build().unwrap()
    }
}

/// Where a server finds its certificate.
struct Files {
    folder: TempDir,
}

impl Files {
    fn of(pair: &Pair) -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        files.write(pair);
        files
    }

    fn write(&self, pair: &Pair) {
        fs::write(self.cert(), &pair.cert).unwrap();
        fs::write(self.key(), &pair.key).unwrap();
    }

    fn cert(&self) -> PathBuf {
        self.folder.path().join("tls.crt")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("tls.key")
    }

    fn set(&self, settings: &mut Settings) {
        settings.tls.cert = Some(self.cert());
        settings.tls.key = Some(self.key());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_catalog_is_served_by_https_to_who_trusts_its_certificate() {
    let pair = Pair::new();
    let files = Files::of(&pair);
    let server = Server::start_with(Setting::Local, |settings| files.set(settings)).await;
    assert!(server.base.starts_with("https://"), "{}", server.base);
    let namespaces = format!("{}/iceberg/v1/namespaces", server.base);
    let client = pair.client();
    let made = client.post(&namespaces).json(&json!({"namespace": ["ns"]})).send().await.unwrap();
    assert_eq!(made.status(), 200);
    let listed = client.get(&namespaces).send().await.unwrap().text().await.unwrap();
    assert_eq!(listed, r#"{"namespaces":[["ns"]]}"#);
    let address = server.base.strip_prefix("https://").unwrap().to_owned();
    let healthy = Config { listen: address, ..server.app.config.clone() };
    guillemot::server::ask_health(&healthy).await.unwrap();
    guillemot::server::ask_health(&Config { tls: None, ..healthy }).await.unwrap_err();

    let stranger = Pair::new().client();
    assert!(stranger.get(&namespaces).send().await.unwrap_err().is_connect());
    // By a name that is not in the certificate.
    let other = namespaces.replace("127.0.0.1", "localhost.localdomain");
    let address = server.base.strip_prefix("https://").unwrap().parse().unwrap();
    let root = Certificate::from_pem(pair.cert.as_bytes()).unwrap();
    let renamed = Client::builder().tls_certs_only([root]).resolve("localhost.localdomain", address).build().unwrap();
    assert!(renamed.get(&other).send().await.unwrap_err().is_connect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_handshake_is_ended_and_harms_nobody() {
    let pair = Pair::new();
    let files = Files::of(&pair);
    let server = Server::start_with(Setting::Local, |settings| {
        files.set(settings);
        settings.limits.header_timeout_s = Some(1);
    })
    .await;
    let address = server.base.strip_prefix("https://").unwrap();
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(&[22, 3, 1, 2, 0, 1, 0]).await.unwrap();
    // While these are being waited for.
    let health = pair.client().get(format!("{}/health", server.base)).send().await.unwrap();
    assert_eq!(health.status(), 200);
    for (name, stream) in [("silent", &mut silent), ("plain", &mut plain), ("half", &mut half)] {
        let mut said = Vec::new();
        // It may end by a reset: there is something that nobody read.
        let ended = timeout(Duration::from_secs(4), stream.read_to_end(&mut said)).await;
        assert!(ended.is_ok(), "{name} hangs");
        assert!(!said.starts_with(b"HTTP"), "{name}");
    }
    assert_eq!(pair.client().get(format!("{}/health", server.base)).send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_certificate_is_taken_without_a_restart_once_its_key_is_there() {
    let (first, second) = (Pair::new(), Pair::new());
    let files = Files::of(&first);
    let server = Server::start_with(Setting::Local, |settings| files.set(settings)).await;
    let health = format!("{}/health", server.base);
    let old = first.client();
    old.get(&health).send().await.unwrap();
    fs::write(files.cert(), &second.cert).unwrap();
    sleep(Duration::from_secs(6)).await;
    first.client().get(&health).send().await.expect("half of a new pair changes nothing");
    fs::write(files.key(), &second.key).unwrap();
    let renewed = async {
        while second.client().get(&health).send().await.is_err() {
            sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(Duration::from_secs(15), renewed).await.expect("the new certificate is served");
    assert!(first.client().get(&health).send().await.is_err());
    old.get(&health).send().await.expect("a connection that is there stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_run_are_answered_when_the_server_stops() {
    let pair = Pair::new();
    let files = Files::of(&pair);
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings_in(folder.path());
    files.set(&mut settings);
    let config = settings.resolve().unwrap();
    let listener = server::bind(&config).await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let app = server::build_with(config, clock::Clock::System, clock::Ids::Random).await.unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server::serve(listener, app, async { drop(stopped.await) }));
    let (body, parts) = futures::channel::mpsc::unbounded::<Result<&str, std::io::Error>>();
    let idle = pair.client();
    idle.get(format!("{base}/health")).send().await.unwrap();
    let request = pair.client().post(format!("{base}/iceberg/v1/namespaces"));
    let answer = tokio::spawn(request.body(reqwest::Body::wrap_stream(parts)).send());
    body.unbounded_send(Ok(r#"{"namespace": ["#)).unwrap();
    sleep(Duration::from_millis(300)).await;
    stop.send(()).unwrap();
    sleep(Duration::from_millis(300)).await;
    assert!(pair.client().get(format!("{base}/health")).send().await.is_err(), "nobody new is let in");
    body.unbounded_send(Ok(r#""late"]}"#)).unwrap();
    drop(body);
    let answer = answer.await.unwrap().unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.unwrap().contains("late"));
    timeout(Duration::from_secs(5), serving).await.expect("idle connections hold nothing up").unwrap().unwrap();
}

#[test]
fn files_that_cannot_be_used_are_named_with_the_reason() {
    let (pair, other) = (Pair::new(), Pair::new());
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings_in(folder.path());
    let files = Files::of(&pair);
    files.set(&mut settings);
    let config = settings.resolve().unwrap();
    let said = |cert: &str, key: &str| {
        fs::write(files.cert(), cert).unwrap();
        fs::write(files.key(), key).unwrap();
        refusal(&config, files.folder.path())
    };
    assert_eq!(said(&pair.cert, &pair.key), "");
    assert_eq!(said("", &pair.key), "HTTPS cannot be served: tls.crt holds no certificate in PEM form");
    assert_eq!(said(&pair.key, &pair.key), "HTTPS cannot be served: tls.crt holds no certificate in PEM form");
    let none = "HTTPS cannot be served: tls.key holds no private key without a passphrase in PEM form";
    assert_eq!(said(&pair.cert, &pair.cert), none);
    assert_eq!(said(&pair.cert, &pair.key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY")), none);
    let broken = pair.key.replace('\n', "!\n");
    assert_eq!(said(&pair.cert, &broken), "HTTPS cannot be served: tls.key is not in PEM form");
    let foreign = "HTTPS cannot be served: the key in tls.key does not belong to the first certificate in tls.crt";
    assert_eq!(said(&pair.cert, &other.key), foreign);
    fs::remove_file(files.key()).unwrap();
    let gone = refusal(&config, files.folder.path());
    assert!(gone.starts_with("HTTPS cannot be served: tls.key cannot be read: No such file"), "{gone}");
}

/// Why a server does not start, without the folder's name.
fn refusal(config: &Config, folder: &Path) -> String {
    let refused = server::check_tls(config).err().map(|error| chain(&error)).unwrap_or_default();
    refused.replace(&format!("{}/", folder.display()), "")
}

fn settings_in(folder: &Path) -> Settings {
    Settings {
        listen: Some("127.0.0.1:0".into()),
        database_url: Some(format!("sqlite://{}/test.db", folder.display())),
        warehouse: vec![format!("lake=file://{}/lake", folder.display())],
        task_interval_s: Some(0),
        ..Settings::default()
    }
}
