//! Comparing what manifest lists say: with another list, and with a value.

use super::{FieldSummary, ManifestContent, ManifestFile, Value};

impl ManifestFile {
    /// What differs between a manifest as the table has it and as a new list describes it; none if nothing does.
    pub fn difference(&self, now: &Self) -> Option<(&'static str, String, String)> {
        let numbers = [
            ("manifest_length", Some(self.manifest_length), Some(now.manifest_length)),
            ("partition_spec_id", Some(self.partition_spec_id.into()), Some(now.partition_spec_id.into())),
            ("sequence_number", Some(self.sequence_number), Some(now.sequence_number)),
            ("min_sequence_number", Some(self.min_sequence_number), Some(now.min_sequence_number)),
            // Version 1 lists may lack these; whoever writes them anew may fill them in.
            ("added_snapshot_id", self.added_snapshot_id, now.added_snapshot_id),
            ("added_files_count", self.added_files_count, now.added_files_count),
            ("existing_files_count", self.existing_files_count, now.existing_files_count),
            ("deleted_files_count", self.deleted_files_count, now.deleted_files_count),
            ("added_rows_count", self.added_rows_count, now.added_rows_count),
            ("existing_rows_count", self.existing_rows_count, now.existing_rows_count),
            ("deleted_rows_count", self.deleted_rows_count, now.deleted_rows_count),
            ("first_row_id", self.first_row_id, now.first_row_id),
        ];
        if self.content != now.content {
            return Some(("content", format!("{:?}", self.content), format!("{:?}", now.content)));
        }
        let is_deletes = self.content == ManifestContent::Deletes;
        let changed = numbers.into_iter().find(|(field, known, now)| {
            // On a delete manifest a first row id means nothing: DuckDB writes one, and Java drops it.
            let means_nothing = *field == "first_row_id" && is_deletes;
            known.is_some() && known != now && !means_nothing
        });
        changed.map(|(field, known, now)| (field, shown(known), shown(now)))
    }
}

impl FieldSummary {
    /// Whether the summary leaves room for a value.
    pub fn admits(&self, value: &Value) -> bool {
        match value {
            Value::Null => self.contains_null,
            Value::Float(bits) if f64::from_bits(*bits).is_nan() => self.contains_nan != Some(false),
            value => {
                let below = self.lower_bound.as_deref().and_then(|bound| value.compare_with_bound(bound));
                let above = self.upper_bound.as_deref().and_then(|bound| value.compare_with_bound(bound));
                below.is_none_or(std::cmp::Ordering::is_ge) && above.is_none_or(std::cmp::Ordering::is_le)
            }
        }
    }
}

fn shown(number: Option<i64>) -> String {
    number.map_or_else(|| "null".to_owned(), |number| number.to_string())
}
