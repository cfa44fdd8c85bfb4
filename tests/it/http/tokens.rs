//! The token endpoint: what it takes, and how it refuses, in OAuth's own form.

use crate::support::leaks;
use crate::support::server::{Server, on_both_with_identities};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use guillemot::auth::discard_keys;
use guillemot::auth::identity::{self, Wanted};
use guillemot::store::Page;
use guillemot::store::audit::{self, Filter};
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use reqwest::Method;
use serde_json::{Value, json};

on_both_with_identities!(
    id_and_secret_buy_a_token,
    wrong_clients_are_told_nothing_more,
    malformed_requests_are_refused_in_oauths_form,
    a_token_is_exchanged_for_a_fresh_one,
    an_expired_token_is_exchanged_by_its_own_client_alone,
    tokens_can_be_checked_with_the_published_keys,
    keys_are_renewed_and_old_tokens_stay_good,
    discarded_keys_void_every_token,
    an_assertion_of_a_key_file_buys_a_token,
    assertions_that_are_not_quite_right_buy_nothing,
    wrong_secrets_are_told,
);

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const TOKEN_URI: &str = "http://lake.example/iceberg/v1/oauth/tokens";

fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")))
}

async fn id_and_secret_buy_a_token(server: Server) {
    let secret = server.identity("etl").await;
    assert!(secret.starts_with("gms_") && secret.len() == 47, "a secret has a form that scanners can find");
    let form = [("grant_type", "client_credentials"), ("client_id", "etl"), ("client_secret", &secret)];
    let with_scope = [&form[..], &[("scope", "catalog")]].concat();
    let header = basic("etl", &secret);
    for (form, headers) in [
        (&form[..], vec![]),
        (&with_scope, vec![]),
        (&form[..1], vec![("authorization", header.as_str())]),
        (&form[..2], vec![("authorization", header.as_str())]),
        // A header of another kind is somebody else's business.
        (&form[..], vec![("authorization", "Bearer old")]),
    ] {
        let reply = server.ask_for_token(form, &headers).await;
        let given = reply.expect(200);
        assert_eq!(given["token_type"], "bearer");
        assert_eq!(given["expires_in"], 3600);
        assert_eq!(given["issued_token_type"], ACCESS_TOKEN);
        assert_eq!(reply.headers["cache-control"], "no-store");
        server.knock(given["access_token"].as_str().unwrap()).await.expect(200);
    }
}

async fn wrong_clients_are_told_nothing_more(server: Server) {
    let secret = server.identity("etl").await;
    let mut told = Vec::new();
    for (id, secret) in [("etl", "wrong"), ("nobody", secret.as_str()), ("ETL", &secret), ("etl", &"x".repeat(5000))] {
        let form = [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret)];
        let reply = server.ask_for_token(&form, &[]).await;
        told.push(reply.expect(401));
        assert_eq!(reply.headers["www-authenticate"], "Basic realm=\"guillemot\"");
        let header = basic(id, secret);
        told.push(server.ask_for_token(&form[..1], &[("authorization", &header)]).await.expect(401));
    }
    assert_eq!(told[0]["error"], "invalid_client");
    assert!(told.iter().all(|body| *body == told[0]), "{told:?}");
    for form in [
        &[("grant_type", "client_credentials")][..],
        &[("grant_type", "client_credentials"), ("client_secret", &secret)],
    ] {
        assert_eq!(server.ask_for_token(form, &[]).await.expect(401)["error"], "invalid_client");
    }
}

