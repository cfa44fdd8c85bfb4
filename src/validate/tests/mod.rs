//! Commits as engines make them, judged over the files they wrote.

mod at_rest;
mod avro;
mod change;
mod checks;
mod commits;
mod corrupt;
mod cost;
mod real_tables;
mod rules;
mod support;
mod writer;
