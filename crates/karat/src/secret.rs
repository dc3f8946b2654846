//! Secrets from the environment, and striking them from texts that are stored, logged or shown.
//!
//! Only what can be a secret is struck: the values that people give to servers that need no key, such as `x`, `EMPTY` or
//! `not-needed`, stand in ordinary texts. Answers are parsed before anything is struck from them.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// A value from the environment that must not be seen, and the label that takes its place.
#[derive(Debug)]
pub(crate) struct Secret {
    label: String,
    value: SecretString,
}

/// Shorter values are no secrets.
const SHORTEST: usize = 8;

/// A plain word is shorter than this.
const LONG: usize = 20;

/// What keys are made of that are none.
const PLACEHOLDERS: &[&str] = &[
    "any",
    "anything",
    "api",
    "dummy",
    "empty",
    "example",
    "fake",
    "here",
    "key",
    "litellm",
    "llama",
    "lm",
    "local",
    "my",
    "needed",
    "no",
    "none",
    "not",
    "nothing",
    "ollama",
    "openai",
    "placeholder",
    "required",
    "sk",
    "studio",
    "test",
    "token",
    "unused",
    "vllm",
    "x",
    "your",
];

impl Secret {
    /// A value to strike from texts; `None` where it can be no secret.
    pub(crate) fn new(label: &str, value: &str) -> Option<Self> {
        can_be_secret(value).then(|| Self { label: label.to_owned(), value: SecretString::from(value) })
    }

    /// The text with the label in place of the value.
    pub(crate) fn strike(&self, text: &str) -> String {
        text.replace(self.value.expose_secret(), &self.label)
    }

    /// Strikes the value from a text that may be in any encoding.
    pub(crate) fn strike_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let value = self.value.expose_secret().as_bytes();
        let finder = memchr::memmem::Finder::new(value);
        let mut clean = Vec::new();
        let mut from = 0;
        for at in finder.find_iter(&bytes) {
            clean.extend_from_slice(&bytes[from..at]);
            clean.extend_from_slice(self.label.as_bytes());
            from = at + value.len();
        }
        if from == 0 {
            return bytes;
        }
        clean.extend_from_slice(&bytes[from..]);
        clean
    }

    /// Strikes the value from every string of a parsed value. Numbers and the structure stay as they are.
    pub(crate) fn strike_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.strike(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.strike_value(item)),
            Value::Object(entries) => {
                for (key, mut entry) in std::mem::take(entries) {
                    self.strike_value(&mut entry);
                    entries.insert(self.strike(&key), entry);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether a value can be a secret: eight characters or more, and neither a number, nor one plain word, nor made of words that
/// people write where a key is asked for and none is needed.
fn can_be_secret(value: &str) -> bool {
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let length = value.chars().count();
    let is_one_case = !value.chars().any(char::is_lowercase) || !value.chars().any(char::is_uppercase);
    let is_plain_word = letters == length && is_one_case && length < LONG;
    let parts = value.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let is_placeholder = |part: &str| {
        let is_short_number = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        is_short_number || PLACEHOLDERS.contains(&part.to_lowercase().as_str())
    };
    length >= SHORTEST && letters > 0 && !is_plain_word && !parts.into_iter().all(is_placeholder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn placeholders_and_numbers_are_no_secrets() {
        for value in [
            "",
            "x",
            "true",
            "high",
            "8080",
            "20250514",
            "EMPTY",
            "none",
            "dummy",
            "ollama",
            "sk-1234",
            "anything",
            "lm-studio",
            "not-needed",
            "sk-no-key-required",
            "my-api-key-1",
            "injection",
        ] {
            assert!(Secret::new("[key]", value).is_none(), "{value}");
        }
        for value in [
            "sk-test-5ecret0fTheHouse",
            "hunter22",
            "aVeryGoodKey",
            "sk-none-of-yours",
            "my-secret-value",
            "0123456789abcdef",
        ] {
            assert!(Secret::new("[key]", value).is_some(), "{value}");
        }
    }

    #[test]
    fn a_secret_is_struck_from_texts_and_from_strings_of_values() {
        let secret = Secret::new("[key]", "hunter22").unwrap();
        assert_eq!(secret.strike("Bearer hunter22, hunter22"), "Bearer [key], [key]");
        assert_eq!(secret.strike_bytes(b"\xff hunter22".to_vec()), b"\xff [key]");
        assert_eq!(secret.strike_bytes(b"hunter22".to_vec()), b"[key]");
        assert_eq!(secret.strike_bytes(b"nothing".to_vec()), b"nothing");
        let mut value = json!({ "said": ["it is hunter22", 22], "hunter22": true });
        secret.strike_value(&mut value);
        assert_eq!(value, json!({ "said": ["it is [key]", 22], "[key]": true }));
    }
}
