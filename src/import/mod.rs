//! Importing what other catalogs hold: their names are pointed at the metadata files that are there. No file is moved,
//! changed or deleted, and nothing in the other catalog is.
//!
//! What is to be done with one table is decided by [`decide`], purely, of two metadata files; [`Importer`] does it and
//! tells of it in [`Line`]s. Three sources know what there is: [`hadoop`] folders, [`catalog`]s that speak REST, and
//! the tables of [`jdbc`] catalogs.

pub mod catalog;
pub mod decide;
pub mod hadoop;
mod importer;
pub mod jdbc;
mod report;
mod versions;

pub use importer::{Importer, Options};
pub use report::{Line, Outcome, Tally, What};
