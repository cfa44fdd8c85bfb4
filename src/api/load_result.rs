//! The reply with a table's metadata: `LoadTableResult`, its tag, and what comes with it.

use super::extract::takes_gzip;
use crate::app::{App, Warehouse};
use crate::commit::{self, Asker, Grant, Stored, Subject};
use crate::spec::TableIdent;
use crate::store::tables::Kind;
use crate::telemetry::chain;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Below this size compressing a reply costs more than it saves, in bytes.
const GZIP_FROM: usize = 1024;

/// The reply for a table that was just made. It is there whatever comes of the credentials, so these cannot make the
/// request fail; the client's next load asks for them again.
pub(super) async fn made(
    app: &App,
    warehouse: &Warehouse,
    ident: &TableIdent,
    stored: &Stored,
    asker: Option<Asker>,
) -> Response {
    let Some(asker) = asker else { return loaded(stored) };
    let granted = async {
        let row = commit::load_pointer(app, warehouse, Kind::Table, ident).await?;
        let subject = Subject { ident, id: &row.id, location: &stored.metadata().location };
        commit::grant(app, warehouse, subject, asker).await
    };
    match granted.await {
        Ok(None) => loaded(stored),
        Ok(Some(grant)) => {
            let mut response = secret_json(stored.granted_reply(&grant, false));
            let tag = entity_tag(stored.location(), false, Some(&grant));
            response.headers_mut().insert(header::ETAG, header_value(&tag));
            response
        }
        Err(error) => {
            tracing::warn!(table = %ident, cause = chain(&error), "a new table is answered without credentials");
            loaded(stored)
        }
    }
}

/// JSON that holds secrets: nobody on the way keeps it.
pub(super) fn secret_json(body: Bytes) -> Response {
    let mut response = json(body);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A `LoadTableResult` (which is also what a commit answers) with the tag of its version.
pub(super) fn loaded(stored: &Stored) -> Response {
    let mut response = json(stored.reply());
    response.headers_mut().insert(header::ETAG, header_value(&entity_tag(stored.location(), false, None)));
    response
}

/// The whole table, in the compressed form that is kept beside the plain one if the client takes that.
pub(super) fn whole(stored: &Stored, headers: &HeaderMap) -> Response {
    let plain = stored.reply();
    if plain.len() < GZIP_FROM || !takes_gzip(headers) {
        return json(plain);
    }
    let mut response = json(stored.gzip_reply());
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// Bytes that are JSON already.
pub(super) fn json(body: Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// Names one representation of one version: a metadata file is written once, and its name holds a UUID. A reply with
/// credentials is another one as soon as there are newer credentials.
pub(super) fn entity_tag(metadata_location: &str, refs_only: bool, grant: Option<&Grant>) -> String {
    let name = metadata_location.rsplit('/').next().unwrap_or_default();
    let stem: String = name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let sum = crc32fast::hash(metadata_location.as_bytes());
    let granted = grant.map(|grant| format!(".{}", grant.tag)).unwrap_or_default();
    format!("\"{stem}.{sum:08x}{}{granted}\"", if refs_only { ".refs" } else { "" })
}

/// Whether the client already has what the tag names. Some send tags without quotes, or weak ones.
pub(super) fn holds(headers: &HeaderMap, tag: &str) -> bool {
    let bare = |text: &str| text.trim().trim_start_matches("W/").trim_matches('"').to_owned();
    let given = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).any(|one| one.trim() == "*" || bare(one) == bare(tag))
}

/// Tags are made of visible ASCII.
pub(super) fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_version_and_representation() {
        let location = "gs://b/t/metadata/00003-0af1.metadata.json";
        let plain = entity_tag(location, false, None);
        assert_ne!(plain, entity_tag(location, true, None));
        assert_ne!(plain, entity_tag("gs://b/u/metadata/00003-0af1.metadata.json", false, None));
        let grant = |tag: &str| Grant { config: [].into(), credentials: Vec::new(), tag: tag.to_owned() };
        assert_ne!(plain, entity_tag(location, false, Some(&grant("read.1"))));
        assert_ne!(
            entity_tag(location, false, Some(&grant("read.1"))),
            entity_tag(location, false, Some(&grant("read.2")))
        );
    }

    #[test]
    fn tags_are_compared_without_their_quotes() {
        let tag = entity_tag("gs://b/t/metadata/00003-0af1.metadata.json", false, None);
        for given in [tag.clone(), tag.trim_matches('"').to_owned(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, given.parse().unwrap())]);
            assert!(holds(&headers, &tag), "{given}");
        }
        let other = HeaderMap::from_iter([(header::IF_NONE_MATCH, "\"x\"".parse().unwrap())]);
        assert!(!holds(&other, &tag));
    }
}
