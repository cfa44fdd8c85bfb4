//! Locations: URIs of objects and of the places that hold them, in a form that can be compared.
//!
//! A location is literal text: `file:///w/a%20b` is a folder named `a%20b`, `gs://b/a%20b` the key `a%20b`. Engines take
//! it so (tried with files: Iceberg 1.10.1's `HadoopFileIO`, `PyIceberg` 0.12 with pyarrow, `DuckDB` 1.5.5, each with
//! `file:///p`, `file:/p` and `/p` where it takes them), so nothing is percent-decoded here either.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::error::Error;

/// Most bytes of an object's key: the limit of GCS and of S3.
const MAX_KEY_BYTES: usize = 1024;

/// Most bytes of one segment of a local path: the limit of the usual file systems.
const MAX_FILE_NAME_BYTES: usize = 255;

/// Most bytes of a local path: the limit of Linux, less some room.
const MAX_PATH_BYTES: usize = 4000;

/// What stays as it is in [`segment`]: RFC 3986's unreserved characters.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The kind of store a location is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// The local file system.
    File,
    /// Google Cloud Storage.
    Gs,
    /// S3 and what speaks its protocol. `s3a` and `s3n` are the same.
    S3,
}

impl Scheme {
    fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Gs => "gs",
            Self::S3 => "s3",
        }
    }
}

/// A location in normal form: [`fmt::Display`] writes it as `gs://bucket/key`, `s3://bucket/key` or `file:///path`,
/// without a slash at the end. Two locations are the same place when they are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    scheme: Scheme,
    /// Empty for the local file system.
    bucket: String,
    /// Segments joined by `/`, none at either end; empty for a bucket itself.
    key: String,
}

