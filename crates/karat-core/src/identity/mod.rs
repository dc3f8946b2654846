//! Deterministic keys: what makes two reports the same one, without any text a model wrote.

pub mod key;
pub mod stated;
