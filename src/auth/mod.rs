//! Who is calling, what they may do, and what credentials they are vended.

mod principal;

pub use principal::Principal;
