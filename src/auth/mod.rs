//! Who is calling, what they may do, and how secrets are kept.
//!
//! ```text
//! Authorization: Bearer T -> Auth::principal -> known by its hash?  -> still valid, identity unchanged -> Principal
//!                                            -> a JWT of this catalog -> token::Identities
//!                                            -> a JWT of an issuer     -> issuer::Issuer
//!                                            -> anything else          -> introspect::Introspection, google::Google
//! ```

mod access;
mod action;
mod authenticate;
mod caller;
mod claims;
mod client_secret;
mod decide;
mod error;
mod fetch;
mod google;
mod google_key;
mod grant;
pub mod identity;
mod introspect;
mod issuer;
mod jwt;
mod principal;
pub mod sealed;
mod secret;
mod signing;
mod token;
mod verdict;

pub use access::Access;
pub use action::{Action, Privilege};
pub use authenticate::{Auth, SetupError};
pub use caller::{Caller, Granted};
pub use decide::{Decision, decide};
pub use error::{Error, GrantError};
pub use grant::{Grant, Grantee, Object};
pub use principal::Principal;
pub use sealed::Sealer;
pub use secret::{SecretKeyError, sealer, write_private};
pub use signing::discard_keys;
pub use token::{At, Client, Identities, Issued, claimed_name};
