//! A baseline: the results of a tool, small enough to be committed and diffed, and sufficient for a paired test.

use crate::report::JudgeIdentityV1;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.baseline/1";

/// What `karat baseline write` keeps of a report: each tool's metrics case by case, for a gate to hold later reports against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "baseline")]
pub struct BaselineV1 {
    /// Always `karat.baseline/1`.
    pub schema: String,
    /// What was scored against.
    pub suite: NamedDigestV1,
    /// The rules, and a hash of those of their values that scores depend on.
    pub profile: NamedDigestV1,
    /// Who decided pairs.
    pub judges: Vec<String>,
    /// What their decisions depend on, by judge; of judges whose decisions were given, nothing is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judge_identities: BTreeMap<String, JudgeIdentityV1>,
    /// The tools.
    pub tools: Vec<BaselineToolV1>,
}

/// A name, and a hash of what goes by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedDigestV1 {
    /// The name.
    pub name: String,
    /// The hash.
    pub digest: String,
}

/// One tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineToolV1 {
    /// The tool.
    pub tool: String,
    /// The metrics that are held.
    pub metrics: BTreeMap<String, BaselineMetricV1>,
    /// The cases, by id; in the file one on each line.
    pub cases: Vec<BaselineCaseV1>,
}

/// A metric over the suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineMetricV1 {
    /// The value; null where it is undefined.
    pub value: Option<f64>,
    /// Its interval.
    pub ci: Option<[f64; 2]>,
    /// The number of cases or items it is based on.
    pub n: usize,
}

/// A case, as far as a paired test needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineCaseV1 {
    /// The case.
    pub case: String,
    /// A hash of the case's verdict and of the ids of its goldens.
    pub goldens: String,
    /// Whether some trial of it enters the metrics; true where absent.
    #[serde(default = "crate::yes", skip_serializing_if = "crate::is_yes")]
    pub counted: bool,
    /// The repository it was taken from, which clusters are named by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The parts of the suite it belongs to, where the metrics are means over parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// Metrics that are means of cases: the value of this one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
    /// What it adds to metrics that are not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sums: BTreeMap<String, f64>,
    /// Required goldens: in how many trials each was found, and of how many.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub found: BTreeMap<String, [usize; 2]>,
}
