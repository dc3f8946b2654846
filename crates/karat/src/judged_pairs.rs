//! Reads judged pairs with their trials, fits the local judge to them, and evaluates a judge on them.

#![expect(missing_docs, reason = "names of fields say it")]

use crate::failure::{Category, Failure, Result};
use crate::judge::local::{read, shipped, to_toml};
use crate::judge::run::{JudgeEnv, JudgeObserver, JudgeRequest, open_judge};
use crate::submissions::{open_lines, read_judgement_files, refuse_repeated_stdin};
use crate::suite::{LoadedSuite, load_suite};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::local_judge::NAME;
use karat_core::local_judge::evaluate::{Answer, Figures, evaluate, evaluate_answers, evaluate_word_overlap, mean};
use karat_core::local_judge::fit::{fit, hold_out};
use karat_core::local_judge::labels::{LabelledTrial, Labels};
use karat_core::local_judge::params::{HeldOut, Params, Provenance};
use karat_core::local_judge::scanner::has_located_pair;
use karat_core::scorecard::{PairOrder, PairQuestion};
use karat_core::stats::agreement::{Estimate, Rating, Ratings, measure};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::recorded::{NamedLines, read_judgements, read_trials};
use karat_format::submission::MAX_TRIALS;
use karat_report::build::seed_from;
use karat_store::StoreLocation;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Where judged pairs are read from.
#[derive(Clone, Debug, Default)]
pub struct JudgedPairsRequest {
    pub suite: String,
    /// Default, if there are no judgements either: the suite's calibration set.
    pub submissions: Vec<PathBuf>,
    pub judgements: Vec<PathBuf>,
    /// The field that groups cases.
    pub group_by: Option<String>,
}

/// A suite with all trials of its submissions, judged or not, and judgements of their pairs.
pub(crate) struct JudgedPairs {
    pub(crate) loaded: LoadedSuite,
    /// The field that groups cases.
    pub(crate) field: Option<String>,
    trials: Vec<Trial>,
    judgements: Vec<Judgement>,
}

const CALIBRATION: [&str; 2] = ["calibration/submission.jsonl", "calibration/judgements.jsonl"];

impl JudgedPairs {
    /// Reads the given files, or the suite's calibration set.
    pub(crate) fn load(request: &JudgedPairsRequest) -> Result<Self> {
        refuse_repeated_stdin(request.submissions.iter().chain(&request.judgements))?;
        let field = request.group_by.clone();
        field.as_deref().map_or(Ok(()), check_field)?;
        let loaded = load_suite(&request.suite)?;
        let (trials, judgements) = if request.submissions.is_empty() && request.judgements.is_empty() {
            let [submission, judgements] = CALIBRATION.map(|path| open_calibration(&loaded, path));
            let trials = read_trials(vec![submission?], Some(&loaded.suite))?;
            (trials, read_judgements(vec![judgements?], Some(&loaded.suite))?)
        } else {
            read_files(request, &loaded.suite)?
        };
        Ok(Self { loaded, field, trials, judgements })
    }

    /// The judged pairs. What is skipped is described by [`skipped`].
    pub(crate) fn labels(&self) -> Result<Labels<'_>> {
        let labels = Labels::new(&self.loaded.suite, &self.trials, &self.judgements);
        if labels.trials.iter().all(|own| own.stated.iter().all(Option::is_none)) {
            let message = "no pair of these submissions is judged; use the judgements that belong to them";
            return Err(Failure::bad_input(message));
        }
        Ok(labels)
    }
}

pub(crate) fn skipped(labels: &Labels<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if labels.unjudged > 0 {
        notes.push(format!("{} with findings skipped: no judgements", count(labels.unjudged, "trial")));
    }
    if labels.strangers > 0 {
        let strangers = count(labels.strangers, "judgement");
        notes.push(format!("{strangers} skipped: the submissions have no such trial or finding"));
    }
    notes
}

fn check_field(name: &str) -> Result<()> {
    let is_meta = name.strip_prefix("meta.").is_some_and(|rest| !rest.is_empty());
    if is_meta || ["case", "repo", "language", "difficulty", "tier"].contains(&name) {
        return Ok(());
    }
    let known = "expected case, repo, language, difficulty, tier, or meta.NAME";
    Err(Failure::usage(format!("cases cannot be grouped by `{name}`: {known}")))
}

/// The value of a field of a case; cases without one are a group of their own.
pub(crate) fn group(field: &str, case: &Case) -> String {
    let value = match field {
        "case" => Some(case.id.as_str()),
        "tier" => case.tier.as_deref(),
        other => case.field(other),
    };
    value.unwrap_or("(none)").to_owned()
}

