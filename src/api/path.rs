//! Raw request paths: bases, prefixes and encodings are brought into one form before routing.
//!
//! Clients write `/iceberg/v1/…` or `/iceberg/v1/restcatalog/v1/…`, with a prefix of any number of segments (raw or
//! percent-encoded) or with none, and a space as `%20` (PyIceberg, curl) or `+` (Java). The router sees one form:
//! `/iceberg/v1/{prefix}/…` with the prefix as one encoded segment, [`NO_PREFIX`] where the client named none.

use crate::commit::RESERVED_NAMES;
use axum::extract::Request;
use axum::http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::sync::Arc;

/// Stands in a path for "no prefix": the only warehouse or the one named `default`.
pub(super) const NO_PREFIX: &str = "~";

const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path as the client wrote it, kept for logs and for the text of a 404.
#[derive(Debug, Clone)]
pub(super) struct ClientPath(pub(super) Arc<str>);

/// Rewrites the request's path into the form that the router knows.
pub(super) fn rewrite(mut request: Request) -> Request {
    let path: Arc<str> = request.uri().path().into();
    if let Some(uri) = canonical(&path).and_then(|canonical| with_path(request.uri(), &canonical)) {
        *request.uri_mut() = uri;
    }
    request.extensions_mut().insert(ClientPath(path));
    request
}

/// The canonical path, or `None` when the path is none of the catalog's.
fn canonical(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/iceberg/v1/restcatalog/v1/").or_else(|| path.strip_prefix("/iceberg/v1/"))?;
    let rest = rest.trim_end_matches('/').replace('+', "%20");
    let segments: Vec<&str> = rest.split('/').collect();
    match segments.first().copied()? {
        "config" | "oauth" => Some(format!("/iceberg/v1/{}", segments.join("/"))),
        _ => {
            let start = segments.iter().position(|s| RESERVED_NAMES.contains(s)).unwrap_or(segments.len());
            let (prefix, operation) = segments.split_at_checked(start)?;
            Some(format!("/iceberg/v1/{}/{}", encoded_prefix(prefix), operation.join("/")))
        }
    }
}

/// The prefix's segments, decoded and joined, as one encoded segment.
fn encoded_prefix(segments: &[&str]) -> String {
    if segments.is_empty() {
        return NO_PREFIX.to_owned();
    }
    let joined = segments.join("/");
    let decoded = percent_decode_str(&joined).decode_utf8_lossy();
    encode_segment(&decoded)
}

/// A text as one path segment: everything but letters, digits and `-._~` percent-encoded.
pub(super) fn encode_segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let path_and_query = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.parse().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("/iceberg/v1/config", "/iceberg/v1/config")]
    #[case("/iceberg/v1/restcatalog/v1/config", "/iceberg/v1/config")]
    #[case("/iceberg/v1/namespaces", "/iceberg/v1/~/namespaces")]
    #[case("/iceberg/v1/lake/namespaces/a%1Fb", "/iceberg/v1/lake/namespaces/a%1Fb")]
    #[case(
        "/iceberg/v1/restcatalog/v1/projects/P/catalogs/C/namespaces",
        "/iceberg/v1/projects%2FP%2Fcatalogs%2FC/namespaces"
    )]
    #[case(
        "/iceberg/v1/projects%2FP%2Fcatalogs%2FC/tables/rename",
        "/iceberg/v1/projects%2FP%2Fcatalogs%2FC/tables/rename"
    )]
    #[case("/iceberg/v1/namespaces/n/tables/a+b", "/iceberg/v1/~/namespaces/n/tables/a%20b")]
    #[case("/iceberg/v1/namespaces/n/tables/a%2Bb%2Fc", "/iceberg/v1/~/namespaces/n/tables/a%2Bb%2Fc")]
    fn every_way_to_write_a_path_is_one_form(#[case] path: &str, #[case] expected: &str) {
        assert_eq!(canonical(path).as_deref(), Some(expected));
    }

    #[test]
    fn other_paths_are_left_alone() {
        assert_eq!(canonical("/management/v1/warehouses"), None);
        assert_eq!(canonical("/health"), None);
    }
}
