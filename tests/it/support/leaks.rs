//! What must stay secret, and everything that was said: no test may end with one in the other.
//!
//! Secrets are noted where a test makes or gets them. All that the process logs is kept, at the most verbose level, and
//! with it each answer whose purpose is not to hand a secret out. When a [`Watch`] ends, what was said since it began is
//! searched for every secret noted until then, so that it does not matter which came first.

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::{LazyLock, Mutex, MutexGuard, Once, PoisonError};
use tracing_subscriber::EnvFilter;

/// Shorter texts turn up by chance.
const SHORTEST: usize = 8;

/// How much of a long secret is enough to be one.
const PIECE: usize = 64;

/// Members of JSON that hold a secret wherever they stand: what clients send to have it kept, and what they are given.
const MEMBERS: [&str; 15] = [
    "access_token",
    "subject_token",
    "assertion",
    "client_secret",
    "private_key",
    "secret-key",
    "secret_key",
    "secret-access-key",
    "session-token",
    "s3.secret-access-key",
    "s3.session-token",
    "gcs.oauth2.token",
    "token",
    "credential",
    "password",
];

static SAID: LazyLock<Mutex<Said>> = LazyLock::new(Mutex::default);
static SECRETS: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);

/// What was said since the oldest watch began.
#[derive(Default)]
struct Said {
    text: Vec<u8>,
    /// How much was said before, and is forgotten.
    forgotten: usize,
    /// Where the watches began, and how many began there.
    watches: BTreeMap<usize, usize>,
}

fn said() -> MutexGuard<'static, Said> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Said {
    fn end(&self) -> usize {
        self.forgotten + self.text.len()
    }
}

/// Where the log goes.
struct Ear;

impl Write for Ear {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut said = said();
        if !said.watches.is_empty() {
            said.text.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Listens from its beginning to [`Watch::end`].
pub(crate) struct Watch {
    start: usize,
}

impl Watch {
    pub(crate) fn begin() -> Self {
        static LISTENING: Once = Once::new();
        LISTENING.call_once(|| {
            let log = tracing_subscriber::fmt().with_env_filter(EnvFilter::new("trace")).with_ansi(false);
            log.with_writer(|| Ear).init();
        });
        let mut said = said();
        let start = said.end();
        *said.watches.entry(start).or_default() += 1;
        Self { start }
    }

    /// Fails where a secret was said.
    pub(crate) fn end(self) {
        let heard = self.heard();
        drop(self);
        search("LOG OR ANSWERS", &heard);
    }

    fn heard(&self) -> Vec<u8> {
        let said = said();
        said.text[self.start - said.forgotten..].to_vec()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut said = said();
        if let Some(count) = said.watches.get_mut(&self.start) {
            *count -= 1;
            if *count == 0 {
                said.watches.remove(&self.start);
            }
        }
        let needed = said.watches.keys().next().copied().unwrap_or_else(|| said.end());
        let done = needed - said.forgotten;
        said.text.drain(..done);
        said.forgotten = needed;
    }
}

/// Notes something that must not be said.
pub(crate) fn note(secret: &str) {
    SECRETS.lock().unwrap_or_else(PoisonError::into_inner).extend(writings(secret));
}

/// A secret in all letters in which it may be written.
fn writings(secret: &str) -> Vec<String> {
    // Lines of a key are written with any kind of line end, and each is secret.
    let mut all: Vec<String> = if secret.contains("-----BEGIN") {
        secret.lines().filter(|line| !line.starts_with("-----")).map(str::to_owned).collect()
    } else {
        vec![secret.to_owned()]
    };
    // `xxxxxxxx` is what tests fill places with that are too small for it.
    let is_filling = |text: &str| text.bytes().collect::<BTreeSet<u8>>().len() < 4;
    all.retain(|text| text.len() >= SHORTEST && !is_filling(text));
    let encoded = |text: &String| {
        let in_a_form = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let base64 = STANDARD.encode(text).trim_end_matches('=').to_owned();
        // What unlocks a JWT is its signature; the parts before it may be told.
        let signature = text.rsplit_once('.').filter(|(before, _)| before.matches('.').count() == 1);
        let signature = signature.map(|(_, signature)| signature.to_owned()).filter(|text| text.len() >= SHORTEST);
        [Some(in_a_form), Some(base64), signature].into_iter().flatten().collect::<Vec<String>>()
    };
    all.extend(all.iter().flat_map(encoded).collect::<Vec<_>>());
    all.iter().flat_map(|text| pieces(text)).collect()
}

/// Of a long text its beginning, its middle and its end, since it may have been cut. Every JWT begins alike.
fn pieces(text: &str) -> Vec<String> {
    let piece = |at: usize| text.get(at..at + PIECE).map(str::to_owned);
    match text.len() {
        short if short <= 2 * PIECE => vec![text.to_owned()],
        long if text.starts_with("eyJ") => [long / 2, long - PIECE].into_iter().filter_map(piece).collect(),
        long => [0, long / 2, long - PIECE].into_iter().filter_map(piece).collect(),
    }
}

/// Notes the secrets in what is sent or was answered.
pub(crate) fn note_json(value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if MEMBERS.contains(&name.as_str()) => note(text),
                    other => note_json(other),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(note_json),
        _ => {}
    }
}

/// Notes the secret of an `Authorization` header.
pub(crate) fn note_authorization(header: &str) {
    let Some((scheme, text)) = header.split_once(' ') else { return };
    if scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("basic") {
        note(text);
    }
    if let Ok(decoded) = STANDARD.decode(text)
        && let Ok(pair) = String::from_utf8(decoded)
        && let Some((_, secret)) = pair.split_once(':')
    {
        note(secret);
    }
}

/// Keeps what was answered, with its secrets noted, unless handing them out is the purpose of the answer.
pub(crate) fn answered(path: &str, status: u16, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    note_json(&value);
    let given = status < 400 && path.starts_with("/iceberg/");
    if !given {
        said().text.extend_from_slice(format!("answer {status} to {path}: {text}\n").as_bytes());
    }
}

/// Fails where a secret is in a text, and says around which words.
pub(crate) fn search(place: &str, text: &[u8]) {
    let secrets: Vec<String> = SECRETS.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    if let Some(found) = find(&secrets, text) {
        panic!("A SECRET IS IN {place}: {found}");
    }
}

fn find(secrets: &[String], text: &[u8]) -> Option<String> {
    let found = AhoCorasick::new(secrets).unwrap().find(text)?;
    let around = &text[found.start().saturating_sub(400)..text.len().min(found.end() + 100)];
    Some(format!("`{}` in: {}", secrets[found.pattern().as_usize()], String::from_utf8_lossy(around)))
}

#[test]
fn a_secret_is_found_in_other_letters_too() {
    let secrets = writings("gms_one+of/the-test");
    for text in ["x gms_one+of/the-test\n", "a=gms_one%2Bof%2Fthe-test&", "Basic Z21zX29uZStvZi90aGUtdGVzdA=="] {
        assert!(find(&secrets, text.as_bytes()).is_some(), "{text}");
    }
    assert!(find(&secrets, b"gms_one of the test").is_none());
    assert!(find(&writings("head.body.signature"), b"it is signed: signature").is_some());
    assert!(find(&writings("-----BEGIN KEY-----\nfirst-line\nsecond-line\n"), br"first-line\nsecond").is_some());
}

#[test]
fn the_log_is_heard_from_the_beginning_of_a_watch_to_its_end() {
    let watch = Watch::begin();
    tracing::trace!(of = "another crate, too", "said while this watch listens");
    assert!(String::from_utf8_lossy(&watch.heard()).contains("said while this watch listens"));
}
