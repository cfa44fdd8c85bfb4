//! Who is calling, what they may do, and what credentials they are vended.

mod access;
mod action;
mod decide;
mod grant;
mod principal;

pub use access::{Access, Granted};
pub use action::{Action, Privilege};
pub use decide::{Decision, decide};
pub use grant::{Grant, Grantee, Object};
pub use principal::Principal;
