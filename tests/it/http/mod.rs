//! A real server over HTTP, on both settings: what clients see.

mod commits;
mod concurrency;
mod config;
mod coverage;
mod errors;
mod namespaces;
mod paths;
mod reports;
mod tables;
mod transactions;
mod views;
mod warehouses;
mod wire;
