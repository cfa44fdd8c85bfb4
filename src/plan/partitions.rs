//! What a filter says about partitions: of a manifest by its summaries, of a file by its tuple.

use std::collections::HashMap;

use super::filter::{Asked, Filter, Residual};
use super::predicate::{Comparison, Range, Test};
use super::projection::{Projection, project};
use super::value::{decode, result_type};
use crate::manifest::{FieldSummary, Partition};
use crate::spec::{PartitionSpec, Primitive, Schema, TableMetadata, Type};

/// A partition spec, and what the leaves of a filter ask of its fields.
#[derive(Debug)]
pub(super) struct Spec<'a> {
    pub(super) spec: &'a PartitionSpec,
    /// The types of the fields' values, as far as they can be told.
    pub(super) types: Vec<Option<Primitive>>,
    /// By the leaves' numbers.
    leaves: HashMap<usize, Vec<Projected>>,
}

/// What a leaf asks of a partition field.
#[derive(Debug)]
struct Projected {
    /// The field's place in the spec.
    place: usize,
    field_id: i32,
    inclusive: Option<Test>,
    strict: Option<Test>,
}

impl<'a> Spec<'a> {
    pub(super) fn new(spec: &'a PartitionSpec, table: &TableMetadata, schema: &Schema, filter: &Filter) -> Self {
        let source = |id: i32| {
            let schemas = std::iter::once(schema).chain(table.schemas.iter().rev());
            schemas.into_iter().find_map(|schema| schema.find_field(id)).map(|field| field.field_type.clone())
        };
        let types = spec.fields.iter().map(|field| {
            let source: Option<Type> = field.source.ids().first().copied().and_then(source);
            result_type(&field.transform, source.as_ref())
        });
        let mut leaves = HashMap::new();
        visit(filter, &mut |asked| {
            leaves.insert(asked.number, projected(spec, asked));
        });
        Self { spec, types: types.collect(), leaves }
    }

    /// Whether a manifest may list files with rows that pass.
    pub(super) fn manifest_may_match(&self, filter: &Filter, summaries: Option<&[FieldSummary]>) -> bool {
        let Some(summaries) = summaries else { return true };
        filter.may_match(&mut |asked| {
            self.leaf(asked).iter().all(|projected| match (&projected.inclusive, summaries.get(projected.place)) {
                (Some(test), Some(summary)) => {
                    let of = self.types.get(projected.place).and_then(Option::as_ref);
                    summary_may_match(test, summary, of)
                }
                _ => true,
            })
        })
    }

    /// Whether a file of this partition may hold rows that pass.
    pub(super) fn may_match(&self, filter: &Filter, partition: &Partition) -> bool {
        filter.may_match(&mut |asked| {
            self.leaf(asked).iter().all(|projected| {
                let test = projected.inclusive.as_ref();
                test.and_then(|test| test.holds(partition.value(projected.field_id))) != Some(false)
            })
        })
    }

    /// What is left to test in a file of this partition.
    pub(super) fn residual(&self, filter: &Filter, partition: &Partition) -> Residual {
        filter.residual(&mut |asked| {
            let answer = |projected: &Projected| {
                let value = partition.value(projected.field_id);
                let holds = |test: &Option<Test>| test.as_ref().and_then(|test| test.holds(value));
                match (holds(&projected.strict), holds(&projected.inclusive)) {
                    (Some(true), _) => Some(true),
                    (_, Some(false)) => Some(false),
                    _ => None,
                }
            };
            self.leaf(asked).iter().find_map(answer)
        })
    }

    fn leaf(&self, asked: &Asked) -> &[Projected] {
        self.leaves.get(&asked.number).map_or(&[], Vec::as_slice)
    }
}

fn visit(filter: &Filter, each: &mut impl FnMut(&Asked)) {
    match filter {
        Filter::Constant(_) => {}
        Filter::And(left, right) | Filter::Or(left, right) => {
            visit(left, each);
            visit(right, each);
        }
        Filter::Leaf(leaf) => leaf.asked.iter().for_each(each),
    }
}

fn projected(spec: &PartitionSpec, asked: &Asked) -> Vec<Projected> {
    let fields = spec.fields.iter().enumerate().map(|(place, field)| Projected {
        place,
        field_id: field.field_id,
        inclusive: project(Projection::Inclusive, field, asked),
        strict: project(Projection::Strict, field, asked),
    });
    fields.filter(|projected| projected.inclusive.is_some() || projected.strict.is_some()).collect()
}

/// Whether one of the partition values that a manifest summarizes may answer yes.
fn summary_may_match(test: &Test, summary: &FieldSummary, of: Option<&Primitive>) -> bool {
    let floating = matches!(of, Some(Primitive::Float | Primitive::Double) | None);
    let no_nan = !floating || summary.contains_nan == Some(false);
    let unbounded = summary.lower_bound.is_none();
    let all_null = summary.contains_null && unbounded && no_nan;
    match test {
        Test::IsNull => summary.contains_null,
        Test::NotNull => !all_null,
        Test::IsNan => !all_null && summary.contains_nan != Some(false),
        Test::NotNan => !(summary.contains_nan == Some(true) && !summary.contains_null && unbounded),
        // Null is none of the values that these exclude.
        Test::Compare(Comparison::NotEqual, _) | Test::NotIn(_) | Test::NotStartsWith(_) if summary.contains_null => {
            true
        }
        Test::Compare(..) | Test::In(_) | Test::NotIn(_) | Test::StartsWith(_) | Test::NotStartsWith(_) => {
            let bound = |bytes: &Option<Box<[u8]>>| decode(of?, bytes.as_deref()?);
            let range = Range {
                lower: bound(&summary.lower_bound),
                upper: bound(&summary.upper_bound),
                only_values: !summary.contains_null && no_nan,
            };
            !all_null && test.may_hold_in(&range)
        }
    }
}
