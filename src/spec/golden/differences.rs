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
    /// Cases that differ by this; the test fails when one no longer does.
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
        why: "a snapshot's parent is in the table, or the table has moved on (spec.md 4.2 check 12)",
        explains: |case| case.java.is_ok() && we_refuse(case, "Cannot find parent snapshot"),
        rows: &["unknown-parent"],
    },
    Difference {
        why: "a snapshot's schema is in the table (spec.md 4.2 check 14)",
        explains: |case| case.java.is_ok() && we_refuse(case, "Cannot find schema"),
        rows: &["snapshot-unknown-schema"],
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
];

fn java_refuses(case: &Case, text: &str) -> bool {
    case.java.as_ref().is_err_and(|error| error.contains(text))
}

fn we_refuse(case: &Case, text: &str) -> bool {
    case.ours.as_ref().is_err_and(|error| error.to_string().contains(text))
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
