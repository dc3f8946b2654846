//! A submission: one line is one trial.

use super::{ValueFault, id_fault};
use karat_core::finding::{Finding, MergedReport};
use karat_core::golden::Severity;
use karat_core::ids::{CaseId, FindingId, ToolName};
use karat_core::path::RepoPath;
use karat_core::suite::Verdict;
use karat_core::trial::{Outcome, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One execution of a tool on a case: how it ended, what it found, and what that took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "submission line")]
pub struct TrialV1 {
    /// The case it ran on.
    pub case: String,
    /// The tool that ran.
    pub tool: String,
    /// Which of the repetitions it is, counted from 1.
    #[schemars(range(min = 1))]
    pub trial: u32,
    /// How the tool was asked, where it is asked in several ways, such as `direct`; reports have its figures by style.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// How it ended; a failed trial is never an empty list of findings.
    pub outcome: Outcome,
    /// What the tool said of the case as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// How sure it was of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    /// Wall-clock time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub latency_ms: Option<f64>,
    /// Tokens sent to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens received from a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub cost_usd: Option<f64>,
    /// Free text, where the tool answers in prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// What it reported.
    #[serde(default)]
    pub findings: Vec<FindingV1>,
    /// What the tool said of its own work, such as files it could not read; reports warn of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One thing a tool reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingV1 {
    /// Unique within the trial.
    pub id: String,
    /// The rule that fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// A short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub line_start: Option<u32>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub line_end: Option<u32>,
    /// How bad the tool finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// How sure the tool is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    /// The tool's kind of issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Weakness numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::cwe_list")]
    #[schemars(schema_with = "karat_core::one_or_many::cwe_list_schema")]
    pub cwe: Vec<u32>,
    /// The function it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// A stable locator made by the scanner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// Index of the chunk of code it was found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u32>,
    /// First line of that chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_start: Option<u32>,
    /// Last line of that chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_end: Option<u32>,
    /// Which part of the tool found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Fingerprints of the tool's own making.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fingerprints: BTreeMap<String, String>,
    /// An identity key the tool gave itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_key: Option<String>,
    /// Reports of other rules that the tool folded into this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedReport>,
}

/// Every case is planned as often as any was run, so an absurd number would plan absurdly many trials.
pub const MAX_TRIALS: u32 = 10_000;

impl TrialV1 {
    /// Every fault that the schema cannot see.
    pub fn faults(&self) -> Vec<ValueFault> {
        let mut faults: Vec<ValueFault> = id_fault(&["tool"], &self.tool).into_iter().collect();
        let share = |value: Option<f64>| value.is_some_and(|v| !(0.0..=1.0).contains(&v));
        let negative = |value: Option<f64>| value.is_some_and(|v| v < 0.0 || v.is_nan());
        if !(1..=MAX_TRIALS).contains(&self.trial) {
            let message = format!("expected a trial number from 1 to {MAX_TRIALS}");
            faults.push(ValueFault::new(&["trial"], "out-of-range", message));
        }
        if share(self.confidence) {
            faults.push(ValueFault::new(&["confidence"], "out-of-range", "expected a number from 0 to 1"));
        }
        for (key, value) in [("latency_ms", self.latency_ms), ("cost_usd", self.cost_usd)] {
            if negative(value) {
                faults.push(ValueFault::new(&[key], "out-of-range", "expected a number of at least 0"));
            }
        }
        if self.outcome != Outcome::Reported && !self.findings.is_empty() {
            let message = format!("a trial that ended as {} cannot have findings", self.outcome.as_str());
            faults.push(ValueFault::new(&["findings"], "failed-with-findings", message));
        }
        let mut ids: BTreeSet<&str> = BTreeSet::new();
        for (i, finding) in self.findings.iter().enumerate() {
            let index = i.to_string();
            let at = |key| ["findings", index.as_str(), key];
            faults.extend(id_fault(&at("id"), &finding.id));
            if !ids.insert(&finding.id) {
                let message = format!("duplicate finding id `{}` in this trial", finding.id);
                faults.push(ValueFault::new(&at("id"), "duplicate-id", message));
            }
            if finding.title.is_none() && finding.message.is_none() && finding.rule_id.is_none() {
                let message = format!("the finding `{}` needs a title, a message or a rule_id", finding.id);
                faults.push(ValueFault::new(&at("id"), "no-text", message));
            }
            for (key, line) in [("line_start", finding.line_start), ("line_end", finding.line_end)] {
                if line == Some(0) {
                    faults.push(ValueFault::new(&at(key), "out-of-range", "line numbers start at 1"));
                }
            }
            if share(finding.confidence) {
                faults.push(ValueFault::new(&at("confidence"), "out-of-range", "expected a number from 0 to 1"));
            }
        }
        faults
    }

