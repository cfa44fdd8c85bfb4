//! Rules that only a look at a whole table can break: they apply to tables at rest, not to commits.

use crate::validate::level::Level::Warn;

use super::{Check, Reads, Rule};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "next-row-id-behind",
    level: Warn,
    statement: "a table at rest has a next-row-id above every row id that its files have",
    protects: "The next commit gives ids to rows that other rows have already.",
    source: "spec: Row Lineage, next-row-id",
    reads: Reads::WholeTable,
    broken_by: "catalogs that count by added-rows alone",
    check: Check::AtRest,
}];
