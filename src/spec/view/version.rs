//! Versions of a view.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::value::RawValue;

use crate::spec::error::{Error, Result};
use crate::spec::json::{Object, ObjectWriter, Raw, shown};

/// One version of a view's query.
#[derive(Debug, Clone)]
pub struct ViewVersion {
    /// The version's number in its view.
    pub version_id: i32,
    /// When it was made, in milliseconds since 1970, by the client's clock.
    pub timestamp_ms: i64,
    /// The schema of its rows. In a request -1 means the one that was added last.
    pub schema_id: i32,
    /// Who made it, and whatever else the engine tells.
    pub summary: Vec<(String, String)>,
    /// The catalog of table names that name none.
    pub default_catalog: Option<String>,
    /// The namespace of table names that name none; it may have no levels.
    pub default_namespace: Vec<String>,
    /// The query, in one dialect or several.
    pub representations: Vec<Representation>,
    rest: Object,
}

/// The query of a view in one form.
#[derive(Debug, Clone)]
pub enum Representation {
    /// SQL text.
    Sql {
        /// The query.
        sql: String,
        /// The engine's name for its SQL; compared in any case.
        dialect: String,
        /// Members that are not known.
        rest: Object,
    },
    /// A form that is not known. Kept when read, refused when added.
    Other {
        /// Its `type`, as written.
        kind: String,
        /// All of it.
        raw: Raw,
    },
}

/// When a version became current.
#[derive(Debug, Clone)]
pub struct VersionLogEntry {
    /// Milliseconds since 1970.
    pub timestamp_ms: i64,
    /// The version; it may have been dropped since.
    pub version_id: i32,
    rest: Object,
}

impl ViewVersion {
    pub(super) fn parse(raw: &RawValue) -> Result<Self> {
        let mut object = object_of("view version", raw)?;
        Ok(Self {
            version_id: object.required_i32("version-id")?,
            schema_id: object.required_i32("schema-id")?,
            timestamp_ms: object.required_i64("timestamp-ms")?,
            summary: object.required_string_map("summary")?,
            representations: super::each(&mut object, "representations", Representation::parse)?,
            default_catalog: object.optional_str("default-catalog")?,
            default_namespace: object.required_strings("default-namespace")?,
            rest: object,
        })
    }

    pub(super) fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.int("version-id", self.version_id);
        object.int("timestamp-ms", self.timestamp_ms);
        object.int("schema-id", self.schema_id);
        object.string_map("summary", self.summary.iter().map(|(key, value)| (key, value)));
        if let Some(catalog) = &self.default_catalog {
            object.str("default-catalog", catalog);
        }
        object.strings("default-namespace", &self.default_namespace);
        object.array("representations", &self.representations, |out, representation| representation.write(out));
        object.rest(&self.rest);
        object.finish();
    }

    /// Whether both are the same but for their numbers and times.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        fn summary(version: &ViewVersion) -> BTreeMap<&str, &str> {
            version.summary.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
        }
        self.schema_id == other.schema_id
            && self.default_catalog == other.default_catalog
            && self.default_namespace == other.default_namespace
            && self.representations == other.representations
            && summary(self) == summary(other)
            && self.rest == other.rest
    }

    /// The dialects of its SQL, in lower case.
    pub(super) fn dialects(&self) -> BTreeSet<String> {
        self.representations.iter().filter_map(Representation::dialect).collect()
    }

    /// Whether it can be added: SQL of every dialect at most once, and no form that Java could not write.
    pub(super) fn check_representations(&self) -> Result<()> {
        let mut dialects = HashSet::new();
        for representation in &self.representations {
            match representation.dialect() {
                Some(dialect) => {
                    if let Some(twice) = dialects.replace(dialect) {
                        let message = format!("Invalid view version: Cannot add multiple queries for dialect {twice}");
                        return Err(Error::IllegalArgument(message));
                    }
                }
                None => return Err(unsupported(&self.representations)),
            }
        }
        Ok(())
    }
}

fn unsupported(representations: &[Representation]) -> Error {
    let kinds: BTreeSet<_> = representations
        .iter()
        .filter_map(|representation| match representation {
            Representation::Sql { .. } => None,
            Representation::Other { kind, .. } => Some(kind.as_str()),
        })
        .collect();
    let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
    Error::invalid(format!("Found unsupported view representations: [{kinds}]"))
}

impl Representation {
    fn parse(raw: &RawValue) -> Result<Self> {
        let mut object = object_of("view representation", raw)?;
        let kind = object.required_str("type")?;
        if !kind.eq_ignore_ascii_case("sql") {
            return Ok(Self::Other { kind, raw: raw.to_owned() });
        }
        Ok(Self::Sql { sql: object.required_str("sql")?, dialect: object.required_str("dialect")?, rest: object })
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Other { raw, .. } => out.push_str(raw.get()),
            Self::Sql { sql, dialect, rest } => {
                let mut object = ObjectWriter::new(out);
                object.str("type", "sql");
                object.str("sql", sql);
                object.str("dialect", dialect);
                object.rest(rest);
                object.finish();
            }
        }
    }

    /// The dialect of SQL in lower case; `None` for a form that is not known.
    fn dialect(&self) -> Option<String> {
        match self {
            Self::Sql { dialect, .. } => Some(dialect.to_lowercase()),
            Self::Other { .. } => None,
        }
    }
}

impl PartialEq for Representation {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sql { sql, dialect, rest }, Self::Sql { sql: sql2, dialect: dialect2, rest: rest2 }) => {
                sql == sql2 && dialect == dialect2 && rest == rest2
            }
            (Self::Other { raw, .. }, Self::Other { raw: raw2, .. }) => raw.get() == raw2.get(),
            _ => false,
        }
    }
}

impl VersionLogEntry {
    pub(super) fn new(timestamp_ms: i64, version_id: i32) -> Self {
        Self { timestamp_ms, version_id, rest: Object::default() }
    }

    pub(super) fn parse(raw: &RawValue) -> Result<Self> {
        let mut object = object_of("view history entry", raw)?;
        Ok(Self {
            version_id: object.required_i32("version-id")?,
            timestamp_ms: object.required_i64("timestamp-ms")?,
            rest: object,
        })
    }

    pub(super) fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::new(out);
        object.int("timestamp-ms", self.timestamp_ms);
        object.int("version-id", self.version_id);
        object.rest(&self.rest);
        object.finish();
    }
}

fn object_of(what: &str, raw: &RawValue) -> Result<Object> {
    if !raw.get().starts_with('{') {
        return Err(Error::invalid(format!("Cannot parse {what} from non-object: {}", shown(raw))));
    }
    Object::parse_raw(raw)
}
