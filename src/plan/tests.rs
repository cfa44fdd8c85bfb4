//! Planning over the tables that engines wrote, and its parts against every value there is.

mod expressions;
mod projections;
mod tables;
