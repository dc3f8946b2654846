//! What `karat fix` measured: whether what tools reported was enough to repair it.

use super::proofs::ProofVerdictV1;
use super::report::EstimateV1;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.fix/1";

/// What a fixer made of the findings of tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "fixes")]
pub struct FixReportV1 {
    /// Always `karat.fix/1`.
    pub schema: String,
    /// The name of the suite.
    pub suite: String,
    /// The digest of the suite.
    pub digest: String,
    /// Who repaired.
    pub fixer: FixerV1,
    /// In the order in which the report lists them.
    pub tools: Vec<FixedToolV1>,
    /// Goldens that are in no figure, because their proof does not hold here.
    pub left_out: Vec<UnprovenGoldenV1>,
    /// Required goldens of the selected cases that have no proof, and are in no figure.
    pub without_proof: usize,
    /// Every finding that was handed to the fixer.
    pub fixes: Vec<FixV1>,
}

/// The tool that repaired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixerV1 {
    /// Its name.
    pub name: String,
    /// As it states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model that it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it was kept from the rest of the machine.
    pub isolation: String,
}

/// The figures of one tool whose findings were repaired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixedToolV1 {
    /// The tool.
    pub tool: String,
    /// Goldens whose proof holds here.
    pub goldens: usize,
    /// Goldens times trials; the counts below are of these.
    pub trials: usize,
    /// A finding reports the golden.
    pub found: usize,
    /// The proof passes after the fixer.
    pub repaired: usize,
    /// The proof still fails.
    pub not_repaired: usize,
    /// The proof can no longer be run to its end.
    pub broken: usize,
    /// The fixer failed.
    pub failed: usize,
    /// The fixer met an outage. These are in no figure.
    pub unavailable: usize,
    /// Repaired, of all goldens whose proof holds here.
    pub fix_through: EstimateV1,
    /// Repaired, of those that were found.
    pub fix_through_found: EstimateV1,
}

/// A golden whose proof does not hold here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnprovenGoldenV1 {
    /// Its case.
    pub case: String,
    /// The golden.
    pub golden: String,
    /// What its proof has shown.
    pub verdict: ProofVerdictV1,
    /// Why it is not proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of one finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixV1 {
    /// Who reported it.
    pub tool: String,
    /// The case.
    pub case: String,
    /// The number of the trial.
    pub trial: u32,
    /// The golden that it reports.
    pub golden: String,
    /// The finding.
    pub finding: String,
    /// What the proof said after the fixer.
    pub verdict: FixVerdictV1,
    /// Why it is not repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether this is kept from an earlier time, or from the same finding of another trial.
    pub is_kept: bool,
}

/// What a fixer made of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixVerdictV1 {
    /// The proof passes.
    Repaired,
    /// The proof still fails.
    NotRepaired,
    /// The code does not compile any more, or the proof can no longer be run to its end on it.
    Broken,
    /// The fixer crashed or took too long, or its diff does not apply.
    Failed,
    /// The fixer met an outage, which says nothing about the finding.
    Unavailable,
}

impl FixVerdictV1 {
    /// Every verdict, the wanted one first.
    pub const ALL: [Self; 5] = [Self::Repaired, Self::NotRepaired, Self::Broken, Self::Failed, Self::Unavailable];

    /// The verdict in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::NotRepaired => "not repaired",
            Self::Broken => "broken",
            Self::Failed => "fixer failed",
            Self::Unavailable => "fixer unavailable",
        }
    }
}