impl Location {
    /// Reads a location as clients write it: `gs://b/k`, `s3://b/k` (also `s3a`, `s3n`), `file:///p`, `file:/p`,
    /// `file://localhost/p`, `/p`. One slash at the end is dropped.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another scheme, a missing or odd bucket, an empty segment (`//`), `.` or `..` as a
    /// segment, plain or percent-encoded, control characters, and what is longer than stores take.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let invalid = |reason: &str| Error::Invalid { location: text.to_owned(), reason: reason.to_owned() };
        let (scheme, rest) =
            split_scheme(text).ok_or_else(|| invalid("it begins with none of gs://, s3://, file:/"))?;
        let (bucket, path) = match scheme {
            Scheme::File => ("", rest),
            Scheme::Gs | Scheme::S3 => rest.split_once('/').unwrap_or((rest, "")),
        };
        if scheme != Scheme::File && !is_bucket(bucket) {
            return Err(invalid("it names no bucket, or one with characters that no bucket has"));
        }
        let key = path.strip_suffix('/').unwrap_or(path);
        check_key(scheme, key).map_err(invalid)?;
        Ok(Self { scheme, bucket: bucket.to_owned(), key: key.to_owned() })
    }

    /// The kind of store.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The bucket; empty for the local file system.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The object's key, or the local path without its leading slash. Literal: `%20` is three characters.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether this is `prefix` or lies in it. Whole segments count: `gs://b/a2` is not under `gs://b/a`.
    pub fn is_under(&self, prefix: &Self) -> bool {
        if (self.scheme, &self.bucket) != (prefix.scheme, &prefix.bucket) {
            return false;
        }
        match self.key.strip_prefix(&prefix.key) {
            Some(rest) => rest.is_empty() || prefix.key.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// The place that holds this one; of a bucket, or the root of the file system, it is the same.
    pub fn folder(&self) -> Self {
        let key = self.key.rsplit_once('/').map_or("", |(folder, _)| folder);
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// The last segment of the key; of a bucket it is empty.
    pub fn name(&self) -> &str {
        self.key.rsplit_once('/').map_or(self.key.as_str(), |(_, name)| name)
    }

    /// The place of this key in the same bucket. What a store lists is as it lists it, checked by nobody.
    pub(super) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// The same place under `to` instead of under `from`; none if it is not under `from`.
    pub(super) fn moved(&self, from: &Self, to: &Self) -> Option<Self> {
        if !self.is_under(from) {
            return None;
        }
        let rest = self.key.strip_prefix(&from.key)?.trim_start_matches('/');
        let key = match (to.key.as_str(), rest) {
            ("", rest) => rest.to_owned(),
            (base, "") => base.to_owned(),
            (base, rest) => format!("{base}/{rest}"),
        };
        Some(Self { key, ..to.clone() })
    }

    /// The place of this name in this place: the name becomes one [`segment`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if the name is empty or too long for the store.
    pub fn child(&self, name: &str) -> Result<Self, Error> {
        let segment = segment(name);
        let key = if self.key.is_empty() { segment.clone() } else { format!("{}/{segment}", self.key) };
        let child = Self { key, ..self.clone() };
        match check_segment(self.scheme, &segment).and_then(|()| check_key(self.scheme, &child.key)) {
            Ok(()) => Ok(child),
            Err(reason) => Err(Error::Invalid { location: child.to_string(), reason: reason.to_owned() }),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.key.is_empty() && self.scheme != Scheme::File { "" } else { "/" };
        write!(f, "{}://{}{separator}{}", self.scheme.as_str(), self.bucket, self.key)
    }
}

/// A name as one segment of a location: everything but letters, digits, `-`, `.`, `_` and `~` is percent-encoded.
///
/// A name that would still be a relative path to whoever decodes it (`.`, `..`, `a/../b`) is encoded once more.
pub fn segment(name: &str) -> String {
    let once = utf8_percent_encode(name, SEGMENT).to_string();
    if is_traversal(&once) { utf8_percent_encode(&once.replace('.', "%2E"), SEGMENT).to_string() } else { once }
}

/// The scheme, and what follows: bucket and key, or the local path without its leading slash.
fn split_scheme(text: &str) -> Option<(Scheme, &str)> {
    if let Some(path) = text.strip_prefix('/') {
        return Some((Scheme::File, path));
    }
    let (scheme, rest) = text.split_once(':')?;
    match scheme.to_ascii_lowercase().as_str() {
        "file" => {
            let path = match rest.strip_prefix("//") {
                Some(authority) => authority.strip_prefix("localhost").unwrap_or(authority),
                None => rest,
            };
            Some((Scheme::File, path.strip_prefix('/')?))
        }
        "gs" => Some((Scheme::Gs, rest.strip_prefix("//")?)),
        "s3" | "s3a" | "s3n" => Some((Scheme::S3, rest.strip_prefix("//")?)),
        _ => None,
    }
}

fn is_bucket(bucket: &str) -> bool {
    !bucket.is_empty()
        && bucket != "."
        && bucket != ".."
        && bucket.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
}

fn check_key(scheme: Scheme, key: &str) -> Result<(), &'static str> {
    if key.is_empty() {
        return Ok(());
    }
    let longest = if scheme == Scheme::File { MAX_PATH_BYTES } else { MAX_KEY_BYTES };
    if key.len() > longest {
        return Err("it is too long");
    }
    key.split('/').try_for_each(|segment| check_segment(scheme, segment))
}

fn check_segment(scheme: Scheme, segment: &str) -> Result<(), &'static str> {
    if segment.is_empty() {
        return Err("it has an empty segment");
    }
    if is_traversal(segment) {
        return Err("it has a segment that is, or decodes to, a relative path");
    }
    if segment.chars().any(char::is_control) {
        return Err("it contains a control character");
    }
    if scheme == Scheme::File && segment.len() > MAX_FILE_NAME_BYTES {
        return Err("it has a segment that is longer than 255 bytes");
    }
    Ok(())
}

/// Whether a reader that percent-decodes this segment would leave the folder.
fn is_traversal(segment: &str) -> bool {
    let decoded = percent_decode_str(segment).decode_utf8_lossy();
    decoded.split(['/', '\\']).any(|part| part == "." || part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Location {
        Location::parse(text).unwrap()
    }

    #[test]
    fn one_place_has_one_normal_form() {
        for (text, normal) in [
            ("gs://b/a/t", "gs://b/a/t"),
            ("GS://b/a/t/", "gs://b/a/t"),
            ("gs://b", "gs://b"),
            ("gs://b/", "gs://b"),
            ("s3a://b/k", "s3://b/k"),
            ("s3n://b/k", "s3://b/k"),
            ("file:///w/t", "file:///w/t"),
            ("file:/w/t/", "file:///w/t"),
            ("file://localhost/w/t", "file:///w/t"),
            ("/w/t", "file:///w/t"),
            ("file:///", "file:///"),
            ("gs://b/a%20b/%2F/ä?x#y", "gs://b/a%20b/%2F/ä?x#y"),
        ] {
            assert_eq!(parse(text).to_string(), normal, "{text}");
            assert_eq!(parse(normal), parse(text));
        }
    }

    #[test]
    fn what_could_mean_two_places_is_refused() {
        for text in [
            "",
            "b/k",
            "http://b/k",
            "gs:/b/k",
            "gs:b",
            "gs://",
            "gs:///k",
            "gs://b@c/k",
            "gs://b%2Fc/k",
            "gs://b:1/k",
            "gs://../k",
            "gs://b//k",
            "gs://b/k//",
            "gs://b/../k",
            "gs://b/a/..",
            "gs://b/./k",
            "gs://b/%2e%2E/k",
            "gs://b/.%2e/k",
            "gs://b/a%2F..%2Fb",
            "gs://b/..%5Cx",
            "gs://b/a\nb",
            "gs://b/a\0",
            "file://host/k",
            "file:k",
            "file:////k",
            "//w/t",
            "file:///w/../t",
            "file:///w/%2e%2e/t",
            "file://localhostess/k",
        ] {
            assert!(matches!(Location::parse(text), Err(Error::Invalid { .. })), "{text}");
        }
        assert!(Location::parse(&format!("gs://b/{}", "k".repeat(MAX_KEY_BYTES + 1))).is_err());
        assert!(Location::parse(&format!("file:///{}", "k".repeat(MAX_FILE_NAME_BYTES + 1))).is_err());
    }

    #[test]
    fn whole_segments_decide_what_is_under_what() {
        let under = |text: &str, prefix: &str| parse(text).is_under(&parse(prefix));
        assert!(under("gs://b/a/t", "gs://b/a"));
        assert!(under("gs://b/a", "gs://b/a/"));
        assert!(under("gs://b/a", "gs://b"));
        assert!(under("s3a://b/a", "s3://b"));
        assert!(under("file:/w/t", "file:///w"));
        assert!(under("file:/w/t", "file:///"));
        assert!(!under("gs://b/a2", "gs://b/a"));
        assert!(!under("gs://b", "gs://b/a"));
        assert!(!under("gs://b2/a", "gs://b"));
        assert!(!under("s3://b/a", "gs://b"));
    }

    #[test]
    fn a_folder_is_the_place_above() {
        for (text, folder) in
            [("gs://b/a/t", "gs://b/a"), ("gs://b/a", "gs://b"), ("gs://b", "gs://b"), ("/w", "file:///")]
        {
            assert_eq!(parse(text).folder(), parse(folder), "{text}");
        }
    }

    #[test]
    fn a_name_is_one_safe_segment() {
        let names = ["t", "a b", "a/b", "ä", "%2F", ".", "..", "a/../b", "...", ".hidden", "a.b", "+", "a\\..\\b"];
        for name in names {
            let child = parse("gs://b/ns").child(name).unwrap();
            assert_eq!(Location::parse(&child.to_string()).unwrap(), child, "{name}");
            assert_eq!(child.key().split('/').count(), 2, "{name}");
        }
        assert_eq!(segment("a b/c"), "a%20b%2Fc");
        assert_eq!(segment(".."), "%252E%252E");
        assert_eq!(segment("a.b-c_d~e"), "a.b-c_d~e");
        assert!(parse("gs://b").child("").is_err());
        assert!(parse("file:///w").child(&"ä".repeat(50)).is_err());
    }
}
