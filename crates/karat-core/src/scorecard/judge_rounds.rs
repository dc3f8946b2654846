//! Asks a judge in rounds until no answer could change the assignment of any trial.

use super::{judgements_by_trial, vocabulary};
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
#[expect(missing_docs, reason = "field names say it")]
pub struct Question<'a> {
    pub case: &'a Case,
    pub trial: &'a Trial,
    pub golden: &'a Golden,
    pub finding: &'a Finding,
    pub score: f64,
    /// Which of the two is shown first, where a judge is shown anything.
    pub order: PairOrder,
}

/// Which half of a pair is shown first. It must make no difference, which probing checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum PairOrder {
    #[default]
    GoldenFirst,
    FindingFirst,
}

/// The result of all rounds.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct JudgeRounds {
    /// All judgements: those given, then those made, in the order of the questions.
    pub judgements: Vec<Judgement>,
    pub asked: usize,
    pub saved: usize,
    pub rounds: usize,
}

/// Answers a batch of questions.
pub type AnswerFn<'a, E> = dyn FnMut(&[Question<'_>]) -> Result<Vec<Judgement>, E> + 'a;

/// Asks about every trial what is still worth asking. `answer` gets a batch of questions and returns a judgement for each,
/// in any order. A question without a judgement is recorded as unjudged by `judge`; an error ends the rounds.
pub fn run_judge_rounds<E>(
    suite: &Suite,
    trials: &[Trial],
    judgements: Vec<Judgement>,
    profile: &Profile,
    judge: &JudgeName,
    answer: &mut AnswerFn<'_, E>,
) -> Result<JudgeRounds, E> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let vocabulary = vocabulary(suite, profile);
    let mut done = JudgeRounds { judgements, ..JudgeRounds::default() };
    let mut inconclusive: Vec<(&Trial, &Case)> =
        trials.iter().filter_map(|trial| Some((trial, *cases.get(trial.case.as_str())?))).collect();
    loop {
        let judged = judgements_by_trial(&done.judgements);
        let rounds: Vec<Round> = inconclusive
            .par_iter()
            .map(|(trial, case)| {
                let about = (trial.case.as_str(), trial.tool.as_str(), trial.number);
                let judged = judged.get(&about).map_or(&[][..], Vec::as_slice);
                let decisions = Decisions::settle(judged, &case.goldens, &trial.findings);
                let prepared = PreparedCase::new(case, &vocabulary, profile);
                next_round(&prepared, trial, &decisions, &vocabulary, profile)
            })
            .collect();
        let mut questions = Vec::new();
        let mut still = Vec::new();
        for ((trial, case), round) in inconclusive.into_iter().zip(rounds) {
            if round.questions.is_empty() {
                done.saved += round.open;
                continue;
            }
            let question = |ask: &crate::matching::questions::PairQuestion| Question {
                case,
                trial,
                golden: &case.goldens[ask.golden],
                finding: &trial.findings[ask.finding],
                score: ask.score,
                order: PairOrder::GoldenFirst,
            };
            questions.extend(round.questions.iter().map(question));
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
        inconclusive = still;
    }
}

/// Why a pair is unjudged that recorded judgements do not cover.
const NOT_COVERED: &str = "the given judgements do not cover it, and their judge cannot be asked";

/// Marks pairs as unjudged that would match by score alone in trials where one of `judges` decided other pairs.
/// These judges cannot be asked again, and score and judge must not decide one trial together.
pub fn mark_unjudged(
    suite: &Suite,
    trials: &[Trial],
    judgements: &[Judgement],
    profile: &Profile,
    judges: &BTreeSet<&JudgeName>,
) -> Vec<Judgement> {
    if profile.method != Method::Score || profile.uses_judge() || judges.is_empty() {
        return Vec::new();
    }
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let vocabulary = vocabulary(suite, profile);
    let judged = judgements_by_trial(judgements);
    let of_trial = |trial: &Trial| -> Vec<Judgement> {
        let about = (trial.case.as_str(), trial.tool.as_str(), trial.number);
        let (Some(case), Some(judged)) = (cases.get(trial.case.as_str()), judged.get(&about)) else {
            return Vec::new();
        };
        let decided = judged.iter().filter(|(_, judgement)| matches!(judgement.decision, Decision::Pair(_)));
        let Some(judge) = decided.map(|(_, judgement)| &judgement.judge).find(|judge| judges.contains(judge)) else {
            return Vec::new();
        };
        let decisions = Decisions::settle(judged, &case.goldens, &trial.findings);
        let prepared = PreparedCase::new(case, &vocabulary, profile);
        let open = counted_by_score(&prepared, trial, &decisions, &vocabulary, profile);
        open.into_iter()
            .map(|(g, f)| unjudged(trial, judge, &case.goldens[g], &trial.findings[f], NOT_COVERED))
            .collect()
    };
    trials.par_iter().filter(|trial| trial.outcome == Outcome::Reported).flat_map_iter(of_trial).collect()
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

/// Records unanswered questions, so that they are not asked again.
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
