//! The body of `planTableScan` (`spec.md` 1.3).

use super::Error;
use crate::spec::json::{Object, ObjectWriter, Raw};

/// What a client wants to scan. `select` is read by no step of planning: it is checked for its form and dropped.
#[derive(Debug, Clone, Default)]
pub struct PlanRequest {
    pub(super) snapshot_id: Option<i64>,
    /// Exclusive start and inclusive end of an incremental scan.
    pub(super) between: Option<(i64, i64)>,
    pub(super) filter: Option<Raw>,
    pub(super) case_insensitive: bool,
    pub(super) use_snapshot_schema: bool,
    pub(super) stats_fields: Vec<String>,
    pub(super) min_rows: Option<i64>,
}

impl PlanRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// [`Error::Invalid`] that says which member is wrong. The filter is not looked into yet.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(Object::parse_document(bytes)?)
    }

    pub(super) fn read(mut object: Object) -> Result<Self, Error> {
        let snapshot_id = object.optional_i64("snapshot-id")?;
        let (start, end) = (object.optional_i64("start-snapshot-id")?, object.optional_i64("end-snapshot-id")?);
        object.optional_strings("select")?;
        let min_rows = object.optional_i64("min-rows-requested")?;
        if min_rows.is_some_and(|rows| rows < 0) {
            return Err(Error::Invalid("Invalid scan: min-rows-requested is negative".to_owned()));
        }
        let request = Self {
            snapshot_id,
            between: between(start, end)?,
            // Null is refused with the rest of what is no expression, as in Java.
            filter: object.take("filter"),
            case_insensitive: object.optional_bool("case-sensitive")? == Some(false),
            use_snapshot_schema: object.optional_bool("use-snapshot-schema")?.unwrap_or(false),
            stats_fields: object.optional_strings("stats-fields")?.unwrap_or_default(),
            min_rows: min_rows.filter(|rows| *rows > 0),
        };
        if request.snapshot_id.is_some() && request.between.is_some() {
            let message = "Invalid scan: cannot provide both snapshot-id and start-snapshot-id/end-snapshot-id";
            return Err(Error::Invalid(message.to_owned()));
        }
        Ok(request)
    }

    /// The request as JSON again: what a token carries.
    pub(super) fn push_json(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        if let Some(id) = self.snapshot_id {
            object.int("snapshot-id", id);
        }
        if let Some((start, end)) = self.between {
            object.int("start-snapshot-id", start);
            object.int("end-snapshot-id", end);
        }
        if let Some(filter) = &self.filter {
            object.raw("filter", filter);
        }
        if self.case_insensitive {
            object.bool("case-sensitive", false);
        }
        if self.use_snapshot_schema {
            object.bool("use-snapshot-schema", true);
        }
        if !self.stats_fields.is_empty() {
            object.strings("stats-fields", &self.stats_fields);
        }
        if let Some(rows) = self.min_rows {
            object.int("min-rows-requested", rows);
        }
        object.finish();
    }
}

fn between(start: Option<i64>, end: Option<i64>) -> Result<Option<(i64, i64)>, Error> {
    match (start, end) {
        (None, None) => Ok(None),
        (Some(start), Some(end)) => Ok(Some((start, end))),
        _ => {
            let message = "Invalid incremental scan: start-snapshot-id and end-snapshot-id are both required";
            Err(Error::Invalid(message.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_its_token() {
        for text in [
            "{}",
            r#"{"snapshot-id":9007199254740993,"filter":{"type":"eq","term":"a","value":1.50}}"#,
            r#"{"start-snapshot-id":1,"end-snapshot-id":2,"case-sensitive":false,"use-snapshot-schema":true,"stats-fields":["a"],"min-rows-requested":5}"#,
        ] {
            let mut out = String::new();
            PlanRequest::parse(text.as_bytes()).unwrap().push_json(&mut out);
            assert_eq!(out, text);
        }
        let mut out = String::new();
        let sent = br#"{"select":["a"],"snapshot-id":null,"case-sensitive":true,"min-rows-requested":0,"new":1}"#;
        PlanRequest::parse(sent).unwrap().push_json(&mut out);
        assert_eq!(out, "{}");
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let bad = [
            r#"{"snapshot-id":1,"start-snapshot-id":1,"end-snapshot-id":2}"#,
            r#"{"start-snapshot-id":1}"#,
            r#"{"end-snapshot-id":1}"#,
            r#"{"snapshot-id":1.5}"#,
            r#"{"select":"a"}"#,
            r#"{"stats-fields":[1]}"#,
            r#"{"case-sensitive":"no"}"#,
            r#"{"min-rows-requested":-1}"#,
            "[]",
        ];
        let lines: Vec<_> =
            bad.iter().map(|text| PlanRequest::parse(text.as_bytes()).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        Invalid scan: cannot provide both snapshot-id and start-snapshot-id/end-snapshot-id
        Invalid incremental scan: start-snapshot-id and end-snapshot-id are both required
        Invalid incremental scan: start-snapshot-id and end-snapshot-id are both required
        Cannot parse to a long value: snapshot-id: 1.5
        Cannot parse JSON array from non-array value: select: "a"
        Cannot parse string from non-text value in stats-fields: 1
        Cannot parse to a boolean value: case-sensitive: "no"
        Invalid scan: min-rows-requested is negative
        Cannot parse JSON object: invalid type: sequence, expected an object at line 1 column 0
        "#);
    }
}
