//! A stand-in for a store that speaks S3, and for its token service. It looks at no signature.

use super::leaks;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

/// The store, at one address.
#[derive(Clone)]
pub(crate) struct S3(Arc<Inner>);

struct Inner {
    address: String,
    /// By path: `/bucket/key`.
    objects: Mutex<HashMap<String, Bytes>>,
    /// What keys were asked for with.
    asked: Mutex<Vec<BTreeMap<String, String>>>,
}

impl S3 {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let store = Self(Arc::new(Inner { address, objects: Mutex::default(), asked: Mutex::default() }));
        let router = axum::Router::new().fallback(answer).with_state(store.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        store
    }

    pub(crate) fn endpoint(&self) -> &str {
        &self.0.address
    }

    /// The session policies that keys were given under.
    pub(crate) fn policies(&self) -> Vec<String> {
        self.0.asked.lock().unwrap().iter().map(|fields| fields["Policy"].clone()).collect()
    }

    /// Changes an object behind everybody's back.
    pub(crate) fn rewrite(&self, location: &str, from: &str, to: &str) {
        let mut objects = self.0.objects.lock().unwrap();
        let object = objects.get_mut(location.strip_prefix("s3:/").unwrap()).unwrap();
        let text = std::str::from_utf8(object).unwrap();
        assert!(text.contains(from), "{text}");
        *object = text.replace(from, to).into();
    }
}

async fn answer(State(store): State<S3>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    if path == "/" && method == Method::POST {
        return keys(&store, &body);
    }
    let mut objects = store.0.objects.lock().unwrap();
    match method {
        Method::PUT if headers.contains_key(header::IF_NONE_MATCH) && objects.contains_key(&path) => {
            StatusCode::PRECONDITION_FAILED.into_response()
        }
        Method::PUT => {
            objects.insert(path, body);
            [(header::ETAG, "\"e\"")].into_response()
        }
        Method::GET | Method::HEAD => match objects.get(&path) {
            Some(object) => {
                let about = [(header::ETAG, "\"e\""), (header::LAST_MODIFIED, "Wed, 12 Oct 2022 17:50:00 GMT")];
                (about, object.clone()).into_response()
            }
            None => StatusCode::NOT_FOUND.into_response(),
        },
        _ => StatusCode::NOT_IMPLEMENTED.into_response(),
    }
}

fn keys(store: &S3, form: &[u8]) -> Response {
    let mut asked = store.0.asked.lock().unwrap();
    asked.push(url::form_urlencoded::parse(form).into_owned().collect());
    let number = asked.len();
    leaks::note(&format!("secret-of-{number}"));
    leaks::note(&format!("session-of-{number}"));
    format!(
        "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>temporary-{number}</AccessKeyId>\
         <SecretAccessKey>secret-of-{number}</SecretAccessKey><SessionToken>session-of-{number}</SessionToken>\
         <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
    )
    .into_response()
}
