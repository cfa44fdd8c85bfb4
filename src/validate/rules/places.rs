//! Places as engines write them: one place has several texts.

/// Whether a file lies in a place, in whichever of the usual ways each is written: a table's location may be
/// `file:///w/t` where Hadoop's file system writes `file:/w/t/metadata/…`.
pub(super) fn is_under(file: &str, place: &str) -> bool {
    let ((scheme, path), (same, root)) = (parts(file), parts(place));
    scheme == same && path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// The scheme and what comes after it.
fn parts(location: &str) -> (&str, &str) {
    if location.starts_with('/') {
        return ("file", location);
    }
    match location.split_once(':') {
        Some(("file", rest)) => {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            ("file", path.strip_prefix("localhost").unwrap_or(path))
        }
        Some(("s3a" | "s3n", rest)) => ("s3", rest),
        Some((scheme, rest)) => (scheme, rest),
        None => ("", location),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_however_it_is_written() {
        for (file, place, expected) in [
            ("gs://b/t/metadata/x", "gs://b/t", true),
            ("gs://b/t/metadata/x", "gs://b/t/", true),
            ("gs://b/t2/metadata/x", "gs://b/t", false),
            ("gs://b/t", "gs://b/t", false),
            ("s3a://b/t/x", "s3://b/t", true),
            ("s3://b/t/x", "gs://b/t", false),
            ("file:/w/t/x", "file:///w/t", true),
            ("file:///w/t/x", "/w/t", true),
            ("/w/t/x", "file:/w/t/", true),
            ("file://localhost/w/t/x", "file:/w/t", true),
            ("/w/a:b/x", "/w/a:b", true),
            ("file:/w/t2/x", "file:///w/t", false),
            ("x", "", false),
        ] {
            assert_eq!(is_under(file, place), expected, "{file} {place}");
        }
    }
}
