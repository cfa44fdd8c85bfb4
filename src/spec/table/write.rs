//! Writing table metadata: Java's members in Java's order, then those that nobody knows (spec.md 6.4).

use super::{ROW_LINEAGE_VERSION, TableMetadata};
use crate::spec::json::{ObjectWriter, push_string};

impl TableMetadata {
    /// The metadata file. What was read and not changed keeps its text: snapshots, log entries, statistics, keys and
    /// every unknown member.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = String::with_capacity(self.estimated_len());
        let mut file = ObjectWriter::new(&mut out);
        self.write_numbers(&mut file);
        self.write_schemas(&mut file);
        self.write_specs(&mut file);
        self.write_snapshots(&mut file);
        file.rest(&self.rest);
        file.finish();
        out.into_bytes()
    }

    /// Enough room for the lists that grow, so that the text is rarely copied while it grows.
    fn estimated_len(&self) -> usize {
        const OTHERS: usize = 16 * 1024;
        let snapshots = self.snapshots.iter().map(|snapshot| snapshot.to_json().get().len() + 1);
        let log = self.snapshot_log.iter().map(|entry| entry.to_json().get().len() + 1);
        let files = self.metadata_log.iter().map(|entry| entry.to_json().get().len() + 1);
        OTHERS + snapshots.sum::<usize>() + log.sum::<usize>() + files.sum::<usize>()
    }

    fn write_numbers(&self, file: &mut ObjectWriter<'_>) {
        file.int("format-version", self.format_version);
        match self.table_uuid.as_str() {
            "" => file.with("table-uuid", |out| out.push_str("null")),
            uuid => file.str("table-uuid", uuid),
        }
        file.str("location", &self.location);
        if self.format_version > 1 {
            file.int("last-sequence-number", self.last_sequence_number);
        }
        file.int("last-updated-ms", self.last_updated_ms);
        file.int("last-column-id", self.last_column_id);
    }

    fn write_schemas(&self, file: &mut ObjectWriter<'_>) {
        // Old readers of version 1 know only this one.
        if let Some(schema) = self.current_schema().filter(|_| self.format_version == 1) {
            file.with("schema", |out| schema.write(out));
        }
        file.int("current-schema-id", self.current_schema_id);
        file.array("schemas", &self.schemas, |out, schema| schema.write(out));
    }

    fn write_specs(&self, file: &mut ObjectWriter<'_>) {
        if let Some(spec) = self.default_spec().filter(|_| self.format_version == 1) {
            file.with("partition-spec", |out| spec.write_fields(out));
        }
        file.int("default-spec-id", self.default_spec_id);
        file.array("partition-specs", &self.partition_specs, |out, spec| spec.write(out));
        file.int("last-partition-id", self.last_partition_id);
        file.int("default-sort-order-id", self.default_sort_order_id);
        file.array("sort-orders", &self.sort_orders, |out, order| order.write(out));
        file.with("properties", |out| {
            let mut properties = ObjectWriter::new(out);
            for (key, value) in &self.properties {
                properties.with(key, |out| push_string(out, value));
            }
            properties.finish();
        });
    }

    fn write_snapshots(&self, file: &mut ObjectWriter<'_>) {
        match self.current_snapshot_id {
            Some(id) => file.int("current-snapshot-id", id),
            None if self.format_version >= ROW_LINEAGE_VERSION => {
                file.with("current-snapshot-id", |out| out.push_str("null"));
            }
            None => file.int("current-snapshot-id", -1),
        }
        if let Some(next) = self.next_row_id {
            file.int("next-row-id", next);
        }
        if !self.encryption_keys.is_empty() {
            file.array("encryption-keys", &self.encryption_keys, |out, key| out.push_str(key.to_json().get()));
        }
        file.with("refs", |out| {
            let mut refs = ObjectWriter::new(out);
            for (name, reference) in &self.refs {
                refs.with(name, |out| reference.write(out));
            }
            refs.finish();
        });
        file.array("snapshots", &self.snapshots, |out, snapshot| out.push_str(snapshot.to_json().get()));
        file.array("statistics", &self.statistics, |out, statistics| out.push_str(statistics.to_json().get()));
        file.array("partition-statistics", &self.partition_statistics, |out, statistics| {
            out.push_str(statistics.to_json().get());
        });
        file.array("snapshot-log", &self.snapshot_log, |out, entry| out.push_str(entry.to_json().get()));
        file.array("metadata-log", &self.metadata_log, |out, entry| out.push_str(entry.to_json().get()));
    }
}
