//! Somebody who vouches for callers, played by a test: answers what it is told to, and remembers what it was asked.

use super::leaks;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use axum::Router;
use axum::extract::Request;
use axum::response::IntoResponse;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;

/// A server of documents.
pub(crate) struct Idp {
    pub(crate) url: String,
    shared: Arc<Mutex<Shared>>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    answers: HashMap<String, (u16, String)>,
    asked: Vec<Asked>,
}

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: String,
}

impl Idp {
    pub(crate) async fn start() -> Self {
        Self::start_at("127.0.0.1:0").await
    }

    /// Starts once more where another one was.
    pub(crate) async fn start_at(address: &str) -> Self {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::<Mutex<Shared>>::default();
        let state = Arc::clone(&shared);
        let router = Router::new().fallback(move |request: Request| answer(Arc::clone(&state), request));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, shared, serving }
    }

    /// What is answered at a path from now on.
    pub(crate) fn answer(&self, path: &str, status: u16, body: &Value) {
        self.answer_text(path, status, body.to_string());
    }

    pub(crate) fn answer_text(&self, path: &str, status: u16, body: String) {
        self.shared.lock().unwrap().answers.insert(path.to_owned(), (status, body));
    }

    /// Publishes keys, where discovery finds them.
    pub(crate) fn publish(&self, keys: &[&Signer]) {
        let keys: Vec<Value> = keys.iter().map(|key| key.jwk.clone()).collect();
        let document = json!({"issuer": self.url, "jwks_uri": format!("{}/keys", self.url)});
        self.answer("/.well-known/openid-configuration", 200, &document);
        self.answer("/keys", 200, &json!({ "keys": keys }));
    }

    /// What it was asked at a path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Asked> {
        self.shared.lock().unwrap().asked.iter().filter(|asked| asked.path == path).cloned().collect()
    }

    /// Goes away, and answers where it was.
    pub(crate) async fn stop(self) -> String {
        self.serving.abort();
        let _ = self.serving.await;
        self.url.trim_start_matches("http://").to_owned()
    }
}

async fn answer(shared: Arc<Mutex<Shared>>, request: Request) -> impl IntoResponse {
    let path = request.uri().path().to_owned();
    let authorization = request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let mut shared = shared.lock().unwrap();
    let (status, text) = shared.answers.get(&path).cloned().unwrap_or((404, "nothing here".to_owned()));
    shared.asked.push(Asked { path, authorization, body });
    // For answers that send the caller elsewhere.
    let headers = [("location", "/keys"), ("connection", "close")];
    (axum::http::StatusCode::from_u16(status).unwrap(), headers, text)
}

/// A key that signs JWTs.
pub(crate) struct Signer {
    private: EncodingKey,
    pub(crate) jwk: Value,
    id: Option<String>,
}

impl Signer {
    /// An ES256 key of this name.
    pub(crate) fn new(id: &str) -> Self {
        Self::made(Some(id))
    }

    /// One that its tokens do not name.
    pub(crate) fn nameless() -> Self {
        Self::made(None)
    }

    fn made(id: Option<&str>) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let private = EncodingKey::from_ec_der(pair.to_pkcs8v1().unwrap().as_ref());
        let mut jwk = serde_json::to_value(Jwk::from_encoding_key(&private, Algorithm::ES256).unwrap()).unwrap();
        if let Some(id) = id {
            jwk["kid"] = json!(id);
        }
        Self { private, jwk, id: id.map(str::to_owned) }
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let mut header = Header::new(Algorithm::ES256);
        header.kid.clone_from(&self.id);
        let token = jsonwebtoken::encode(&header, claims, &self.private).unwrap();
        leaks::note(&token);
        token
    }
}
