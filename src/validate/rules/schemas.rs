//! Rules about how the schema of a table with data changes. A table that is replaced starts anew and is not looked at.

use crate::spec::{PartitionField, Primitive, Transform, Type};
use crate::validate::facts::{ChangeFacts, FieldChange};
use crate::validate::finding::{Finding, Findings};
use crate::validate::level::Level::{Deny, Off, Warn};

use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "field-type-changed",
        level: Deny,
        statement: "a field keeps its type, or is promoted to a type that old values can be read as",
        protects: "Engines fail on the data that is there, or read something else.",
        source: "spec: Schema Evolution, valid type promotions",
        reads: Reads::Metadata,
        broken_by: "PyIceberg with allow_incompatible_changes",
        check: Check::Change(types),
    },
    Rule {
        id: "promotion-changes-partitions",
        level: Deny,
        statement: "a date that is the source of an identity or bucket partition field is not promoted",
        protects: "Files are looked for in other partitions than they are in.",
        source: "spec: Schema Evolution, valid type promotions",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Change(partition_sources),
    },
    Rule {
        id: "initial-default-changed",
        level: Deny,
        statement: "a field that is there keeps its initial-default",
        protects: "Rows that were written before the field was added change their value.",
        source: "spec: Default values",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Change(initial_defaults),
    },
    Rule {
        id: "required-field-without-default",
        level: Warn,
        statement: "a required field that is added to a table with data has both defaults",
        protects: "Engines find null in a column that says it has none, and fail.",
        source: "spec: Default values",
        reads: Reads::Metadata,
        broken_by: "Iceberg Java and PyIceberg where incompatible changes are asked for",
        check: Check::Change(required_fields),
    },
    Rule {
        id: "field-made-required",
        level: Warn,
        statement: "an optional field of a table with data is not made required",
        protects: "Engines find null in a column that says it has none, and fail.",
        source: "spec: Schema Evolution",
        reads: Reads::Metadata,
        broken_by: "Iceberg Java and PyIceberg where incompatible changes are asked for",
        check: Check::Change(still_optional),
    },
    Rule {
        id: "field-id-reused",
        level: Warn,
        statement: "a field that is added has an id that no field of the table ever had",
        protects: "Data of a dropped column is read as the new one's.",
        source: "spec: Schema Evolution; ids are never reused",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Change(fresh_ids),
    },
    Rule {
        id: "map-key-type",
        level: Off,
        statement: "a map's key is no variant, geometry, geography or unknown",
        protects: "The spec allows any type; engines that compare keys cannot compare these.",
        source: "spec: Nested Types",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Change(map_keys),
    },
    Rule {
        id: "crs",
        level: Warn,
        statement: "a CRS is named: it is no PROJJSON text, and projjson:NAME is a property of the table",
        protects: "Engines do not know where the points are.",
        source: "spec: Primitive Types, CRS",
        reads: Reads::Metadata,
        broken_by: "",
        check: Check::Change(crs),
    },
];

fn finding(
    facts: &ChangeFacts<'_>,
    change: &FieldChange<'_>,
    expected: String,
    found: impl std::fmt::Display,
) -> Finding {
    let found = format!("{found} for field {} ({}) of schema {}", change.new.id, change.name, change.schema_id);
    Finding::new(&facts.new.location, expected, found)
}

fn types(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for change in &facts.fields {
        let Some(old) = change.old else { continue };
        let (was, is) = (&old.field_type, &change.new.field_type);
        findings.expect(was.may_become(is, facts.new.format_version), || {
            finding(facts, change, format!("type {was}, or one that it can be promoted to"), is)
        });
    }
}

fn partition_sources(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for change in &facts.fields {
        let Some(old) = change.old else { continue };
        if !old.field_type.turns_date_into_timestamp(&change.new.field_type) {
            continue;
        }
        let looks_at_value = |field: &&PartitionField| {
            let of_value = matches!(field.transform, Transform::Identity | Transform::Bucket(_));
            of_value && field.source.ids().contains(&change.new.id)
        };
        let mut fields = facts.new.partition_specs.iter().flat_map(|spec| &spec.fields);
        if let Some(field) = fields.find(looks_at_value) {
            findings.add(|| finding(facts, change, format!("date, the source of {field}"), &change.new.field_type));
        }
    }
}

fn initial_defaults(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for change in &facts.fields {
        let Some(old) = change.old else { continue };
        let shown = |default: &Option<_>| default.as_ref().map_or_else(|| "null".to_owned(), ToString::to_string);
        findings.expect(change.new.same_initial_default(old), || {
            let expected = format!("initial-default {}", shown(&old.initial_default));
            finding(facts, change, expected, shown(&change.new.initial_default))
        });
    }
}

fn required_fields(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    let added = facts.fields.iter().filter(|change| change.old.is_none() && !change.in_new && change.new.required);
    for change in added {
        let has_both = change.new.initial_default.is_some() && change.new.write_default.is_some();
        findings.expect(has_both, || {
            finding(
                facts,
                change,
                "initial-default and write-default, or an optional field".to_owned(),
                "neither or one",
            )
        });
    }
}

fn still_optional(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for change in &facts.fields {
        let was_optional = change.old.is_some_and(|old| !old.required && old.initial_default.is_none());
        findings.expect(!(was_optional && change.new.required), || {
            finding(facts, change, "an optional field".to_owned(), "a required one")
        });
    }
}

fn fresh_ids(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    let last = facts.base.last_column_id;
    for change in facts.fields.iter().filter(|change| change.old.is_none()) {
        findings.expect(change.new.id > last, || {
            finding(facts, change, format!("an id above {last}, the table's last-column-id"), change.new.id)
        });
    }
}

fn map_keys(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for change in &facts.fields {
        let Type::Map(map) = &change.new.field_type else { continue };
        let key = &map.key.field_type;
        let hard_to_compare = matches!(
            key,
            Type::Variant
                | Type::Primitive(Primitive::Unknown | Primitive::Geometry { .. } | Primitive::Geography { .. })
        );
        findings.expect(!hard_to_compare, || finding(facts, change, "a key that can be compared".to_owned(), key));
    }
}

fn crs(facts: &ChangeFacts<'_>, findings: &mut Findings) {
    for change in &facts.fields {
        let Type::Primitive(Primitive::Geometry { crs } | Primitive::Geography { crs, .. }) = &change.new.field_type
        else {
            continue;
        };
        let Some(crs) = crs else { continue };
        let property = crs.strip_prefix("projjson:");
        let is_named = property.is_none_or(|name| facts.new.properties.contains_key(name)) && !crs.contains('{');
        findings.expect(is_named, || {
            let expected = "the name of a CRS, or of a property that holds it".to_owned();
            finding(facts, change, expected, crs)
        });
    }
}
