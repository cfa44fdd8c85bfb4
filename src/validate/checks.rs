//! The checks that a catalog can make of a commit, each with what makes it here: rules, or a function that every
//! update passes whatever the levels are.

/// A check.
#[derive(Debug, Clone, Copy)]
pub(super) struct Check {
    /// Its number; for those that are about a part of the specification, the part.
    pub(super) number: &'static str,
    /// What must hold.
    pub(super) what: &'static str,
    /// The rules that it is.
    pub(super) rules: &'static [&'static str],
    /// The function that refuses what breaks it, at any level, and its file below `src`.
    pub(super) enforced: Option<(&'static str, &'static str)>,
    /// A unit test of that function, or of that nothing is refused.
    pub(super) test: &'static str,
    /// Why there is neither rule nor function.
    pub(super) reason: &'static str,
}

const fn rules(number: &'static str, what: &'static str, rules: &'static [&'static str]) -> Check {
    Check { number, what, rules, enforced: None, test: "", reason: "" }
}

const fn enforced(
    number: &'static str,
    what: &'static str,
    file: &'static str,
    function: &'static str,
    test: &'static str,
) -> Check {
    Check { number, what, rules: &[], enforced: Some((file, function)), test, reason: "" }
}

const fn both(check: Check, rules: &'static [&'static str]) -> Check {
    Check { rules, ..check }
}

const fn legal(number: &'static str, what: &'static str, reason: &'static str, test: &'static str) -> Check {
    Check { number, what, rules: &[], enforced: None, test, reason }
}

