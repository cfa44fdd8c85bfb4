//! A real server over HTTP, on both settings: what clients see.

mod commits;
mod concurrency;
mod config;
mod coverage;
mod errors;
mod namespaces;
mod paths;
mod tables;
mod transactions;
mod warehouses;
mod wire;