/// If judges saw different findings of the same trials, submissions and judgements belong together in their order.
fn read_files(request: &JudgedPairsRequest, suite: &Suite) -> Result<(Vec<Trial>, Vec<Judgement>)> {
    let read = |path: &PathBuf| Ok(read_trials(vec![open_lines(path)?], Some(suite))?);
    let mut sets = request.submissions.iter().map(read).collect::<Result<Vec<Vec<Trial>>>>()?;
    let mut seen = HashSet::new();
    let mut all = sets.iter().flatten().map(|trial| (&trial.case, &trial.tool, trial.number));
    if all.all(|trial| seen.insert(trial)) {
        return Ok((sets.concat(), read_judgement_files(&request.judgements, suite)?));
    }
    if request.submissions.len() != request.judgements.len() {
        return Err(Failure::usage(
            "the submissions contain the same trials more than once; if each judge saw different findings, use one file of \
             judgements for each submission, in the same order",
        ));
    }
    let mut judged = Vec::new();
    for (number, (trials, path)) in (0..).zip(sets.iter_mut().zip(&request.judgements)) {
        let mut judgements = read_judgement_files(std::slice::from_ref(path), suite)?;
        trials.iter_mut().for_each(|trial| trial.number += number * APART);
        judgements.iter_mut().for_each(|judgement| judgement.trial += number * APART);
        judged.extend(judgements);
    }
    Ok((sets.concat(), judged))
}

/// Offset between the trial numbers of different submissions; larger than any trial number.
const APART: u32 = 10 * MAX_TRIALS;

fn open_calibration(loaded: &LoadedSuite, path: &str) -> Result<NamedLines<'static>> {
    let file = loaded.files.display(path);
    let reader = loaded.files.open(path).map_err(|error| Failure::io(&file, error))?;
    reader.map(|reader| NamedLines { file, reader }).ok_or_else(|| {
        Failure::usage(format!(
            "the suite {} has no calibration set: {path} is missing; use judged pairs with --submission and --judgements",
            loaded.suite.name
        ))
    })
}

/// Fits parameters to judged pairs, and returns them with the text of their file; those that the pairs are not about are kept
/// from `params`, by default the built-in ones. `note` receives what a reader should know.
pub fn fit_judge(
    request: &JudgedPairsRequest,
    params: Option<&Path>,
    note: &mut dyn FnMut(&str),
) -> Result<FittedJudge> {
    let start = params.map_or_else(shipped, read)?;
    let start = start.params();
    let given = JudgedPairs::load(request)?;
    let labels = given.labels()?;
    skipped(&labels).iter().for_each(|text| note(text));
    let suite = &given.loaded.suite;
    let mut provenance = Provenance {
        suite: suite.name.clone(),
        digest: suite.digest.clone(),
        judges: labels.judges.iter().map(ToString::to_string).collect(),
        ..Provenance::default()
    };
    let field = given.field.as_deref().unwrap_or("repo");
    let groups: BTreeSet<String> = labels.trials.iter().map(|own| group(field, own.case)).collect();
    if groups.len() > 1 {
        provenance.group_by = Some(field.to_owned());
        hold_out_groups(&labels, field, start, &mut provenance, note);
    } else {
        note("all cases are in one group, so nothing was held out; choose other groups with --group-by FIELD");
    }
    let params = fit(&labels.trials, provenance, start).map_err(Failure::bad_input)?;
    let text = to_toml(&params).map_err(|error| Failure::Message(Category::Internal, error.to_string()))?;
    let is_located = labels.trials.iter().any(|own| has_located_pair(&own.case.goldens, &own.trial.findings));
    let provenance = if is_located { params.scanner.provenance.clone() } else { params.provenance.clone() };
    Ok(FittedJudge { params, text, provenance })
}

/// Fitted parameters.
pub struct FittedJudge {
    pub params: Params,
    /// The content of their file.
    pub text: String,
    /// What was fitted now, and how well that went.
    pub provenance: Provenance,
}

