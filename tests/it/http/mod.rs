//! A real server over HTTP, on both settings: what clients see.

mod access;
mod attacks;
mod commits;
mod concurrency;
mod config;
mod coverage;
mod deletes;
mod dropped;
mod errors;
mod handover;
mod idempotency;
mod namespaces;
mod paths;
mod plans;
mod purge;
mod reports;
mod shadow;
mod tables;
mod tasks;
mod transactions;
mod unknown_outcomes;
mod upgrade;
mod versions;
mod views;
mod warehouses;
mod wire;
