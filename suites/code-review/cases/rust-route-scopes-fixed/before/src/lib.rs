//! Who may call what.

mod guard;
mod scope;

pub use guard::{Caller, Guard};
pub use scope::Scope;
