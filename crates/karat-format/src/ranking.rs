//! One line of an expert's ranking of tools.

use schemars::JsonSchema;
use serde::Deserialize;

/// What an expert thinks of one tool: a rank or a score, not both.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "ranking")]
pub struct RankedV1 {
    /// The tool.
    pub tool: String,
    /// Its rank; 1 is the best, and equal ranks are ties.
    #[serde(default)]
    pub rank: Option<f64>,
    /// Its score; more is better, and equal scores are ties.
    #[serde(default)]
    pub score: Option<f64>,
    /// Who says so; one expert where nobody is named.
    #[serde(default)]
    pub expert: Option<String>,
}
