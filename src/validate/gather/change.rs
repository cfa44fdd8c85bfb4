//! What a commit changes in the metadata, and what retained snapshots still need of what it removes.

use std::collections::{HashMap, HashSet};

use crate::spec::{Field, Schema, TableMetadata};
use crate::validate::facts::{ChangeFacts, FieldChange};
use crate::validate::finding::NotChecked;
use crate::validate::levels::Levels;
use crate::validate::read::{ReadBytes, Unavailable};

use super::{Source, statistics};

/// How many retained snapshots' lists are read when a partition spec is removed, the newest first.
const MOST_LISTS: usize = 100;

/// Gathers what the rules about changes look at. Reads nothing unless a spec is removed or statistics are added.
pub(in crate::validate) async fn change<'a, R: ReadBytes>(
    source: &Source<'_, R>,
    levels: &Levels,
    base: &'a TableMetadata,
    new: &'a TableMetadata,
    not_checked: &mut Vec<NotChecked>,
) -> Result<ChangeFacts<'a>, Unavailable> {
    let mut facts = ChangeFacts {
        base,
        new,
        fields: Vec::new(),
        manifests_of_removed_specs: Vec::new(),
        statistics: statistics::gather(source, levels, base, new, not_checked).await?,
    };
    if facts.goes_on() {
        facts.fields = fields(base, new);
    }
    if levels.any(&["removed-spec-in-use"]) {
        facts.manifests_of_removed_specs = of_removed_specs(source, base, new, not_checked).await?;
    }
    Ok(facts)
}

/// The fields of schemas that are new or become current, with what the table knew by their ids.
fn fields<'a>(base: &'a TableMetadata, new: &'a TableMetadata) -> Vec<FieldChange<'a>> {
    let is_changed = |schema: &&Schema| {
        let becomes_current = new.current_schema_id != base.current_schema_id;
        base.schema(schema.schema_id).is_none() || becomes_current && schema.schema_id == new.current_schema_id
    };
    let schemas: Vec<&Schema> = new.schemas.iter().filter(is_changed).collect();
    if schemas.is_empty() {
        return Vec::new();
    }
    // The last one wins: the current schema, then the newest.
    let mut known: HashMap<i32, &Field> = HashMap::new();
    for schema in base.schemas.iter().chain(base.current_schema()) {
        schema.for_each_field(&mut |_, field| {
            known.insert(field.id, field);
        });
    }
    let mut changes = Vec::new();
    for schema in schemas {
        schema.for_each_field(&mut |parents, new| {
            let in_new = parents.iter().any(|parent| !known.contains_key(&parent.id));
            let mut name: Vec<&str> = parents.iter().map(|parent| parent.name.as_str()).collect();
            name.push(&new.name);
            let (name, old) = (name.join("."), known.get(&new.id).copied());
            changes.push(FieldChange { schema_id: schema.schema_id, name, new, old, in_new });
        });
    }
    changes
}

async fn of_removed_specs<R: ReadBytes>(
    source: &Source<'_, R>,
    base: &TableMetadata,
    new: &TableMetadata,
    not_checked: &mut Vec<NotChecked>,
) -> Result<Vec<(Box<str>, i32)>, Unavailable> {
    let gone = base.partition_specs.iter().map(|spec| spec.spec_id).filter(|id| new.partition_spec(*id).is_none());
    let gone: HashSet<i32> = gone.collect();
    let mut found = Vec::new();
    if gone.is_empty() {
        return Ok(found);
    }
    let mut snapshots: Vec<_> = new.snapshots.iter().collect();
    snapshots.sort_by_key(|snapshot| std::cmp::Reverse(snapshot.sequence_number));
    let mut skip = |object: &str, reason: String| {
        not_checked.push(NotChecked { rule: "removed-spec-in-use", object: object.to_owned(), reason });
    };
    if snapshots.len() > MOST_LISTS {
        skip(&new.location, format!("only the {MOST_LISTS} newest of {} snapshots are looked at", snapshots.len()));
    }
    let mut seen = HashSet::new();
    for location in snapshots.iter().take(MOST_LISTS).filter_map(|snapshot| snapshot.manifest_list.as_deref()) {
        match source.list(location).await {
            Ok(list) => {
                for file in list.manifests.iter().filter(|file| gone.contains(&file.partition_spec_id)) {
                    if seen.insert(file.manifest_path.clone()) {
                        found.push((file.manifest_path.clone(), file.partition_spec_id));
                    }
                }
            }
            Err(fault) => skip(location, fault.reason()?),
        }
    }
    Ok(found)
}
