//! Asking a judge, round by round, until no answer could change the assignment of any trial.

use super::{Numbered, vocabulary};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::ids::JudgeName;
use crate::judgement::{Decision, Judgement, UnjudgedPair};
use crate::matching::decisions::Decisions;
use crate::matching::pair::PreparedCase;
use crate::matching::questions::{Round, next_round};
use crate::matching::trial::counted_by_score;
use crate::profile::{Method, Profile};
use crate::suite::{Case, Suite};
use crate::trial::{Outcome, Trial};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};

/// Whether a finding reports a golden.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The case.
    pub case: &'a Case,
    /// The trial the finding is of.
    pub trial: &'a Trial,
    /// The golden.
    pub golden: &'a Golden,
    /// The finding.
    pub finding: &'a Finding,
    /// What file, lines and words make of the pair.
    pub score: f64,
    /// Which of the two is shown first, where a judge is shown anything.
    pub order: Order,
}

/// Which half of a pair comes first. It must make no difference, and probing finds out whether it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The golden, then the finding.
    #[default]
    GoldenFirst,
    /// The finding, then the golden.
    FindingFirst,
}

/// What came of asking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consulted {
    /// All judgements: those given, then those made, in the order of the questions.
    pub judgements: Vec<Judgement>,
    /// How many questions were asked.
    pub asked: usize,
    /// How many candidates nobody needed to be asked about.
    pub saved: usize,
    /// How often questions were put.
    pub rounds: usize,
}

/// Somebody who answers many questions at once.
pub type Answer<'a, E> = dyn FnMut(&[Question<'_>]) -> Result<Vec<Judgement>, E> + 'a;

/// Asks about every trial what is still worth asking. `answer` gets many questions at once and gives a judgement for each, in
/// any order; a question without one is unjudged, and an error ends it all. `judge` is who is said to have been asked in vain then.
pub fn consult<E>(
    suite: &Suite,
    trials: &[Trial],
    judgements: Vec<Judgement>,
    profile: &Profile,
    judge: &JudgeName,
    answer: &mut Answer<'_, E>,
) -> Result<Consulted, E> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let vocabulary = vocabulary(suite, profile);
    let mut done = Consulted { judgements, ..Consulted::default() };
    let mut unsettled: Vec<(&Trial, &Case)> =
        trials.iter().filter_map(|trial| Some((trial, *cases.get(trial.case.as_str())?))).collect();
    loop {
        let heard = by_trial(&done.judgements);
        let rounds: Vec<Round> = unsettled
            .par_iter()
            .map(|(trial, case)| {
                let about = (trial.case.as_str(), trial.tool.as_str(), trial.number);
                let heard = heard.get(&about).map_or(&[][..], Vec::as_slice);
                let decisions = Decisions::settle(heard, &case.goldens, &trial.findings);
                let prepared = PreparedCase::new(case, &vocabulary, profile);
                next_round(&prepared, trial, &decisions, &vocabulary, profile)
            })
            .collect();
        let mut questions = Vec::new();
        let mut still = Vec::new();
        for ((trial, case), round) in unsettled.into_iter().zip(rounds) {
            if round.ask.is_empty() {
                done.saved += round.open;
                continue;
            }
            let question = |ask: &crate::matching::questions::Ask| Question {
                case,
                trial,
                golden: &case.goldens[ask.golden],
                finding: &trial.findings[ask.finding],
                score: ask.score,
                order: Order::GoldenFirst,
            };
            questions.extend(round.ask.iter().map(question));
            still.push((trial, case));
        }
        if questions.is_empty() {
            return Ok(done);
        }
        done.rounds += 1;
        done.asked += questions.len();
        let answers = answer(&questions)?;
        let unanswered = unanswered(&questions, &answers, judge);
        done.judgements.extend(answers);
        done.judgements.extend(unanswered);
        unsettled = still;
    }
}

