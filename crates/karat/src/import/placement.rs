//! Putting what was imported to the cases of a suite.

mod layout;

use super::{Harvest, ToolFailure};
use crate::document::suggest::nearest;
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, FindingId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, Suite};
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::plural;
use layout::Layout;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How findings are put to cases.
pub struct Placement<'a> {
    /// The suite the cases are of.
    pub suite: Option<&'a Suite>,
    /// How the case of a finding is told.
    pub how: How,
    /// The tool, whatever the format says.
    pub tool: Option<ToolName>,
    /// The number of the trial.
    pub trial: u32,
}

/// How the case of a finding is told.
#[derive(Clone, Debug)]
pub enum How {
    /// All belongs to one case.
    One(CaseId),
    /// The expression finds the case's id in the path: its group `case`, else its first group, else all it matches.
    FromPath(regex::Regex),
    /// The path starts with the case's id, is a file that only one case has, or is named after a case.
    ByPrefix,
}

/// The expression that finds the case in a path, or what is wrong with it.
pub fn case_regex(pattern: &str) -> Result<regex::Regex, String> {
    regex::RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|error| format!("--case-from: {error}"))
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Placed {
    /// The trials, by tool and then by case.
    pub trials: Vec<Trial>,
    /// Cases that the import brought along.
    pub cases: Vec<Case>,
    /// Judgements that the import brought along.
    pub judgements: Vec<Judgement>,
    /// How many findings fit no case, by path; those without one stand under `(no file)`.
    pub unplaced: BTreeMap<String, usize>,
    /// Things a person should know.
    pub notes: Vec<String>,
}

/// Why nothing could be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// Nothing says which cases there are.
    #[error(
        "the findings do not say which case they belong to: give the suite (--suite), the case (--case), \
         or an expression that finds it in the path (--case-from)"
    )]
    NoCases,
    /// Nothing says which tool it was.
    #[error("the input does not name the tool that reported these findings: name it with --tool")]
    NoTool,
    /// The suite has no such case.
    #[error("the suite has no case {case}{}", suggestion.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    UnknownCase {
        /// The case that was asked for.
        case: CaseId,
        /// The case of the most similar name.
        suggestion: Option<CaseId>,
    },
    /// One name was given to trials of several tools.
    #[error(
        "these are trials of several tools ({tools}), which cannot all be called {name}: import them without --tool"
    )]
    SeveralTools {
        /// The tools.
        tools: String,
        /// The name they were to have.
        name: ToolName,
    },
}

/// Puts findings to cases. `known_files` tells whether a case has a file, for paths that no golden names; it may be asked
/// about every case for each such path, so it should not have to look for long.
pub fn place(
    harvest: Harvest,
    placement: &Placement<'_>,
    known_files: &dyn Fn(&CaseId, &RepoPath) -> bool,
) -> Result<Placed, PlacementError> {
    check(&harvest, placement)?;
    let layout = Layout::new(placement.suite, known_files);
    let Harvest { findings, trials, cases, judgements, tools, failures, notes, .. } = harvest;
    let mut placed = Placed { cases, judgements, notes, ..Placed::default() };
    pass_through(trials, placement, &mut placed)?;

    let mut board = Board::default();
    let named = placement.tool.iter().chain(if placement.tool.is_some() { &[] } else { tools.as_slice() });
    named.for_each(|tool| board.tool(tool));
    let only = board.tools.first().cloned().filter(|_| board.tools.len() == 1);
    let mut seen = HashMap::new();
    for reported in findings {
        let tool = placement.tool.clone().or(reported.tool).or_else(|| only.clone()).ok_or(PlacementError::NoTool)?;
        board.tool(&tool);
        let mut finding = reported.finding;
        let key = (reported.case, finding.file.take());
        let home = match seen.get(&key) {
            Some(home) => home,
            None => {
                let home = home(&layout, placement, key.0.as_ref(), key.1.as_ref());
                seen.entry(key.clone()).or_insert(home)
            }
        };
        match home {
            Some((case, file)) => {
                finding.file = file.clone();
                board.add(tool, case.clone(), finding);
            }
            None => {
                let path = key.1.map_or_else(|| "(no file)".to_owned(), |path| path.to_string());
                *placed.unplaced.entry(path).or_default() += 1;
            }
        }
    }
    report_failures(&failures, placement, &layout, &mut board, &mut placed.notes)?;
    board.into_trials(placement, &mut placed);
    Ok(placed)
}

