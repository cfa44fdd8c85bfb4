//! The query of a request, and the page that it asks for.

use super::names::split_namespace;
use crate::api::error::Error;
use crate::app::App;
use crate::spec::Namespace;
use crate::store::{Listing, Page};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Entries of one page when the client starts a walk without saying how many it wants.
const PAGE_SIZE: u32 = 1000;

/// How many views `referenced-by` may name, and in how many bytes.
const MAX_REFERENCED: usize = 64;
const MAX_REFERENCED_BYTES: usize = 8 * 1024;

/// The parameters of the query, form-decoded; of a repeated one the first counts.
#[derive(Debug, Default)]
pub(in crate::api) struct Query {
    parameters: Vec<(String, String)>,
    /// The path: page tokens say which list they are of.
    path: String,
}

impl Query {
    /// A parameter's value.
    pub(in crate::api) fn find(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A parameter's value, unless it is empty.
    pub(in crate::api) fn filled(&self, name: &str) -> Option<&str> {
        self.find(name).filter(|value| !value.is_empty())
    }

    /// A boolean as clients spell it: `true`, and Python's `True`.
    pub(in crate::api) fn flag(&self, name: &'static str) -> Result<bool, Error> {
        match self.filled(name) {
            None => Ok(false),
            Some(value) if value.eq_ignore_ascii_case("true") => Ok(true),
            Some(value) if value.eq_ignore_ascii_case("false") => Ok(false),
            Some(value) => Err(Error::BadRequest(format!("Invalid {name}: expected true or false, found {value}"))),
        }
    }

    /// Bounds the views that a client names in `referenced-by`. Nothing depends on them yet.
    pub(in crate::api) fn check_referenced_by(&self) -> Result<(), Error> {
        let Some(views) = self.filled("referenced-by") else { return Ok(()) };
        if views.len() > MAX_REFERENCED_BYTES || views.split(',').count() > MAX_REFERENCED {
            let most = format!("at most {MAX_REFERENCED} views in {MAX_REFERENCED_BYTES} bytes");
            return Err(Error::BadRequest(format!("Invalid referenced-by: expected {most}")));
        }
        Ok(())
    }

    /// The namespace in `parent`; none where it is absent or empty.
    pub(in crate::api) fn parent(&self) -> Result<Option<Namespace>, Error> {
        self.filled("parent").map(split_namespace).transpose()
    }

    /// The namespace in `namespace`; none where it is absent or empty.
    pub(in crate::api) fn namespace(&self) -> Result<Option<Namespace>, Error> {
        self.filled("namespace").map(split_namespace).transpose()
    }

    /// Every value of a parameter that may be repeated.
    pub(in crate::api) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.parameters.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The page asked for. Without `pageToken` that is everything (`spec.md` 1.2).
    pub(in crate::api) fn page(&self) -> Result<Page, Error> {
        let size = match self.filled("pageSize") {
            None => PAGE_SIZE,
            Some(size) => match size.parse::<u32>() {
                Ok(size) if size >= 1 => size,
                _ => return Err(Error::BadRequest(format!("Invalid pageSize: expected 1 or more, found {size}"))),
            },
        };
        match self.find("pageToken") {
            None => Ok(Page::default()),
            Some("") => Ok(Page { after: None, limit: Some(size) }),
            Some(token) => Ok(Page { after: Some(self.read_token(token)?), limit: Some(size) }),
        }
    }

    /// The page asked for, and never everything at once.
    pub(in crate::api) fn bounded_page(&self) -> Result<Page, Error> {
        let page = self.page()?;
        let asked = self.filled("pageSize").and_then(|size| size.parse().ok());
        Ok(Page { limit: page.limit.or(asked).or(Some(PAGE_SIZE)), ..page })
    }

    /// The token of the page that comes after this one.
    pub(in crate::api) fn next_page_token<T>(&self, listing: &Listing<T>) -> Option<String> {
        listing.next.as_deref().map(|key| self.token(key))
    }

    fn token(&self, after: &str) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}{after}", self.list()))
    }

    /// The key that a token stands for, if the token is one of this list.
    fn read_token(&self, token: &str) -> Result<String, Error> {
        let text = URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let key = text.as_deref().and_then(|text| text.strip_prefix(&self.list())).filter(|key| !key.contains('\0'));
        let wrong = || Error::BadRequest(format!("Invalid pageToken: `{token}` is none of this list's"));
        key.map(str::to_owned).ok_or_else(wrong)
    }

    /// Tells lists apart.
    fn list(&self) -> String {
        let parent = self.filled("parent").unwrap_or_default();
        format!("{:08x}", crc32fast::hash(format!("{}?{parent}", self.path).as_bytes()))
    }
}

impl FromRequestParts<App> for Query {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Error> {
        let query = parts.uri.query().unwrap_or_default();
        let parameters = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Ok(Self { parameters, path: parts.uri.path().to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        let parameters = url::form_urlencoded::parse(text.as_bytes()).into_owned().collect();
        Query { parameters, path: "/tables".to_owned() }
    }

    #[test]
    fn a_walk_starts_with_an_empty_token() {
        assert_eq!(query("").page().unwrap(), Page::default());
        assert_eq!(query("pageSize=5").page().unwrap(), Page::default());
        assert_eq!(query("pageToken=&pageSize=5").page().unwrap(), Page { after: None, limit: Some(5) });
        let token = query("").token("a\u{1f}b");
        let page = query(&format!("pageToken={token}&pageSize=2")).page().unwrap();
        assert_eq!(page, Page { after: Some("a\u{1f}b".into()), limit: Some(2) });
    }

    #[test]
    fn a_bounded_page_is_never_everything() {
        assert_eq!(query("").bounded_page().unwrap(), Page { after: None, limit: Some(PAGE_SIZE) });
        assert_eq!(query("pageSize=5").bounded_page().unwrap(), Page { after: None, limit: Some(5) });
        let page = query(&format!("pageToken={}&pageSize=2", query("").token("a"))).bounded_page().unwrap();
        assert_eq!(page, Page { after: Some("a".into()), limit: Some(2) });
        assert!(query("pageSize=0").bounded_page().is_err());
    }

    #[test]
    fn tokens_and_sizes_of_others_are_refused() {
        for bad in ["pageToken=garbage!!", "pageToken=&pageSize=0", "pageToken=&pageSize=-1", "pageToken=&pageSize=x"] {
            assert!(query(bad).page().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_token_of_another_list_is_refused() {
        let other = Query { path: "/views".to_owned(), ..Query::default() };
        for token in [other.token("a"), query("parent=b").token("a"), URL_SAFE_NO_PAD.encode("a")] {
            let error = query(&format!("pageToken={token}")).page().unwrap_err().to_string();
            assert_eq!(error, format!("Invalid pageToken: `{token}` is none of this list's"));
        }
    }
}
