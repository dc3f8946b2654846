//! Explains the score of one case: each golden, its candidates, which judge decided and why; or requirements of an assessment.

use crate::failure::{Failure, Result};
use crate::judge::run::JudgeObserver;
use crate::score::{ScoreInput, ScoreRequest, ScoreSource};
use crate::submissions::read_judgement_files;
use crate::suggestion;
use crate::suite::LoadedSuite;
use crate::work::Scoring;
use karat_core::matching::outcome::Candidate;
use karat_core::scorecard::{CaseScore, TrialScore, candidates};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_core::wording::first_few;
use karat_format::assessment::{AssessedV1, AssessmentReportV1, AssessmentV1, RequirementKey, RetrievedV1};
use karat_format::ordered_map::OrderedMap;
use karat_report::assessment::{RankedRequirement, rank, requirements, retrieved};
use karat_report::explain::{TrialChoice, choose_trial};
use serde::Serialize;

/// Requirements that are named in a message.
const MAX_LISTED: usize = 5;

/// The case to explain.
#[expect(missing_docs, reason = "field names say it")]
pub struct ExplainRequest {
    /// What is scored. A single tool names that of imported files; labels and intervals are not used.
    pub score: ScoreRequest,
    pub case: String,
    /// Optional if there is only one.
    pub tool: Option<String>,
    /// Default: the one that shows what went wrong.
    pub trial: Option<u32>,
}

/// A scored case.
pub struct Explained {
    loaded: LoadedSuite,
    /// The scores of this case alone.
    pub scoring: Scoring,
    /// Index of the case in the suite and in the report.
    pub case_index: usize,
    /// Index of the tool in the scorecard and in the report.
    pub tool_index: usize,
    trial_index: usize,
    /// Why this trial is explained.
    pub choice: TrialChoice,
    /// Findings that were skipped on reading.
    pub notes: Vec<String>,
}

/// Scores one case. The judge is asked only about its pairs.
pub fn explain(request: &ExplainRequest, observer: &mut dyn JudgeObserver) -> Result<Explained> {
    let mut input = ScoreInput::load(&request.score)?;
    let cases = &input.loaded.suite.cases;
    let Some(case_index) = cases.iter().position(|case| case.id.as_str() == request.case) else {
        let hint = suggestion(&request.case, cases.iter().map(|case| case.id.as_str()), "");
        let suite = &input.loaded.suite.name;
        return Err(Failure::usage(format!("the suite {suite} has no case `{}`{hint}", request.case)));
    };
    let notes = match request.score.source {
        ScoreSource::Suite(_) => input.work.notes.clone(),
        ScoreSource::Run { .. } => Vec::new(),
    };
    if request.score.profile.is_empty() && request.score.judge.judge.is_none() {
        // Show the stored decisions, even if a panel would decide differently on this case alone.
        input.work.judgements = input.stored_judgements()?;
    }
    input.work.judgements.extend(read_judgement_files(&request.score.judgements, &input.loaded.suite)?);
    input.work.trials.retain(|trial| trial.case.as_str() == request.case);
    input.judge(&request.score.store, observer)?;
    let scoring = input.work.score(&input.loaded);
    let tool_index = find_tool(&scoring, request.tool.as_deref())?;
    let trials = &scoring.scorecard.tools[tool_index].cases[case_index].trials;
    let found = match request.trial {
        Some(number) => trials.iter().position(|trial| trial.number == number).map(|at| (at, TrialChoice::Named)),
        None => choose_trial(trials, &input.loaded.suite.cases[case_index], scoring.profile.method),
    };
    let Some((trial_index, choice)) = found else {
        let numbers: Vec<String> = trials.iter().map(|trial| trial.number.to_string()).collect();
        return Err(Failure::usage(format!("no such trial; available: {}", numbers.join(", "))));
    };
    Ok(Explained { loaded: input.loaded, scoring, case_index, tool_index, trial_index, choice, notes })
}

fn find_tool(scoring: &Scoring, wanted: Option<&str>) -> Result<usize> {
    let names: Vec<&str> = scoring.scorecard.tools.iter().map(|tool| tool.tool.as_str()).collect();
    let there = || format!("available: {}", names.join(", "));
    let Some(wanted) = wanted else {
        return match names.as_slice() {
            [_] => Ok(0),
            _ => Err(Failure::usage(format!("select a tool with --tool; {}", there()))),
        };
    };
    names.iter().position(|name| *name == wanted).ok_or_else(|| {
        let hint = suggestion(wanted, names.iter().copied(), &format!("; {}", there()));
        Failure::usage(format!("no trials of `{wanted}`{hint}"))
    })
}

