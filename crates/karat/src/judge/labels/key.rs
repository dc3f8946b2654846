//! What a label hangs on.

use serde::Serialize;
use std::fmt;

/// So much of a key is shown and typed: the public id.
pub const SHORT: usize = 12;

/// The BLAKE3 hash, in hex, of everything a person sees of one thing. It tells neither tool nor trial, so a label made on one
/// run holds for every other run in which a tool says the same. The letter keeps the keys of different kinds of things apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Key<const KIND: char>(String);

impl<const KIND: char> Key<KIND> {
    /// The key of texts. None of them has a line break of its own: JSON writes it with two characters.
    pub(super) fn hashed(texts: &[&str]) -> Self {
        Self(blake3::hash(texts.join("\n").as_bytes()).to_hex().to_string())
    }

    /// A text, where it has the form of a key.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 2 * blake3::OUT_LEN && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    /// The whole key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As much of the key as people type.
    pub fn short(&self) -> &str {
        &self.0[..SHORT]
    }
}

impl<const KIND: char> fmt::Display for Key<KIND> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
