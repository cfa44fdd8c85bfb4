//! Lists that come in pages, from a catalog that may have no end of them.

use std::collections::BTreeSet;

/// Most names that a list may have.
const MOST_NAMES: usize = 1_000_000;

/// Most pages that a list may have.
const MOST_PAGES: usize = 100_000;

/// How many pages in a row may bring nothing new.
const MOST_IDLE: usize = 20;

/// A list on its way: what came so far, without doubles, in order.
#[derive(Debug)]
pub(super) struct Pages<T> {
    found: BTreeSet<T>,
    taken: usize,
    /// Pages in a row that brought nothing new.
    idle: usize,
}

impl<T: Ord> Pages<T> {
    pub(super) fn new() -> Self {
        Self { found: BTreeSet::new(), taken: 0, idle: 0 }
    }

    /// Takes a page and the token that the next one is got by; answers the token, if there is a next one.
    ///
    /// # Errors
    /// What is wrong with a list that does not end.
    pub(super) fn take(&mut self, page: Vec<T>, next: Option<String>) -> Result<Option<String>, String> {
        let before = self.found.len();
        self.taken += 1;
        self.found.extend(page);
        self.idle = if self.found.len() > before { 0 } else { self.idle + 1 };
        let next = next.filter(|token| !token.is_empty());
        if next.is_some() && self.idle >= MOST_IDLE {
            return Err(format!("a list that does not end: {MOST_IDLE} pages in a row brought nothing new"));
        }
        if next.is_some() && self.taken >= MOST_PAGES {
            return Err(format!("a list of more than {MOST_PAGES} pages"));
        }
        if self.found.len() > MOST_NAMES {
            return Err(format!("a list of more than {MOST_NAMES} names"));
        }
        Ok(next)
    }

    pub(super) fn finish(self) -> Vec<T> {
        self.found.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_put_together_without_doubles() {
        let mut pages = Pages::new();
        assert_eq!(pages.take(vec![2, 1], Some("a".to_owned())), Ok(Some("a".to_owned())));
        assert_eq!(pages.take(vec![], Some("b".to_owned())), Ok(Some("b".to_owned())));
        assert_eq!(pages.take(vec![3, 2], Some(String::new())), Ok(None));
        assert_eq!(pages.finish(), [1, 2, 3]);
    }

    #[test]
    fn a_list_without_end_ends() {
        let mut pages = Pages::new();
        let taken: Result<Vec<_>, String> =
            (0..1000).map(|page: i32| pages.take(vec![page.min(5)], Some(page.to_string()))).collect();
        assert!(taken.unwrap_err().contains("does not end"));
        let mut pages = Pages::new();
        let taken: Result<Vec<_>, String> =
            (0..200_000).map(|page: i32| pages.take(vec![page], Some(page.to_string()))).collect();
        assert_eq!(taken.unwrap_err(), "a list of more than 100000 pages");
    }
}
