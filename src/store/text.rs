//! Keys and pages: what all entities share.

use sqlx::Row;
use sqlx::any::AnyRow;

use super::error::{Error, Result};

/// Longest name or joined namespace, in bytes. PostgreSQL's index entries hold about 2,700 bytes, and the key of a
/// table is its warehouse, namespace and name.
const MAX_NAME_BYTES: usize = 1024;

/// Longest location that is a key, in bytes.
const MAX_LOCATION_BYTES: usize = 2048;

/// Which part of a list to read. The default is all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Only what sorts after this key: the `next` of the page before.
    pub after: Option<String>,
    /// At most so many; `None` is no limit.
    pub limit: Option<u32>,
}

impl Page {
    pub(super) fn after_key(&self) -> &str {
        // No key is empty, so everything sorts after the empty text.
        self.after.as_deref().unwrap_or_default()
    }

    /// One row more than asked for tells whether there is a next page.
    pub(super) fn rows(&self) -> i64 {
        self.limit.map_or(i64::MAX, |limit| i64::from(limit) + 1)
    }
}

/// A part of a list, in bytewise order of the key, and where the next part begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing<T> {
    /// What was found.
    pub items: Vec<T>,
    /// [`Page::after`] of the next part; `None` at the end.
    pub next: Option<String>,
}

impl<T> Listing<T> {
    /// Cuts the row that [`Page::rows`] asked for on top. `key` tells an item's place in the order.
    pub(super) fn cut(mut items: Vec<T>, page: &Page, key: impl Fn(&T) -> String) -> Self {
        let limit = page.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(key) } else { None };
        Self { items, next }
    }

    /// A part of a list that is in memory: entries with their keys, in the order of the keys.
    pub fn of_sorted(entries: impl Iterator<Item = (String, T)>, page: &Page) -> Self {
        let mut rest = entries.filter(|(key, _)| key.as_str() > page.after_key()).peekable();
        let limit = page.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let (mut items, mut last) = (Vec::new(), None);
        for (key, item) in rest.by_ref().take(limit) {
            items.push(item);
            last = Some(key);
        }
        let next = if rest.peek().is_some() { last } else { None };
        Self { items, next }
    }
}

/// Refuses a name that cannot be a key.
pub(super) fn check_name(what: &'static str, text: &str) -> Result<()> {
    check(what, text, MAX_NAME_BYTES)
}

/// Refuses a location that cannot be a key.
pub(super) fn check_location(text: &str) -> Result<()> {
    check("location", text, MAX_LOCATION_BYTES)
}

fn check(what: &'static str, text: &str, limit: usize) -> Result<()> {
    let reason = if text.is_empty() {
        "is empty".to_owned()
    } else if text.len() > limit {
        format!("is longer than {limit} bytes")
    } else if text.contains('\0') {
        // PostgreSQL has no such text; SQLite would take it.
        "contains the null-byte character".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::Unstorable { what, reason })
}

/// A text column of a row.
pub(super) fn text(row: &AnyRow, column: &'static str) -> Result<String> {
    Ok(row.try_get(column)?)
}

/// A text column of a row that may hold none.
pub(super) fn optional_text(row: &AnyRow, column: &'static str) -> Result<Option<String>> {
    Ok(row.try_get(column)?)
}

/// An integer column of a row.
pub(super) fn number(row: &AnyRow, column: &'static str) -> Result<i64> {
    Ok(row.try_get(column)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_has_a_next_one_only_if_there_is_more() {
        let page = Page { after: None, limit: Some(2) };
        let cut = |names: &[&str]| {
            let items: Vec<String> = names.iter().map(ToString::to_string).collect();
            Listing::cut(items, &page, Clone::clone).next
        };
        assert_eq!(cut(&["a", "b", "c"]), Some("b".to_owned()));
        assert_eq!(cut(&["a", "b"]), None);
        assert_eq!(cut(&[]), None);
    }

    #[test]
    fn a_list_in_memory_is_paged_as_one_in_sql_is() {
        let of = |after: Option<&str>, limit| {
            let page = Page { after: after.map(str::to_owned), limit };
            Listing::of_sorted(["a", "b", "c"].into_iter().map(|name| (name.to_owned(), name)), &page)
        };
        let listing = |items: &[&'static str], next: Option<&str>| Listing {
            items: items.to_vec(),
            next: next.map(str::to_owned),
        };
        assert_eq!(of(None, None), listing(&["a", "b", "c"], None));
        assert_eq!(of(None, Some(2)), listing(&["a", "b"], Some("b")));
        assert_eq!(of(Some("b"), Some(2)), listing(&["c"], None));
        assert_eq!(of(Some("b"), Some(1)), listing(&["c"], None));
        assert_eq!(of(Some("c"), Some(1)), listing(&[], None));
    }

    #[test]
    fn names_are_bounded() {
        assert!(check_name("table name", "t").is_ok());
        for text in ["", "a\0b", &"x".repeat(MAX_NAME_BYTES + 1)] {
            assert!(check_name("table name", text).is_err());
        }
    }
}