/// Sees whether what is asked for can be done at all.
fn check(harvest: &Harvest, placement: &Placement<'_>) -> Result<(), PlacementError> {
    match (&placement.how, placement.suite) {
        (How::One(case), Some(suite)) if !suite.cases.iter().any(|other| other.id == *case) => {
            let near = nearest(case.as_str(), suite.cases.iter().map(|other| other.id.as_str()));
            Err(PlacementError::UnknownCase { case: case.clone(), suggestion: near.map(CaseId::from) })
        }
        (How::ByPrefix, None) => {
            let homeless = harvest.findings.iter().any(|reported| reported.case.is_none());
            let empty = harvest.findings.is_empty() && harvest.trials.is_empty() && harvest.cases.is_empty();
            if homeless || (empty && harvest.judgements.is_empty()) { Err(PlacementError::NoCases) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

fn pass_through(trials: Vec<Trial>, placement: &Placement<'_>, placed: &mut Placed) -> Result<(), PlacementError> {
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

/// The case a path belongs to, and the path as the case knows it.
fn home(
    layout: &Layout<'_>,
    placement: &Placement<'_>,
    named: Option<&CaseId>,
    path: Option<&RepoPath>,
) -> Option<(CaseId, Option<RepoPath>)> {
    let case = match (&placement.how, named) {
        (How::One(case), _) => case.clone(),
        (_, Some(case)) => case.clone(),
        (How::FromPath(expression), None) => CaseId::new(captured(expression, path?.as_str())?),
        (How::ByPrefix, None) => layout.owner(path)?.clone(),
    };
    if !layout.has(&case) {
        return None;
    }
    let file = path.map(|path| layout.relative(&case, path));
    Some((case, file))
}

fn captured<'p>(expression: &regex::Regex, path: &'p str) -> Option<&'p str> {
    let captures = expression.captures(path)?;
    let group = captures.name("case").or_else(|| captures.get(1)).or_else(|| captures.get(0))?;
    Some(group.as_str()).filter(|id| !id.is_empty())
}

/// Failures beyond this many are counted, not told one by one.
const MOST_TOLD: usize = 20;

fn report_failures(
    failures: &[ToolFailure],
    placement: &Placement<'_>,
    layout: &Layout<'_>,
    board: &mut Board,
    notes: &mut Vec<String>,
) -> Result<(), PlacementError> {
    for (index, failure) in failures.iter().enumerate() {
        let tool = placement.tool.as_ref().or(failure.tool.as_ref());
        if failure.fatal {
            if let Some(tool) = tool {
                board.tool(tool);
                board.failed.insert(tool.clone());
            } else if board.tools.is_empty() {
                return Err(PlacementError::NoTool);
            } else {
                board.failed.extend(board.tools.iter().cloned());
            }
        }
        if index >= MOST_TOLD {
            continue;
        }
        let who = tool.map_or("the tool", ToolName::as_str);
        let path = failure.file.as_deref().and_then(RepoPath::new);
        let case = home(layout, placement, None, path.as_ref());
        if let (false, Some(tool), Some((case, _))) = (failure.fatal, tool, &case) {
            // The trial keeps it, so that whoever scores the submission later is warned too.
            let place = failure.file.as_ref().map_or_else(String::new, |file| format!("{file}: "));
            let kept = board.notes.entry((tool.clone(), case.clone())).or_default();
            kept.push(format!("incomplete: {place}{}", failure.message));
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
    if failures.len() > MOST_TOLD {
        notes.push(format!("and {} more failures of this kind", failures.len() - MOST_TOLD));
    }
    Ok(())
}

/// The trials that are being filled.
#[derive(Default)]
struct Board {
    /// What tools said of their work on a case.
    notes: BTreeMap<(ToolName, CaseId), Vec<String>>,
    /// In the order in which they appeared.
    tools: Vec<ToolName>,
    known: BTreeSet<ToolName>,
    failed: BTreeSet<ToolName>,
    findings: HashMap<(ToolName, CaseId), Vec<Finding>>,
    /// The cases with findings, in the order in which they appeared.
    cases: Vec<CaseId>,
    met: BTreeSet<CaseId>,
}

impl Board {
    fn tool(&mut self, tool: &ToolName) {
        if !self.known.contains(tool) {
            self.known.insert(tool.clone());
            self.tools.push(tool.clone());
        }
    }

    fn add(&mut self, tool: ToolName, case: CaseId, mut finding: Finding) {
        if !self.met.contains(&case) {
            self.met.insert(case.clone());
            self.cases.push(case.clone());
        }
        let findings = self.findings.entry((tool, case)).or_default();
        finding.id = FindingId::new(format!("f{}", findings.len() + 1));
        findings.push(finding);
    }

    /// Every planned case gets its line, so that "found nothing" is said and not left to be guessed.
    fn into_trials(mut self, placement: &Placement<'_>, placed: &mut Placed) {
        let cases: Vec<CaseId> = match (&placement.how, placement.suite) {
            (How::One(case), _) => vec![case.clone()],
            (_, Some(suite)) => suite.cases.iter().map(|case| case.id.clone()).collect(),
            (_, None) => std::mem::take(&mut self.cases),
        };
        let there: BTreeSet<(ToolName, CaseId, u32)> =
            placed.trials.iter().map(|trial| (trial.tool.clone(), trial.case.clone(), trial.number)).collect();
        for tool in &self.tools {
            let mut silent = 0;
            let mut dropped = 0;
            for case in &cases {
                let findings = self.findings.remove(&(tool.clone(), case.clone())).unwrap_or_default();
                if findings.is_empty() && there.contains(&(tool.clone(), case.clone(), placement.trial)) {
                    continue;
                }
                silent += usize::from(findings.is_empty());
                let mut trial = Trial::reported(case.clone(), tool.clone(), placement.trial);
                if self.failed.contains(tool) {
                    trial.outcome = Outcome::Unparsable;
                    dropped += findings.len();
                } else {
                    trial.findings = findings;
                }
                trial.notes = self.notes.remove(&(tool.clone(), case.clone())).unwrap_or_default();
                placed.trials.push(trial);
            }
            if dropped > 0 {
                placed.notes.push(format!(
                    "{tool} reported that it failed: {} left out, and its trials are unparsable",
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
