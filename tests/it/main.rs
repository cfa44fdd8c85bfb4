//! The integration tests, in one binary: it links once.
//!
//! `make test` starts what they need and says where it is: `TEST_POSTGRES_URL`, `TEST_GCS_URL`. A test that misses its
//! variable fails; none is skipped.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on panics")]

mod architecture;
mod documents;
mod http;
mod storage;
mod store;
mod support;
mod tools;
