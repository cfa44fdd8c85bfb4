//! What was validated already in one request: a verdict on immutable files stays true when the swap is tried again.

use crate::commit::Error;
use crate::commit::places::Places;
use crate::commit::verdict::{Subject, timed};
use crate::spec::{AddedSnapshot, Applied, TableIdent, TableMetadata};
use crate::store::warnings::Warning;
use crate::validate::{self, Change};
use std::collections::HashMap;

/// The verdicts of one request.
#[derive(Default)]
pub(super) struct Validated {
    /// By table: the numbers of snapshots are the client's, so two tables may use the same.
    tables: HashMap<TableIdent, Passed>,
    /// What is to be remembered once the change is made.
    warnings: Vec<Warning>,
}

/// What passed of one table.
#[derive(Default)]
struct Passed {
    /// For each snapshot, the end of the row ids that its manifest list gives out.
    row_id_ends: HashMap<i64, Option<i64>>,
    /// The table's partition specs that the verdicts are about: what a manifest means depends on their numbers.
    specs: Vec<String>,
}

impl Validated {
    /// Judges what a commit does to a table, but for snapshots that passed at an earlier try, and raises the table's
    /// `next-row-id` above the ids that they give out.
    pub(super) async fn check(
        &mut self,
        subject: Subject<'_>,
        base: Option<&TableMetadata>,
        applied: &mut Applied,
    ) -> Result<(), Error> {
        let Applied { metadata, added_snapshots: added, renumbered_specs, .. } = applied;
        let passed = self.tables.entry(subject.table.clone()).or_default();
        passed.forget_if_specs_changed(metadata);
        let new: Vec<AddedSnapshot> =
            added.iter().filter(|snapshot| !passed.row_id_ends.contains_key(&snapshot.snapshot_id)).copied().collect();
        let Places { app, warehouse, .. } = subject.places;
        let reader = subject.reader();
        let change = Change { base, new: metadata, added: &new, renumbered_specs };
        let verdict = validate::snapshots(&reader, &app.manifests, &warehouse.levels, &change);
        let verdict = timed(subject.action, verdict).await;
        let report = verdict.map_err(|unavailable| Error::StorageUnavailable {
            location: unavailable.location.clone(),
            source: Box::new(unavailable),
        })?;
        let end = report.row_id_end;
        let warnings = subject.judge(report)?;
        passed.row_id_ends.extend(new.iter().map(|snapshot| (snapshot.snapshot_id, end)));
        let ends = added.iter().filter_map(|snapshot| passed.row_id_ends.get(&snapshot.snapshot_id).copied().flatten());
        if let Some(end) = ends.max() {
            metadata.raise_next_row_id(end);
        }
        self.warn(warnings);
        Ok(())
    }

    /// What is to be remembered, once.
    pub(super) fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Notes warnings. What a commit changes in the metadata is judged at every try, and warned of once.
    fn warn(&mut self, warnings: Vec<Warning>) {
        for warning in warnings {
            let same = |known: &Warning| {
                (&known.table, &known.rule, &known.message) == (&warning.table, &warning.rule, &warning.message)
            };
            if !self.warnings.iter().any(same) {
                self.warnings.push(warning);
            }
        }
    }
}

impl Passed {
    /// Between two tries another commit may have taken the number that a partition spec had at the first.
    fn forget_if_specs_changed(&mut self, metadata: &TableMetadata) {
        let specs: Vec<String> = metadata.partition_specs.iter().map(|spec| spec.to_json().to_string()).collect();
        if self.specs != specs {
            self.row_id_ends.clear();
            self.specs = specs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::CreateTableRequest;

    #[test]
    fn verdicts_hold_as_long_as_partition_specs_have_their_numbers() {
        let request = br#"{"name": "t", "schema": {"type": "struct", "fields": []}}"#;
        let request = CreateTableRequest::parse(request).unwrap();
        let mut table = request.build_as(2, "gs://b/t", "9c12d441-03fe-4693-9a96-a0705ddf69c1", 1).unwrap();
        let mut passed = Passed::default();
        passed.forget_if_specs_changed(&table);
        passed.row_id_ends.insert(5, None);
        passed.forget_if_specs_changed(&table);
        assert_eq!(passed.row_id_ends.len(), 1);
        table.partition_specs[0].spec_id = 1;
        passed.forget_if_specs_changed(&table);
        assert!(passed.row_id_ends.is_empty());
    }
}
