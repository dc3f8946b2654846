//! Rule files of the built-in pattern scanner.

use karat_core::golden::Severity;
use schemars::JsonSchema;
use serde::Deserialize;

/// Rules of the built-in baseline: regular expressions over changed lines, with what a match means.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "pattern rules")]
pub struct RulesV1 {
    /// The rules.
    pub rules: Vec<RuleV1>,
}

/// A rule: an expression that a suspicious line fits.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleV1 {
    /// Unique in the file.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The languages it is for, such as `python`; `any` is every file.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub languages: Vec<String>,
    /// Extensions of files it is for besides, such as `tf`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub extensions: Vec<String>,
    /// What a line has to fit.
    #[schemars(length(min = 1))]
    pub regex: String,
    /// What the same line must not fit.
    pub unless: Option<String>,
    /// What is wrong, in a few words.
    #[schemars(length(min = 1))]
    pub title: String,
    /// What is wrong, and what to do.
    #[schemars(length(min = 1))]
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// The kind of issue.
    #[schemars(length(min = 1))]
    pub category: String,
    /// Weakness numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::cwe_list")]
    #[schemars(schema_with = "karat_core::one_or_many::cwe_list_schema")]
    pub cwe: Vec<u32>,
    /// A line it fires on.
    pub hit: String,
    /// A line like it that it does not fire on.
    pub miss: String,
}