/// Why a pair is unjudged that recorded judgements do not cover.
const NOT_COVERED: &str = "the judgements that were given do not cover it, and their judge cannot be asked";

/// The pairs that only their score would make matches in trials of which one of `judges` decided others. Nobody can ask these
/// judges, so that the pairs are unjudged: score and judge do not decide one trial between them.
pub fn leave_unjudged(
    suite: &Suite,
    trials: &[Trial],
    judgements: &[Judgement],
    profile: &Profile,
    judges: &BTreeSet<&JudgeName>,
) -> Vec<Judgement> {
    if profile.method != Method::Score || profile.asks_a_judge() || judges.is_empty() {
        return Vec::new();
    }
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let vocabulary = vocabulary(suite, profile);
    let heard = by_trial(judgements);
    let of_trial = |trial: &Trial| -> Vec<Judgement> {
        let about = (trial.case.as_str(), trial.tool.as_str(), trial.number);
        let (Some(case), Some(heard)) = (cases.get(trial.case.as_str()), heard.get(&about)) else { return Vec::new() };
        let decided = heard.iter().filter(|(_, judgement)| matches!(judgement.decision, Decision::Pair(_)));
        let Some(judge) = decided.map(|(_, judgement)| &judgement.judge).find(|judge| judges.contains(judge)) else {
            return Vec::new();
        };
        let decisions = Decisions::settle(heard, &case.goldens, &trial.findings);
        let prepared = PreparedCase::new(case, &vocabulary, profile);
        let open = counted_by_score(&prepared, trial, &decisions, &vocabulary, profile);
        open.into_iter()
            .map(|(g, f)| unjudged(trial, judge, &case.goldens[g], &trial.findings[f], NOT_COVERED))
            .collect()
    };
    trials.par_iter().filter(|trial| trial.outcome == Outcome::Reported).flat_map_iter(of_trial).collect()
}

/// Judgements with their numbers, by the trial they are about.
fn by_trial(judgements: &[Judgement]) -> HashMap<(&str, &str, u32), Vec<Numbered<'_>>> {
    let mut heard: HashMap<(&str, &str, u32), Vec<Numbered<'_>>> = HashMap::new();
    for (index, judgement) in judgements.iter().enumerate() {
        let about = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
        heard.entry(about).or_default().push((index, judgement));
    }
    heard
}

fn unjudged(trial: &Trial, judge: &JudgeName, golden: &Golden, finding: &Finding, why: &str) -> Judgement {
    Judgement {
        case: trial.case.clone(),
        tool: trial.tool.clone(),
        trial: trial.number,
        judge: judge.clone(),
        exchange: None,
        decision: Decision::Unjudged(UnjudgedPair {
            golden: golden.id.clone(),
            finding: finding.id.clone(),
            why: why.to_owned(),
        }),
    }
}

/// Questions that got no answer, so that they are not asked for ever.
fn unanswered(questions: &[Question<'_>], answers: &[Judgement], judge: &JudgeName) -> Vec<Judgement> {
    let answered: BTreeSet<(&str, &str, u32, &str, &str)> = answers
        .iter()
        .filter_map(|judgement| {
            let (golden, finding) = match &judgement.decision {
                Decision::Pair(pair) => (pair.golden.as_ref()?, &pair.finding),
                Decision::Unjudged(pair) => (&pair.golden, &pair.finding),
                Decision::Audit(_) | Decision::Extra(_) => return None,
            };
            let place = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
            Some((place.0, place.1, place.2, golden.as_str(), finding.as_str()))
        })
        .collect();
    let key = |q: &Question<'_>| {
        let trial = q.trial;
        answered.contains(&(
            trial.case.as_str(),
            trial.tool.as_str(),
            trial.number,
            q.golden.id.as_str(),
            q.finding.id.as_str(),
        ))
    };
    let missing = questions.iter().filter(|question| !key(question));
    missing
        .map(|question| unjudged(question.trial, judge, question.golden, question.finding, "no answer came"))
        .collect()
}
