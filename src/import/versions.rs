//! The metadata files of a table in a Hadoop catalog, and which of them is current.
//!
//! As `HadoopTableOperations` of Iceberg's Java library finds it: versions count up, `version-hint.text` names one, and
//! from there on the current one is the last without a gap. The hint may lag behind, and may be missing.

/// The file that names a version.
pub(super) const HINT: &str = "version-hint.text";

/// Most bytes of a hint that are looked at.
pub(super) const HINT_BYTES: u64 = 64;

/// Whether a file in a `metadata` folder is a metadata file, of whatever kind of catalog.
pub(super) fn is_metadata(name: &str) -> bool {
    name.ends_with(".metadata.json") || name.ends_with(".metadata.json.gz")
}

/// The version of a metadata file: `v3.metadata.json`, `v3.gz.metadata.json`, or `v3.metadata.json.gz`.
pub(super) fn version(name: &str) -> Option<u64> {
    let stem = name.strip_suffix(".gz.metadata.json");
    let stem = stem.or_else(|| name.strip_suffix(".metadata.json"));
    let digits = stem.or_else(|| name.strip_suffix(".metadata.json.gz"))?.strip_prefix('v')?;
    // `+3` is a number to Rust, and no version.
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// The version that a hint names: its first line. Garbage is no hint.
pub(super) fn hinted(file: &[u8]) -> Option<u64> {
    std::str::from_utf8(file).ok()?.lines().next()?.trim().parse().ok()
}

/// The metadata file that is current, of the names in a `metadata` folder.
///
/// # Errors
/// What was expected and what was found, where none can be told to be current.
pub(super) fn current<'a>(names: &[&'a str], hint: Option<u64>) -> Result<&'a str, String> {
    let mut versions: Vec<(u64, &str)> = names.iter().filter_map(|name| Some((version(name)?, *name))).collect();
    // Of two files of one version Java takes the one that is not compressed, whose name ends earlier.
    versions.sort_by_key(|(version, name)| (*version, name.len(), *name));
    versions.dedup_by_key(|(version, _)| *version);
    let Some((highest, last)) = versions.last().copied() else {
        let found = names.iter().find(|name| is_metadata(name)).copied().unwrap_or("none");
        return Err(format!(
            "expected metadata files vN.metadata.json, as Hadoop catalogs write them, found {found}: \
             import it from the catalog that wrote it, or register it by its metadata file"
        ));
    };
    let Some(hint) = hint else { return Ok(last) };
    let Some(at) = versions.iter().position(|(version, _)| *version == hint) else {
        // Old versions may be deleted while the hint lags; versions before it say that newer ones were lost.
        return if highest > hint {
            Ok(last)
        } else {
            Err(format!("expected version {hint}, which {HINT} names, found no version after {highest}"))
        };
    };
    let rest = versions.get(at..).unwrap_or_default();
    let run = rest.iter().zip(hint..).take_while(|((version, _), next)| version == next);
    Ok(run.last().map_or(last, |((_, name), _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_names() {
        for (name, expected) in [
            ("v1.metadata.json", Some(1)),
            ("v12.gz.metadata.json", Some(12)),
            ("v3.metadata.json.gz", Some(3)),
            ("v0.metadata.json", Some(0)),
            ("v+3.metadata.json", None),
            ("v.metadata.json", None),
            ("v3.metadata.json.crc", None),
            ("00001-5f2c.metadata.json", None),
            ("v99999999999999999999.metadata.json", None),
            ("snap-1.avro", None),
        ] {
            assert_eq!(version(name), expected, "{name}");
        }
    }

    #[test]
    fn a_hint_is_a_number_or_none() {
        for (text, expected) in
            [("3", Some(3)), ("3\n", Some(3)), (" 3 \nx", Some(3)), ("", None), ("abc", None), ("-1", None)]
        {
            assert_eq!(hinted(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(hinted(b"\xff\xfe3"), None);
    }

    const FILES: [&str; 5] =
        ["v1.metadata.json", "v2.gz.metadata.json", "v3.metadata.json", "v10.metadata.json", "snap-1.avro"];

    #[test]
    fn the_walk_begins_at_the_hint_and_ends_at_a_gap() {
        assert_eq!(current(&FILES, Some(1)), Ok("v3.metadata.json"));
        assert_eq!(current(&FILES, Some(3)), Ok("v3.metadata.json"));
        assert_eq!(current(&FILES, Some(10)), Ok("v10.metadata.json"));
    }

    #[test]
    fn without_a_hint_the_highest_version_is_current() {
        assert_eq!(current(&FILES, None), Ok("v10.metadata.json"));
    }

    #[test]
    fn a_hint_at_what_is_gone_lags_or_is_a_loss() {
        assert_eq!(current(&FILES, Some(5)), Ok("v10.metadata.json"));
        assert_eq!(current(&FILES, Some(0)), Ok("v10.metadata.json"));
        let lost = current(&FILES, Some(11)).unwrap_err();
        assert_eq!(lost, "expected version 11, which version-hint.text names, found no version after 10");
    }

    #[test]
    fn of_two_files_of_a_version_the_plain_one_counts() {
        let both = ["v2.gz.metadata.json", "v2.metadata.json"];
        assert_eq!(current(&both, Some(2)), Ok("v2.metadata.json"));
    }

    #[test]
    fn tables_of_other_catalogs_are_told_apart() {
        let foreign = current(&["00001-5f2c.metadata.json"], None).unwrap_err();
        assert!(foreign.contains("found 00001-5f2c.metadata.json"), "{foreign}");
        assert!(current(&[], None).unwrap_err().contains("found none"));
    }
}