/// Holds out each group in turn. There are no figures if the rest is too small to fit.
fn hold_out_groups(
    labels: &Labels<'_>,
    field: &str,
    start: &Params,
    provenance: &mut Provenance,
    note: &mut dyn FnMut(&str),
) {
    let held_out = match hold_out(&labels.trials, |case| group(field, case), start) {
        Ok(held_out) => held_out,
        Err(error) => return note(&format!("nothing could be held out: {error}")),
    };
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    let Figures { golden_found, pairs } = mean(held_out.groups.values().map(|(figures, _)| figures));
    let all = [golden_found.kappa, golden_found.precision, golden_found.recall, pairs.auc, pairs.ece];
    if let [Some(kappa), Some(precision), Some(recall), Some(auc), Some(ece)] = all.map(|value| value.map(rounded)) {
        provenance.held_out = Some(HeldOut { kappa, precision, recall, auc, ece });
    }
    let kappas =
        held_out.groups.into_iter().filter_map(|(name, (figures, _))| Some((name, figures.golden_found.kappa?)));
    provenance.held_out_kappa = kappas.map(|(name, kappa)| (name, rounded(kappa))).collect();
}

/// The judge to evaluate, and the pairs to evaluate it on.
pub struct EvaluateJudgeRequest {
    pub pairs: JudgedPairsRequest,
    pub judge: JudgeRequest,
    /// Parameters of the local judge; default: the built-in ones.
    pub params: Option<PathBuf>,
    pub store: StoreLocation,
}

