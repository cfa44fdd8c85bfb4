//! A stand-in for Google's token services that records what it is asked.

use super::leaks;
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

type Fields = BTreeMap<String, String>;

/// The services, at one address.
#[derive(Clone)]
pub(crate) struct Google(Arc<Inner>);

struct Inner {
    address: String,
    key: KeyPair,
    asked: Mutex<Vec<(&'static str, Fields)>>,
    away: AtomicBool,
}

impl Google {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let google = Self(Arc::new(Inner { address, key, asked: Mutex::default(), away: AtomicBool::new(false) }));
        let router = axum::Router::new()
            .route("/token", post(account))
            .route("/v1/token", post(exchange))
            .with_state(google.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        google
    }

    pub(crate) fn token_url(&self) -> String {
        format!("{}/token", self.0.address)
    }

    pub(crate) fn sts_url(&self) -> String {
        format!("{}/v1/token", self.0.address)
    }

    /// A service account's key file.
    pub(crate) fn key_file(&self) -> Value {
        let der = AsDer::<Pkcs8V1Der>::as_der(&self.0.key).unwrap();
        let pem =
            format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der.as_ref()));
        json!({
            "type": "service_account", "project_id": "p", "private_key_id": "k1", "private_key": pem,
            "client_email": "lake@p.iam.gserviceaccount.com", "token_uri": "https://nobody.invalid/token"
        })
    }

    /// From now on it answers that it cannot, or it does again.
    pub(crate) fn go_away(&self, away: bool) {
        self.0.away.store(away, Ordering::SeqCst);
    }

    /// What was exchanged so far.
    pub(crate) fn exchanged(&self) -> Vec<Fields> {
        let asked = self.0.asked.lock().unwrap();
        asked.iter().filter(|(what, _)| *what == "exchange").map(|(_, fields)| fields.clone()).collect()
    }

    fn note(&self, what: &'static str, fields: Fields) -> Result<usize, StatusCode> {
        if self.0.away.load(Ordering::SeqCst) {
            return Err(StatusCode::SERVICE_UNAVAILABLE);
        }
        let mut asked = self.0.asked.lock().unwrap();
        asked.push((what, fields));
        Ok(asked.iter().filter(|(known, _)| *known == what).count())
    }
}

fn fields(form: &str) -> Fields {
    url::form_urlencoded::parse(form.as_bytes()).into_owned().collect()
}

/// Gives a token to whoever signs with the account's key.
async fn account(State(google): State<Google>, body: String) -> Result<Json<Value>, StatusCode> {
    let fields = fields(&body);
    let assertion = fields.get("assertion").ok_or(StatusCode::BAD_REQUEST)?.clone();
    let (statement, signature) = assertion.rsplit_once('.').ok_or(StatusCode::BAD_REQUEST)?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| StatusCode::BAD_REQUEST)?;
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, google.0.key.public_key())
        .verify(statement.as_bytes(), &signature)
        .map_err(|_| StatusCode::UNAUTHORIZED)?;
    let claims = URL_SAFE_NO_PAD.decode(statement.split_once('.').unwrap().1).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["iss"], "lake@p.iam.gserviceaccount.com");
    assert_eq!(claims["aud"], google.token_url());
    assert_eq!(claims["scope"], "https://www.googleapis.com/auth/cloud-platform");
    leaks::note(&assertion);
    let number = google.note("account", fields)?;
    Ok(Json(secret(json!({"access_token": format!("ya29.base-{number}"), "expires_in": 3600, "token_type": "Bearer"}))))
}

/// Exchanges a token; says no time, as Google does for a token of its own.
async fn exchange(State(google): State<Google>, body: String) -> Result<Json<Value>, StatusCode> {
    let number = google.note("exchange", fields(&body))?;
    Ok(Json(secret(json!({
        "access_token": format!("ya29.down-{number}"), "token_type": "Bearer",
        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"
    }))))
}

fn secret(answer: Value) -> Value {
    leaks::note_json(&answer);
    answer
}
