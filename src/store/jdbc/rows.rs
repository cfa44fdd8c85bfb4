//! Rows of other people's databases. `SQLite` takes anything in any column, so its rows are read one by one: one that
//! cannot be read is a [`BadRow`], and the others are read all the same.

use sqlx::any::{AnyRow, AnyTypeInfoKind};
use sqlx::{Row, ValueRef, query};

use super::super::error::{Error, Result};
use super::super::text::{number, text};
use super::super::tx::{Query, within};
use super::Source;

/// How many rows are read at a time.
const PAGE: i64 = 1000;

/// A row in which something is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Which one: `row 7 of iceberg_tables (table_namespace a)`.
    pub row: String,
    /// What was expected of which column, and what was found.
    pub why: String,
}

/// A part of a list, and where the next one begins. The last part is empty.
#[derive(Debug)]
pub struct Part<T> {
    /// What was found.
    pub rows: Vec<std::result::Result<T, BadRow>>,
    /// After what the next part begins.
    pub next: Option<Position>,
}

/// A place in the order in which a table is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// A row id of `SQLite`.
    Row(i64),
    /// The namespace, and what follows it in the key.
    Key(String, String),
}

/// How one table of a catalog is read.
pub(super) struct Reads {
    table: &'static str,
    /// Its key; the catalog comes first.
    key: [&'static str; 3],
    /// Further columns, which may hold nothing.
    others: &'static [&'static str],
    /// What PostgreSQL is asked: its primary key holds texts alone.
    page: &'static str,
    /// What `SQLite` is asked, and what of each row.
    ids: &'static str,
    row: &'static str,
}

// Every column, because only version 1 has them all.
pub(super) const TABLES: Reads = Reads {
    table: "iceberg_tables",
    key: ["catalog_name", "table_namespace", "table_name"],
    others: &["metadata_location", "iceberg_type"],
    page: "
        SELECT * FROM iceberg_tables
        WHERE catalog_name = $1 AND (table_namespace, table_name) > ($2, $3)
        ORDER BY table_namespace, table_name LIMIT $4",
    ids: "
        SELECT rowid AS id FROM iceberg_tables
        WHERE (catalog_name = $1 OR typeof(catalog_name) <> 'text') AND rowid > $2 ORDER BY rowid LIMIT $3",
    row: "SELECT * FROM iceberg_tables WHERE rowid = $1",
};

pub(super) const PROPERTIES: Reads = Reads {
    table: "iceberg_namespace_properties",
    key: ["catalog_name", "namespace", "property_key"],
    others: &["property_value"],
    page: "
        SELECT * FROM iceberg_namespace_properties
        WHERE catalog_name = $1 AND (namespace, property_key) > ($2, $3)
        ORDER BY namespace, property_key LIMIT $4",
    ids: "
        SELECT rowid AS id FROM iceberg_namespace_properties
        WHERE (catalog_name = $1 OR typeof(catalog_name) <> 'text') AND rowid > $2 ORDER BY rowid LIMIT $3",
    row: "SELECT * FROM iceberg_namespace_properties WHERE rowid = $1",
};

impl Source {
    /// The next rows of a table, in an order of its own.
    pub(super) async fn part<T>(
        &self,
        reads: &Reads,
        catalog: &str,
        after: Option<&Position>,
        read: fn(&AnyRow) -> Result<T>,
    ) -> Result<Part<T>> {
        if self.is_sqlite {
            return self.part_of_sqlite(reads, catalog, after, read).await;
        }
        let [_, first, second] = reads.key;
        let (namespace, name) = match after {
            Some(Position::Key(namespace, name)) => (namespace.as_str(), name.as_str()),
            _ => ("", ""),
        };
        let rows = self.rows(query(reads.page).bind(catalog).bind(namespace).bind(name).bind(PAGE)).await?;
        let key = |last: &AnyRow| Ok::<_, Error>(Position::Key(text(last, first)?, text(last, second)?));
        let next = rows.last().map(key).transpose()?;
        Ok(Part { rows: rows.iter().map(|row| read(row).map(Ok)).collect::<Result<_>>()?, next })
    }

    async fn part_of_sqlite<T>(
        &self,
        reads: &Reads,
        catalog: &str,
        after: Option<&Position>,
        read: fn(&AnyRow) -> Result<T>,
    ) -> Result<Part<T>> {
        let after = if let Some(Position::Row(id)) = after { *id } else { i64::MIN };
        let ids = self.rows(query(reads.ids).bind(catalog).bind(after).bind(PAGE)).await?;
        let ids = ids.iter().map(|row| number(row, "id")).collect::<Result<Vec<_>>>()?;
        let mut rows = Vec::with_capacity(ids.len());
        for id in &ids {
            match within(query(reads.row).bind(*id).fetch_optional(&self.pool)).await.map_err(undecoded) {
                // Deleted a moment ago.
                Ok(None) => {}
                Ok(Some(row)) => rows.push(match reads.bad(*id, &row) {
                    Some(bad) => Err(bad),
                    None => Ok(read(&row)?),
                }),
                Err(Ok(found)) => {
                    let row = format!("row {id} of {}", reads.table);
                    rows.push(Err(BadRow { row, why: format!("expected text, found {found}") }));
                }
                Err(Err(error)) => return Err(error.into()),
            }
        }
        Ok(Part { rows, next: ids.last().copied().map(Position::Row) })
    }

    async fn rows(&self, query: Query<'_>) -> Result<Vec<AnyRow>> {
        Ok(within(query.fetch_all(&self.pool)).await?)
    }
}

impl Reads {
    /// What is wrong with a row, if a cell is no text.
    fn bad(&self, id: i64, row: &AnyRow) -> Option<BadRow> {
        let key = self.key.iter().map(|column| (column, no_text(row, column)));
        let others = self.others.iter().map(|column| (column, no_text(row, column).filter(|found| *found != "null")));
        let (column, found) = key.clone().chain(others).find_map(|(column, found)| Some((column, found?)))?;
        let named = key.filter(|(_, found)| found.is_none());
        let named: Vec<_> =
            named.filter_map(|(column, _)| Some(format!("{column} {}", text(row, column).ok()?))).collect();
        let row = format!("row {id} of {} ({})", self.table, named.join(", "));
        Some(BadRow { row, why: format!("{column}: expected text, found {found}") })
    }
}

/// What a cell holds, if that is no text. A column that is not there holds nothing of another kind.
pub(super) fn no_text(row: &AnyRow, column: &str) -> Option<&'static str> {
    let cell = row.try_get_raw(column).ok()?;
    if cell.is_null() {
        return Some("null");
    }
    match cell.type_info().kind() {
        AnyTypeInfoKind::Text => None,
        AnyTypeInfoKind::Blob => Some("blob"),
        AnyTypeInfoKind::Real | AnyTypeInfoKind::Double => Some("real"),
        _ => Some("integer"),
    }
}

/// What a row holds that cannot be read; or the error, if it is another one.
pub(super) fn undecoded(error: sqlx::Error) -> std::result::Result<String, sqlx::Error> {
    match error {
        sqlx::Error::Decode(source) | sqlx::Error::ColumnDecode { source, .. } => Ok(source.to_string()),
        error => Err(error),
    }
}