/// How a judge did on judged pairs.
#[derive(Serialize)]
pub struct JudgeEvaluation {
    pub judge: String,
    /// Where the local judge's parameters came from: `held-out`, `shipped`, or a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<String>,
    #[serde(flatten)]
    pub all: Figures,
    /// The plain mean over the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Figures>,
    pub groups: BTreeMap<String, GroupFigures>,
    /// Word overlap as a reference, on the same labels.
    pub overlap: Figures,
    /// The judges that made the labels.
    pub judges: Vec<String>,
    #[serde(flatten)]
    pub asked: Option<AskedFigures>,
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// How a judge did on one group of cases.
#[derive(Serialize)]
pub struct GroupFigures {
    /// Probability from which the local judge calls a pair a match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures that only a judge other than the local one has.
#[derive(Serialize)]
pub struct AskedFigures {
    /// Labelled pairs without an answer; the figures exclude them.
    pub unjudged: usize,
    pub unjudged_pairs: Vec<UnjudgedPair>,
    pub agreement: PairAgreement,
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// A pair without an answer.
#[derive(Serialize)]
pub struct UnjudgedPair {
    pub case: String,
    pub tool: String,
    pub trial: u32,
    pub golden: String,
    pub finding: String,
    pub why: String,
}

/// Agreement of a judge with the labels, by pair.
#[derive(Serialize)]
pub struct PairAgreement {
    pub percent: AgreementFigure,
    pub kappa: AgreementFigure,
    pub ac1: AgreementFigure,
}

/// A figure with its 95 % interval.
#[derive(Default, Serialize)]
pub struct AgreementFigure {
    pub value: Option<f64>,
    pub ci: Option<[f64; 2]>,
}

/// Evaluates a judge on judged pairs.
pub fn evaluate_judge(request: &EvaluateJudgeRequest, observer: &mut dyn JudgeObserver) -> Result<JudgeEvaluation> {
    let pairs = JudgedPairs::load(&request.pairs)?;
    let labels = pairs.labels()?;
    let name = request.judge.judge.as_deref().unwrap_or(NAME);
    let is_local = name == NAME && !pairs.loaded.config.judges.contains_key(NAME);
    if !is_local && request.params.is_some() {
        return Err(Failure::usage("--params applies to the local judge; omit --judge"));
    }
    let Measured { params, all, groups, asked } = match (&pairs.field, &request.params) {
        _ if !is_local => by_asking(request, &pairs, &labels, observer)?,
        (Some(field), None) => by_held_out_groups(&labels, field)?,
        (field, params) => by_params(params.as_deref(), &labels, field.as_deref())?,
    };
    Ok(JudgeEvaluation {
        judge: name.to_owned(),
        params,
        all,
        mean: (!groups.is_empty()).then(|| mean(groups.values().map(|group| &group.figures))),
        groups,
        overlap: evaluate_word_overlap(&pairs.loaded.suite, &labels.trials),
        judges: labels.judges.iter().map(ToString::to_string).collect(),
        asked,
        notes: skipped(&labels),
    })
}

struct Measured {
    params: Option<String>,
    all: Figures,
    groups: BTreeMap<String, GroupFigures>,
    asked: Option<AskedFigures>,
}

/// Evaluates each group by parameters fitted on the others.
fn by_held_out_groups(labels: &Labels<'_>, field: &str) -> Result<Measured> {
    let start = shipped()?;
    let held_out = hold_out(&labels.trials, |case| group(field, case), start.params()).map_err(|error| {
        let help = "choose larger groups with --group-by, or set parameters with --params";
        Failure::bad_input(format!("a group cannot be held out: {error}; {help}"))
    })?;
    let group = |(name, (figures, threshold))| (name, GroupFigures { threshold: Some(threshold), figures });
    let groups = held_out.groups.into_iter().map(group).collect();
    Ok(Measured { params: Some("held-out".to_owned()), all: held_out.pooled, groups, asked: None })
}

fn by_params(params: Option<&Path>, labels: &Labels<'_>, field: Option<&str>) -> Result<Measured> {
    let (name, judge) = match params {
        Some(path) => (path.display().to_string(), read(path)?),
        None => ("shipped".to_owned(), shipped()?),
    };
    let mut by_group: BTreeMap<String, Vec<LabelledTrial<'_>>> = BTreeMap::new();
    if let Some(field) = field {
        for own in &labels.trials {
            by_group.entry(group(field, own.case)).or_default().push(own.clone());
        }
    }
    let threshold = Some(judge.params().threshold);
    let group =
        |(name, trials): (String, Vec<_>)| (name, GroupFigures { threshold, figures: evaluate(&judge, &trials) });
    let groups = by_group.into_iter().map(group).collect();
    Ok(Measured { params: Some(name), all: evaluate(&judge, &labels.trials), groups, asked: None })
}

/// The identity of a pair: case, tool, trial, golden and finding.
type PairId<'p> = (&'p str, &'p str, u32, &'p str, &'p str);

fn by_asking(
    request: &EvaluateJudgeRequest,
    pairs: &JudgedPairs,
    labels: &Labels<'_>,
    observer: &mut dyn JudgeObserver,
) -> Result<Measured> {
    let judge = open_judge(&pairs.loaded, &request.judge)?;
    let questions: Vec<PairQuestion<'_>> = labels.trials.iter().flat_map(questions).collect();
    let env = JudgeEnv { request: &request.judge, location: &request.store, store: None, observer };
    let asked = env.with(&judge, &pairs.loaded, &pairs.trials, |context| context.ask_about(&judge, &questions))?;
    let settled = settle(&asked.judgements);
    // The decisions on every pair of a trial, in the order of its labels.
    let answers = labels.trials.iter().map(|LabelledTrial { case, trial, .. }| {
        let pairs = case.goldens.iter().flat_map(|golden| trial.findings.iter().map(move |finding| (golden, finding)));
        pairs.map(|(golden, finding)| settled.get(&pair_id(trial, golden, finding))?.clone().ok()).collect()
    });
    let answers: Vec<Vec<Option<Answer>>> = answers.collect();
    if answers.iter().flatten().all(Option::is_none) {
        let why = why_unjudged(asked.judgements.iter()).unwrap_or_else(|| "no answer".to_owned());
        let message =
            format!("the judge {} answered none of {}: {why}", judge.name, count(questions.len(), "question"));
        return Err(Failure::failed(message));
    }
    let unjudged = questions.iter().filter_map(|PairQuestion { trial, golden, finding, .. }| {
        let outcome = settled.get(&pair_id(trial, golden, finding)).cloned().unwrap_or_else(|| settle_pair(&[]));
        Some(UnjudgedPair {
            case: trial.case.to_string(),
            tool: trial.tool.to_string(),
            trial: trial.number,
            golden: golden.id.to_string(),
            finding: finding.id.to_string(),
            why: outcome.err()?,
        })
    });
    let unjudged_pairs: Vec<UnjudgedPair> = unjudged.collect();
    let figures = |chosen: &dyn Fn(&LabelledTrial<'_>) -> bool| {
        let both = labels.trials.iter().zip(&answers).filter(|(own, _)| chosen(own));
        let (trials, answers): (Vec<_>, Vec<_>) = both.map(|(own, answers)| (own.clone(), answers.clone())).unzip();
        evaluate_answers(&trials, &answers)
    };
    let mut groups = BTreeMap::new();
    if let Some(field) = &pairs.field {
        let names: BTreeSet<String> = labels.trials.iter().map(|own| group(field, own.case)).collect();
        for name in names {
            let figures = figures(&|own| group(field, own.case) == name);
            groups.insert(name, GroupFigures { threshold: None, figures });
        }
    }
    let agreement = agreement(&labels.trials, &answers, seed_from(&pairs.loaded.suite));
    let asked = AskedFigures { unjudged: unjudged_pairs.len(), unjudged_pairs, agreement, notes: asked.notes };
    Ok(Measured { params: None, all: figures(&|_| true), groups, asked: Some(asked) })
}

fn questions<'a>(own: &LabelledTrial<'a>) -> Vec<PairQuestion<'a>> {
    let (case, trial) = (own.case, own.trial);
    let width = trial.findings.len();
    let labelled = own.stated.iter().enumerate().filter(|(_, label)| label.is_some());
    let question = |(index, _): (usize, _)| {
        let (golden, finding) = (&case.goldens[index / width], &trial.findings[index % width]);
        PairQuestion { case, trial, golden, finding, score: 0.0, order: PairOrder::GoldenFirst }
    };
    labelled.map(question).collect()
}

/// The decision on each pair, by one judge or by the majority of several people, or why there is none.
fn settle(judgements: &[Judgement]) -> HashMap<PairId<'_>, Result<Answer, String>> {
    let mut by_pair: HashMap<PairId<'_>, Vec<&Judgement>> = HashMap::new();
    for judgement in judgements {
        let (golden, finding) = match &judgement.decision {
            Decision::Pair(PairDecision { golden: Some(golden), finding, .. }) => (golden, finding),
            Decision::Unjudged(pair) => (&pair.golden, &pair.finding),
            Decision::Pair(_) | Decision::Audit(_) | Decision::Extra(_) => continue,
        };
        let Judgement { case, tool, trial, .. } = judgement;
        let id = (case.as_str(), tool.as_str(), *trial, golden.as_str(), finding.as_str());
        by_pair.entry(id).or_default().push(judgement);
    }
    by_pair.into_iter().map(|(id, judgements)| (id, settle_pair(&judgements))).collect()
}

