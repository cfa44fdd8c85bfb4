//! Writing to a GCS emulator.
//!
//! `object_store` writes by the XML API (`PUT /bucket/object`), which fake-gcs-server refuses with 400. Of the JSON
//! API's uploads that server honours `ifGenerationMatch` with `uploadType=multipart` only, so each PUT becomes one of
//! those. Reads, lists and deletes go through unchanged, and so does real GCS, which never meets this module.

use bytes::{BufMut, Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The precondition on a PUT of the XML API, and the generation in its reply.
const GENERATION_MATCH: &str = "x-goog-if-generation-match";
const GENERATION: &str = "x-goog-generation";

/// Connects to an emulator.
#[derive(Debug, Default)]
pub(super) struct EmulatorConnector {
    inner: ReqwestConnector,
}

impl HttpConnector for EmulatorConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Translator { inner: self.inner.connect(options)? }))
    }
}

/// Turns XML PUTs into JSON uploads.
#[derive(Debug)]
struct Translator {
    inner: HttpClient,
}

#[async_trait::async_trait]
impl HttpService for Translator {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_put = request.method() == Method::PUT && request.uri().query().is_none();
        if !is_put {
            return self.inner.execute(request).await;
        }
        let response = self.inner.execute(upload(request).await?).await?;
        if response.status().is_success() { reply(response).await } else { Ok(response) }
    }
}

/// The JSON upload that does what this PUT asks for.
async fn upload(put: HttpRequest) -> Result<HttpRequest, HttpError> {
    let (parts, body) = put.into_parts();
    let uri = upload_uri(&parts.uri, &parts.headers)?;
    let name = object_name(&parts.uri)?;
    let content = body.collect().await?.to_bytes();
    let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let (boundary, body) = related(&name, content_type.unwrap_or("application/octet-stream"), &content);
    let request = Request::post(uri)
        .header(CONTENT_TYPE, format!("multipart/related; boundary={boundary}"))
        .header(CONTENT_LENGTH, body.len())
        .body(body.into());
    request.map_err(decode_error)
}

/// `/upload/storage/v1/b/BUCKET/o` on the same host, with the precondition if there is one.
fn upload_uri(put: &Uri, headers: &HeaderMap) -> Result<Uri, HttpError> {
    let mut path = put.path().trim_start_matches('/').split('/');
    let bucket = path.next().unwrap_or_default();
    let mut target = format!("/upload/storage/v1/b/{bucket}/o?uploadType=multipart");
    if let Some(generation) = headers.get(GENERATION_MATCH).and_then(|value| value.to_str().ok()) {
        target.push_str("&ifGenerationMatch=");
        target.extend(utf8_percent_encode(generation, NON_ALPHANUMERIC));
    }
    let mut parts = put.clone().into_parts();
    parts.path_and_query = Some(target.parse().map_err(decode_error)?);
    Uri::from_parts(parts).map_err(decode_error)
}

/// The key, which `object_store` encodes as one segment after the bucket.
fn object_name(put: &Uri) -> Result<String, HttpError> {
    let (_, key) = put.path().trim_start_matches('/').split_once('/').unwrap_or_default();
    Ok(percent_decode_str(key).decode_utf8().map_err(decode_error)?.into_owned())
}

/// A `multipart/related` body of the object's name and its content, and the boundary between them.
fn related(name: &str, content_type: &str, content: &Bytes) -> (String, Bytes) {
    let boundary = boundary(content);
    let resource = serde_json::json!({ "name": name, "contentType": content_type });
    let head = format!(
        "--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{resource}\r\n\
         --{boundary}\r\nContent-Type: {content_type}\r\n\r\n"
    );
    let tail = format!("\r\n--{boundary}--\r\n");
    let mut body = BytesMut::with_capacity(head.len() + content.len() + tail.len());
    body.put_slice(head.as_bytes());
    body.put_slice(content);
    body.put_slice(tail.as_bytes());
    (boundary, body.freeze())
}

/// A text that the content does not contain.
fn boundary(content: &[u8]) -> String {
    let mut boundary = "guillemot-upload".to_owned();
    while content.windows(boundary.len()).any(|window| window == boundary.as_bytes()) {
        boundary.push('x');
    }
    boundary
}

/// What the XML API would have answered: the generation and the tag as headers, nothing else.
async fn reply(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (mut parts, body) = response.into_parts();
    let body = body.bytes().await?;
    let object: serde_json::Value = serde_json::from_slice(&body).map_err(decode_error)?;
    parts.headers.clear();
    for (member, header) in [("generation", GENERATION), ("etag", ETAG.as_str())] {
        let value = object.get(member).and_then(serde_json::Value::as_str).unwrap_or_default();
        parts.headers.insert(header, HeaderValue::from_str(value).map_err(decode_error)?);
    }
    Ok(Response::from_parts(parts, HttpResponseBody::from(Bytes::new())))
}

fn decode_error(source: impl std::error::Error + Send + Sync + 'static) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_put_becomes_an_upload() {
        let put = Request::put("http://127.0.0.1:1/my%2Dbucket/a%2Fb%2520c")
            .header(GENERATION_MATCH, "0")
            .header(CONTENT_TYPE, "application/json")
            .body(Bytes::from_static(b"{} guillemot-upload").into())
            .unwrap();
        let post = upload(put).await.unwrap();
        assert_eq!(post.method(), Method::POST);
        assert_eq!(
            post.uri().to_string(),
            "http://127.0.0.1:1/upload/storage/v1/b/my%2Dbucket/o?uploadType=multipart&ifGenerationMatch=0"
        );
        let body = post.into_body().collect().await.unwrap().to_bytes();
        let text = std::str::from_utf8(&body).unwrap();
        assert!(text.contains(r#"{"name":"a/b%20c","contentType":"application/json"}"#), "{text}");
        assert!(text.contains("\r\n\r\n{} guillemot-upload\r\n--guillemot-uploadx--\r\n"), "{text}");
    }
}
