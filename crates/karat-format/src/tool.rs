//! `[tools.NAME]` of `karat.toml` and manifest files: the declaration of a system under test.

use super::llm::LlmV1;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A system under test: how it is started or asked, what it may use, and how its output is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tool")]
pub struct ToolManifestV1 {
    /// What it is, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it comes to findings; `command` where absent.
    #[serde(default)]
    pub kind: ToolKindV1,
    /// The program and its arguments, one word each, with placeholders such as `{checkout}`; no shell reads it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What it writes: an importer's name, or `karat` for findings in Karat's own form. Of a fixer `diff`, where it prints a unified
    /// diff instead of editing the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Exit codes that do not mean failure; 0 alone where absent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "karat_core::one_or_many::optional_list"
    )]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<i32>")]
    pub ok_exit: Option<Vec<i32>>,
    /// Exit codes that mean an outage, such as a rate limit or a server that is down, and not a failure of the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<i32>")]
    pub infra_exit: Vec<i32>,
    /// A regular expression; where a trial fails and its stdout or stderr matches it, an outage is to blame and not the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_pattern: Option<String>,
    /// How long to wait before a trial that met an outage is tried again, such as `10s`; 1 s where absent. Every further wait is
    /// four times as long, up to a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_wait: Option<String>,
    /// The longest a trial may take, such as `90s` or `5m`; of an `llm`, the longest one request may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The model it is to use; `{model}` stands for the one given to every tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Variables to set, with placeholders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Variables to hand over from the user's environment, such as keys; their values are never stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub pass_env: Vec<String>,
    /// A command that is run once before the first trial, with the network and without any case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Programs that it calls beside the first words of its commands, so that their absence is seen before a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub needs: Vec<String>,
    /// A command that prints the version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub version: Vec<String>,
    /// Whether it may use the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Whether the network includes the services of this machine, such as a model that runs here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loopback: bool,
    /// Files and folders it may read though they lie where nothing can be read, such as below the user's home.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub expose: Vec<String>,
    /// Files and folders outside its checkout that it may write.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub writable: Vec<String>,
    /// What it may use up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsV1>,
    /// How often it runs on each case, where that differs from the others: once is enough for what is deterministic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub trials: Option<u32>,
    /// A CSV file with `rule_id,category[,cwe]`, to give findings the suite's categories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_map: Option<String>,
    /// `replay`: the submission with the recorded trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<String>,
    /// `replay`: the day on which they were recorded, such as `2026-11-05`; reports say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// `replay`: the tool's name in that submission, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_as: Option<String>,
    /// `patterns`: a file with rules instead of the built-in ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// `llm`: who is asked, and how.
    #[serde(flatten)]
    pub llm: LlmV1,
    /// Where to get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// How to install it, in words a person can type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// The folder of the manifest's own file, which the tool may read. It is known from where the file is, never stated in it.
    #[serde(skip)]
    pub manifest_dir: Option<String>,
}

/// How a tool comes to findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolKindV1 {
    /// A program is run.
    #[default]
    Command,
    /// Recorded trials are told again.
    Replay,
    /// The built-in rules are matched against the changed lines.
    Patterns,
    /// A language model is asked.
    Llm,
    /// A program that repairs what others find, for `karat fix`; it reports nothing itself.
    Fixer,
}

impl ToolKindV1 {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Command, Self::Replay, Self::Patterns, Self::Llm, Self::Fixer];

    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Replay => "replay",
            Self::Patterns => "patterns",
            Self::Llm => "llm",
            Self::Fixer => "fixer",
        }
    }
}

/// What a tool may use up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsV1 {
    /// Memory of all its processes together, such as `4GiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Processors it may use at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cpus: Option<u32>,
    /// Processes at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub processes: Option<u32>,
    /// The largest file it may write, such as `1GiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<String>,
    /// All files in its folder together, the checkout among them, such as `2GiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// The most it may print, such as `32MiB`; where that is compressed, also once it is unpacked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The most findings it may report for one case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<u32>,
}
