//! Where we differ from Java on purpose, by kind. A kind explains cases by what they differ in, so that a new case of
//! the same kind needs no new line; the cases that are named here must go on to differ.

use serde_json::Value;

use super::Case;
use super::compare::{has_more, is_same};

/// A kind of difference.
pub(super) struct Difference {
    pub(super) why: &'static str,
    /// Whether this is what a case differs by.
    pub(super) explains: fn(&Case) -> bool,
    /// Cases that differ by this; the test fails when one no longer does. None where the cases at hand show none.
    pub(super) rows: &'static [&'static str],
}

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        why: "Java drops members that it does not know, or that the format version has no use for; we keep them",
        explains: |case| matches!((&case.java, &case.ours), (Ok(java), Ok(ours)) if has_more(java, ours, &case.input)),
        rows: &[
            "16-statistics-key-metadata",
            "17-unknown-blob",
            "17-unknown-field",
            "17-unknown-listtype",
            "17-unknown-order",
            "17-unknown-partfield",
            "17-unknown-schema",
            "17-unknown-snaplog",
            "17-unknown-sortfield",
            "17-unknown-spec",
            "17-unknown-structtype",
            "17-unknown-top",
            "20-v1-seqno0",
            "20-v1-unknown-field",
            "add-schema-unknown-fields",
            "add-snapshot-unknown",
        ],
    },
    Difference {
        why: "Java writes hexadecimal defaults in upper case and pads keys; we keep the text, which means the same",
        explains: |case| matches!((&case.java, &case.ours), (Ok(java), Ok(ours)) if is_same_but_for_spelling(java, ours)),
        rows: &["11-default-fixed", "14-encryption-keys-nopad"],
    },
    Difference {
        why: "an explicit null default means none: we leave it out where Java fails on it (spec.md 3.3)",
        explains: |case| {
            let null = case.input.contains(r#"-default": null"#);
            null && case.ours.is_ok() && java_refuses(case, "Cannot create expression literal from null")
        },
        rows: &["11-default-null"],
    },
    Difference {
        why: "transforms of several arguments are part of format version 3: tables that have them can be read, though \
              none can be added (spec.md 3.4)",
        explains: |case| {
            let refused = java_refuses(case, "Cannot parse missing int: source-id");
            case.input.contains("source-ids") && case.ours.is_ok() && refused
        },
        rows: &["12-multiarg-part-source-ids-only", "12-multiarg-sort"],
    },
    Difference {
        why: "the server numbers the specs of requests, and the protocol makes `spec-id` optional there; Java demands it",
        explains: |case| {
            let asked = case.input.contains("add-spec");
            asked && case.ours.is_ok() && java_refuses(case, "Cannot parse missing int: spec-id")
        },
        rows: &["add-spec-source-ids", "add-spec-unknown-transform"],
    },
    Difference {
        why: "format version 4 is not finished: no table may have it (spec.md 3.10)",
        explains: |case| case.java.is_ok() && we_refuse(case, "format version: v4"),
        rows: &["19-v4-same-as-v3", "upgrade-2-4"],
    },
    Difference {
        why: "the last sequence number never falls, so a snapshot without a parent may have an older one (spec.md 2.4)",
        explains: |case| case.ours.is_ok() && java_refuses(case, "greater than last sequence number"),
        rows: &["seq-lower-no-parent"],
    },
    Difference {
        why: "next-row-id is beyond every id that a snapshot may assign, where Java only adds up (spec.md 3.5)",
        explains: |case| {
            let next = |table: &Value| table["next-row-id"].as_i64();
            let higher = matches!((&case.java, &case.ours), (Ok(java), Ok(ours)) if next(ours) > next(java));
            higher && differ_only_in(case, &["next-row-id"])
        },
        rows: &[],
    },
    Difference {
        why: "a partition field without an id gets the next free one, where Java 1.10.2 gives 1000 again (spec.md 2.3)",
        explains: |case| {
            let asked = case.input.contains("add-spec");
            asked && differ_only_in(case, &["partition-specs", "last-partition-id"])
        },
        rows: &[],
    },
    Difference {
        why: "Java 1.10.2 loses a schema that is added in the commit that removes the highest one (spec.md 2.3)",
        explains: |case| {
            let asked = case.input.contains("remove-schemas") && case.input.contains("add-schema");
            asked && differ_only_in(case, &["schemas", "current-schema-id"])
        },
        rows: &[],
    },
    Difference {
        why: "what a server can see and Java leaves to its clients (spec.md 2.3, 4.2 checks 4, 9, 12, 14, 15, 17, 20)",
        explains: |case| {
            const CHECKS: &[&str] = &[
                "Cannot find parent snapshot",
                "Cannot find schema",
                "Cannot find encryption key",
                "Cannot reassign uuid",
                "Invalid snapshot-id",
                "Invalid sequence-number",
                "first-row-id is too far ahead",
                "it must have a manifest-list and no manifests",
                "its summary has no operation",
                "is reserved",
            ];
            case.java.is_ok() && CHECKS.iter().any(|text| we_refuse(case, text))
        },
        rows: &["unknown-parent", "snapshot-unknown-schema"],
    },
    Difference {
        why: "Java's main branch takes the server's time for last-updated-ms, so that a later snapshot on main makes a \
              table that it cannot open (spec.md 4.2 check 19)",
        explains: |case| case.java.is_ok() && we_refuse(case, "in the future"),
        rows: &["future-timestamp"],
    },
    Difference {
        why: "main must be a branch, which Java's main branch demands too (spec.md 4.2 check 21)",
        explains: |case| case.java.is_ok() && we_refuse(case, "Cannot set main to a tag"),
        rows: &["main-as-tag"],
    },
    Difference {
        why: "-1 means the object added last, and also the older one that is equal to it (spec.md 2.3)",
        explains: |case| case.ours.is_ok() && java_refuses(case, "has been added"),
        rows: &["add-schema-same-as-current+current-1"],
    },
    Difference {
        why: "a type that nobody knows is kept as its text in a table that has it; no schema with it can be added",
        explains: |case| case.ours.is_ok() && java_refuses(case, "Cannot parse type string to primitive"),
        rows: &[],
    },
];

fn java_refuses(case: &Case, text: &str) -> bool {
    case.java.as_ref().is_err_and(|error| error.contains(text))
}

fn we_refuse(case: &Case, text: &str) -> bool {
    case.ours.as_ref().is_err_and(|error| error.to_string().contains(text))
}

/// Whether both accept, and say the same but for these members of the table.
fn differ_only_in(case: &Case, members: &[&str]) -> bool {
    let (Ok(java), Ok(ours)) = (&case.java, &case.ours) else { return false };
    let (mut java, mut ours) = (java.clone(), ours.clone());
    for table in [&mut java, &mut ours] {
        let Some(table) = table.as_object_mut() else { return false };
        for member in members {
            table.remove(*member);
        }
    }
    is_same(&java, &ours)
}

/// Whether both say the same when letter case and the padding of base64 do not count.
fn is_same_but_for_spelling(java: &Value, ours: &Value) -> bool {
    fn spelled(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(text.trim_end_matches('=').to_lowercase()),
            Value::Array(values) => values.iter().map(spelled).collect(),
            Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), spelled(value))).collect(),
            other => other.clone(),
        }
    }
    is_same(&spelled(java), &spelled(ours))
}
