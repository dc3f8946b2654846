//! Redacts secrets from the environment in texts that are stored, logged or shown.
//!
//! Only values that look like secrets are redacted: placeholders for servers that need no key, such as `x`, `EMPTY` or
//! `not-needed`, occur in ordinary texts. Answers are parsed before they are redacted.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// A secret value, and the label that replaces it.
#[derive(Debug)]
pub struct Secret {
    label: String,
    value: SecretString,
}

/// Shorter values are no secrets.
const MIN_SECRET_CHARS: usize = 8;

/// A longer word may be a secret even if it is plain.
const MIN_LONG_WORD_CHARS: usize = 20;

/// Words that placeholder keys are made of.
const PLACEHOLDERS: &str = "any anything api dummy empty example fake here key litellm llama lm local my needed no none not nothing \
    ollama openai placeholder required sk studio test token unused vllm x your";

impl Secret {
    /// `None` for a value that does not look like a secret.
    pub fn new(label: &str, value: &str) -> Option<Self> {
        can_be_secret(value).then(|| Self { label: label.to_owned(), value: SecretString::from(value) })
    }

    /// The text with the label in place of the value.
    pub fn redact(&self, text: &str) -> String {
        text.replace(self.value.expose_secret(), &self.label)
    }

    /// Redacts a text in any encoding.
    pub fn redact_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
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

    /// Redacts every string of a JSON value. Numbers and structure stay as they are.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(entries) => {
                for (key, mut entry) in std::mem::take(entries) {
                    self.redact_value(&mut entry);
                    entries.insert(self.redact(&key), entry);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether a value can be a secret: eight characters or more, and neither a number, nor one plain word, nor a placeholder.
fn can_be_secret(value: &str) -> bool {
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let length = value.chars().count();
    let is_one_case = !value.chars().any(char::is_lowercase) || !value.chars().any(char::is_uppercase);
    let is_plain_word = letters == length && is_one_case && length < MIN_LONG_WORD_CHARS;
    let parts = value.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let is_placeholder = |part: &str| {
        let is_short_number = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        is_short_number || PLACEHOLDERS.split(' ').any(|word| word == part.to_lowercase())
    };
    length >= MIN_SECRET_CHARS && letters > 0 && !is_plain_word && !parts.into_iter().all(is_placeholder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn placeholders_and_numbers_are_not_secrets() {
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
    fn secrets_are_redacted_in_texts_and_json_strings() {
        let secret = Secret::new("[key]", "hunter22").unwrap();
        assert_eq!(secret.redact("Bearer hunter22, hunter22"), "Bearer [key], [key]");
        assert_eq!(secret.redact_bytes(b"\xff hunter22".to_vec()), b"\xff [key]");
        assert_eq!(secret.redact_bytes(b"hunter22".to_vec()), b"[key]");
        assert_eq!(secret.redact_bytes(b"nothing".to_vec()), b"nothing");
        let mut value = json!({ "said": ["it is hunter22", 22], "hunter22": true });
        secret.redact_value(&mut value);
        assert_eq!(value, json!({ "said": ["it is [key]", 22], "[key]": true }));
    }
}
