//! Keys of labels.

use serde::Serialize;
use std::fmt;

/// Characters of a key that are shown and typed.
pub const SHORT: usize = 12;

/// BLAKE3, in hex, of everything a person sees of an item. It contains neither tool nor trial, so a label applies to every
/// run in which a tool reports the same. The letter separates the kinds of items.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Key<const KIND: char>(String);

impl<const KIND: char> Key<KIND> {
    /// The texts are JSON, so they contain no line break and joining them is unambiguous.
    pub(super) fn hashed(texts: &[&str]) -> Self {
        Self(blake3::hash(texts.join("\n").as_bytes()).to_hex().to_string())
    }

    /// Parses a key.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 2 * blake3::OUT_LEN && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    /// The whole key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part of the key that people type.
    pub fn short(&self) -> &str {
        &self.0[..SHORT]
    }
}

impl<const KIND: char> fmt::Display for Key<KIND> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
