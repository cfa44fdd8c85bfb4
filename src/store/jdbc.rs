//! Other people's databases: the tables of Iceberg's `JdbcCatalog` and of `PyIceberg`'s `SqlCatalog`, which are the same.
//! They are read, and never written.
//!
//! Version 1 of their schema has a column `iceberg_type`, `TABLE` or `VIEW`; version 0 has tables alone.

mod rows;

use std::collections::BTreeMap;
use std::str::FromStr;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions, AnyRow};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor, Row, query};

use super::db::configuration;
use super::error::{Error, Result};
use super::text::{optional_text, text};
use super::tx::within;
pub use rows::{BadRow, Part, Position};
use rows::{PROPERTIES, TABLES, no_text, undecoded};

/// Most properties of namespaces that are taken into memory.
const MOST_PROPERTIES: usize = 1_000_000;

/// A row of `iceberg_tables`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTable {
    /// Levels joined by dots.
    pub namespace: String,
    /// The table's or view's name.
    pub name: String,
    /// Its metadata file.
    pub metadata_location: Option<String>,
    /// `TABLE`, `VIEW`, or nothing where the schema or the row does not say.
    pub kind: Option<String>,
}

/// A database that holds catalogs.
#[derive(Debug)]
pub struct Source {
    pool: AnyPool,
    is_sqlite: bool,
}

impl Source {
    /// Opens `sqlite:…` or `postgres://…`, for reading. The spellings of JDBC (`jdbc:postgresql://…`, `jdbc:sqlite:…`)
    /// and of `SQLAlchemy` (`postgresql+psycopg2://…`) are understood too.
    ///
    /// # Errors
    /// [`Error::Setup`] if the URL is of another kind, or the database cannot be reached.
    pub async fn open(url: &str) -> Result<Self> {
        super::db::install_drivers();
        let (url, settings) = reading(url).map_err(Error::Setup)?;
        let is_sqlite = url.starts_with("sqlite:");
        let options = AnyConnectOptions::from_str(&url).map_err(Error::Setup)?;
        // A pool reports an unreachable server as a timeout; one connection tells what is wrong.
        let probe = within(AnyConnection::connect_with(&options)).await.map_err(Error::Setup)?;
        within(probe.close()).await.map_err(Error::Setup)?;
        let pool = AnyPoolOptions::new().max_connections(1).after_connect(move |connection, _| {
            Box::pin(async move { connection.execute(settings).await.map(|_| ()) })
        });
        Ok(Self { pool: pool.connect_lazy_with(options), is_sqlite })
    }

    /// The names of the catalogs, at most 100.
    ///
    /// # Errors
    /// [`Error::Unstorable`] if one of them is no UTF-8.
    pub async fn catalogs(&self) -> Result<Vec<String>> {
        // Neither NULL nor a number is greater than a text.
        const SQL: &str = "
            SELECT catalog_name FROM iceberg_tables WHERE catalog_name >= ''
            UNION SELECT catalog_name FROM iceberg_namespace_properties WHERE catalog_name >= ''
            ORDER BY catalog_name LIMIT 100";
        let rows = within(query(SQL).fetch_all(&self.pool)).await.map_err(|error| match undecoded(error) {
            Ok(found) => Error::Unstorable { what: "a catalog_name", reason: format!("is no text: {found}") },
            Err(error) => error.into(),
        })?;
        let named = rows.iter().filter(|row| no_text(row, "catalog_name").is_none());
        named.map(|row| text(row, "catalog_name")).collect()
    }

    /// The namespaces that have properties, levels joined by dots, and the rows that cannot be read.
    ///
    /// # Errors
    /// [`Error::Unstorable`] if there are more than a million.
    pub async fn namespaces(&self, catalog: &str) -> Result<(BTreeMap<String, BTreeMap<String, String>>, Vec<BadRow>)> {
        let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let (mut bad, mut after, mut count) = (Vec::new(), None, 0);
        loop {
            let part = self.part(&PROPERTIES, catalog, after.as_ref(), property).await?;
            if part.next.is_none() {
                return Ok((found, bad));
            }
            after = part.next;
            count += part.rows.len();
            if count > MOST_PROPERTIES {
                let reason = format!("are more than {MOST_PROPERTIES}");
                return Err(Error::Unstorable { what: "properties of namespaces", reason });
            }
            for row in part.rows {
                match row {
                    Ok((namespace, key, value)) => {
                        found.entry(namespace).or_default().extend(value.map(|value| (key, value)));
                    }
                    Err(row) => bad.push(row),
                }
            }
        }
    }

    /// The next tables and views.
    pub async fn tables(&self, catalog: &str, after: Option<&Position>) -> Result<Part<SourceTable>> {
        self.part(&TABLES, catalog, after, table).await
    }

    /// Closes the connection.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

fn property(row: &AnyRow) -> Result<(String, String, Option<String>)> {
    Ok((text(row, "namespace")?, text(row, "property_key")?, optional_text(row, "property_value")?))
}

fn table(row: &AnyRow) -> Result<SourceTable> {
    let has_kind = row.columns().iter().any(|column| sqlx::Column::name(column) == "iceberg_type");
    Ok(SourceTable {
        namespace: text(row, "table_namespace")?,
        name: text(row, "table_name")?,
        metadata_location: optional_text(row, "metadata_location")?,
        kind: if has_kind { optional_text(row, "iceberg_type")? } else { None },
    })
}

/// The URL that opens a database for reading, and the statements that settle it.
fn reading(url: &str) -> sqlx::Result<(String, &'static str)> {
    let url = url.strip_prefix("jdbc:").unwrap_or(url);
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    // SQLAlchemy names the driver too.
    match scheme.split('+').next().unwrap_or_default() {
        "postgres" | "postgresql" => {
            Ok((format!("postgres:{rest}"), "SET default_transaction_read_only = on; SET statement_timeout = '25s'"))
        }
        "sqlite" => {
            let options = SqliteConnectOptions::from_str(&format!("sqlite:{rest}"))?;
            let options = options.create_if_missing(false).read_only(true);
            Ok((options.to_url_lossy().into(), "PRAGMA query_only = ON; PRAGMA busy_timeout = 5000"))
        }
        _ => Err(configuration("expected a database URL that begins with sqlite: or postgres:")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_opened_for_reading_however_its_url_is_written() {
        for (url, expected) in [
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("postgresql://u@h/d", "postgres://u@h/d"),
            ("postgresql+psycopg2://u@h/d", "postgres://u@h/d"),
            ("jdbc:postgresql://h/d?user=u", "postgres://h/d?user=u"),
        ] {
            assert_eq!(reading(url).unwrap().0, expected, "{url}");
        }
        for url in
            ["sqlite:///tmp/c.db", "sqlite:////tmp/c.db", "jdbc:sqlite:/tmp/c.db", "sqlite+pysqlite:////tmp/c.db"]
        {
            let opened = reading(url).unwrap().0;
            assert!(opened.contains("/tmp/c.db") && opened.contains("mode=ro"), "{url}: {opened}");
        }
        for url in ["mysql://h/d", "jdbc:mysql://h/d", "/tmp/c.db", ""] {
            assert!(reading(url).is_err(), "{url}");
        }
    }
}
