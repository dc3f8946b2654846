//! Assigns imported findings to the cases of a suite.

mod layout;

use super::{ImportedData, ToolFailure};
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, FindingId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, Suite};
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::plural;
use karat_format::document::suggest::nearest;
use layout::Layout;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How findings are assigned to cases.
#[expect(missing_docs, reason = "field names say it")]
pub struct Placement<'a> {
    pub suite: Option<&'a Suite>,
    pub case_rule: CaseRule,
    /// The tool, whatever the format says.
    pub tool: Option<ToolName>,
    pub trial: u32,
}

/// How the case of a finding is determined.
#[derive(Clone, Debug)]
pub enum CaseRule {
    /// All findings belong to one case.
    One(CaseId),
    /// The expression matches the case's id in the path: its group `case`, else its first group, else the whole match.
    FromPath(regex::Regex),
    /// The path starts with the case's id, is a file that only one case has, or is named after a case.
    ByPrefix,
}

/// Compiles the expression of `--case-from`.
pub fn case_regex(pattern: &str) -> Result<regex::Regex, String> {
    regex::RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|error| format!("--case-from: {error}"))
}

/// The result of placement.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PlacementResult {
    /// The trials, by tool and then by case.
    pub trials: Vec<Trial>,
    pub cases: Vec<Case>,
    pub judgements: Vec<Judgement>,
    /// The number of findings without a case, by path; those without a path are under `(no file)`.
    pub unplaced: BTreeMap<String, usize>,
    pub notes: Vec<String>,
}

/// Why nothing could be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants")]
pub enum PlacementError {
    #[error(
        "the findings do not say which case they belong to: give the suite (--suite), the case (--case), \
         or an expression that finds it in the path (--case-from)"
    )]
    NoCases,
    #[error("the input does not name the tool that reported these findings: name it with --tool")]
    NoTool,
    #[error("the suite has no case {case}{}", suggestion.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    UnknownCase { case: CaseId, suggestion: Option<CaseId> },
    #[error(
        "these are trials of several tools ({tools}), which cannot all be named {name}: import them without --tool"
    )]
    SeveralTools { tools: String, name: ToolName },
}

/// Assigns findings to cases. `known_files` returns whether a case has a file, for paths that no golden names; it may be called
/// for every case and path, so it should be fast.
pub fn place(
    data: ImportedData,
    placement: &Placement<'_>,
    known_files: &dyn Fn(&CaseId, &RepoPath) -> bool,
) -> Result<PlacementResult, PlacementError> {
    check_request(&data, placement)?;
    let layout = Layout::new(placement.suite, known_files);
    let ImportedData { findings, trials, cases, judgements, tools, failures, notes, .. } = data;
    let mut placed = PlacementResult { cases, judgements, notes, ..PlacementResult::default() };
    add_complete_trials(trials, placement, &mut placed)?;

    let mut builder = TrialBuilder { number: placement.trial, ..TrialBuilder::default() };
    let named = placement.tool.iter().chain(if placement.tool.is_some() { &[] } else { tools.as_slice() });
    named.for_each(|tool| builder.add_tool(tool));
    let only = builder.tools.first().cloned().filter(|_| builder.tools.len() == 1);
    let mut owners = HashMap::new();
    for reported in findings {
        let tool = placement.tool.clone().or(reported.tool).or_else(|| only.clone()).ok_or(PlacementError::NoTool)?;
        builder.add_tool(&tool);
        let mut finding = reported.finding;
        let key = (reported.case, finding.file.take());
        let owner = match owners.get(&key) {
            Some(owner) => owner,
            None => {
                let owner = find_case(&layout, placement, key.0.as_ref(), key.1.as_ref());
                owners.entry(key.clone()).or_insert(owner)
            }
        };
        match owner {
            Some((case, file)) => {
                finding.file = file.clone();
                builder.add(&tool, case, finding);
            }
            None => {
                let path = key.1.map_or_else(|| "(no file)".to_owned(), |path| path.to_string());
                *placed.unplaced.entry(path).or_default() += 1;
            }
        }
    }
    report_failures(&failures, placement, &layout, &mut builder, &mut placed.notes)?;
    builder.into_trials(placement, &mut placed);
    Ok(placed)
}

