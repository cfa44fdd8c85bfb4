//! What is sent to a catalog and is not shown, whatever the catalog says.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use url::form_urlencoded;

use super::catalog::encode;

/// What stands where a secret stood.
const HIDDEN: &str = "***";

/// A header's value of so many bytes is taken for a secret, whatever the header is called.
const LONG: usize = 16;

/// What headers with secrets are called.
const NAMES: [&str; 7] = ["auth", "cookie", "credential", "key", "password", "secret", "token"];

/// The secrets that were sent so far. A clone is another handle on the same ones.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Mutex<Vec<String>>>);

// Nothing that is secret is shown.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

impl Secrets {
    /// Takes a secret that is sent, in every way in which an answer may write it.
    pub(super) fn add(&self, secret: &str) {
        let form: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        let quoted = serde_json::Value::from(secret).to_string();
        let json = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend([secret.to_owned(), form, encode(secret), json].into_iter().filter(|text| !text.is_empty()));
        // Of two, one within the other, the longer one goes first.
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
    }

    /// Takes a header that is sent, if its value may be a secret.
    pub(super) fn add_header(&self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        if value.len() >= LONG || NAMES.iter().any(|part| name.contains(part)) {
            self.add(value);
            // `Bearer TOKEN`
            if let Some((_, token)) = value.split_once(' ') {
                self.add(token);
            }
        }
    }

    /// A text without the secrets.
    pub fn hide(&self, text: &str) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    /// The beginning of a text that a catalog wrote, for people: without secrets, control characters escaped.
    pub(super) fn shown(&self, text: &str, most: usize) -> String {
        let mut shown = String::new();
        for (count, char) in self.hide(text).chars().enumerate() {
            if count == most {
                shown.push('…');
                break;
            }
            if char.is_control() {
                shown.extend(char.escape_unicode());
            } else {
                shown.push(char);
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_however_it_is_written() {
        let secrets = Secrets::default();
        secrets.add("p+w/\"x");
        secrets.add("p+w/\"x and more");
        secrets.add("");
        let text = r#"p+w/"x p%2Bw%2F%22x p+w/\"x p+w/"x and more, p%2Bw%2F%22x+and+more"#;
        assert_eq!(secrets.hide(text), "*** *** *** ***, ***");
        assert_eq!(format!("{secrets:?}"), "Secrets(..)");
    }

    #[test]
    fn headers_hold_secrets_or_words() {
        let secrets = Secrets::default();
        for (name, value) in [("Authorization", "Bearer abc"), ("X-Api-Key", "k1"), ("X-Tenant", "sales")] {
            secrets.add_header(name, value);
        }
        secrets.add_header("X-Odd", "0123456789abcdef");
        assert_eq!(secrets.hide("Bearer abc, abc, k1, sales, 0123456789abcdef"), "***, ***, ***, sales, ***");
    }

    #[test]
    fn what_is_shown_is_short_and_plain() {
        let secrets = Secrets::default();
        secrets.add("abcdef");
        assert_eq!(secrets.shown("xabcdef", 4), "x***");
        assert_eq!(secrets.shown("a\u{1b}[2J", 3), "a\\u{1b}[…");
    }
}
