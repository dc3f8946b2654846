//! `karat.toml`: the configuration of a suite.

use super::judge::JudgeConfigV1;
use super::tool::ToolManifestV1;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a suite says of itself: its name and kind, how it is scored, its tools and its judges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "karat.toml")]
pub struct ConfigV1 {
    /// The suite's name and kind.
    pub suite: SuiteSection,
    /// How it is scored.
    #[serde(default)]
    pub scoring: ScoringSection,
    /// Systems under test, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolManifestV1>,
    /// Judges, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judges: BTreeMap<String, JudgeConfigV1>,
}

/// `[suite]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteSection {
    /// What people call it.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What its cases are.
    #[serde(default)]
    pub kind: SuiteKind,
}

/// What a suite's cases are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SuiteKind {
    /// Changes or code with golden issues.
    #[default]
    Findings,
    /// Documents with golden assessments.
    Assessment,
}

impl SuiteKind {
    /// The word in formats and lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Assessment => "assessment",
        }
    }

    pub(crate) fn is_findings(&self) -> bool {
        *self == Self::Findings
    }
}

/// `[scoring]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoringSection {
    /// The profile's name; `karat` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// How often each tool is run on each case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub trials: Option<u32>,
    /// Single values of the profile to change.
    #[serde(default, rename = "override", skip_serializing_if = "serde_json::Map::is_empty")]
    pub overrides: serde_json::Map<String, serde_json::Value>,
}
