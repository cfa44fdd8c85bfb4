//! Who this server is to Google, for a warehouse: a service account by its key, a user by `gcloud auth
//! application-default login`, or the account of the machine it runs on.

use super::{Error, Order, Vending, ask, not_set_up, unreadable};
use crate::storage::StorageSecret;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::PathBuf;

const SERVICE: &str = "Google's token service";
const MACHINE: &str = "the machine's metadata server";

/// What a downscoped token can be made of.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

const JWT_GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// An access token of the warehouse's.
pub(super) struct Base {
    pub(super) token: String,
    pub(super) expires_ms: i64,
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base").field("expires_ms", &self.expires_ms).finish_non_exhaustive()
    }
}

/// What Google answers.
#[derive(Deserialize)]
pub(super) struct Token {
    pub(super) access_token: String,
    pub(super) expires_in: Option<i64>,
}

/// Gets an access token for the warehouse: of its own secret, or else of the environment.
pub(super) async fn base(
    vending: &Vending,
    order: &Order,
    now: impl Fn() -> i64 + Send + Sync,
) -> Result<(Base, i64), Error> {
    let token_url = &vending.services.google_token_url;
    let form = match order.secret.as_deref() {
        Some(StorageSecret::GcsServiceAccount { key }) => Some(of_service_account(order, key, token_url, now())?),
        _ => match key_file() {
            Some(path) => Some(of_file(order, &path, token_url, now())?),
            None => None,
        },
    };
    let (service, request) = match form {
        Some(form) => (SERVICE, vending.client.post(token_url).form(&form)),
        None => (MACHINE, vending.client.get(machine_url()).header("metadata-flavor", "Google")),
    };
    let began_ms = now();
    let answer = ask(order, service, request).await?;
    let token: Token = serde_json::from_str(&answer).map_err(|_| unreadable(order, service))?;
    let expires_ms = began_ms.saturating_add(token.expires_in.unwrap_or(3600).saturating_mul(1000));
    Ok((Base { token: token.access_token, expires_ms }, expires_ms))
}

type Form = Vec<(&'static str, String)>;

/// The question of a service account: a statement that its own key signs.
fn of_service_account(order: &Order, key: &Map<String, Value>, audience: &str, now_ms: i64) -> Result<Form, Error> {
    let text = |name: &str| {
        let found = key.get(name).and_then(Value::as_str);
        found.ok_or_else(|| not_set_up(order, format!("the service account's key has no `{name}`")))
    };
    let seconds = now_ms / 1000;
    let header = json!({"alg": "RS256", "typ": "JWT", "kid": text("private_key_id")?});
    let claims = json!({
        "iss": text("client_email")?, "scope": SCOPE, "aud": audience, "iat": seconds, "exp": seconds + 3600,
    });
    let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let statement = format!("{}.{}", encode(&header), encode(&claims));
    let signature = sign(text("private_key")?, statement.as_bytes());
    let signature =
        signature.ok_or_else(|| not_set_up(order, "the service account's private key is none".to_owned()))?;
    let assertion = format!("{statement}.{}", URL_SAFE_NO_PAD.encode(signature));
    Ok(vec![("grant_type", JWT_GRANT.to_owned()), ("assertion", assertion)])
}

/// RS256 with a key in PEM.
fn sign(pem: &str, statement: &[u8]) -> Option<Vec<u8>> {
    let body = pem.split("-----BEGIN PRIVATE KEY-----").nth(1)?.split("-----END PRIVATE KEY-----").next()?;
    let der = STANDARD.decode(body.split_whitespace().collect::<String>()).ok()?;
    let key = RsaKeyPair::from_pkcs8(&der).ok()?;
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), statement, &mut signature).ok()?;
    Some(signature)
}

/// The question of whoever a file of `gcloud` names.
fn of_file(order: &Order, path: &PathBuf, token_url: &str, now_ms: i64) -> Result<Form, Error> {
    let wrong = |what: &str| not_set_up(order, format!("{} {what}", path.display()));
    let file = std::fs::read_to_string(path).map_err(|e| wrong(&format!("cannot be read: {}", e.kind())))?;
    let file: Map<String, Value> = serde_json::from_str(&file).map_err(|_| wrong("is no JSON object"))?;
    let text = |name: &str| file.get(name).and_then(Value::as_str).map(str::to_owned);
    if text("type").as_deref() == Some("service_account") {
        return of_service_account(order, &file, token_url, now_ms);
    }
    match (text("client_id"), text("client_secret"), text("refresh_token")) {
        (Some(id), Some(secret), Some(token)) => Ok(vec![
            ("grant_type", "refresh_token".to_owned()),
            ("client_id", id),
            ("client_secret", secret),
            ("refresh_token", token),
        ]),
        _ => Err(wrong("holds neither a service account's key nor a user's refresh token")),
    }
}

/// The file that Google's libraries look for.
fn key_file() -> Option<PathBuf> {
    let named = ["GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_APPLICATION_CREDENTIALS"];
    let named = named.into_iter().find_map(|name| std::env::var_os(name).filter(|path| !path.is_empty()));
    let usual = || {
        let home = PathBuf::from(std::env::var_os("HOME")?);
        Some(home.join(".config/gcloud/application_default_credentials.json")).filter(|path| path.exists())
    };
    named.map(PathBuf::from).or_else(usual)
}

fn machine_url() -> String {
    let host = std::env::var("GCE_METADATA_HOST").unwrap_or_else(|_| "metadata.google.internal".to_owned());
    format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token")
}
