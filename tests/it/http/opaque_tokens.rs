//! Opaque tokens: looked up at a server that knows them (RFC 7662), and at Google.

use crate::support::idp::Idp;
use crate::support::server::{Server, Setting};
use guillemot::auth::At;
use guillemot::config::auth::{GoogleSettings, IntrospectionSettings};
use serde_json::{Value, json};

const PATH: &str = "/introspect";
const CLOUD: &str = "https://www.googleapis.com/auth/cloud-platform";

async fn with_introspection(idp: &Idp, more: &str) -> Server {
    let toml = format!("url = '{}{PATH}'\nclient-id = 'me'\nclient-secret = 'hush'\nissuer = 'corp'\n{more}", idp.url);
    let introspection: IntrospectionSettings = toml::from_str(&toml).unwrap();
    Server::start_still_with(Setting::Local, |settings| settings.auth.introspection = Some(introspection)).await
}

async fn with_google(idp: &Idp, more: &str) -> Server {
    let google: GoogleSettings = toml::from_str(&format!("tokeninfo-url = '{}/tokeninfo'\n{more}", idp.url)).unwrap();
    Server::start_still_with(Setting::Local, |settings| settings.auth.google = Some(google)).await
}

fn now_s(server: &Server) -> i64 {
    server.app.clock.now_ms() / 1000
}

