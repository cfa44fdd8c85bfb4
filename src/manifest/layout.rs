//! Which columns of a file's schema are wanted: matched by field id, checked against the expected kind once, so that
//! rows are read without further questions.

use super::ParseError;
use super::container::Container;
use super::schema::{Field, Type};

/// A column that the Iceberg spec defines for manifest lists or manifests.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) id: i32,
    /// Names for files whose writer lost the field ids; the spec's first, then those of old writers.
    pub(super) names: &'static [&'static str],
    pub(super) shape: Shape,
    /// The file cannot be understood without it, in any format version.
    pub(super) required: bool,
}

/// What Avro types can hold a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Integer,
    Text,
    Bytes,
    Boolean,
    Array,
    Record,
    Any,
}

impl Shape {
    fn fits(self, of: &Type) -> bool {
        let of = of.unwrapped();
        match self {
            Self::Integer => matches!(of, Type::Int | Type::Long | Type::Null),
            Self::Text => matches!(of, Type::Text | Type::Null),
            Self::Bytes => matches!(of, Type::Bytes { .. } | Type::Fixed { .. } | Type::Null),
            Self::Boolean => matches!(of, Type::Boolean | Type::Null),
            Self::Array => matches!(of, Type::Array(_) | Type::Null),
            Self::Record => matches!(of, Type::Record(_)),
            Self::Any => true,
        }
    }
}

/// The fields of a record in the order they are written, each with the id of the column it is, if it is wanted.
#[derive(Debug)]
pub(super) struct Layout<'t> {
    pub(super) fields: Vec<(Option<i32>, &'t Type)>,
}

impl<'t> Layout<'t> {
    /// Matches `fields` with `columns`.
    pub(super) fn of(
        fields: &'t [Field],
        columns: &'static [Column],
        file: &Container<'_>,
    ) -> Result<Self, ParseError> {
        let wrong = |expected: String, found: String| ParseError::new(file.header_offset, expected, found);
        let by_name = fields.iter().all(|field| field.id.is_none());
        let mut matched = Vec::with_capacity(fields.len());
        for field in fields {
            let column = columns.iter().find(|column| {
                if by_name { column.names.contains(&field.name.as_str()) } else { field.id == Some(column.id) }
            });
            if let Some(column) = column
                && !column.shape.fits(&field.of)
            {
                let expected = format!("field {} ({}) of kind {:?}", column.id, column.name(), column.shape);
                return Err(wrong(expected, format!("Avro type {}", field.of.unwrapped().name())));
            }
            let id = column.map(|column| column.id);
            if id.is_some() && matched.iter().any(|(known, _)| *known == id) {
                return Err(wrong(format!("field {} once", id.unwrap_or_default()), "it twice".to_owned()));
            }
            matched.push((id, &field.of));
        }
        let layout = Self { fields: matched };
        match columns.iter().find(|column| column.required && !layout.has(column.id)) {
            Some(column) => {
                Err(wrong(format!("field {} ({}) in the schema", column.id, column.name()), "none".to_owned()))
            }
            None => Ok(layout),
        }
    }

    pub(super) fn has(&self, id: i32) -> bool {
        self.fields.iter().any(|(known, _)| *known == Some(id))
    }

    /// The type of a column.
    pub(super) fn type_of(&self, id: i32) -> Option<&'t Type> {
        self.fields.iter().find(|(known, _)| *known == Some(id)).map(|(_, of)| *of)
    }
}

/// A row of a column table.
pub(super) const fn column(id: i32, names: &'static [&'static str], shape: Shape, required: bool) -> Column {
    Column { id, names, shape, required }
}

impl Column {
    fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }
}

/// The fields of a record type.
pub(super) fn record_fields<'t>(of: &'t Type, file: &Container<'_>, what: &str) -> Result<&'t [Field], ParseError> {
    match of.unwrapped() {
        Type::Record(fields) => Ok(fields),
        other => Err(ParseError::new(file.header_offset, format!("an Avro record of {what}"), other.name())),
    }
}