fn settle_pair(judgements: &[&Judgement]) -> Result<Answer, String> {
    let answer = |judgement: &&Judgement| match &judgement.decision {
        Decision::Pair(pair) => Some(Answer::new(pair.matched, pair.confidence)),
        _ => None,
    };
    let decided: Vec<Answer> = judgements.iter().filter_map(answer).collect();
    let yes = decided.iter().filter(|answer| answer.matched).count();
    if 2 * yes == decided.len() {
        return Err(why_unjudged(judgements.iter().copied()).unwrap_or_else(|| "the votes are tied".to_owned()));
    }
    let probability = decided.iter().map(|answer| answer.probability).sum::<f64>() / decided.len() as f64;
    Ok(Answer { matched: 2 * yes > decided.len(), probability })
}

fn pair_id<'p>(trial: &'p Trial, golden: &'p Golden, finding: &'p Finding) -> PairId<'p> {
    (trial.case.as_str(), trial.tool.as_str(), trial.number, golden.id.as_str(), finding.id.as_str())
}

fn why_unjudged<'j>(mut judgements: impl Iterator<Item = &'j Judgement>) -> Option<String> {
    judgements.find_map(|judgement| match &judgement.decision {
        Decision::Unjudged(pair) => Some(pair.why.clone()),
        _ => None,
    })
}

/// Labels and judge as two raters of the same pairs.
fn agreement(trials: &[LabelledTrial<'_>], answers: &[Vec<Option<Answer>>], seed: u64) -> PairAgreement {
    let pairs = trials.iter().zip(answers).flat_map(|(own, answers)| own.stated.iter().zip(answers));
    let items = pairs.filter_map(|(label, answer)| {
        let rating = |rater: usize, yes: bool| Rating { rater, category: usize::from(yes) };
        Some(vec![rating(0, (*label)?), rating(1, (*answer)?.matched)])
    });
    let figures = measure(&Ratings::new(items), &[(0, 1)], seed);
    let figure = |estimate: &Estimate| AgreementFigure {
        value: estimate.value.ok(),
        ci: estimate.interval.ok().map(|interval| [interval.low, interval.high]),
    };
    PairAgreement {
        percent: figure(&figures.percent),
        kappa: figures.cohen.first().map(|pair| figure(&pair.plain)).unwrap_or_default(),
        ac1: figure(&figures.ac1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_grouped_by_what_they_say() {
        let mut case = Case::new("c");
        case.repo = Some("a/b".to_owned());
        case.meta.insert("team".to_owned(), "red".to_owned());
        let group = |field: &str| check_field(field).map(|()| group(field, &case)).map_err(|failure| failure.text());
        assert_eq!([group("repo"), group("meta.team")], [Ok("a/b".to_owned()), Ok("red".to_owned())]);
        assert_eq!([group("case"), group("language")], [Ok("c".to_owned()), Ok("(none)".to_owned())]);
        assert!(group("colour").unwrap_err().contains("meta.NAME"));
    }
}
