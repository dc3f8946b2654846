//! The lines of the file, as JSON.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The name of this version of the format.
pub(super) const SCHEMA: &str = "karat.run/1";

/// One line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum LineV1 {
    Header { schema: String, id: String, name: Option<String> },
    Run(RunV1),
    Tool { name: String, facts: Box<RawValue> },
    Artifact { hash: String, content: ContentV1 },
    Trial(TrialLineV1),
    Judgement(Box<RawValue>),
    End { lines: usize, hash: String },
}

/// The run itself.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunV1 {
    pub(super) created_ms: i64,
    pub(super) ended_ms: Option<i64>,
    pub(super) state: String,
    pub(super) karat: String,
    pub(super) snapshot: String,
    pub(super) report: Option<String>,
    pub(super) plan: Box<RawValue>,
}

/// An attempt at a trial.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrialLineV1 {
    pub(super) attempt: u32,
    pub(super) trial: Box<RawValue>,
    pub(super) detail: Box<RawValue>,
    /// Hashes by name.
    pub(super) artifacts: BTreeMap<String, String>,
}

/// Bytes as JSON can hold them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ContentV1 {
    Text(String),
    Hex(String),
}

impl ContentV1 {
    /// Text where that is shorter than hex; a text full of control characters is not.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        // JSON writes a control character with six.
        if bytes.iter().filter(|byte| byte.is_ascii_control()).count() > bytes.len() / 5 {
            return Self::Hex(hex(&bytes));
        }
        String::from_utf8(bytes).map_or_else(|error| Self::Hex(hex(error.as_bytes())), Self::Text)
    }

    /// The bytes; `None` where they are not in hex.
    pub(super) fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.into_bytes()),
            Self::Hex(text) => {
                let digits: Option<Vec<u8>> =
                    text.chars().map(|c| c.to_digit(16).and_then(|digit| digit.try_into().ok())).collect();
                let (pairs, rest) = digits.as_ref()?.as_chunks::<2>();
                rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
            }
        }
    }
}

/// What the last line tells: a hash of the run's id and of all lines between header and end, each with its end of line.
pub(super) struct Seal {
    hasher: blake3::Hasher,
    lines: usize,
}

impl Seal {
    /// The seal of a run with no lines yet.
    pub(super) fn of(id: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(id.as_bytes()).update(b"\n");
        Self { hasher, lines: 0 }
    }

    /// One more line.
    pub(super) fn add(&mut self, line: &[u8]) {
        self.hasher.update(line).update(b"\n");
        self.lines += 1;
    }

    /// How many lines there were, and the hash.
    pub(super) fn told(&self) -> (usize, String) {
        (self.lines, self.hasher.finalize().to_hex().to_string())
    }
}
