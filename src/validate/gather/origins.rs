//! Where the manifests of a list come from: this snapshot, its parent, or another snapshot of the table.

use std::collections::HashMap;

use crate::manifest::{ManifestFile, ManifestList};
use crate::spec::Snapshot;
use crate::validate::facts::{Origin, Parent};
use crate::validate::read::{ReadBytes, Unavailable};

use super::{Context, Notes};

/// How many lists are searched for manifests that the parent does not have. Tools that restore a table do that; it is
/// rare, and must not cost a read for each of a table's thousand snapshots.
const MOST_LISTS: usize = 100;

/// The origin of each manifest, in the list's order.
pub(super) async fn of<R: ReadBytes>(
    context: &Context<'_, R>,
    list: &ManifestList,
    parent: &Parent,
    notes: &mut Notes,
) -> Result<Vec<Origin>, Unavailable> {
    let in_parent: HashMap<&str, usize> = match parent {
        Parent::Known(parent) => {
            parent.manifests.iter().enumerate().map(|(place, file)| (&*file.manifest_path, place)).collect()
        }
        _ => HashMap::new(),
    };
    let id = context.snapshot.snapshot_id;
    let mut origins: Vec<Origin> = Vec::with_capacity(list.manifests.len());
    for file in &list.manifests {
        origins.push(match in_parent.get(&*file.manifest_path) {
            Some(place) => Origin::Parent(*place),
            // A version 1 list need not say who wrote a manifest.
            None if file.added_snapshot_id.is_none_or(|added| added == id) => Origin::New,
            None => Origin::Nowhere,
        });
    }
    if origins.contains(&Origin::Nowhere) {
        search_elsewhere(context, list, matches!(parent, Parent::Unreadable), &mut origins, notes).await?;
    }
    Ok(origins)
}

/// Looks for manifests in the lists of other snapshots, first where they say they were added.
async fn search_elsewhere<R: ReadBytes>(
    context: &Context<'_, R>,
    list: &ManifestList,
    parent_unreadable: bool,
    origins: &mut [Origin],
    notes: &mut Notes,
) -> Result<(), Unavailable> {
    let snapshots = search_order(context, list, origins);
    let mut complete = snapshots.len() <= MOST_LISTS && !parent_unreadable;
    for snapshot in snapshots.into_iter().take(MOST_LISTS) {
        if !origins.contains(&Origin::Nowhere) {
            return Ok(());
        }
        let Some(location) = snapshot.manifest_list.as_deref() else { continue };
        let other = match context.source.list(location).await {
            Ok(other) => other,
            Err(fault) => {
                fault.reason()?;
                complete = false;
                continue;
            }
        };
        let known: HashMap<&str, &ManifestFile> =
            other.manifests.iter().map(|file| (&*file.manifest_path, file)).collect();
        for (file, origin) in list.manifests.iter().zip(origins.iter_mut()) {
            let found = known.get(&*file.manifest_path).is_some_and(|known| known.difference(file).is_none());
            if *origin == Origin::Nowhere && found {
                *origin = Origin::OtherSnapshot(snapshot.snapshot_id);
            }
        }
    }
    if !complete {
        for (file, origin) in list.manifests.iter().zip(origins.iter_mut()) {
            if *origin == Origin::Nowhere {
                *origin = Origin::NotSearched;
                notes.skip("carried-manifest-unknown", &file.manifest_path, "not every list of the table was read");
            }
        }
    }
    Ok(())
}

/// All other snapshots: those that wrote the manifests, then the newest first.
fn search_order<'a, R>(context: &Context<'a, R>, list: &ManifestList, origins: &[Origin]) -> Vec<&'a Snapshot> {
    let rows = list.manifests.iter().zip(origins).filter(|(_, origin)| **origin == Origin::Nowhere);
    let writers: Vec<i64> = rows.filter_map(|(file, _)| file.added_snapshot_id).collect();
    let this = context.snapshot.snapshot_id;
    let mut snapshots: Vec<&Snapshot> =
        context.table.snapshots.iter().filter(|snapshot| snapshot.snapshot_id != this).collect();
    snapshots.sort_by_key(|snapshot| (!writers.contains(&snapshot.snapshot_id), -snapshot.sequence_number));
    snapshots
}
