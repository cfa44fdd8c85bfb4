//! Lists that show what their caller may see, in pages that are full.

use super::error::Error;
use crate::auth::{Caller, Object};
use crate::spec::Namespace;
use crate::store::tables::Kind;
use crate::store::{self, Db, Listing, Page};
use std::future::Future;

/// Rows that are read at a time when only some of them are shown.
const ROWS: u32 = 500;

/// The tables, or the views, of a namespace that the caller may see without seeing all of it: those that its grants
/// name. `None` where it sees all.
pub(super) fn tables(
    access: &Caller,
    warehouse_id: &str,
    namespace: &Namespace,
    kind: Kind,
    page: &Page,
) -> Option<Listing<String>> {
    if access.sees_all_in(&Object::Namespace(warehouse_id.to_owned(), namespace.clone())) {
        return None;
    }
    let named = access.named_tables(warehouse_id, namespace, kind);
    Some(Listing::of_sorted(named.into_iter().map(|name| (name.clone(), name)), page))
}

/// The namespaces under a parent, or at the top, that the caller may see without seeing all of them.
pub(super) fn namespaces(
    access: &Caller,
    warehouse_id: &str,
    parent: Option<&Namespace>,
    page: &Page,
) -> Option<Listing<Namespace>> {
    let above = match parent {
        Some(parent) => Object::Namespace(warehouse_id.to_owned(), parent.clone()),
        None => Object::Warehouse(warehouse_id.to_owned()),
    };
    if access.sees_all_in(&above) {
        return None;
    }
    let named = access.named_namespaces(warehouse_id, parent).into_iter();
    Some(Listing::of_sorted(named.map(|name| (store::namespaces::page_key(&name), name)), page))
}

/// A page of those entries of a longer list that are shown: reads on until it is full. `read` answers a part of the
/// list, and each entry with its key.
pub(super) async fn filled<T, R: Future<Output = Result<Listing<T>, store::Error>>>(
    db: &Db,
    page: &Page,
    read: impl Fn(Db, Page) -> R,
    key: impl Fn(&T) -> String,
    shown: impl Fn(&T) -> bool,
) -> Result<Listing<T>, Error> {
    let wanted = page.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut items: Vec<T> = Vec::new();
    let mut after = page.after.clone();
    loop {
        let part = read(db.clone(), Page { after, limit: Some(page.limit.unwrap_or(ROWS).max(ROWS)) }).await?;
        for item in part.items.into_iter().filter(&shown) {
            if items.len() == wanted {
                // There is one more, so there is a next page.
                return Ok(Listing { next: items.last().map(&key), items });
            }
            items.push(item);
        }
        match part.next {
            Some(next) => after = Some(next),
            None => return Ok(Listing { items, next: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of the multiples of seven among the numbers below 2000.
    async fn page(after: Option<u32>, limit: u32, shown: fn(&u32) -> bool) -> Listing<u32> {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::connect(&format!("sqlite://{}", folder.path().join("x.db").display())).await.unwrap();
        let read = |_, page: Page| async move {
            let from = page.after.map_or(0, |after| after.parse::<u32>().unwrap() + 1);
            let to = from.saturating_add(page.limit.unwrap()).min(2000);
            let next = (to < 2000).then(|| (to - 1).to_string());
            Ok(Listing { items: (from..to).collect(), next })
        };
        let page = Page { after: after.map(|after| after.to_string()), limit: Some(limit) };
        filled(&db, &page, read, ToString::to_string, shown).await.unwrap()
    }

    #[tokio::test]
    async fn pages_are_full_and_their_walk_meets_everything_once() {
        let shown = |number: &u32| number.is_multiple_of(7);
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let part = page(after, 50, shown).await;
            all.extend(part.items.iter().copied());
            let Some(next) = part.next else { break };
            assert_eq!(part.items.len(), 50);
            after = Some(next.parse().unwrap());
        }
        assert_eq!(all, (0..2000).filter(shown).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn what_is_exactly_full_has_no_next_page() {
        let part = page(None, 3, |number| *number < 3).await;
        assert_eq!((part.items, part.next), (vec![0, 1, 2], None));
        let part = page(None, 3, |_| false).await;
        assert_eq!((part.items, part.next), (vec![], None));
    }
}
