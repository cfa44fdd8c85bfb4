//! From catalogs that say too much: long errors, and what they were sent.

use super::bad_catalogs::serve;
use super::{Ran, guillemot, import};
use crate::support::idp::Idp;
use crate::support::leaks;
use crate::support::server::{Server, Setting};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use serde_json::json;

const TOKEN: &str = "token-of-the-mover-5f2c";
const SECRET: &str = "pass+word/of=the-mover";

/// A folder with a file for each secret.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        leaks::note(TOKEN);
        leaks::note(SECRET);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("token"), TOKEN).unwrap();
        std::fs::write(folder.path().join("credential"), format!("mover:{SECRET}\n")).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

/// Demands that nothing secret, nothing long and nothing that moves a terminal was said, and answers the line.
fn modest<'a>(ran: &'a Ran, beginning: &str) -> &'a str {
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    for secret in [TOKEN, SECRET, "pass%2Bword", "got-for-the-mover", "key-of-the-mover", "word-of-the-mover"] {
        assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{secret}: {}{}", ran.out, ran.err);
    }
    assert!(ran.out.len() < 4000, "{} bytes", ran.out.len());
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    ran.line(beginning)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_is_cut_short_and_secrets_in_it_are_hidden() {
    let target = Server::start(Setting::Local).await;
    let files = Files::new();
    let (token, credential) = (files.path("token"), files.path("credential"));
    let source = Idp::start().await;
    let long = "x".repeat(100_000);
    let message = format!("\u{1b}[2J no {TOKEN}, {long}");
    source.answer("/v1/config", 500, &json!({"error": {"message": message, "type": "E", "code": 500}}));
    let header = "X-Api-Key=key-of-the-mover";
    let run = |file: &[&str]| import(&target, &[&["catalog", "--uri", &source.url, "--header", header], file].concat());
    let line = run(&["--token-file", &token]);
    assert!(modest(&line, "failed import: ").contains("answers 500: \\u{1b}[2J no ***, xxx"), "{}", line.out);
    let verify = ["verify", "--uri", &source.url, "--name", "a.t", "--token", TOKEN];
    let verify = guillemot(&verify);
    assert!(verify.code == 2 && verify.err.contains("no ***") && !verify.err.contains(TOKEN), "{}", verify.err);
    // Half of a secret at the end is one, too.
    source.answer_text("/v1/config", 403, format!("{}{TOKEN}key-of-the-mover", "y".repeat(490)));
    let line = run(&["--token-file", &token]);
    assert!(!modest(&line, "failed import: ").contains("token-of"), "{}", line.out);
    source.answer("/v1/config", 200, &json!({"overrides": format!("{TOKEN}{long}")}));
    modest(&run(&["--token-file", &token]), "failed import: ");

    let denied = format!("for {SECRET}, sent as {}", "pass%2Bword%2Fof%3Dthe-mover");
    source.answer("/v1/oauth/tokens", 401, &json!({"error": "no", "error_description": format!("{denied}{long}")}));
    let line = run(&["--credential-file", &credential]);
    assert!(modest(&line, "failed import: ").contains("answers 401: no: for ***, sent as ***"), "{}", line.out);
    source.answer("/v1/oauth/tokens", 200, &json!({"access_token": "got-for-the-mover", "token_type": "bearer"}));
    source.answer_text("/v1/config", 400, "no got-for-the-mover".to_owned());
    let line = run(&["--credential-file", &credential]);
    assert!(modest(&line, "failed import: ").ends_with("answers 400: no ***"), "{}", line.out);
    let elsewhere = ["--oauth2-server-uri", "http://me:word-of-the-mover@127.0.0.1:1/"];
    modest(&run(&[&["--credential-file", &credential], &elsewhere[..]].concat()), "failed import: ");

    // Names and places are the source's words, too.
    source.answer("/v1/config", 200, &json!({"overrides": {"prefix": "p"}}));
    source.answer("/v1/p/namespaces", 200, &json!({"namespaces": [["ns"], [format!("{long}\u{1f}")]]}));
    source.answer("/v1/p/namespaces/ns", 200, &json!({"properties": {}}));
    let names = [format!("{TOKEN}\u{1f}{long}"), "t".to_owned()].map(|name| json!({ "name": name }));
    source.answer("/v1/p/namespaces/ns/tables", 200, &json!({ "identifiers": names }));
    let place = format!("hdfs://{TOKEN}/{long}");
    source.answer("/v1/p/namespaces/ns/tables/t", 200, &json!({"metadata-location": place, "metadata": {}}));
    let ran = run(&["--token-file", &token]);
    assert!(ran.out.len() < 60_000, "{} bytes", ran.out.len());
    assert!(!ran.out.contains(TOKEN), "{}", ran.out);
    assert!(ran.line("failed table ns.t: ").contains("hdfs://***/x"), "{}", ran.out);
}

/// An answer that never ends.
async fn endless() -> Response {
    let chunks = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 8192])));
    Response::builder().status(500).body(Body::from_stream(chunks)).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_without_end_is_left() {
    let target = Server::start(Setting::Local).await;
    let source = serve(Router::new().fallback(endless)).await;
    let ran = import(&target, &["catalog", "--uri", &source]);
    assert!(modest(&ran, "failed import: ").contains("/v1/config answers 500: xxx"), "{}", ran.out);
    let ran = import(&target, &["catalog", "--uri", &source, "--credential-file", &Files::new().path("credential")]);
    assert!(modest(&ran, "failed import: ").contains("/v1/oauth/tokens answers 500: xxx"), "{}", ran.out);
}
