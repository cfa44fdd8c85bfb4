//! What is to be done with a table or view that the source has: decided of its metadata there and here, and of nothing
//! else.

use crate::commit::Stored;
use crate::spec::{TableMetadata, ViewMetadata};
use crate::storage::Location;

use super::versions::version;

/// What a metadata file says of where it stands in the life of its table or view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// `table-uuid` or `view-uuid`; empty where a table of version 1 has none.
    pub uuid: String,
    /// The metadata file, in normal form.
    pub at: String,
    /// The metadata file or, of views, the version that this state is.
    pub step: String,
    /// Those that came before, as far as is known.
    pub before: Vec<String>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: it is here as it is there, or newer.
    Present,
    /// The source went on from what is here.
    Behind,
    /// Neither: what is here stays.
    Conflict(String),
}

/// Metadata that tells its [`State`].
pub trait Lineage {
    /// The state that a file of it is.
    fn state(stored: &Stored<Self>) -> State
    where
        Self: Sized;
}

impl Lineage for TableMetadata {
    fn state(stored: &Stored<Self>) -> State {
        let table = stored.metadata();
        let at = normal(stored.location());
        let before = table.metadata_log.iter().map(|entry| normal(&entry.metadata_file)).collect();
        State { uuid: table.table_uuid.clone(), step: at.clone(), at, before }
    }
}

/// Views log their versions instead of their files.
impl Lineage for ViewMetadata {
    fn state(stored: &Stored<Self>) -> State {
        let view = stored.metadata();
        let steps = view.version_log.iter().map(|entry| format!("{}/{}", entry.timestamp_ms, entry.version_id));
        let mut before: Vec<String> = steps.collect();
        let step = before.pop().unwrap_or_default();
        State { uuid: view.view_uuid.clone(), at: normal(stored.location()), step, before }
    }
}

/// Engines write one place in several ways.
fn normal(location: &str) -> String {
    Location::parse(location).map_or_else(|_| location.to_owned(), |location| location.to_string())
}

/// Decides what is to be done with what has one name in the source (`there`) and here.
pub fn decide(here: &State, there: &State) -> Decision {
    if here.uuid != there.uuid {
        let State { uuid, at, .. } = there;
        return Decision::Conflict(format!(
            "expected uuid {uuid}, of {at}, found {} here, of {}: rename or drop what is here first",
            here.uuid, here.at
        ));
    }
    if here.at == there.at || here.step == there.step || here.before.contains(&there.step) {
        return Decision::Present;
    }
    if there.before.contains(&here.step) {
        return Decision::Behind;
    }
    // A log has an end, but versions of a Hadoop catalog count up in one folder.
    match (hadoop_version(&here.at), hadoop_version(&there.at)) {
        (Some((folder, old)), Some((other, new))) if folder == other => {
            if new > old {
                Decision::Behind
            } else {
                Decision::Present
            }
        }
        _ => Decision::Conflict(format!(
            "expected metadata that goes on from {}, found {}: neither has the other in its log; if the source is \
             right, drop the table here without purge and import it again",
            here.at, there.at
        )),
    }
}

/// The folder and the version of a Hadoop catalog's metadata file.
fn hadoop_version(location: &str) -> Option<(&str, u64)> {
    let (folder, name) = location.rsplit_once('/')?;
    Some((folder, version(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(uuid: &str, at: &str, before: &[&str]) -> State {
        let before = before.iter().map(ToString::to_string).collect();
        State { uuid: uuid.to_owned(), at: at.to_owned(), step: at.to_owned(), before }
    }

    #[test]
    fn one_file_is_present_and_so_is_what_went_on_from_it() {
        let there = state("u", "gs://b/1.json", &[]);
        assert_eq!(decide(&there, &there), Decision::Present);
        assert_eq!(decide(&state("u", "gs://b/2.json", &["gs://b/1.json"]), &there), Decision::Present);
    }

    #[test]
    fn what_the_source_went_on_from_is_behind() {
        let here = state("u", "gs://b/1.json", &[]);
        assert_eq!(decide(&here, &state("u", "gs://b/3.json", &["gs://b/1.json", "gs://b/2.json"])), Decision::Behind);
    }

    #[test]
    fn another_table_of_the_name_is_a_conflict_whatever_its_file() {
        let here = state("u", "gs://b/1.json", &[]);
        let Decision::Conflict(why) = decide(&here, &state("w", "gs://b/1.json", &[])) else { panic!() };
        assert!(why.contains("expected uuid w") && why.contains("found u here"), "{why}");
    }

    #[test]
    fn states_that_went_apart_are_a_conflict() {
        let here = state("u", "gs://b/2a.json", &["gs://b/1.json"]);
        let there = state("u", "gs://b/2b.json", &["gs://b/1.json"]);
        assert!(matches!(decide(&here, &there), Decision::Conflict(_)));
    }

    #[test]
    fn versions_of_a_hadoop_table_count_up_beyond_its_log() {
        let old = state("u", "gs://b/t/metadata/v3.metadata.json", &[]);
        let new = state("u", "gs://b/t/metadata/v300.gz.metadata.json", &["gs://b/t/metadata/v299.gz.metadata.json"]);
        assert_eq!(decide(&old, &new), Decision::Behind);
        assert_eq!(decide(&new, &old), Decision::Present);
        let elsewhere = state("u", "gs://b/copy/metadata/v300.metadata.json", &[]);
        assert!(matches!(decide(&old, &elsewhere), Decision::Conflict(_)));
    }
}
