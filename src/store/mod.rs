//! What the catalog remembers, in SQL: one function a statement, one text for SQLite and PostgreSQL.
//!
//! Reads take a [`Db`] and see what was committed before they began. Writes take a [`Tx`], so that several of them,
//! and what else must happen with them, happen together:
//!
//! ```no_run
//! # async fn example(db: guillemot::store::Db, swap: guillemot::store::tables::Swap<'_>)
//! # -> Result<(), guillemot::store::Error> {
//! use guillemot::store::tables;
//!
//! let mut tx = db.begin().await?;
//! tables::swap(&mut tx, &[swap], &[]).await?;
//! tx.commit().await?;
//! # Ok(())
//! # }
//! ```
//!
//! There is no clock here and no source of ids: every time (epoch milliseconds) and every id is passed in. Nothing is
//! checked and then done: a statement is written so that the database decides, and its answer is read.

pub mod audit;
pub mod dropped;
pub mod engines;
pub mod grants;
pub mod idempotency;
pub mod identities;
pub mod jdbc;
pub mod locations;
pub mod loose_files;
pub mod names;
pub mod namespaces;
pub mod reports;
pub mod signing_keys;
pub mod tables;
pub mod tasks;
pub mod warehouses;
pub mod warnings;

mod db;
mod error;
mod text;
mod tx;

pub use db::Db;
pub use error::{Entity, Error, Result};
pub use text::{Listing, Page};
pub use tx::Tx;