    /// The trial, and every fault that the schema cannot see.
    pub fn into_trial(self) -> (Trial, Vec<ValueFault>) {
        let faults = self.faults();
        let trial = Trial {
            case: CaseId::new(self.case),
            tool: ToolName::new(self.tool),
            number: self.trial,
            style: self.style,
            outcome: self.outcome,
            verdict: self.verdict,
            confidence: self.confidence,
            latency_ms: self.latency_ms,
            tokens_in: self.tokens_in,
            tokens_out: self.tokens_out,
            cost_usd: self.cost_usd,
            response: self.response,
            findings: self.findings.into_iter().map(Finding::from).collect(),
            notes: self.notes,
        };
        (trial, faults)
    }
}

impl From<FindingV1> for Finding {
    fn from(v1: FindingV1) -> Self {
        Self {
            id: FindingId::new(v1.id),
            rule_id: v1.rule_id,
            title: v1.title,
            message: v1.message,
            file: v1.file.as_deref().and_then(RepoPath::new),
            line_start: v1.line_start,
            line_end: v1.line_end,
            severity: v1.severity,
            confidence: v1.confidence,
            category: v1.category,
            cwe: v1.cwe,
            function: v1.function,
            anchor: v1.anchor,
            chunk: v1.chunk,
            chunk_start: v1.chunk_start,
            chunk_end: v1.chunk_end,
            source: v1.source,
            fingerprints: v1.fingerprints,
            identity_key: v1.identity_key,
            merged: v1.merged,
            symbol: None,
        }
    }
}

impl From<&Finding> for FindingV1 {
    fn from(finding: &Finding) -> Self {
        Self {
            id: finding.id.to_string(),
            rule_id: finding.rule_id.clone(),
            title: finding.title.clone(),
            message: finding.message.clone(),
            file: finding.file.as_ref().map(ToString::to_string),
            line_start: finding.line_start,
            line_end: finding.line_end,
            severity: finding.severity,
            confidence: finding.confidence,
            category: finding.category.clone(),
            cwe: finding.cwe.clone(),
            function: finding.function.clone(),
            anchor: finding.anchor.clone(),
            chunk: finding.chunk,
            chunk_start: finding.chunk_start,
            chunk_end: finding.chunk_end,
            source: finding.source.clone(),
            fingerprints: finding.fingerprints.clone(),
            identity_key: finding.identity_key.clone(),
            merged: finding.merged.clone(),
        }
    }
}

impl From<&Trial> for TrialV1 {
    fn from(trial: &Trial) -> Self {
        Self {
            case: trial.case.to_string(),
            tool: trial.tool.to_string(),
            trial: trial.number,
            style: trial.style.clone(),
            outcome: trial.outcome,
            verdict: trial.verdict,
            confidence: trial.confidence,
            latency_ms: trial.latency_ms,
            tokens_in: trial.tokens_in,
            tokens_out: trial.tokens_out,
            cost_usd: trial.cost_usd,
            response: trial.response.clone(),
            findings: trial.findings.iter().map(FindingV1::from).collect(),
            notes: trial.notes.clone(),
        }
    }
}
