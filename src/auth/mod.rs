//! Who is calling, what they may do, and how secrets are kept.

mod access;
mod action;
mod caller;
mod decide;
mod grant;
mod principal;
pub mod sealed;

pub use access::Access;
pub use action::{Action, Privilege};
pub use caller::{Caller, Granted};
pub use decide::{Decision, decide};
pub use grant::{Grant, Grantee, Object};
pub use principal::Principal;
pub use sealed::Sealer;
