//! Tokens of issuers: JWTs whose keys are found, cached and read again.

use crate::support::idp::{Idp, Signer};
use crate::support::server::{Server, Setting};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use guillemot::auth::{At, Principal};
use guillemot::config::auth::IssuerSettings;
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};
use std::sync::Arc;

/// A server that knows these issuers.
async fn server(issuers: &[&str], more: &str) -> Server {
    let issuer = |url: &&str| -> IssuerSettings {
        toml::from_str(&format!("url = '{url}'\naudience = ['lake', 'lake2']\n{more}")).unwrap()
    };
    let issuers: Vec<_> = issuers.iter().map(issuer).collect();
    Server::start_still_with(Setting::Local, |settings| settings.auth.issuers = issuers).await
}

/// Claims of a good token.
fn claims(server: &Server, issuer: &str) -> Value {
    let now_s = server.app.clock.now_ms() / 1000;
    json!({"iss": issuer, "aud": "lake", "sub": "user", "iat": now_s, "nbf": now_s, "exp": now_s + 3600})
}

fn with(mut claims: Value, change: &Value) -> Value {
    for (name, value) in change.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

async fn principal(server: &Server, token: &str) -> Principal {
    let at = At { db: &server.app.db, now_ms: server.app.clock.now_ms() };
    Arc::unwrap_or_clone(server.app.auth.principal(at, Some(&format!("Bearer {token}"))).await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_a_known_issuer_names_its_caller() {
    let (idp, key) = (Idp::start().await, Signer::new("k1"));
    idp.publish(&[&key]);
    let server = server(&[&idp.url], "user-claim = 'email'\nroles-claim = 'realm_access.roles'").await;
    let change = json!({"email": "a@b.c", "realm_access": {"roles": ["r1", "r2"]}, "aud": ["x", "lake2"]});
    let token = key.sign(&with(claims(&server, &idp.url), &change));
    server.knock(&token).await.expect(200);
    let expected = Principal {
        name: format!("{}#a@b.c", idp.url),
        roles: vec!["r1".to_owned(), "r2".to_owned()],
        unrestricted: false,
    };
    assert_eq!(principal(&server, &token).await, expected);
    let other = key.sign(&with(claims(&server, &idp.url), &json!({"email": "d@e.f"})));
    server.knock(&other).await.expect(200);
    assert_eq!((idp.asked("/.well-known/openid-configuration").len(), idp.asked("/keys").len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_token_is_said() {
    let (idp, key, stranger) = (Idp::start().await, Signer::new("k1"), Signer::new("k1"));
    idp.publish(&[&key]);
    let server = server(&[&idp.url], "").await;
    let good = claims(&server, &idp.url);
    server.knock(&key.sign(&good)).await.expect(200);
    let now_s = server.app.clock.now_ms() / 1000;
    for (change, why) in [
        (json!({"aud": "other"}), "it is for another audience than lake, lake2"),
        (json!({"aud": []}), "it is for another audience"),
        (json!({"aud": null}), "it has no aud"),
        (json!({"aud": 1}), "it has no aud"),
        (json!({"iss": "https://other.example"}), "this server does not know its issuer"),
        (json!({"iss": format!("{}/", idp.url)}), "this server does not know its issuer"),
        (json!({"iss": [idp.url]}), "it is a JWT that names no issuer"),
        (json!({"iss": null}), "it is a JWT that names no issuer"),
        (json!({"iss": "guillemot"}), "this catalog has no key of that name"),
        (json!({"nbf": now_s + 600}), "it is not valid before 600 s from now"),
        (json!({"iat": now_s + 600}), "it is not valid before 600 s from now"),
        (json!({"exp": null}), "it has no exp"),
        (json!({"exp": "later"}), "it has no exp"),
        (json!({"sub": null}), "its sub names nobody"),
        (json!({"sub": "a\nb"}), "its sub names nobody"),
        (json!({"roles": {"a": 1}}), "its roles is no list"),
    ] {
        let message = server.knock(&key.sign(&with(good.clone(), &change))).await.error(401, "NotAuthorizedException");
        assert!(message.starts_with(&format!("the token is not accepted: {why}")), "{change}: {message}");
    }
    let expired = key.sign(&with(good.clone(), &json!({"exp": now_s - 600})));
    assert_eq!(server.knock(&expired).await.error(401, "NotAuthorizedException"), "the token has expired");
    let forged = server.knock(&stranger.sign(&good)).await.error(401, "NotAuthorizedException");
    assert!(forged.ends_with("its signature is wrong"), "{forged}");
    let unknown = server.knock(&Signer::new("k2").sign(&good)).await.error(401, "NotAuthorizedException");
    assert!(unknown.ends_with("its issuer has no such key"), "{unknown}");
    // Cut off anywhere.
    let token = key.sign(&good);
    for length in [1, 10, token.len() / 2, token.len() - 20, token.len() - 1] {
        server.knock(&token[..length]).await.error(401, "NotAuthorizedException");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signature_by_a_shared_secret_or_by_none_is_refused() {
    let (idp, key) = (Idp::start().await, Signer::new("k1"));
    // A key set that also holds a shared secret: whoever reads it could sign.
    let shared = json!({"kty": "oct", "k": URL_SAFE_NO_PAD.encode([7; 32]), "alg": "HS256", "kid": "shared"});
    idp.publish(&[&key]);
    idp.answer("/keys", 200, &json!({"keys": [key.jwk, shared, "rubbish", {"kty": "new"}, {}]}));
    let server = server(&[&idp.url], "").await;
    let good = claims(&server, &idp.url);
    server.knock(&key.sign(&good)).await.expect(200);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let public = key.jwk.to_string();
    for algorithm in ["none", "None", "HS256", "HS384", "HS512", "RS256", "ES384", "EdDSA", ""] {
        for (id, secret) in [("k1", public.as_bytes()), ("shared", &[7; 32])] {
            let message = format!("{}.{}", part(&json!({"alg": algorithm, "kid": id})), part(&good));
            let secret = EncodingKey::from_secret(secret).unwrap();
            let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &secret, Algorithm::HS256).unwrap();
            for token in [format!("{message}."), format!("{message}.{signature}")] {
                server.knock(&token).await.error(401, "NotAuthorizedException");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_algorithms_of_the_settings_are_taken() {
    let (idp, key) = (Idp::start().await, Signer::new("k1"));
    idp.publish(&[&key]);
    let server = server(&[&idp.url], "algorithms = ['RS256', 'ES384']").await;
    let message = server.knock(&key.sign(&claims(&server, &idp.url))).await.error(401, "NotAuthorizedException");
    assert_eq!(message, "the token is not accepted: it is not signed with RS256, ES384");
    assert!(idp.asked("/keys").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_ten_minutes_off_is_noticed() {
    let (idp, key) = (Idp::start().await, Signer::new("k1"));
    idp.publish(&[&key]);
    let server = server(&[&idp.url], "").await;
    let token = key.sign(&claims(&server, &idp.url));
    server.pass(-600);
    let message = server.knock(&token).await.error(401, "NotAuthorizedException");
    assert!(message.ends_with("it is not valid before 600 s from now: do the clocks agree?"), "{message}");
    server.pass(600 + 3600 + 59);
    server.knock(&token).await.expect(200);
    server.pass(541);
    assert_eq!(server.knock(&token).await.error(401, "NotAuthorizedException"), "the token has expired");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_key_is_found_and_an_old_one_forgotten() {
    let (idp, old, new) = (Idp::start().await, Signer::new("old"), Signer::new("new"));
    idp.publish(&[&old]);
    let server = server(&[&idp.url], "").await;
    let token = |key: &Signer, user: &str| key.sign(&with(claims(&server, &idp.url), &json!({"sub": user})));
    server.knock(&token(&old, "a")).await.expect(200);
    idp.publish(&[&new]);
    // Whoever invents names of keys does not make the server ask each time.
    for at in 0..5 {
        server.knock(&token(&new, &at.to_string())).await.error(401, "NotAuthorizedException");
    }
    assert_eq!(idp.asked("/keys").len(), 1);
    server.pass(5);
    server.knock(&token(&new, "b")).await.expect(200);
    assert_eq!(idp.asked("/keys").len(), 2);
    server.knock(&token(&old, "b")).await.error(401, "NotAuthorizedException");
    // A key that is withdrawn while nobody names an unknown one ends with the time that keys are believed.
    idp.publish(&[&old]);
    server.pass(599);
    server.knock(&token(&new, "c")).await.expect(200);
    server.pass(2);
    server.knock(&token(&new, "d")).await.error(401, "NotAuthorizedException");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_without_names_are_renewed_too() {
    let (idp, old, new) = (Idp::start().await, Signer::nameless(), Signer::nameless());
    idp.publish(&[&old]);
    let server = server(&[&idp.url], "").await;
    server.knock(&old.sign(&claims(&server, &idp.url))).await.expect(200);
    idp.publish(&[&new]);
    server.pass(6);
    server.knock(&new.sign(&claims(&server, &idp.url))).await.expect(200);
    // With two of them, none is meant.
    idp.publish(&[&old, &new]);
    server.pass(601);
    let token = new.sign(&with(claims(&server, &idp.url), &json!({"sub": "b"})));
    server.knock(&token).await.error(401, "NotAuthorizedException");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issuer_that_is_away_opens_no_door_and_locks_nobody_out() {
    let (idp, key) = (Idp::start().await, Signer::new("k1"));
    let url = idp.url.clone();
    let address = idp.stop().await;
    let server = server(&[&url], "").await;
    let token = |user: &str| key.sign(&with(claims(&server, &url), &json!({"sub": user})));
    for _ in 0..2 {
        let reply = server.knock(&token("a")).await;
        let message = reply.error(503, "ServiceUnavailableException");
        assert!(message.ends_with("cannot be asked about the token"), "{message}");
        assert_eq!(reply.headers["retry-after"], "1");
        assert!(reply.headers.get("www-authenticate").is_none());
    }
    let idp = Idp::start_at(&address).await;
    idp.publish(&[&key]);
    server.pass(5);
    server.knock(&token("a")).await.expect(200);
    drop(idp.stop().await);
    // Its keys are known: tokens stay good, also when it is time to ask again. Other keys are not known.
    server.pass(3000);
    server.knock(&token("b")).await.expect(200);
    server.pass(6);
    server.knock(&Signer::new("k2").sign(&claims(&server, &url))).await.error(503, "ServiceUnavailableException");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_discovery_and_no_key_set_opens_no_door() {
    let (idp, key) = (Idp::start().await, Signer::new("k1"));
    let server = server(&[&idp.url], "").await;
    let token = key.sign(&claims(&server, &idp.url));
    let (discovery, keys) = ("/.well-known/openid-configuration", "/keys");
    let others = json!({"issuer": "https://other.example", "jwks_uri": format!("{}/keys", idp.url)}).to_string();
    for (what, path, status, body) in [
        ("another issuer's", discovery, 200, others.as_str()),
        ("missing", discovery, 404, "{}"),
        ("elsewhere", discovery, 302, "{}"),
        ("no JSON", discovery, 200, "<html>"),
        ("another JSON", keys, 200, r#"{"keys": 1}"#),
        ("keys that are elsewhere", keys, 307, "{}"),
        ("without end", keys, 200, &" ".repeat(2_000_000)),
        ("broken", keys, 500, "{}"),
    ] {
        idp.publish(&[&key]);
        idp.answer_text(path, status, body.to_owned());
        let reply = server.knock(&token).await;
        assert_eq!(reply.status, 503, "{what}: {}", reply.text);
        server.pass(6);
    }
    idp.publish(&[&key]);
    server.knock(&token).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_issuer_vouches_for_its_own() {
    let (one, two) = (Idp::start().await, Idp::start().await);
    let (key1, key2) = (Signer::new("k"), Signer::new("k"));
    one.publish(&[&key1]);
    two.publish(&[&key2]);
    let server = server(&[&one.url, &two.url], "").await;
    let first = principal(&server, &key1.sign(&claims(&server, &one.url))).await;
    let second = principal(&server, &key2.sign(&claims(&server, &two.url))).await;
    assert_eq!((first.name, second.name), (format!("{}#user", one.url), format!("{}#user", two.url)));
    server.knock(&key1.sign(&claims(&server, &two.url))).await.error(401, "NotAuthorizedException");
    // The catalog's own identities work beside them, and their tokens are no issuer's.
    let secret = server.identity("etl").await;
    server.knock(&server.token("etl", &secret).await).await.expect(200);
}
