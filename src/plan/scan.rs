//! A request resolved against a table: which snapshots, which schema, which filter.

use std::collections::{HashMap, HashSet};

use super::Error;
use super::bind::{Columns, bind};
use super::expression::Expression;
use super::filter::Filter;
use super::partitions::Spec;
use super::request::PlanRequest;
use super::token::Token;
use crate::spec::{Schema, Snapshot, TableMetadata};

/// What is read of a table.
#[derive(Debug)]
pub struct Scan<'a> {
    pub(super) table: &'a TableMetadata,
    pub(super) request: PlanRequest,
    pub(super) of: Snapshots<'a>,
    pub(super) filter: Filter,
    pub(super) specs: HashMap<i32, Spec<'a>>,
    /// The columns whose statistics the client wants.
    pub(super) stats: HashSet<i32>,
    pub(super) range: Range,
    /// Whether it is the part that a plan task stands for.
    pub(super) is_task: bool,
}

/// The snapshots that are scanned.
#[derive(Debug)]
pub(super) enum Snapshots<'a> {
    /// The table has none.
    None,
    /// The rows of one.
    One(&'a Snapshot),
    /// The files that these added, oldest first.
    Appends(Vec<&'a Snapshot>),
}

/// Manifests of a scan, by their places: from an entry of the first to the end of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) manifest: usize,
    /// The first entry (of those that are live) of the first manifest.
    pub(super) entry: usize,
    /// The first manifest that is not part of it.
    pub(super) end: usize,
}

impl Range {
    const ALL: Self = Self { manifest: 0, entry: 0, end: usize::MAX };
}

impl<'a> Scan<'a> {
    /// Resolves a request.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it names a snapshot or a column that the table does not have, or its filter is wrong.
    pub fn new(table: &'a TableMetadata, request: PlanRequest) -> Result<Self, Error> {
        Self::resolve(table, request, None)
    }

    /// The scan that a plan id stands for.
    ///
    /// # Errors
    /// [`Error::NoSuchPlan`] if it is none of this server's, or of another table, or of a snapshot that is gone.
    pub fn of_plan_id(table: &'a TableMetadata, id: &str) -> Result<Self, Error> {
        let missing = || Error::NoSuchPlan(id.to_owned());
        let token = Token::decode(id).filter(|token| token.table_uuid == table.table_uuid && token.range.is_none());
        Self::resolve(table, token.ok_or_else(missing)?.request, None).map_err(|_| missing())
    }

    /// The part of a scan that a plan task stands for.
    ///
    /// # Errors
    /// [`Error::NoSuchTask`] if it is none of this server's, or of another table, or of a snapshot that is gone.
    pub fn of_plan_task(table: &'a TableMetadata, task: &str) -> Result<Self, Error> {
        let missing = || Error::NoSuchTask(task.to_owned());
        let token = Token::decode(task).filter(|token| token.table_uuid == table.table_uuid).ok_or_else(missing)?;
        let range = token.range.ok_or_else(missing)?;
        Self::resolve(table, token.request, Some(range)).map_err(|_| missing())
    }

    fn resolve(table: &'a TableMetadata, mut request: PlanRequest, range: Option<Range>) -> Result<Self, Error> {
        let of = match (request.snapshot_id, request.between) {
            (Some(id), _) => Snapshots::One(snapshot(table, id)?),
            (None, Some((start, end))) => Snapshots::Appends(appends(table, start, end)?),
            (None, None) => table.current_snapshot().map_or(Snapshots::None, Snapshots::One),
        };
        let last = match &of {
            Snapshots::None => None,
            Snapshots::One(snapshot) => Some(*snapshot),
            Snapshots::Appends(_) => request.between.and_then(|(_, end)| table.snapshot(end)),
        };
        let schema = schema(table, last.filter(|_| request.use_snapshot_schema))?;
        if let Snapshots::One(snapshot) = &of {
            // A later commit must not move what the tokens of this plan stand for.
            request.snapshot_id = Some(snapshot.snapshot_id);
        }
        let columns = Columns::of(schema, !request.case_insensitive);
        let filter = match &request.filter {
            Some(raw) => {
                let json = serde_json::from_str(raw.get());
                let json = json.map_err(|error| Error::Invalid(format!("filter: {error}")))?;
                bind(Expression::parse(json, "filter")?, &columns)?
            }
            None => Filter::Constant(true),
        };
        let specs = table.partition_specs.iter().map(|spec| (spec.spec_id, Spec::new(spec, table, schema, &filter)));
        let specs = specs.collect();
        // Engines also name columns that no table has, such as `_file`: there are no statistics of those.
        let stats = request.stats_fields.iter().filter_map(|name| Some(columns.find(name).ok()?.id)).collect();
        let (is_task, range) = (range.is_some(), range.unwrap_or(Range::ALL));
        Ok(Self { table, request, of, filter, specs, stats, range, is_task })
    }

    /// The spec with this id.
    pub(super) fn spec(&self, spec_id: i32) -> Result<&Spec<'a>, Error> {
        self.specs.get(&spec_id).ok_or_else(|| Error::Corrupt(format!("the table has no partition spec {spec_id}")))
    }

    /// The token of this scan: of a part of it, or of the whole.
    pub(super) fn token(&self, range: Option<Range>) -> Token {
        Token { table_uuid: self.table.table_uuid.clone(), request: self.request.clone(), range }
    }
}

fn snapshot(table: &TableMetadata, id: i64) -> Result<&Snapshot, Error> {
    table.snapshot(id).ok_or_else(|| Error::Invalid(format!("Cannot find snapshot with ID {id}")))
}

fn schema<'a>(table: &'a TableMetadata, of: Option<&Snapshot>) -> Result<&'a Schema, Error> {
    let then = of.and_then(|snapshot| table.schema(snapshot.schema_id?));
    then.or_else(|| table.current_schema()).ok_or_else(|| Error::Corrupt("the table has no current schema".to_owned()))
}

/// The snapshots after `start`, up to `end`, that only added files. Others may have rewritten or removed rows: as in
/// Iceberg's own incremental scan, they are passed over.
fn appends(table: &TableMetadata, start: i64, end: i64) -> Result<Vec<&Snapshot>, Error> {
    let mut found = Vec::new();
    let mut at = Some(snapshot(table, end)?);
    let by_id: HashMap<i64, &Snapshot> = table.snapshots.iter().map(|one| (one.snapshot_id, one)).collect();
    for _ in 0..=by_id.len() {
        let Some(one) = at else { break };
        if one.snapshot_id == start {
            found.reverse();
            return Ok(found);
        }
        if one.operation.as_deref() == Some("append") {
            found.push(one);
        }
        if one.parent_snapshot_id == Some(start) {
            found.reverse();
            return Ok(found);
        }
        at = one.parent_snapshot_id.and_then(|parent| by_id.get(&parent).copied());
    }
    Err(Error::Invalid(format!("Starting snapshot (exclusive) {start} is not a parent ancestor of end snapshot {end}")))
}
