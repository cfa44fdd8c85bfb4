//! Sort orders: by which columns the rows of a file are sorted (spec.md 2.3).

use std::collections::HashMap;
use std::fmt;

use serde_json::value::RawValue;

use super::error::{Error, Result};
use super::json::{Object, ObjectWriter, Raw, elements, raw_from_valid, shown};
use super::partition::Source;
use super::schema::Schema;
use super::transform::Transform;

/// The number of the order that has no fields.
pub const UNSORTED_ID: i32 = 0;

/// A sort order.
#[derive(Debug, Clone)]
pub struct SortOrder {
    /// The order's number in its table; 0 for unsorted and only for that.
    pub order_id: i32,
    /// The fields, most significant first.
    pub fields: Vec<SortField>,
    rest: Object,
}

/// A field of a sort order.
#[derive(Debug, Clone)]
pub struct SortField {
    /// The column or columns it is made of.
    pub source: Source,
    /// How it is made.
    pub transform: Transform,
    /// Small values first, or large ones.
    pub direction: SortDirection,
    /// Nulls first, or last.
    pub null_order: NullOrder,
    rest: Object,
}

/// Which values come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortDirection {
    /// Small values.
    Ascending,
    /// Large values.
    Descending,
}

/// Where nulls come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullOrder {
    /// Before all values.
    First,
    /// After all values.
    Last,
}

impl SortOrder {
    /// The order without fields.
    pub fn unsorted() -> Self {
        Self { order_id: UNSORTED_ID, fields: Vec::new(), rest: Object::default() }
    }

    /// Reads a sort order of a metadata file.
    ///
    /// # Errors
    /// [`Error::Invalid`] that says what is missing or wrong, and if 0 is the number of an order with fields, or
    /// another number that of an order without.
    pub fn parse(raw: &RawValue) -> Result<Self> {
        let has_id = Object::parse_raw(raw).is_ok_and(|object| object.has("order-id"));
        let order = Self::parse_unbound(raw)?;
        if !has_id {
            return Err(Error::invalid("Cannot parse missing int: order-id"));
        }
        Ok(order)
    }

    /// Reads a sort order of a request, which may leave out its number.
    ///
    /// # Errors
    /// As [`SortOrder::parse`].
    pub fn parse_unbound(raw: &RawValue) -> Result<Self> {
        if !raw.get().starts_with('{') {
            return Err(Error::invalid(format!("Cannot parse sort order from non-object: {}", shown(raw))));
        }
        let mut object = Object::parse_raw(raw)?;
        let order_id = object.present_i32("order-id")?;
        let fields = object.required_raw("fields")?;
        if !fields.get().starts_with('[') {
            return Err(Error::invalid(format!("Cannot parse sort order fields, not an array: {}", shown(&fields))));
        }
        let fields =
            elements("fields", &fields)?.iter().map(|field| SortField::read(field)).collect::<Result<Vec<_>>>()?;
        match (fields.is_empty(), order_id) {
            (true, Some(id)) if id != UNSORTED_ID => Err(Error::invalid("Unsorted order ID must be 0")),
            (false, Some(UNSORTED_ID)) => Err(Error::invalid("Sort order ID 0 is reserved for unsorted order")),
            (true, _) => Ok(Self { order_id: UNSORTED_ID, fields, rest: object }),
            (false, id) => Ok(Self { order_id: id.unwrap_or(UNSORTED_ID + 1), fields, rest: object }),
        }
    }

    /// The order's JSON.
    pub fn to_json(&self) -> Raw {
        let mut out = String::new();
        self.write(&mut out);
        raw_from_valid(out)
    }