#[expect(missing_docs, reason = "method names say it")]
impl Explained {
    pub fn case(&self) -> &Case {
        &self.loaded.suite.cases[self.case_index]
    }

    pub fn score(&self) -> &CaseScore {
        &self.scoring.scorecard.tools[self.tool_index].cases[self.case_index]
    }

    pub fn trial(&self) -> &TrialScore {
        &self.score().trials[self.trial_index]
    }

    /// The trial as reported; `None` if it is missing.
    pub fn reported(&self) -> Option<&Trial> {
        self.trial().line.map(|line| &self.scoring.trials[line])
    }

    /// The best candidates of each golden.
    pub fn candidates(&self, most: usize) -> Vec<Vec<Candidate>> {
        let Scoring { judgements, profile, .. } = &self.scoring;
        self.reported().map_or_else(Vec::new, |trial| {
            candidates(&self.loaded.suite, self.case(), trial, judgements, profile, most)
        })
    }
}

/// Requirements of an assessment, those first for which least was earned.
#[derive(Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ExplainedAssessment<'r> {
    pub requirements: Vec<ExplainedRequirement<'r>>,
    #[serde(skip)]
    pub ranked: Vec<RankedRequirement<'r>>,
}

/// What assessors said of a requirement, and what the search found for it.
#[derive(Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ExplainedRequirement<'r> {
    pub bundle_id: &'r str,
    pub template_id: &'r str,
    pub requirement_id: &'r str,
    /// By assessor.
    pub assessed: OrderedMap<Option<&'r AssessedV1>>,
    pub retrieved: Option<&'r RetrievedV1>,
}

/// Explains the requirements of an assessment that a name stands for.
pub fn explain_assessment<'r>(report: &'r AssessmentReportV1, wanted: &str) -> Result<ExplainedAssessment<'r>> {
    let ranked = rank(report, find_requirements(report, wanted));
    if ranked.is_empty() {
        let names: Vec<String> = requirements(report).iter().map(|(bundle, _, id)| format!("{bundle}/{id}")).collect();
        let all = names.iter().flat_map(|name| [name.as_str()].into_iter().chain(name.split('/')));
        let hint = suggestion(wanted, all, &format!("; available: {}", first_few(&names, MAX_LISTED)));
        return Err(Failure::usage(format!("the assessment has no requirement or bundle `{wanted}`{hint}")));
    }
    let requirement = |one: &RankedRequirement<'r>| {
        let (bundle_id, template_id, requirement_id) = one.key;
        let own = |all: &'r AssessmentV1| all.requirements.iter().find(|assessed| assessed.key() == one.key);
        let assessed = report.assessments.iter().map(|(name, all)| (name.to_owned(), own(all))).collect();
        let retrieved = retrieved(report, one.key);
        ExplainedRequirement { bundle_id, template_id, requirement_id, assessed: OrderedMap(assessed), retrieved }
    };
    Ok(ExplainedAssessment { requirements: ranked.iter().map(requirement).collect(), ranked })
}

/// The name of the requirement for which least was earned, if anything was lost; [`explain_assessment`] takes it.
pub fn worst_requirement(report: &AssessmentReportV1) -> Option<String> {
    let ranked = rank(report, requirements(report));
    let (bundle, template, requirement) = ranked.first().filter(|worst| worst.is_wrong())?.key;
    Some(report.case_id(bundle, template, requirement))
}

/// The requirements of an assessment that a name stands for: a requirement, a bundle, or both as `BUNDLE/REQUIREMENT`.
pub fn find_requirements<'r>(report: &'r AssessmentReportV1, wanted: &str) -> Vec<RequirementKey<'r>> {
    let names = |(bundle, template, requirement): &RequirementKey<'r>| {
        wanted == *requirement
            || wanted == *bundle
            || wanted == format!("{bundle}/{requirement}")
            || wanted == report.case_id(bundle, template, requirement)
    };
    requirements(report).into_iter().filter(names).collect()
}

/// Leaves one assessor of an assessment, and refuses a name that it does not have.
pub fn keep_assessor(report: &mut AssessmentReportV1, name: &str) -> Result<()> {
    if report.assessments.get(name).is_none() {
        let names: Vec<&str> = report.assessments.names().collect();
        let hint = suggestion(name, names.iter().copied(), &format!("; available: {}", names.join(", ")));
        return Err(Failure::usage(format!("no answers of `{name}`{hint}")));
    }
    report.assessments.0.retain(|(own, _)| own == name);
    Ok(())
}
