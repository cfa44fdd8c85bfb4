//! Projections and statistics never lose a row: whatever the predicate, the transform and the rows.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::expressions::filter;
use crate::manifest::{FieldSummary, Partition, Value};
use crate::plan::filter::{Filter, Residual};
use crate::plan::partitions::Spec;
use crate::plan::transform::apply;
use crate::spec::{Primitive, Schema, TableMetadata, Transform};

const TRANSFORMS: [(&str, &str); 16] = [
    ("long", "identity"),
    ("long", "bucket[3]"),
    ("long", "truncate[5]"),
    ("int", "truncate[4]"),
    ("decimal(9, 2)", "truncate[50]"),
    ("decimal(9, 2)", "bucket[3]"),
    ("string", "truncate[2]"),
    ("string", "bucket[3]"),
    ("string", "identity"),
    ("date", "day"),
    ("date", "month"),
    ("date", "year"),
    ("timestamp", "hour"),
    ("timestamp", "day"),
    ("timestamp_ns", "month"),
    ("long", "void"),
];

fn table(of: &str, transform: &str) -> TableMetadata {
    let metadata = json!({
        "format-version": 2, "table-uuid": "u", "location": "gs://b/t", "last-sequence-number": 0,
        "last-updated-ms": 0, "last-column-id": 1, "current-schema-id": 0, "default-spec-id": 0,
        "last-partition-id": 1000, "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "c", "required": false, "type": of}]}],
        "partition-specs": [{"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "name": "p", "transform": transform}]}]
    });
    TableMetadata::parse(metadata.to_string().as_bytes()).unwrap()
}

/// A small number as a value of the type, and as a literal of a filter; neighbours meet in one partition often.
fn value(of: &str, number: i64) -> (Value, Json) {
    match of {
        "string" => {
            let text: String = format!("{:03}", number + 40).chars().map(|c| if c < '4' { 'a' } else { 'b' }).collect();
            (Value::Text(text.as_str().into()), json!(text))
        }
        "decimal(9, 2)" => {
            let text =
                format!("{}{}.{:02}", if number < 0 { "-" } else { "" }, number.abs() / 4, number.abs() % 4 * 25);
            (
                Value::Decimal(i128::from(number.signum() * (number.abs() / 4 * 100 + number.abs() % 4 * 25))),
                json!(text),
            )
        }
        "date" => (Value::Integer(number * 13), json!(number * 13)),
        "timestamp" => (Value::Integer(number * 1_000_000_007), json!(number * 1_000_000_007)),
        "timestamp_ns" => (Value::Integer(number * 1_000_000_007_000_000), json!(number * 1_000_000_007_000)),
        _ => (Value::Integer(number), json!(number)),
    }
}

fn predicate(of: &'static str) -> impl Strategy<Value = Json> {
    let comparison = prop_oneof![Just("lt"), Just("lt-eq"), Just("gt"), Just("gt-eq"), Just("eq"), Just("not-eq")];
    let number = -40_i64..40;
    let compared = (comparison, number.clone())
        .prop_map(move |(kind, number)| json!({"type": kind, "term": "c", "value": value(of, number).1}));
    let set = (prop_oneof![Just("in"), Just("not-in")], proptest::collection::vec(number, 1..4)).prop_map(
        move |(kind, numbers)| {
            let values: Vec<Json> = numbers.into_iter().map(|number| value(of, number).1).collect();
            json!({"type": kind, "term": "c", "values": values})
        },
    );
    let null = prop_oneof![Just("is-null"), Just("not-null")].prop_map(|kind| json!({"type": kind, "term": "c"}));
    let prefix = (prop_oneof![Just("starts-with"), Just("not-starts-with")], "[ab]{0,3}")
        .prop_map(|(kind, text)| json!({"type": kind, "term": "c", "value": text}));
    if of == "string" {
        prop_oneof![compared, set, null, prefix].boxed()
    } else {
        prop_oneof![compared, set, null].boxed()
    }
}

fn expression(of: &'static str) -> impl Strategy<Value = Json> {
    predicate(of).prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|child| json!({"type": "not", "child": child})),
            (inner.clone(), inner.clone()).prop_map(|(l, r)| json!({"type": "and", "left": l, "right": r})),
            (inner.clone(), inner).prop_map(|(l, r)| json!({"type": "or", "left": l, "right": r})),
        ]
    })
}

/// Whether a row passes: the leaves answer for its value.
fn passes(filter: &Filter, row: &Value) -> bool {
    filter.may_match(&mut |asked| asked.exact.as_ref().unwrap().holds(row) == Some(true))
}

fn case() -> impl Strategy<Value = (&'static str, &'static str, Json, Vec<Option<i64>>)> {
    (0..TRANSFORMS.len()).prop_flat_map(|at| {
        let (of, transform) = TRANSFORMS[at];
        let rows = proptest::collection::vec(proptest::option::weighted(0.9, -45_i64..45), 1..6);
        (Just(of), Just(transform), expression(of), rows)
    })
}

fn binary(value: &Value) -> Box<[u8]> {
    match value {
        Value::Integer(value) => value.to_le_bytes().into(),
        Value::Decimal(value) => value.to_be_bytes().into(),
        Value::Text(text) => text.as_bytes().into(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn no_row_that_passes_is_lost((of, transform, json, rows) in case()) {
        let table = table(of, transform);
        let schema: &Schema = table.current_schema().unwrap();
        let filter = filter(schema, json, true).unwrap();
        let spec = Spec::new(table.default_spec().unwrap(), &table, schema, &filter);
        let (source, transform) = (Primitive::parse(of).unwrap().unwrap(), Transform::parse(transform).unwrap());
        let rows: Vec<Value> = rows.into_iter().map(|row| row.map_or(Value::Null, |n| value(of, n).0)).collect();
        let tuples: Vec<Value> = rows.iter().map(|row| apply(&transform, &source, row).unwrap()).collect();
        for (row, tuple) in rows.iter().zip(&tuples) {
            let partition = Partition::new(vec![(1000, tuple.clone())]);
            let pass = passes(&filter, row);
            prop_assert!(!pass || spec.may_match(&filter, &partition), "partition {tuple} of {row} is pruned");
            if let Residual::Constant(constant) = spec.residual(&filter, &partition) {
                prop_assert_eq!(constant, pass, "residual of {} in {}", row, tuple);
            }
        }
        // A summary of all the tuples, in the width that its type has.
        let wide = matches!(source, Primitive::Long | Primitive::Timestamp | Primitive::TimestampNs | Primitive::Decimal { .. } | Primitive::String)
            && matches!(transform, Transform::Identity | Transform::Truncate(_));
        let bytes = |value: &Value| match value {
            Value::Integer(value) if !wide => i32::try_from(*value).unwrap().to_le_bytes().into(),
            value => binary(value),
        };
        let mut known: Vec<&Value> = tuples.iter().filter(|tuple| **tuple != Value::Null).collect();
        known.sort_by(|one, other| crate::plan::value::compare(one, other).unwrap());
        let summary = FieldSummary {
            contains_null: known.len() < tuples.len(),
            contains_nan: None,
            lower_bound: known.first().map(|value| bytes(value)),
            upper_bound: known.last().map(|value| bytes(value)),
        };
        let pass = rows.iter().any(|row| passes(&filter, row));
        prop_assert!(!pass || spec.manifest_may_match(&filter, Some(&[summary])), "the manifest is pruned");
    }
}
