//! Iceberg table and view metadata: what it is made of, and what every requirement and update does to it.
//!
//! Everything here is pure: bytes and values in, values out, no I/O, no clock. What a type does not know it keeps
//! and writes back, because a catalog must not lose what a newer engine wrote.

pub mod error;
pub mod ident;
pub mod json;

pub use error::{Error, Result};
pub use ident::{Namespace, TableIdent};