    /// Appends the order's JSON.
    pub(super) fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.int("order-id", self.order_id);
        object.array("fields", &self.fields, |out, field| field.write(out));
        object.rest(&self.rest);
        object.finish();
    }

    /// This order under another number. The order without fields keeps 0.
    pub fn with_id(mut self, order_id: i32) -> Self {
        self.order_id = if self.fields.is_empty() { UNSORTED_ID } else { order_id };
        self
    }

    /// Whether it has no fields.
    pub fn is_unsorted(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether both sort alike, whatever their numbers.
    pub fn same_as(&self, other: &Self) -> bool {
        let alike = |one: &SortField, other: &SortField| {
            one.source == other.source
                && one.transform == other.transform
                && one.direction == other.direction
                && one.null_order == other.null_order
        };
        self.fields.len() == other.fields.len() && self.fields.iter().zip(&other.fields).all(|(a, b)| alike(a, b))
    }

    /// The same order over a schema whose field ids were changed: every source moves with its column.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a source is no column of the old schema.
    pub fn with_sources(mut self, new_of_old: &HashMap<i32, i32>) -> Result<Self> {
        for field in &mut self.fields {
            field.source = field.source.mapped(new_of_old).ok_or_else(|| missing_source(field))?;
        }
        Ok(self)
    }

    /// Whether the order may be added to a table whose current schema is this.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the text of the first problem (spec.md 2.3).
    pub fn check_against(&self, schema: &Schema) -> Result<()> {
        self.fields.iter().try_for_each(|field| field.source.check_single())?;
        self.check_sources(schema)
    }

    /// Whether every field has a source of a type it can transform. Java demands it of the default order when it
    /// reads a table.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the text of the first problem.
    pub fn check_sources(&self, schema: &Schema) -> Result<()> {
        self.fields.iter().try_for_each(|field| field.check_source(schema))
    }
}

impl SortField {
    fn read(raw: &RawValue) -> Result<Self> {
        if !raw.get().starts_with('{') {
            return Err(Error::invalid(format!("Cannot parse sort field, not an object: {}", shown(raw))));
        }
        let mut object = Object::parse_raw(raw)?;
        Ok(Self {
            transform: Transform::parse(&object.required_str("transform")?)?,
            source: Source::read(&mut object)?,
            direction: SortDirection::parse(&object.required_str("direction")?)?,
            null_order: NullOrder::parse(&object.required_str("null-order")?)?,
            rest: object,
        })
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.str("transform", &self.transform.to_string());
        self.source.write(&mut object);
        object.str("direction", if self.direction == SortDirection::Ascending { "asc" } else { "desc" });
        object.str("null-order", if self.null_order == NullOrder::First { "nulls-first" } else { "nulls-last" });
        object.rest(&self.rest);
        object.finish();
    }

    fn check_source(&self, schema: &Schema) -> Result<()> {
        for id in self.source.ids() {
            let Some(column) = schema.find_field(*id) else { return Err(missing_source(self)) };
            let source_type = &column.field_type;
            if !source_type.is_primitive() {
                return Err(Error::invalid(format!("Cannot sort by non-primitive source field: {source_type}")));
            }
            if !self.transform.can_transform(source_type) {
                let message = format!("Invalid source type {source_type} for transform: {}", self.transform);
                return Err(Error::Invalid(message));
            }
        }
        Ok(())
    }
}

fn missing_source(field: &SortField) -> Error {
    Error::invalid(format!("Cannot find source column for sort field: {field}"))
}

impl SortDirection {
    fn parse(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "asc" => Ok(Self::Ascending),
            "desc" => Ok(Self::Descending),
            _ => Err(Error::invalid(format!("Invalid sort direction: {text}"))),
        }
    }
}

impl NullOrder {
    fn parse(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "nulls-first" => Ok(Self::First),
            "nulls-last" => Ok(Self::Last),
            _ => Err(Error::invalid(format!("Unexpected null order: {text}"))),
        }
    }
}

