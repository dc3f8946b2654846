//! Trials of a run: planned, and finished with their artifacts.

use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::Trial;
use karat_format::run::{PlanV1, TrialDetailV1};
use std::collections::BTreeMap;

/// Identifies a trial of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TrialKey {
    pub tool: ToolName,
    pub case: CaseId,
    /// The repetition, counted from 1.
    pub number: u32,
}

impl TrialKey {
    /// The key of a trial.
    pub fn from_trial(trial: &Trial) -> Self {
        Self { tool: trial.tool.clone(), case: trial.case.clone(), number: trial.number }
    }
}

/// A finished trial with everything that is stored of it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TrialRecord {
    pub trial: Trial,
    pub attempt: u32,
    pub detail: TrialDetailV1,
    /// Named `stdout`, `stderr`, `output`, and `exchange` for a model's conversation.
    pub artifacts: Vec<Artifact>,
}

impl TrialRecord {
    /// The last lines that the tool printed to standard error, without blank ones.
    pub fn last_stderr_lines(&self, most: usize) -> Vec<String> {
        let Some(stderr) = self.artifacts.iter().find(|artifact| artifact.name == "stderr") else { return Vec::new() };
        let text = String::from_utf8_lossy(&stderr.bytes[stderr.bytes.len().saturating_sub(LAST_BYTES)..]);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(most));
        last.map(|line| line.chars().take(LAST_CHARS).collect()).collect()
    }
}

/// Bytes in which the last lines of an output are looked for.
const LAST_BYTES: usize = 16 << 10;
/// Characters of such a line that are kept.
const LAST_CHARS: usize = 300;

/// Named bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Artifact {
    pub name: String,
    pub bytes: Vec<u8>,
}

#[cfg(test)]
std::thread_local! {
    pub(crate) static PLAN_LOOKUPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub(crate) struct Planned {
    tools: BTreeMap<String, (usize, u32)>,
    cases: BTreeMap<String, usize>,
}

impl Planned {
    /// Indexes the whole plan, so call it once for many trials.
    pub(crate) fn new(plan: &PlanV1) -> Self {
        #[cfg(test)]
        PLAN_LOOKUPS.set(PLAN_LOOKUPS.get() + 1);
        let tools = plan.tools.iter().enumerate().map(|(place, tool)| (tool.name.clone(), (place, tool.trials)));
        let cases = plan.cases.iter().enumerate().map(|(place, case)| (case.clone(), place));
        Self { tools: tools.collect(), cases: cases.collect() }
    }

    pub(crate) fn total(&self) -> i64 {
        let cases = i64::try_from(self.cases.len()).unwrap_or(i64::MAX);
        self.tools.values().map(|(_, trials)| i64::from(*trials).saturating_mul(cases)).fold(0, i64::saturating_add)
    }

    /// A trial's position in the plan: tool, case, number; `None` if it is not planned.
    pub(crate) fn place(&self, key: &TrialKey) -> Option<(usize, usize, u32)> {
        let (tool, trials) = self.tools.get(key.tool.as_str())?;
        let case = self.cases.get(key.case.as_str())?;
        (1..=*trials).contains(&key.number).then_some((*tool, *case, key.number))
    }
}
