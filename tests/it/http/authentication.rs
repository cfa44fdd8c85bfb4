//! Who is let in: every route asks for a token, but for a few that are listed here.

use crate::support::server::{Server, Setting, identities_on, on_both_with_identities};
use guillemot::auth::identity;
use guillemot::config::auth::Method as AuthMethod;
use guillemot::server;
use guillemot::store::grants::On;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both_with_identities!(
    every_route_asks_for_a_token,
    a_token_opens_what_is_closed,
    what_is_no_good_token_is_a_401,
    tokens_end_with_time,
    tokens_end_with_their_identity,
    two_callers_with_one_idempotency_key_do_not_get_each_others_answers,
    the_project_that_pays_is_bounded_and_opens_nothing,
);

/// May only shrink.
const EXEMPT: [&str; 4] = ["/.well-known/jwks.json", "/health", "/iceberg/v1/oauth/tokens", "/ready"];

async fn every_route_asks_for_a_token(server: Server) {
    let mut exempt = Vec::new();
    let document: Value = serde_json::from_str(&guillemot::api::openapi_json()).unwrap();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let filled: String =
            path.split('/').map(|part| if part.starts_with('{') { "lake" } else { part }).collect::<Vec<_>>().join("/");
        for method in operations.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let body = (method != Method::GET && method != Method::HEAD).then(|| json!({}));
            let reply = server.send(method.clone(), &filled, body, &[]).await;
            if EXEMPT.contains(&path.as_str()) {
                assert!(
                    reply.headers.get("www-authenticate").is_none_or(|value| value != "Bearer realm=\"guillemot\"")
                );
                exempt.push(path.as_str());
                continue;
            }
            assert_eq!(reply.status, 401, "{method} {path}: {}", reply.text);
            assert_eq!(reply.headers["www-authenticate"], "Bearer realm=\"guillemot\"");
            if method != Method::HEAD {
                let message = reply.error(401, "NotAuthorizedException");
                assert_eq!(message, "a token is needed: send `Authorization: Bearer TOKEN`");
            }
        }
    }
    assert_eq!(exempt, EXEMPT);
    assert_eq!(server.send(Method::GET, "/health", None, &[]).await.status, 200);
    assert_eq!(server.send(Method::GET, "/ready", None, &[]).await.status, 200);
    // What is not routed is not served to anybody, in whatever way the path is written.
    for path in ["/iceberg/v1//namespaces", "/iceberg/v1/config/", "/health/../metrics", "/%6detrics", "/HEALTH"] {
        let status = server.send(Method::GET, path, None, &[]).await.status.as_u16();
        assert!([401, 404].contains(&status), "{path}: {status}");
    }
}

async fn a_token_opens_what_is_closed(server: Server) {
    let secret = server.identity("etl").await;
    let token = server.token("etl", &secret).await;
    server.knock(&token).await.expect(200);
    // Once more, now that the verdict is known.
    server.knock(&token).await.expect(200);
    server.beside_still().await.knock(&token).await.expect(200);
}