/// Every check.
pub(super) const CHECKS: &[Check] = &[
    // The metadata.
    enforced("1", "requirements hold (409)", "spec/requirement.rs", "check", "what_does_not_hold_is_a_conflict"),
    enforced("2", "updates and requirements are known", "spec/update.rs", "read_others", "what_is_wrong_is_named"),
    enforced(
        "3",
        "a snapshot id is new, or the commit comes twice",
        "spec/update/resend.rs",
        "is_resend",
        "a_commit_that_comes_twice_is_answered_as_before",
    ),
    enforced(
        "4",
        "a snapshot id is positive",
        "spec/snapshot.rs",
        "check_new",
        "stale_snapshots_are_conflicts_and_wrong_ones_are_not",
    ),
    enforced(
        "5",
        "the sequence number is above the table's last (409)",
        "spec/update/snapshot.rs",
        "check_sequence",
        "stale_snapshots_are_conflicts_and_wrong_ones_are_not",
    ),
    legal(
        "6",
        "the sequence number is the next",
        "gaps are legal",
        "gaps_are_allowed_and_the_counters_take_the_higher_value",
    ),
    enforced(
        "7",
        "version 3: first-row-id is there",
        "spec/update/snapshot.rs",
        "without_row_ids",
        "a_writer_that_missed_the_upgrade_may_try_again",
    ),
    enforced(
        "8",
        "version 3: first-row-id is not behind (409)",
        "spec/update/snapshot.rs",
        "row_ids_after",
        "stale_snapshots_are_conflicts_and_wrong_ones_are_not",
    ),
    rules("9", "version 3: first-row-id is not ahead", &["first-row-id-ahead"]),
    enforced(
        "10",
        "version 3: added-rows is there, not negative, and no overflow",
        "spec/snapshot.rs",
        "check_rows",
        "what_is_wrong_with_snapshots_and_refs_is_named",
    ),
    rules("11", "versions 1 and 2: no row ids in a snapshot", &["snapshot-row-ids-before-v3"]),
    enforced(
        "12",
        "the parent is in the table (409)",
        "spec/update/snapshot.rs",
        "check_parent",
        "stale_snapshots_are_conflicts_and_wrong_ones_are_not",
    ),
    legal(
        "13",
        "the parent is the head of the branch",
        "cherry-pick, rollback, fast-forward and replace set other heads; requirements say which head is meant",
        "a_rollback_is_logged_when_it_happens",
    ),
    enforced(
        "14",
        "the schema is in the table",
        "spec/update/snapshot.rs",
        "check_schema_id",
        "stale_snapshots_are_conflicts_and_wrong_ones_are_not",
    ),
    enforced(
        "15",
        "a snapshot has a manifest list and embeds no manifests",
        "spec/snapshot.rs",
        "check_new",
        "stale_snapshots_are_conflicts_and_wrong_ones_are_not",
    ),
    rules("16", "the manifest list lies where it may", &["manifest-list-outside", "manifest-list-not-under-table"]),
    both(
        enforced(
            "17",
            "the summary names a known operation",
            "spec/snapshot.rs",
            "check_new",
            "stale_snapshots_are_conflicts_and_wrong_ones_are_not",
        ),
        &["snapshot-operation"],
    ),
    enforced(
        "18",
        "values of the summary are strings",
        "spec/snapshot.rs",
        "operation_of",
        "what_is_wrong_with_snapshots_and_refs_is_named",
    ),
    enforced(
        "19",
        "the time of a snapshot on main fits into the log",
        "spec/update/finish.rs",
        "check_times",
        "times_must_fit_into_the_log",
    ),
    enforced(
        "20",
        "the encryption key of a snapshot is in the table",
        "spec/update/finish.rs",
        "check_keys",
        "keys_may_come_with_the_snapshot_that_needs_them",
    ),
    enforced(
        "21",
        "a branch or tag points to a snapshot of the table; main is a branch",
        "spec/update/refs.rs",
        "set_snapshot_ref",
        "stale_snapshots_are_conflicts_and_wrong_ones_are_not",
    ),
    rules("22", "manifests mean the numbers that the table gave (409)", &["partition-spec-renumbered"]),
    // The manifest list.
    rules(
        "23",
        "the manifest list can be read and has its fields",
        &["manifest-list-missing", "manifest-list-unreadable", "manifest-list-fields"],
    ),
    rules("24", "its key-value pairs agree with the snapshot", &["manifest-list-metadata"]),
    legal("25", "an empty list", "it is legal", "an_empty_manifest_list_passes"),
    rules("26", "no manifest is listed twice", &["manifest-twice"]),
    rules(
        "27",
        "partition specs are known; 409 if one was removed",
        &["unknown-partition-spec", "partition-spec-removed"],
    ),
    rules("28", "content is data or deletes; no deletes in version 1", &["manifest-content", "deletes-in-v1"]),
    rules("29", "counts are there and coherent", &["manifest-counts"]),
    rules("30", "sequence numbers of new manifests", &["manifest-sequence-number"]),
    rules(
        "31",
        "carried manifests are the table's, unaltered",
        &[
            "carried-manifest-altered",
            "carried-manifest-unknown",
            "carried-manifest-from-elsewhere",
            "carried-manifest-without-parent",
        ],
    ),
    rules("32", "no sequence number is above the snapshot's", &["manifest-sequence-ahead", "manifest-sequence-number"]),
    rules("33", "version 3: data manifests have a first_row_id", &["manifest-first-row-id-missing"]),
    rules("34", "version 3: delete manifests have none", &["delete-manifest-first-row-id"]),
    rules("35", "new ranges of row ids do not overlap", &["row-id-ranges-overlap"]),
    rules("36", "added-rows covers them", &["added-rows-too-small"]),
    rules("37", "manifest_length is true", &["manifest-length"]),
    rules(
        "38",
        "partition summaries fit the spec and the tuples",
        &["partition-summary-count", "partition-summary-bounds"],
    ),
    rules("39", "no data in a spec with an unknown transform", &["unknown-transform-data"]),
    rules("40", "version 2: no first_row_id in a list", &["v2-first-row-id"]),
    rules("41", "the summary counts what is there", &["summary"]),
    rules("42", "an append removes and deletes nothing", &["append-with-deletes"]),
    rules("43", "live files are the parent's plus added less removed", &["live-file-count"]),
    // Manifests that the snapshot wrote.
    rules(
        "44",
        "a manifest can be read, and its content is the list's",
        &["manifest-missing", "manifest-unreadable", "manifest-content-differs"],
    ),
    rules(
        "45",
        "its spec is the list's and the table's; 409 where the table renumbered it",
        &["manifest-spec-id", "manifest-spec-fields", "partition-spec-renumbered"],
    ),
    legal(
        "46",
        "key-value pairs schema-id and format-version",
        "Iceberg Java writes no schema-id, so neither is demanded",
        "a_superset_that_replaces_a_vector_passes",
    ),
    rules("47", "data manifests hold data, delete manifests deletes", &["file-content"]),
    rules(
        "48",
        "the list's counts are the manifest's",
        &["manifest-file-counts", "manifest-row-counts", "delete-manifest-row-counts"],
    ),
    rules("49", "the status is known", &["entry-status"]),
    rules(
        "50",
        "numbers of ADDED entries",
        &["added-entry-snapshot-id", "added-entry-sequence-number", "added-entry-file-sequence-number"],
    ),
    rules("51", "EXISTING and DELETED entries say their numbers", &["carried-entry-fields", "deleted-entry-fields"]),
    rules("52", "their snapshot ids", &["entry-snapshot-id"]),
    rules("53", "EXISTING files were live, and are unchanged", &["existing-file-unknown", "existing-file-changed"]),
    rules("54", "no live file of a replaced manifest vanishes", &["live-file-vanished"]),
    rules("55", "DELETED files were live", &["deleted-file-unknown"]),
    rules("56", "a data file is added once, and is not live already", &["file-added-twice", "file-already-live"]),
    rules("57", "paths are full and inside", &["file-path-relative", "data-file-outside"]),
    rules("58", "data files exist and have their size (a sample)", &["data-file-missing", "data-file-size"]),
    rules("59", "counts and sizes are not negative", &["negative-counts"]),
    rules("60", "partition tuples fit the spec", &["partition-tuple"]),
    rules("61", "ADDED data files have no row id", &["added-file-first-row-id", "row-id-ranges-overlap"]),
    rules("62", "EXISTING data files keep theirs", &["existing-file-first-row-id"]),
    rules("63", "delete files have none", &["delete-file-first-row-id"]),
    rules("64", "sort orders are known", &["sort-order-id"]),
    rules("65", "equality_ids are there and known", &["equality-ids-missing", "equality-ids"]),
    rules("66", "equality deletes compare no floats", &["equality-delete-float"]),
    rules("67", "split offsets ascend, bounds can be read", &["split-offsets", "column-bounds"]),
    rules("68", "the file format is known", &["file-format"]),
    // Deletes.
    rules("69", "version 3: new position deletes are vectors", &["not-puffin"]),
    rules("70", "version 2: no vectors; version 1: no deletes", &["dv-in-v2", "deletes-in-v1"]),
    rules(
        "71",
        "a vector's entry is whole, and the vector inside of its file",
        &[
            "dv-missing-referenced-data-file",
            "dv-missing-content-offset",
            "dv-missing-content-size",
            "dv-out-of-bounds",
            "bare-dv-blob",
        ],
    ),
    rules("72", "other deletes have no offset", &["delete-file-content-offset"]),
    rules("73", "one live vector for a data file", &["two-dvs"]),
    rules("74", "the data file of a vector is live", &["dv-references-unknown-data-file", "dv-dangling"]),
    rules("75", "and has its spec and partition", &["dv-partition"]),
    rules("76", "and no higher sequence number", &["dv-sequence-number"]),
    rules("77", "a new vector takes the old one's place", &["two-dvs"]),
    rules("78", "a vector does not vanish while its file stays", &["dv-lost", "position-deletes-lost"]),
    rules("79", "a vector leaves with its file", &["dv-left-behind"]),
    rules(
        "80",
        "position deletes of one file leave when a vector comes",
        &["position-deletes-left-behind", "position-deletes-lost"],
    ),
    rules("81", "a new vector has as many positions as the old deletes", &["dv-cardinality-shrinks"]),
    rules("82", "and not more than the file has rows", &["dv-position-out-of-range"]),
    rules("83", "and at least one", &["dv-empty"]),
    rules("84", "vectors of one file lie apart", &["puffin-entries-overlap"]),
    legal("85", "equality deletes beside vectors", "they are legal", "good_commits_pass_and_bad_ones_do_not"),
    // Puffin files and vectors.
    rules("86", "the Puffin file exists and has its size", &["puffin-missing", "puffin-size"]),
    rules(
        "87",
        "its magics and footer size",
        &["puffin-too-short", "puffin-head-magic", "puffin-tail-magic", "puffin-footer-magic", "puffin-footer-size"],
    ),
    rules("88", "its flags", &["puffin-footer-flags", "puffin-footer-compressed"]),
    rules("89", "its footer", &["puffin-footer-json"]),
    rules("90", "the footer has the blob", &["dv-not-in-footer"]),
    rules(
        "91",
        "the blob's properties",
        &[
            "blob-referenced-data-file",
            "blob-cardinality-property",
            "blob-compressed",
            "blob-snapshot-id",
            "blob-sequence-number",
        ],
    ),
    rules("92", "the vector's length", &["dv-length", "dv-too-short"]),
    rules("93", "its checksum", &["dv-crc"]),
    rules("94", "its magic", &["dv-magic"]),
    rules("95", "its directory of bitmaps", &["bitmap-count", "bitmap-key-order", "bitmap-key-range"]),
    rules(
        "96",
        "each bitmap",
        &[
            "bitmap-truncated",
            "bitmap-trailing-bytes",
            "bitmap-cookie",
            "bitmap-container-count",
            "bitmap-container-order",
            "bitmap-offsets",
            "bitmap-array-order",
            "bitmap-bitset-cardinality",
            "bitmap-run",
            "bitmap-invalid",
        ],
    ),
    rules("97", "its cardinality", &["dv-cardinality"]),
    rules("98", "its highest position", &["dv-position-out-of-range"]),
    rules("99", "it deletes what the vector deleted that it replaces", &["dv-loses-positions"]),
    Check {
        reason: "position delete files are Parquet, Avro or ORC and are not opened: counts are compared, and that positions are not is counted as not checked",
        ..rules("100", "and what position delete files deleted", &["dv-cardinality-shrinks"])
    },
    Check {
        reason: "the age of objects is not asked for",
        ..rules("101", "its Puffin file is the table's own", &["puffin-not-under-table"])
    },
    legal("102", "positions against row groups and row ids in data files", "data files are not opened", ""),
    // What is no snapshot.
    rules("103", "removed specs and schemas are not in use", &["removed-spec-in-use", "removed-schema-in-use"]),
    rules("104", "removed keys are not in use", &["removed-key-in-use"]),
    both(
        enforced(
            "105",
            "a registered table: the metadata can be read, and its snapshot is judged",
            "spec/table/parse.rs",
            "parse",
            "files_that_java_cannot_open_are_refused",
        ),
        &["next-row-id-behind"],
    ),
    enforced(
        "106",
        "a snapshot is judged by the version at its place; versions only rise",
        "spec/update/format_version.rs",
        "upgrade_format_version",
        "added_snapshots_are_told_with_their_format_version",
    ),
    rules("107", "statistics are of a snapshot, and of their file", &["statistics-snapshot", "statistics-file"]),
    rules("108", "a table with data stays where it is", &["location-changed"]),
    // Types, defaults, transforms, and what the server itself needs.
    both(
        enforced(
            "types",
            "types exist in the version, and stand where they may",
            "spec/schema/check.rs",
            "check_compatible",
            "format_versions_have_their_types_and_defaults",
        ),
        &["map-key-type", "crs"],
    ),
    enforced(
        "types",
        "identifier fields identify",
        "spec/schema/check.rs",
        "check_identifier",
        "identifier_fields_must_identify",
    ),
    rules(
        "types",
        "ids are not reused, types are only promoted",
        &["field-id-reused", "field-type-changed", "promotion-changes-partitions", "field-made-required"],
    ),
    both(
        enforced(
            "defaults",
            "a default is a value of its type, and is not for nested types",
            "spec/default_value.rs",
            "check",
            "values_of_their_type_are_taken",
        ),
        &["initial-default-changed", "required-field-without-default"],
    ),
    enforced(
        "transforms",
        "sources exist and have types that can be transformed",
        "spec/partition.rs",
        "check_source",
        "specs_are_checked_with_javas_texts",
    ),
    enforced(
        "transforms",
        "no transform of several columns is added",
        "spec/partition/source.rs",
        "check_single",
        "what_does_not_fit_is_refused",
    ),
    rules(
        "limits",
        "nothing is read from elsewhere, or is larger than what is read",
        &[
            "manifest-list-too-large",
            "commit-too-large",
            "manifest-outside",
            "manifest-too-large",
            "puffin-outside",
            "puffin-too-large",
            "dv-too-large",
        ],
    ),
];

/// The numbers of the checks that a rule is part of.
pub(super) fn numbers_of(rule: &str) -> Vec<&'static str> {
    let mut numbers: Vec<&str> =
        CHECKS.iter().filter(|check| check.rules.contains(&rule)).map(|check| check.number).collect();
    numbers.dedup();
    numbers
}
