//! Judges: who decides, and how far to trust them.

pub mod agree;