async fn what_is_no_good_token_is_a_401(server: Server) {
    let secret = server.identity("etl").await;
    let token = server.token("etl", &secret).await;
    let (head, signature) = token.rsplit_once('.').unwrap();
    let other = if signature.starts_with('A') { "B" } else { "A" };
    let of_another_catalog = {
        let other = Server::start_with(Setting::Local, identities_on).await;
        let secret = other.identity("etl").await;
        other.token("etl", &secret).await
    };
    for (bad, why) in [
        ("x".to_owned(), "it is no JWT"),
        ("a.b.c".to_owned(), "it is no JWT"),
        (head.to_owned(), "it is no JWT"),
        (token[..token.len() - 8].to_owned(), ""),
        (format!("{head}.{other}{}", &signature[1..]), "its signature is wrong"),
        (format!("{head}."), "its signature is wrong"),
        (of_another_catalog, "this catalog has no key of that name"),
        ("x".repeat(17 * 1024), "it is longer than 16384 bytes"),
    ] {
        let reply = server.knock(&bad).await;
        let message = reply.error(401, "NotAuthorizedException");
        assert!(message.starts_with(&format!("the token is not accepted: {why}")), "{message}: {bad}");
        assert_eq!(reply.headers["www-authenticate"], "Bearer realm=\"guillemot\", error=\"invalid_token\"");
    }
    for scheme in ["Basic eDp5", "Token x", "Bearer", ""] {
        let reply = server.send(Method::GET, "/openapi.json", None, &[("authorization", scheme)]).await;
        reply.error(401, "NotAuthorizedException");
    }
    let good = format!("Bearer {token}");
    let twice = [("authorization", good.as_str()), ("authorization", good.as_str())];
    server.send(Method::GET, "/openapi.json", None, &twice).await.error(401, "NotAuthorizedException");
    // More than any header may have: refused before it is read to its end.
    let huge = format!("Bearer {}", "x".repeat(1024 * 1024));
    let status = server.try_send(Method::GET, "/openapi.json", &[("authorization", &huge)]).await;
    assert!(status.is_none_or(|status| status == 431), "{status:?}");
}

async fn tokens_end_with_time(server: Server) {
    let secret = server.identity("etl").await;
    let token = server.token("etl", &secret).await;
    let seen = server.knock(&token).await;
    seen.expect(200);
    server.pass(3600 + 59);
    server.knock(&token).await.expect(200);
    server.pass(1);
    let reply = server.knock(&token).await;
    assert_eq!(reply.error(401, "NotAuthorizedException"), "the token has expired");
    let challenge = reply.headers["www-authenticate"].to_str().unwrap();
    assert!(challenge.contains("error=\"invalid_token\"") && challenge.contains("expired"), "{challenge}");
    // A server whose clock is 10 minutes behind that of the one that gave the token.
    let token = server.token("etl", &secret).await;
    server.pass(-600);
    let message = server.knock(&token).await.error(401, "NotAuthorizedException");
    assert_eq!(message, "the token is not accepted: it is not valid before 600 s from now: do the clocks agree?");
    server.pass(550);
    server.knock(&token).await.expect(200);
}

async fn tokens_end_with_their_identity(server: Server) {
    let other = server.beside_still().await;
    for rotated in [true, false] {
        let name = if rotated { "rotated" } else { "revoked" };
        let secret = server.identity(name).await;
        let token = server.token(name, &secret).await;
        server.knock(&token).await.expect(200);
        other.knock(&token).await.expect(200);
        let (db, clock) = (&server.app.db, &server.app.clock);
        if rotated {
            identity::rotate(db, clock, name, identity::Wanted::Secret).await.unwrap();
        } else {
            identity::revoke(db, clock, name).await.unwrap();
        }
        for server in [&server, &other] {
            let refused = until_refused(server, &token).await;
            assert!(refused.contains("revoked, or has another credential"), "{refused}");
        }
        // No new ones for the old secret, nor for the old token.
        let form = [("grant_type", "client_credentials"), ("client_id", name), ("client_secret", &secret)];
        server.ask_for_token(&form, &[]).await.expect(401);
        let form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("subject_token", token.as_str()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ];
        assert_eq!(server.ask_for_token(&form, &[]).await.expect(400)["error"], "invalid_grant");
    }
    assert!(identity::revoke(&server.app.db, &server.app.clock, "revoked").await.is_err());
    let again = identity::create(&server.app.db, &server.app.clock, "revoked", identity::Wanted::Secret).await;
    assert!(again.is_err(), "a name is given once");
}