async fn malformed_requests_are_refused_in_oauths_form(server: Server) {
    let secret = server.identity("etl").await;
    let kind = |body: &Value| {
        assert!(body["error_description"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        body["error"].as_str().unwrap().to_owned()
    };
    let good = [("grant_type", "client_credentials"), ("client_id", "etl"), ("client_secret", &secret)];
    let twice = [&good[..], &[("client_id", "etl")]].concat();
    let exchange = [("grant_type", EXCHANGE), ("subject_token", "x"), ("subject_token_type", ACCESS_TOKEN)];
    let other_kind = [exchange[0], exchange[1], ("subject_token_type", "urn:ietf:params:oauth:token-type:saml2")];
    let for_another = [&exchange[..], &[("actor_token", "y"), ("actor_token_type", ACCESS_TOKEN)]].concat();
    let huge = "x".repeat(1024 * 1024);
    let huge = [exchange[0], ("subject_token", huge.as_str()), exchange[2]];
    for (form, error) in [
        (&[][..], "invalid_request"),
        (&[("grant_type", "")], "invalid_request"),
        (&[("grant_type", "password"), ("username", "u")], "unsupported_grant_type"),
        (&[("grant_type", "refresh_token"), ("refresh_token", "x")], "unsupported_grant_type"),
        (&twice, "invalid_request"),
        (&exchange[..1], "invalid_request"),
        (&exchange[..2], "invalid_request"),
        (&other_kind, "invalid_request"),
        (&for_another, "invalid_request"),
        (&exchange, "invalid_grant"),
        (&huge, "invalid_request"),
        (&[("grant_type", JWT_BEARER)], "invalid_request"),
        (&[("grant_type", JWT_BEARER), ("assertion", "x")], "invalid_grant"),
    ] {
        let reply = server.ask_for_token(form, &[]).await;
        assert_eq!(kind(&reply.expect(400)), error, "{:?}", form.first());
    }
    let header = basic("etl", &secret);
    let other = basic("other", &secret);
    for (form, header) in [
        (&good[..1], "Basic"),
        (&good[..1], "Basic !!!"),
        (&good[..1], "Basic /w=="),
        (&good[..1], &format!("Basic {}", STANDARD.encode("etl"))),
        (&good, header.as_str()),
        (&good[..2], &other),
    ] {
        let reply = server.ask_for_token(form, &[("authorization", header)]).await;
        assert_eq!(kind(&reply.expect(400)), "invalid_request", "{header}");
    }
    let json = br#"{"grant_type": "client_credentials"}"#.to_vec();
    for body in [vec![], b"\xff\xfe\x00".to_vec(), b"%%%".to_vec(), json, vec![b'&'; 2_000_000]] {
        let reply = server.send_form(body).await;
        assert_eq!(kind(&reply.expect(400)), "invalid_request");
    }
    // The right fields, and not as a form.
    let body = format!("grant_type=client_credentials&client_id=etl&client_secret={secret}");
    let reply = server.send_raw(Method::POST, "/iceberg/v1/oauth/tokens", body.clone().into_bytes()).await;
    assert_eq!(kind(&reply.expect(400)), "invalid_request");
    server.send_form(body.into_bytes()).await.expect(200);
}

async fn a_token_is_exchanged_for_a_fresh_one(server: Server) {
    let secret = server.identity("etl").await;
    let first = server.token("etl", &secret).await;
    server.pass(3000);
    // As Iceberg's Java client sends it: the token in the header too, and the scope.
    let form = [
        ("grant_type", EXCHANGE),
        ("scope", "catalog"),
        ("subject_token", &first),
        ("subject_token_type", ACCESS_TOKEN),
    ];
    let header = format!("Bearer {first}");
    let given = server.ask_for_token(&form, &[("authorization", &header)]).await.expect(200);
    assert_eq!(given["issued_token_type"], ACCESS_TOKEN);
    server.pass(3000);
    server.knock(given["access_token"].as_str().unwrap()).await.expect(200);
    server.knock(&first).await.error(401, "NotAuthorizedException");
    assert_eq!(server.ask_for_token(&form, &[("authorization", &header)]).await.expect(400)["error"], "invalid_grant");
}

async fn an_expired_token_is_exchanged_by_its_own_client_alone(server: Server) {
    let secret = server.identity("etl").await;
    let other = server.identity("other").await;
    let token = server.token("etl", &secret).await;
    server.pass(10_000);
    let form = [("grant_type", EXCHANGE), ("subject_token", &token), ("subject_token_type", ACCESS_TOKEN)];
    let ask = async |header: String| server.ask_for_token(&form, &[("authorization", &header)]).await;
    let given = ask(basic("etl", &secret)).await.expect(200);
    server.knock(given["access_token"].as_str().unwrap()).await.expect(200);
    assert_eq!(ask(basic("other", &other)).await.expect(400)["error"], "invalid_grant");
    assert_eq!(ask(basic("etl", &other)).await.expect(401)["error"], "invalid_client");
}

async fn tokens_can_be_checked_with_the_published_keys(server: Server) {
    let secret = server.identity("etl").await;
    let token = server.token("etl", &secret).await;
    let published = server.send(Method::GET, "/.well-known/jwks.json", None, &[]).await.expect(200);
    let text = published.to_string();
    assert!(!text.contains("\"d\""), "private parts are not published");
    let keys: JwkSet = serde_json::from_value(published).unwrap();
    let header = jsonwebtoken::decode_header(&token).unwrap();
    assert_eq!((header.alg, header.typ.as_deref()), (Algorithm::ES256, Some("at+jwt")));
    let key = DecodingKey::from_jwk(keys.find(header.kid.as_deref().unwrap()).unwrap()).unwrap();
    let mut rules = Validation::new(Algorithm::ES256);
    rules.set_audience(&["guillemot"]);
    let claims = jsonwebtoken::decode::<Value>(&token, &key, &rules).unwrap().claims;
    assert_eq!((claims["sub"].as_str(), claims["iss"].as_str()), (Some("etl"), Some("guillemot")));
    // An HMAC whose secret is the public key, and no signature at all.
    let (_, rest) = token.split_once('.').unwrap();
    let (payload, _) = rest.split_once('.').unwrap();
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let kid = header.kid.unwrap();
    for algorithm in ["none", "HS256", "ES384", "RS256", "EdDSA", "x"] {
        let forged = format!("{}.{payload}.", part(json!({"alg": algorithm, "kid": kid})));
        let hmac = {
            let message = format!("{}.{payload}", part(json!({"alg": algorithm, "kid": kid})));
            let secret = jsonwebtoken::EncodingKey::from_secret(text.as_bytes()).unwrap();
            let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &secret, Algorithm::HS256).unwrap();
            format!("{message}.{signature}")
        };
        for token in [forged, hmac] {
            server.knock(&token).await.error(401, "NotAuthorizedException");
        }
    }
}

async fn keys_are_renewed_and_old_tokens_stay_good(server: Server) {
    let key_of = |token: &str| jsonwebtoken::decode_header(token).unwrap().kid.unwrap();
    let secret = server.identity("etl").await;
    let other = server.beside_still().await;
    let first = server.token("etl", &secret).await;
    assert_eq!(key_of(&other.token("etl", &secret).await), key_of(&first), "servers share their keys");
    let day = 24 * 3600;
    for server in [&server, &other] {
        server.pass(30 * day - 10);
    }
    let last = server.token("etl", &secret).await;
    assert_eq!(key_of(&last), key_of(&first));
    for server in [&server, &other] {
        server.pass(20);
    }
    let next = server.token("etl", &secret).await;
    assert_ne!(key_of(&next), key_of(&first));
    for server in [&server, &other] {
        server.knock(&last).await.expect(200);
        server.knock(&next).await.expect(200);
    }
    server.pass(31 * day);
    server.token("etl", &secret).await;
    server.pass(31);
    let published = server.send(Method::GET, "/.well-known/jwks.json", None, &[]).await.expect(200);
    let left: Vec<&str> =
        published["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap()).collect();
    assert!(!left.contains(&key_of(&first).as_str()), "{left:?}");
}

async fn discarded_keys_void_every_token(server: Server) {
    let secret = server.identity("etl").await;
    let token = server.token("etl", &secret).await;
    server.knock(&token).await.expect(200);
    discard_keys(&server.app.db).await.unwrap();
    server.pass(31);
    let fresh = server.token("etl", &secret).await;
    server.knock(&fresh).await.expect(200);
    let form = [("grant_type", EXCHANGE), ("subject_token", &token), ("subject_token_type", ACCESS_TOKEN)];
    assert_eq!(server.ask_for_token(&form, &[]).await.expect(400)["error"], "invalid_grant");
}

/// Makes an identity with a key file, and answers the file.
async fn key_file(server: &Server, name: &str) -> Value {
    let wanted = Wanted::GoogleKey { token_uri: TOKEN_URI };
    let made = identity::create(&server.app.db, &server.app.clock, name, wanted).await.unwrap();
    let file = serde_json::from_str(made.reveal()).unwrap();
    leaks::note_json(&file);
    file
}

/// What Google's libraries sign, with some claims changed.
fn assertion(server: &Server, file: &Value, change: &Value) -> String {
    let now_s = server.app.clock.now_ms() / 1000;
    let mut claims = json!({
        "iss": file["client_email"], "aud": file["token_uri"], "iat": now_s, "exp": now_s + 3600,
        "scope": "https://www.googleapis.com/auth/cloud-platform",
    });
    for (name, value) in change.as_object().unwrap() {
        claims[name] = value.clone();
    }
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = json!({"alg": "RS256", "typ": "JWT", "kid": file["private_key_id"]});
    let message = format!("{}.{}", part(header), part(claims));
    let pem: String = file["private_key"].as_str().unwrap().lines().filter(|line| !line.starts_with('-')).collect();
    let key = RsaKeyPair::from_pkcs8(&STANDARD.decode(pem).unwrap()).unwrap();
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature).unwrap();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

async fn present(server: &Server, assertion: &str) -> crate::support::server::Reply {
    server.ask_for_token(&[("grant_type", JWT_BEARER), ("assertion", assertion)], &[]).await
}

async fn an_assertion_of_a_key_file_buys_a_token(server: Server) {
    let file = key_file(&server, "beam").await;
    assert_eq!((file["type"].as_str(), file["client_id"].as_str()), (Some("service_account"), Some("beam")));
    assert_eq!(file["token_uri"], TOKEN_URI);
    let given = present(&server, &assertion(&server, &file, &json!({}))).await.expect(200);
    server.knock(given["access_token"].as_str().unwrap()).await.expect(200);
    // What Google's own libraries write, whatever the file says.
    let googles = json!({"aud": "https://oauth2.googleapis.com/token"});
    present(&server, &assertion(&server, &file, &googles)).await.expect(200);
    present(&server, &assertion(&server, &file, &json!({"sub": file["client_email"]}))).await.expect(200);
    // Another key: the old one is worth nothing.
    let wanted = Wanted::GoogleKey { token_uri: TOKEN_URI };
    let made = identity::rotate(&server.app.db, &server.app.clock, "beam", wanted).await.unwrap();
    let next: Value = serde_json::from_str(made.reveal()).unwrap();
    leaks::note_json(&next);
    present(&server, &assertion(&server, &file, &json!({}))).await.expect(400);
    present(&server, &assertion(&server, &next, &json!({}))).await.expect(200);
    identity::revoke(&server.app.db, &server.app.clock, "beam").await.unwrap();
    present(&server, &assertion(&server, &next, &json!({}))).await.expect(400);
}

async fn assertions_that_are_not_quite_right_buy_nothing(server: Server) {
    let file = key_file(&server, "beam").await;
    let other = key_file(&server, "other").await;
    server.identity("secretive").await;
    let now_s = server.app.clock.now_ms() / 1000;
    for change in [
        json!({"aud": "https://other.example/token"}),
        json!({"aud": null}),
        json!({"iss": other["client_email"]}),
        json!({"iss": "nobody@guillemot"}),
        json!({"iss": "secretive@guillemot"}),
        json!({"iss": "beam@guillemot.example"}),
        json!({"iss": "beam"}),
        json!({"sub": other["client_email"]}),
        json!({"exp": now_s - 600}),
        json!({"exp": null}),
        json!({"exp": now_s + 7200}),
        json!({"iat": now_s + 600, "exp": now_s + 3000}),
        json!({"nbf": now_s + 600}),
    ] {
        let reply = present(&server, &assertion(&server, &file, &change)).await;
        assert_eq!(reply.expect(400)["error"], "invalid_grant", "{change}");
    }
    let mut mixed = file.clone();
    mixed["private_key"] = other["private_key"].clone();
    present(&server, &assertion(&server, &mixed, &json!({}))).await.expect(400);
    mixed["private_key_id"] = other["private_key_id"].clone();
    present(&server, &assertion(&server, &mixed, &json!({}))).await.expect(400);
    // A token of the catalog is no assertion, and an assertion no token.
    let good = assertion(&server, &file, &json!({}));
    let token = present(&server, &good).await.expect(200)["access_token"].as_str().unwrap().to_owned();
    present(&server, &token).await.expect(400);
    server.knock(&good).await.error(401, "NotAuthorizedException");
    present(&server, &good[..good.len() - 9]).await.expect(400);
}

/// Whom somebody claims to be is told; a right secret is no refusal.
async fn wrong_secrets_are_told(server: Server) {
    let secret = server.identity("ann").await;
    let ask = async |id: &str, secret: &str| {
        let form = [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret)];
        server.ask_for_token(&form, &[]).await.status.as_u16()
    };
    assert_eq!(ask("ann", "wrong-secret-of-ann").await, 401);
    assert_eq!(ask("nobody\n", "wrong-secret-of-nobody").await, 401);
    assert_eq!(ask("ann", &secret).await, 200);
    let mut beam = key_file(&server, "beam").await;
    beam["private_key"] = key_file(&server, "other").await["private_key"].clone();
    present(&server, &assertion(&server, &beam, &json!({}))).await.expect(400);
    server.app.write_audit().await;
    let page = Page { after: None, limit: Some(10) };
    let kept = audit::list(&server.app.db, Filter { principal: None, since_ms: 0 }, &page).await.unwrap().items;
    let mut told: Vec<_> = kept.iter().map(|one| (one.actions.as_str(), one.status, one.allowed)).collect();
    told.sort_unstable();
    let expected = [("log in as ann", 401, false), ("log in as beam", 400, false), ("log in as nobody", 401, false)];
    assert_eq!(told, expected);
}
