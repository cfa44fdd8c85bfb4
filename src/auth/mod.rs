//! Who is calling, what they may do, and how secrets are kept.

mod access;
mod principal;
pub mod sealed;

pub use access::Access;
pub use principal::Principal;
pub use sealed::Sealer;
