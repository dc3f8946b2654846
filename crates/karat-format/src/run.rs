//! A stored run: its plan, and the details of each trial.

use super::config::SuiteKind;
use super::llm::{RoleV1, StyleV1};
use super::report::{ProfileV1, RecordedV1};
use super::tool::{ToolKindV1, ToolManifestV1};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of this version of the plan's format.
pub const PLAN_SCHEMA: &str = "karat.plan/1";

/// The isolation of what needs none: recorded trials, built-in rules, and models that are asked. Nothing of them runs here.
pub const NOTHING_EXECUTED: &str = "nothing is executed";

/// Everything a run is going to do, fully resolved: suite, cases, tools, trials, profile and seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "plan")]
pub struct PlanV1 {
    /// Always `karat.plan/1`.
    pub schema: String,
    /// What is run: tools that report findings, where absent, or assessors of documents. The plan of an assessment names its
    /// assessors and no cases; its report has the requirements.
    #[serde(default, skip_serializing_if = "SuiteKind::is_findings")]
    pub kind: SuiteKind,
    /// What the tools run on.
    pub suite: PlannedSuiteV1,
    /// The rules the run is scored by.
    pub profile: ProfileV1,
    /// How several judges decide that the profile names together; as usual where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consensus: Option<String>,
    /// Where random numbers start from.
    pub seed: u64,
    /// The model given to every tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The day until which that model was trained, as `YYYY-MM-DD`: cases made later are shown apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_cutoff: Option<String>,
    /// The isolation of every tool, where one was demanded; else each machine has its strongest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationV1>,
    /// The weakest isolation that a tool may be executed with, where one was demanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_isolation: Option<IsolationV1>,
    /// The systems under test, in the order in which they are shown.
    pub tools: Vec<PlannedToolV1>,
    /// The cases, in the suite's order.
    pub cases: Vec<String>,
    /// Which part of the suite this is, where it is not all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selected_by: Vec<String>,
}

/// The suite of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedSuiteV1 {
    /// What people call it.
    pub name: String,
    /// Where it was found: a folder, or the name of a built-in suite.
    pub place: String,
    /// A hash of everything its cases say and hold.
    pub digest: String,
    /// How many cases it has, planned or not.
    pub cases: usize,
}

/// A tool of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedToolV1 {
    /// What it is called in reports.
    pub name: String,
    /// How it comes to findings.
    pub kind: ToolKindV1,
    /// How often it runs on each case.
    pub trials: u32,
    /// The model it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What a model is asked for, where one is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<PlannedLlmV1>,
    /// The isolation that will be in force.
    pub isolation: String,
    /// How it was declared. Values of variables handed over are not in it.
    pub manifest: ToolManifestV1,
    /// The folder of its manifest, where that is a file of its own; the tool may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_dir: Option<String>,
}

impl PlannedToolV1 {
    /// The recording that it repeats, where nothing is executed.
    pub fn recording(&self) -> Option<RecordedV1> {
        (self.kind == ToolKindV1::Replay).then(|| RecordedV1 { on: self.manifest.recorded.clone() })
    }
}

/// A language model of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedLlmV1 {
    /// Who answers.
    pub provider: String,
    /// What it is asked for.
    pub role: RoleV1,
    /// How it is asked, where it may have to audit.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<StyleV1>")]
    pub style: Vec<StyleV1>,
    /// The prompts it may be asked with.
    pub prompts: Vec<String>,
}

/// What is known of a trial beside its findings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialDetailV1 {
    /// Why it failed, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What else was noticed, such as processes that were left behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The exit code, where the tool ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// Milliseconds by stage: `checkout`, `process`, `import`; where a model was asked, `asking`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stages_ms: BTreeMap<String, f64>,
    /// The isolation that was in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<String>,
    /// The kind of that isolation, where a program was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation_kind: Option<IsolationV1>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A kind of isolation, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IsolationV1 {
    /// Limits alone.
    Process,
    /// Linux kernel rules on files and sockets.
    Landlock,
    /// Linux namespaces, set up by bubblewrap.
    Bubblewrap,
}

/// What was found out about a tool before its first trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFactsV1 {
    /// What the tool calls its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The isolation that was in force.
    pub isolation: String,
    /// The kind of that isolation, where a program is executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation_kind: Option<IsolationV1>,
    /// The program that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}