/// Waits until a token is refused, a few seconds at most, and answers why.
async fn until_refused(server: &Server, token: &str) -> String {
    let began = Instant::now();
    loop {
        let reply = server.knock(token).await;
        if reply.status != 200 {
            return reply.error(401, "NotAuthorizedException");
        }
        assert!(began.elapsed() < Duration::from_secs(8), "the token is still good");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn two_callers_with_one_idempotency_key_do_not_get_each_others_answers(server: Server) {
    let key = "0190a5b4-6e2f-7c11-8e3a-5d0c9b1f2a34";
    let mut replies = Vec::new();
    for name in ["one", "two"] {
        let secret = server.identity(name).await;
        server.grant(&format!("identity:{name}"), "admin", &On::Server).await;
        let token = format!("Bearer {}", server.token(name, &secret).await);
        let headers = [("authorization", token.as_str()), ("idempotency-key", key)];
        let body = json!({"namespace": ["ns"], "properties": {"owner": "me"}});
        replies.push(server.send(Method::POST, "/iceberg/v1/namespaces", Some(body), &headers).await);
    }
    replies[0].expect(200);
    let message = replies[1].error(400, "BadRequestException");
    assert!(message.ends_with("belongs to another request"), "{message}");
}

async fn the_project_that_pays_is_bounded_and_opens_nothing(server: Server) {
    let secret = server.identity("etl").await;
    let token = format!("Bearer {}", server.token("etl", &secret).await);
    for (project, status) in [("my-project", 200), ("", 200), (&"x".repeat(129), 400)] {
        let headers = [("authorization", token.as_str()), ("x-goog-user-project", project)];
        assert_eq!(server.send(Method::GET, "/openapi.json", None, &headers).await.status, status, "{project}");
        let alone = [("x-goog-user-project", project)];
        server.send(Method::GET, "/openapi.json", None, &alone).await.error(401, "NotAuthorizedException");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_let_in_unasked_where_others_may_reach() {
    for (insecure, identity, served) in [(false, false, false), (true, false, true), (false, true, true)] {
        let server = Server::start_with(Setting::Local, |settings| settings.auth.secret_key = None).await;
        if identity {
            server.identity("etl").await;
        }
        let mut config = server.app.config.clone();
        config.listen = "0.0.0.0:0".to_owned();
        config.auth.insecure_no_auth = insecure;
        let listener = server::bind(&config).await.unwrap();
        let app = server::build(config).await.unwrap();
        assert_eq!(app.auth.is_open(), !identity);
        let checked = server::check_exposure(&listener, &app);
        assert_eq!(checked.is_ok(), served, "{checked:?}");
        if !served {
            assert!(server::serve(listener, app, std::future::pending()).await.is_err());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_identity_closes_an_open_server_at_its_next_start() {
    let server = Server::start(Setting::Local).await;
    server.send(Method::GET, "/openapi.json", None, &[]).await.expect(200);
    server.identity("etl").await;
    let next = server.beside().await;
    assert_eq!(next.app.auth.methods(), [AuthMethod::Identities]);
    next.send(Method::GET, "/openapi.json", None, &[]).await.error(401, "NotAuthorizedException");
    next.ask_for_token(&[("grant_type", "x")], &[]).await.expect(400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_may_be_shown_to_everybody() {
    let change = |open| {
        move |settings: &mut guillemot::config::Settings| {
            identities_on(settings);
            settings.auth.open_metrics = Some(open);
        }
    };
    for (open, status) in [(false, 401), (true, 200)] {
        let server = Server::start_with(Setting::Local, change(open)).await;
        assert_eq!(server.send(Method::GET, "/metrics", None, &[]).await.status, status);
        assert_eq!(server.send(Method::GET, "/openapi.json", None, &[]).await.status, 401);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_postgresql_identities_need_a_key_that_is_given() {
    let server = Server::start(Setting::Production).await;
    let mut config = server.app.config.clone();
    config.auth.methods = vec![AuthMethod::Identities];
    let error = server::build(config).await.unwrap_err();
    assert!(guillemot::telemetry::chain(&error).contains("openssl rand -base64 32"), "{error}");
}
