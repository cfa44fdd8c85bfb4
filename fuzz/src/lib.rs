//! What the fuzz targets share: the parsers, and the limits that every input is held to.
//!
//! The parsers are pure, so they are compiled here from their own files, without the server around them.

#![allow(dead_code, reason = "a target calls some of what a module offers")]

#[path = "../../src/dv/mod.rs"]
pub mod dv;
pub mod limits;
#[path = "../../src/manifest/mod.rs"]
pub mod manifest;
#[path = "../../src/puffin.rs"]
pub mod puffin;
#[path = "../../src/spec/mod.rs"]
pub mod spec;
