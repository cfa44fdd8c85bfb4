//! The shapes of what the pure core reads and writes, for our OpenAPI document alone: no request is parsed by them.
//!
//! The core is lenient where Java's clients are: it reads words in any letter case and ignores members that it does not
//! know. Here stands what a client should send, and what it gets.
#![expect(dead_code, reason = "they describe; nothing makes one")]
#![expect(clippy::enum_variant_names, clippy::struct_field_names, reason = "names are those of the specification")]

pub(super) mod commit;
pub(super) mod expression;
pub(super) mod scan;
pub(super) mod schema;
pub(super) mod table;
pub(super) mod view;
