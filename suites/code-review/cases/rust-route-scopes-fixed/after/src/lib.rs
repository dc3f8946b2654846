//! Who may call what.

mod guard;
mod policy;
mod scope;

pub use guard::{Caller, Guard};
pub use policy::{Policy, PolicyError};
pub use scope::Scope;
