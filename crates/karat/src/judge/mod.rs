//! Judges: who decides whether a finding reports a golden, and how far to trust them.

pub mod agree;
pub mod local;
