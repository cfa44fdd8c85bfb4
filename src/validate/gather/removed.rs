//! What a commit removes from the metadata that retained snapshots still need.

use std::collections::HashSet;

use crate::spec::TableMetadata;
use crate::validate::facts::RemovedFacts;
use crate::validate::finding::NotChecked;
use crate::validate::levels::Levels;
use crate::validate::read::{ReadBytes, Unavailable};

use super::Source;

/// How many retained snapshots' lists are read when a partition spec is removed, the newest first.
const MOST_LISTS: usize = 100;

/// Gathers what the rules about removed specs and schemas look at. Reads nothing unless a spec is removed.
pub(in crate::validate) async fn removed<'a, R: ReadBytes>(
    source: &Source<'_, R>,
    levels: &Levels,
    base: &TableMetadata,
    new: &'a TableMetadata,
    not_checked: &mut Vec<NotChecked>,
) -> Result<RemovedFacts<'a>, Unavailable> {
    let mut facts = RemovedFacts { table: &new.location, ..RemovedFacts::default() };
    for snapshot in &new.snapshots {
        let gone = |id: &i32| base.schema(*id).is_some() && new.schema(*id).is_none();
        if let Some(id) = snapshot.schema_id.filter(gone) {
            facts.snapshots_of_removed_schemas.push((snapshot.snapshot_id, id));
        }
    }
    let gone = base.partition_specs.iter().map(|spec| spec.spec_id).filter(|id| new.partition_spec(*id).is_none());
    let gone: HashSet<i32> = gone.collect();
    if gone.is_empty() || !levels.any(&["removed-spec-in-use"]) {
        return Ok(facts);
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
                        facts.manifests_of_removed_specs.push((file.manifest_path.clone(), file.partition_spec_id));
                    }
                }
            }
            Err(fault) => skip(location, fault.reason()?),
        }
    }
    Ok(facts)
}
