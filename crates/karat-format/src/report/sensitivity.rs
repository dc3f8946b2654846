//! What of a ranking rests on the judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What would change without the judge, or with other answers to the pairs it is unsure of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SensitivityV1 {
    /// The judges that decided pairs.
    pub judges: Vec<String>,
    /// Distinct pairs on which they and the profile's rules alone disagree; `karat label next --disputed` shows them.
    pub disputed: usize,
    /// Those among them that they refused and that the rules alone would match.
    pub refused: usize,
    /// Those among the refused whose finding lies on the lines of its golden.
    pub refused_on_same_lines: usize,
    /// Distinct pairs whose probability lies near the judge's threshold; `karat label next --unsure` shows them.
    pub unsure: usize,
    /// How near that is.
    pub band: f64,
    /// What would change if the profile's rules alone decided; absent if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_judge: Option<ChangeV1>,
    /// What could change if the judge decided the pairs it is unsure of otherwise; absent if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_unsure_flip: Option<ChangeV1>,
}

/// A change of the ranking or of verdicts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeV1 {
    /// The tool that would rank first; absent if the first stays first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// Tools whose place in the ranking would differ, in the order of the ranking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<String>,
    /// Tools that would pass and do not, or the other way round, where passing is expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<String>,
}
