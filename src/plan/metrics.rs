//! Whether a file may hold rows that a predicate holds for, by the statistics of its columns.

use super::filter::Asked;
use super::predicate::{Comparison, Range, Test};
use super::transform::{apply, preserves_order};
use super::value::{decode, is_nan};
use crate::manifest::{Counts, DataFile, Details, Value};
use crate::spec::Primitive;

/// Whether some row of the file may pass.
pub(super) fn may_match(asked: &Asked, file: &DataFile) -> bool {
    let (Some(test), Some(details)) = (&asked.widened, &file.details) else { return true };
    let column = Column { asked, details };
    let reference = asked.transform.is_none();
    match test {
        // Only a transform that keeps the order gives a value for every value.
        Test::IsNull => !asked.transform.as_ref().is_none_or(preserves_order) || column.may_have_nulls(),
        Test::NotNull => !column.has_only_nulls(),
        Test::IsNan => !column.has_only_nulls() && (!reference || column.may_have_nans()),
        Test::NotNan => !reference || !column.has_only_nans(),
        Test::StartsWith(_) if column.has_only_nulls() => false,
        Test::StartsWith(_) if !reference => true,
        Test::Compare(Comparison::NotEqual, _) | Test::NotIn(_) | Test::NotStartsWith(_) | Test::StartsWith(_) => {
            test.may_hold_in(&column.range())
        }
        Test::Compare(..) | Test::In(_) => {
            !column.has_only_nulls() && !column.has_only_nans() && test.may_hold_in(&column.range())
        }
    }
}

/// The statistics of one column.
struct Column<'a> {
    asked: &'a Asked,
    details: &'a Details,
}

impl Column<'_> {
    fn count(&self, counts: Option<&Counts>) -> Option<i64> {
        counts?.get(self.asked.field_id)
    }

    fn values(&self) -> Option<i64> {
        self.count(self.details.value_counts.as_ref())
    }

    fn nulls(&self) -> Option<i64> {
        self.count(self.details.null_value_counts.as_ref())
    }

    fn nans(&self) -> Option<i64> {
        self.count(self.details.nan_value_counts.as_ref())
    }

    fn may_have_nulls(&self) -> bool {
        self.nulls() != Some(0)
    }

    fn may_have_nans(&self) -> bool {
        self.nans() != Some(0)
    }

    fn has_only_nulls(&self) -> bool {
        self.nulls().is_some() && self.nulls() == self.values()
    }

    fn has_only_nans(&self) -> bool {
        self.nans().is_some() && self.nans() == self.values()
    }

    fn range(&self) -> Range {
        let Some(of) = &self.asked.of else { return Range::default() };
        let id = self.asked.field_id;
        let bound = |bytes: Option<&[u8]>| self.bound(of, bytes?);
        let floating = matches!(of, Primitive::Float | Primitive::Double);
        Range {
            lower: bound(self.details.lower_bounds.as_ref().and_then(|bounds| bounds.get(id))),
            upper: bound(self.details.upper_bounds.as_ref().and_then(|bounds| bounds.get(id))),
            only_values: !self.may_have_nulls() && !(floating && self.may_have_nans()),
        }
    }

    /// A bound, transformed. One that is NaN says nothing: some writers of ORC put it there beside other values.
    fn bound(&self, of: &Primitive, bytes: &[u8]) -> Option<Value> {
        let bound = decode(of, bytes).filter(|bound| !is_nan(bound))?;
        match &self.asked.transform {
            None => Some(bound),
            Some(transform) if preserves_order(transform) => apply(transform, of, &bound),
            Some(_) => None,
        }
    }
}
