//! Commits as engines make them, judged over the files they wrote.

mod corrupt;
mod real_tables;
mod support;