fn check_request(data: &ImportedData, placement: &Placement<'_>) -> Result<(), PlacementError> {
    match (&placement.case_rule, placement.suite) {
        (CaseRule::One(case), Some(suite)) if !suite.cases.iter().any(|other| other.id == *case) => {
            let near = nearest(case.as_str(), suite.cases.iter().map(|other| other.id.as_str()));
            Err(PlacementError::UnknownCase { case: case.clone(), suggestion: near.map(CaseId::from) })
        }
        (CaseRule::ByPrefix, None) => {
            let homeless = data.findings.iter().any(|reported| reported.case.is_none());
            let empty = data.findings.is_empty() && data.trials.is_empty() && data.cases.is_empty();
            if homeless || (empty && data.judgements.is_empty()) { Err(PlacementError::NoCases) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

fn add_complete_trials(
    trials: Vec<Trial>,
    placement: &Placement<'_>,
    placed: &mut PlacementResult,
) -> Result<(), PlacementError> {
    placed.trials = trials;
    let Some(name) = &placement.tool else { return Ok(()) };
    let tools: BTreeSet<&str> = placed.trials.iter().map(|trial| trial.tool.as_str()).collect();
    if tools.len() > 1 {
        let tools = tools.into_iter().collect::<Vec<_>>().join(", ");
        return Err(PlacementError::SeveralTools { tools, name: name.clone() });
    }
    placed.trials.iter_mut().for_each(|trial| trial.tool = name.clone());
    placed.judgements.iter_mut().for_each(|judgement| judgement.tool = name.clone());
    Ok(())
}

fn find_case(
    layout: &Layout<'_>,
    placement: &Placement<'_>,
    named: Option<&CaseId>,
    path: Option<&RepoPath>,
) -> Option<(CaseId, Option<RepoPath>)> {
    let case = match (&placement.case_rule, named) {
        (CaseRule::One(case), _) => case.clone(),
        (_, Some(case)) => case.clone(),
        (CaseRule::FromPath(expression), None) => CaseId::new(capture_case(expression, path?.as_str())?),
        (CaseRule::ByPrefix, None) => layout.owner(path)?.clone(),
    };
    if !layout.has(&case) {
        return None;
    }
    let file = path.map(|path| layout.relative(&case, path));
    Some((case, file))
}

fn capture_case<'p>(expression: &regex::Regex, path: &'p str) -> Option<&'p str> {
    let captures = expression.captures(path)?;
    let group = captures.name("case").or_else(|| captures.get(1)).or_else(|| captures.get(0))?;
    Some(group.as_str()).filter(|id| !id.is_empty())
}

/// Further failures are only counted.
const MAX_REPORTED: usize = 20;

fn report_failures(
    failures: &[ToolFailure],
    placement: &Placement<'_>,
    layout: &Layout<'_>,
    builder: &mut TrialBuilder,
    notes: &mut Vec<String>,
) -> Result<(), PlacementError> {
    for (index, failure) in failures.iter().enumerate() {
        let tool = placement.tool.as_ref().or(failure.tool.as_ref());
        if failure.fatal {
            if let Some(tool) = tool {
                builder.add_tool(tool);
                builder.failed.insert(tool.clone());
            } else if builder.tools.is_empty() {
                return Err(PlacementError::NoTool);
            } else {
                builder.failed.extend(builder.tools.iter().cloned());
            }
        }
        if index >= MAX_REPORTED {
            continue;
        }
        let who = tool.map_or("the tool", ToolName::as_str);
        let path = failure.file.as_deref().and_then(RepoPath::new);
        let case = find_case(layout, placement, None, path.as_ref());
        if let (false, Some(tool), Some((case, _))) = (failure.fatal, tool, &case) {
            // The note goes into the trial, so that scoring the submission later warns too.
            let place = failure.file.as_ref().map_or_else(String::new, |file| format!("{file}: "));
            builder.trial(tool, case).notes.push(format!("incomplete: {place}{}", failure.message));
            continue;
        }
        let place = match (case.filter(|_| path.is_some()), path) {
            (Some((case, Some(file))), _) => format!(" in case {case}, {file}"),
            (_, Some(path)) => format!(" in {path}"),
            _ => String::new(),
        };
        let outcome = if failure.fatal { " (all its trials count as unparsable)" } else { "" };
        notes.push(format!("{who} failed{place}: {}{outcome}", failure.message));
    }
    if failures.len() > MAX_REPORTED {
        notes.push(format!("and {} more failures of this kind", failures.len() - MAX_REPORTED));
    }
    Ok(())
}

#[derive(Default)]
struct TrialBuilder {
    number: u32,
    trials: HashMap<(ToolName, CaseId), Trial>,
    /// In order of appearance.
    tools: Vec<ToolName>,
    known_tools: BTreeSet<ToolName>,
    failed: BTreeSet<ToolName>,
    /// The cases with findings, in order of appearance.
    cases: Vec<CaseId>,
    known_cases: BTreeSet<CaseId>,
}

impl TrialBuilder {
    fn add_tool(&mut self, tool: &ToolName) {
        if !self.known_tools.contains(tool) {
            self.known_tools.insert(tool.clone());
            self.tools.push(tool.clone());
        }
    }

    fn trial(&mut self, tool: &ToolName, case: &CaseId) -> &mut Trial {
        let new = || Trial::reported(case.clone(), tool.clone(), self.number);
        self.trials.entry((tool.clone(), case.clone())).or_insert_with(new)
    }

    fn add(&mut self, tool: &ToolName, case: &CaseId, mut finding: Finding) {
        if !self.known_cases.contains(case) {
            self.known_cases.insert(case.clone());
            self.cases.push(case.clone());
        }
        let findings = &mut self.trial(tool, case).findings;
        finding.id = FindingId::new(format!("f{}", findings.len() + 1));
        findings.push(finding);
    }

    /// Every planned case gets a trial, so that "found nothing" is explicit.
    fn into_trials(mut self, placement: &Placement<'_>, placed: &mut PlacementResult) {
        let cases: Vec<CaseId> = match (&placement.case_rule, placement.suite) {
            (CaseRule::One(case), _) => vec![case.clone()],
            (_, Some(suite)) => suite.cases.iter().map(|case| case.id.clone()).collect(),
            (_, None) => std::mem::take(&mut self.cases),
        };
        let there: BTreeSet<(ToolName, CaseId, u32)> =
            placed.trials.iter().map(|trial| (trial.tool.clone(), trial.case.clone(), trial.number)).collect();
        for tool in &self.tools {
            let mut silent = 0;
            let mut dropped = 0;
            for case in &cases {
                let known = self.trials.remove(&(tool.clone(), case.clone()));
                let mut trial = known.unwrap_or_else(|| Trial::reported(case.clone(), tool.clone(), self.number));
                if trial.findings.is_empty() && there.contains(&(tool.clone(), case.clone(), self.number)) {
                    continue;
                }
                silent += usize::from(trial.findings.is_empty());
                if self.failed.contains(tool) {
                    trial.outcome = Outcome::Unparsable;
                    dropped += trial.findings.drain(..).len();
                }
                placed.trials.push(trial);
            }
            if dropped > 0 {
                placed.notes.push(format!(
                    "{tool} reported that it failed: {} ignored, and its trials are unparsable",
                    plural(dropped, "finding is", "findings are")
                ));
            }
            if silent > 0 && !self.failed.contains(tool) {
                placed.notes.push(format!("{tool} has no findings in {silent} of {} cases", cases.len()));
            }
        }
        if self.tools.is_empty() && placed.trials.is_empty() && placed.cases.is_empty() && placed.judgements.is_empty()
        {
            placed
                .notes
                .push("nothing was found and no tool is named, so there are no trials: name it with --tool".to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
