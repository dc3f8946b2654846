//! The lines of a run file, as JSON.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

pub(super) const SCHEMA: &str = "karat.run/1";

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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrialLineV1 {
    pub(super) attempt: u32,
    pub(super) trial: Box<RawValue>,
    pub(super) detail: Box<RawValue>,
    pub(super) artifacts: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ContentV1 {
    Text(String),
    Hex(String),
}

impl ContentV1 {
    /// Text if that is shorter than hex.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        // JSON escapes a control character with six.
        if bytes.iter().filter(|byte| byte.is_ascii_control()).count() > bytes.len() / 5 {
            return Self::Hex(hex(&bytes));
        }
        String::from_utf8(bytes).map_or_else(|error| Self::Hex(hex(error.as_bytes())), Self::Text)
    }

    pub(super) fn into_bytes(self) -> Option<Vec<u8>> {
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

/// The content of the last line: a hash of the run's id and of all lines between header and end, including line ends.
pub(super) struct Seal {
    hasher: blake3::Hasher,
    lines: usize,
}

impl Seal {
    pub(super) fn new(id: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(id.as_bytes()).update(b"\n");
        Self { hasher, lines: 0 }
    }

    pub(super) fn add(&mut self, line: &[u8]) {
        self.hasher.update(line).update(b"\n");
        self.lines += 1;
    }

    pub(super) fn count_and_hash(&self) -> (usize, String) {
        (self.lines, self.hasher.finalize().to_hex().to_string())
    }
}