async fn name(server: &Server, token: &str) -> String {
    let at = At { db: &server.app.db, now_ms: server.app.clock.now_ms() };
    server.app.auth.principal(at, Some(&format!("Bearer {token}"))).await.unwrap().name.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_looked_up_once_and_believed_for_a_while() {
    let idp = Idp::start().await;
    let server = with_introspection(&idp, "audience = ['lake']\nroles-claim = 'scope'").await;
    let until = now_s(&server) + 100;
    idp.answer(PATH, 200, &json!({"active": true, "sub": "u", "aud": "lake", "exp": until, "scope": "r w"}));
    for _ in 0..3 {
        server.knock("opaque").await.expect(200);
    }
    assert_eq!(name(&server, "opaque").await, "corp#u");
    let asked = idp.asked(PATH);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].authorization.as_deref(), Some("Basic bWU6aHVzaA=="));
    assert_eq!(asked[0].body, "token=opaque&token_type_hint=access_token");
    server.pass(100 + 60);
    assert_eq!(server.knock("opaque").await.error(401, "NotAuthorizedException"), "the token has expired");
    assert_eq!(idp.asked(PATH).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_does_not_vouch_for_is_refused() {
    let idp = Idp::start().await;
    let server = with_introspection(&idp, "audience = ['lake']").await;
    let now_s = now_s(&server);
    for (at, answer) in [
        json!({"active": false, "sub": "u", "aud": "lake"}),
        json!({"active": "true", "sub": "u", "aud": "lake"}),
        json!({"sub": "u", "aud": "lake"}),
        json!({"active": true, "aud": "lake"}),
        json!({"active": true, "sub": "u"}),
        json!({"active": true, "sub": "u", "aud": "other"}),
        json!({"active": true, "sub": "u", "aud": "lake", "exp": now_s - 100}),
        json!({"active": true, "sub": "u", "aud": "lake", "exp": "x"}),
        json!({"active": true, "sub": "u", "aud": "lake", "nbf": now_s + 600, "exp": now_s + 900}),
    ]
    .into_iter()
    .enumerate()
    {
        idp.answer(PATH, 200, &answer);
        let reply = server.knock(&format!("t{at}")).await;
        assert_eq!(reply.status, 401, "{answer}: {}", reply.text);
    }
    // Somebody who sends a bad token again and again is answered from memory.
    let before = idp.asked(PATH).len();
    for _ in 0..3 {
        server.knock("t0").await.error(401, "NotAuthorizedException");
    }
    assert_eq!(idp.asked(PATH).len(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_answer_opens_no_door() {
    let idp = Idp::start().await;
    let server = with_introspection(&idp, "").await;
    for (status, body) in
        [(500, "{}"), (401, r#"{"error": "invalid_client"}"#), (302, "{}"), (200, "<html>"), (200, "[]")]
    {
        idp.answer_text(PATH, status, body.to_owned());
        let reply = server.knock("opaque").await;
        reply.error(503, "ServiceUnavailableException");
        assert_eq!(reply.headers["retry-after"], "1");
    }
    // Nothing of it is remembered.
    idp.answer(PATH, 200, &json!({"active": true, "sub": "u"}));
    server.knock("opaque").await.expect(200);
    drop(idp.stop().await);
    server.knock("opaque").await.expect(200);
    server.knock("another").await.error(503, "ServiceUnavailableException");
}

fn tokeninfo(server: &Server) -> Value {
    // Numbers are texts here, as Google writes them.
    json!({
        "azp": "32555940559.apps.googleusercontent.com", "aud": "32555940559.apps.googleusercontent.com", "sub": "1096",
        "scope": format!("openid {CLOUD} https://www.googleapis.com/auth/userinfo.email"),
        "exp": (now_s(server) + 3000).to_string(), "expires_in": "3000",
        "email": "Ann@Example.com", "email_verified": "true", "access_type": "online",
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn googles_token_names_an_address() {
    let idp = Idp::start().await;
    let server = with_google(&idp, "domains = ['example.com']").await;
    idp.answer("/tokeninfo", 200, &tokeninfo(&server));
    for _ in 0..2 {
        server.knock("ya29.a0Af").await.expect(200);
    }
    assert_eq!(name(&server, "ya29.a0Af").await, "google:ann@example.com");
    let asked = idp.asked("/tokeninfo");
    assert_eq!((asked.len(), asked[0].body.as_str()), (1, "access_token=ya29.a0Af"));
    server.pass(3000 + 60);
    assert_eq!(server.knock("ya29.a0Af").await.error(401, "NotAuthorizedException"), "the token has expired");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn googles_token_for_something_else_is_refused() {
    let idp = Idp::start().await;
    let server =
        with_google(&idp, "domains = ['example.com']\naudience = ['32555940559.apps.googleusercontent.com']").await;
    idp.answer("/tokeninfo", 200, &tokeninfo(&server));
    server.knock("good").await.expect(200);
    for (member, value) in [
        ("scope", json!("openid email")),
        ("scope", json!(format!("{CLOUD}.read-only"))),
        ("scope", Value::Null),
        ("email", Value::Null),
        ("email", json!("")),
        ("email", json!("ann@example.com\n")),
        ("email", json!("ann@other.com")),
        ("email", json!("ann@example.com.other.com")),
        ("email_verified", json!("false")),
        ("email_verified", Value::Null),
        ("exp", Value::Null),
        ("exp", json!("1")),
    ] {
        let mut info = tokeninfo(&server);
        info[member] = value.clone();
        idp.answer("/tokeninfo", 200, &info);
        let reply = server.knock(&format!("{member} {value}").replace(|c: char| !c.is_alphanumeric(), "")).await;
        assert_eq!(reply.status, 401, "{member} {value}: {}", reply.text);
    }
    let mut info = tokeninfo(&server);
    info["aud"] = json!("other");
    info["azp"] = json!("other");
    idp.answer("/tokeninfo", 200, &info);
    server.knock("of-another-client").await.error(401, "NotAuthorizedException");
    idp.answer("/tokeninfo", 400, &json!({"error": "invalid_token", "error_description": "Invalid Value"}));
    server.knock("unknown").await.error(401, "NotAuthorizedException");
    for (status, body) in [(500, json!({})), (429, json!({})), (400, json!({"error": "quota"})), (403, json!({}))] {
        idp.answer("/tokeninfo", status, &body);
        server.knock("who-knows").await.error(503, "ServiceUnavailableException");
    }
}
