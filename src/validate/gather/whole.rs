//! Gathers the facts about everything that is live in a snapshot, whoever wrote it.

use crate::manifest::ManifestFile;
use crate::validate::facts::{Facts, Gathered, Origin, Parent};
use crate::validate::read::{ReadBytes, Unavailable};

use super::source::Kind;
use super::{Context, Notes, bare_facts, deletes, new_list, puffins};

/// Gathers the facts about one snapshot as it is: every manifest must be readable, and every live vector is opened.
/// Manifests are not judged as if they were new, since rules of their own time held for them.
pub(in crate::validate) async fn whole<'a, R: ReadBytes>(
    context: &Context<'a, R>,
) -> Result<Gathered<'a>, Unavailable> {
    let mut notes = Notes::default();
    let Some((location, list)) = new_list(context, &mut notes).await? else {
        return Ok(notes.gathered(None));
    };
    let origins = vec![Origin::NotSearched; list.manifests.len()];
    let mut facts = bare_facts(context, location, list, origins, Parent::Unreadable);
    manifests_are_readable(context, &facts, &mut notes).await?;
    deletes::gather_all(context, &mut facts, &mut notes).await?;
    puffins::gather(context, &mut facts.vectors, &mut notes).await?;
    Ok(notes.gathered(Some(facts)))
}

/// Reads every manifest, a few at a time: their indexes are what vectors are compared with.
async fn manifests_are_readable<R: ReadBytes>(
    context: &Context<'_, R>,
    facts: &Facts<'_>,
    notes: &mut Notes,
) -> Result<(), Unavailable> {
    let manifests = facts.list.manifests.iter();
    let (encrypted, readable): (Vec<&ManifestFile>, Vec<&ManifestFile>) = manifests.partition(|file| file.encrypted);
    for file in encrypted {
        notes.skip("manifest-*", &file.manifest_path, "the manifest is encrypted");
    }
    for some in readable.chunks(super::source::CONCURRENT_READS) {
        for read in super::source::indexes(context.source, some).await {
            if let Err(fault) = read {
                notes.fail(fault.failure(Kind::Manifest)?);
            }
        }
    }
    Ok(())
}
