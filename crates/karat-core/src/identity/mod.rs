//! Deterministic keys: what makes two reports the same one, without any text a model wrote.

#![expect(missing_docs, reason = "names of fields and variants say it")]

pub mod key;
pub mod stated;