/// The field as error messages print it: `identity(1) ASC NULLS FIRST`.
impl fmt::Display for SortField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.direction == SortDirection::Ascending { "ASC" } else { "DESC" };
        let nulls = if self.null_order == NullOrder::First { "FIRST" } else { "LAST" };
        write!(f, "{}({}) {direction} NULLS {nulls}", self.transform, self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        serde_json::from_str(text).unwrap()
    }

    fn field(source: i32, transform: &str) -> String {
        format!(r#"{{"source-id":{source},"transform":"{transform}","direction":"ASC","null-order":"Nulls-Last"}}"#)
    }

    fn order(fields: &str) -> SortOrder {
        SortOrder::parse(&raw(&format!(r#"{{"order-id":1,"fields":[{fields}]}}"#))).unwrap()
    }

    #[test]
    fn orders_keep_what_they_do_not_know() {
        let text = r#"{"x-order":1.0,"order-id":2,"fields":[{"x-field":{ },"direction":"DESC","transform":"zorder",
            "null-order":"NULLS-FIRST","source-ids":[1, 2]}]}"#;
        insta::assert_snapshot!(SortOrder::parse(&raw(text)).unwrap().to_json(), @r#"{"order-id":2,"fields":[{"transform":"zorder","source-ids":[1,2],"direction":"desc","null-order":"nulls-first","x-field":{ }}],"x-order":1.0}"#);
    }

    #[test]
    fn wrong_orders_are_refused() {
        let bad = [
            "1",
            r#"{"fields":[]}"#,
            r#"{"order-id":1,"fields":[]}"#,
            r#"{"order-id":1,"fields":7}"#,
            r#"{"order-id":1,"fields":[7]}"#,
            r#"{"order-id":0,"fields":[{"source-id":1,"transform":"day","direction":"asc","null-order":"nulls-last"}]}"#,
            r#"{"order-id":1,"fields":[{"source-id":1,"transform":"day","direction":"up","null-order":"nulls-last"}]}"#,
            r#"{"order-id":1,"fields":[{"source-id":1,"transform":"day","direction":"asc","null-order":"last"}]}"#,
            r#"{"order-id":1,"fields":[{"transform":"day","direction":"asc","null-order":"nulls-last"}]}"#,
        ];
        let lines: Vec<_> = bad.iter().map(|text| SortOrder::parse(&raw(text)).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        Cannot parse sort order from non-object: 1
        Cannot parse missing int: order-id
        Unsorted order ID must be 0
        Cannot parse sort order fields, not an array: 7
        Cannot parse sort field, not an object: 7
        Sort order ID 0 is reserved for unsorted order
        Invalid sort direction: up
        Unexpected null order: last
        Cannot parse missing int: source-id
        "#);
    }

    #[test]
    fn requests_may_leave_out_the_number() {
        assert_eq!(SortOrder::parse_unbound(&raw(r#"{"fields":[]}"#)).unwrap().order_id, 0);
        let sorted = SortOrder::parse_unbound(&raw(&format!(r#"{{"fields":[{}]}}"#, field(1, "day")))).unwrap();
        assert_eq!(sorted.order_id, 1);
        assert_eq!(SortOrder::unsorted().with_id(5).order_id, 0);
    }

    #[test]
    fn orders_are_checked_with_javas_texts() {
        let schema =
            Schema::parse(&raw(r#"{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"long"},
            {"id":2,"name":"v","required":false,"type":"variant"}]}"#))
            .unwrap();
        let check = |fields: &str| order(fields).check_against(&schema);
        assert_eq!(check(&field(1, "bucket[2]")), Ok(()));
        let lines = [check(&field(9, "identity")), check(&field(2, "identity")), check(&field(1, "hour"))];
        let lines: Vec<_> = lines.into_iter().map(|line| line.unwrap_err().to_string()).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        Cannot find source column for sort field: identity(9) ASC NULLS LAST
        Cannot sort by non-primitive source field: variant
        Invalid source type long for transform: hour
        "#);
    }

    #[test]
    fn equal_orders_differ_in_their_number_only() {
        let one = order(&field(1, "day"));
        assert!(one.same_as(&order(&field(1, "DAY")).with_id(7)));
        assert!(!one.same_as(&order(&field(2, "day"))));
        assert!(!one.same_as(&order(&field(1, "day").replace("ASC", "desc"))));
        assert!(!one.same_as(&order(&field(1, "day").replace("Last", "first"))));
        assert!(!one.same_as(&SortOrder::unsorted()));
    }
}
