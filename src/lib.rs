//! Guillemot, an Iceberg REST catalog that opens what a commit adds.
//!
//! The crate is two cores. The pure one knows Iceberg: [`spec`] (table metadata, updates, requirements),
//! [`manifest`], [`puffin`] and [`dv`] (file formats), [`validate`] (facts and the rules over them), [`plan`] (scans),
//! [`inspect`] and [`readiness`] (what people ask about tables).
//! The shell does the work of a server: [`store`] is SQL, [`storage`] is objects, [`commit`] is the order of
//! steps, [`vending`] is credentials for clients, [`tasks`] is what is done after the reply, [`api`] is HTTP, [`client`]
//! asks other catalogs, and [`import`] takes over what they hold. `tests/it/architecture.rs` holds which module may use
//! which.

pub mod api;
pub mod app;
pub mod auth;
pub mod cli;
pub mod client;
pub mod clock;
pub mod commit;
pub mod config;
pub mod dv;
pub mod import;
pub mod inspect;
pub mod manifest;
pub mod plan;
pub mod puffin;
pub mod readiness;
pub mod server;
pub mod spec;
pub mod storage;
pub mod store;
pub mod tasks;
pub mod telemetry;
pub mod validate;
pub mod vending;
pub mod verify;
