//! Asks a judge in rounds until no answer could change the assignment of any trial.

use super::{CaseContext, JudgementsByTrial, vocabulary};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::ids::{CaseId, FindingId, GoldenId, JudgeName, ToolName};
use crate::judgement::{Decision, Judgement, UnjudgedPair};
use crate::matching::pair::PreparedCase;
use crate::matching::questions::{Round, next_round};
use crate::matching::trial::counted_by_score;
use crate::profile::{Method, Profile};
use crate::suite::{Case, Suite};
use crate::trial::{Outcome, Trial};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Whether a finding reports a golden.
#[derive(Clone, Copy, Debug)]
pub struct PairQuestion<'a> {
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
pub enum PairOrder {
    #[default]
    GoldenFirst,
    FindingFirst,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgeRounds {
    /// All judgements: those given, then those made, in the order of the questions.
    pub judgements: Vec<Judgement>,
    pub asked: usize,
    pub saved: usize,
    pub rounds: usize,
}

/// Asks about every trial what is still worth asking. `answer` gets a batch of questions and returns a judgement for each,
/// in any order. A question without a judgement is recorded as unjudged by `judge`; an error ends the rounds.
pub fn run_judge_rounds<E>(
    suite: &Suite,
    trials: &[Trial],
    judgements: Vec<Judgement>,
    profile: &Profile,
    judge: &JudgeName,
    answer: &mut impl FnMut(&[PairQuestion<'_>]) -> Result<Vec<Judgement>, E>,
) -> Result<JudgeRounds, E> {
    let vocabulary = vocabulary(suite, profile);
    let context = CaseContext { cases: &suite.cases, vocabulary: &vocabulary, profile };
    run_judge_rounds_in(context, trials, judgements, judge, answer)
}

/// The same about the trials of some cases. What is asked about a trial does not depend on other trials.
pub fn run_judge_rounds_in<E>(
    context: CaseContext<'_>,
    trials: &[Trial],
    judgements: Vec<Judgement>,
    judge: &JudgeName,
    answer: &mut impl FnMut(&[PairQuestion<'_>]) -> Result<Vec<Judgement>, E>,
) -> Result<JudgeRounds, E> {
    let cases = context.prepare(trials);
    let mut done = JudgeRounds { judgements, ..JudgeRounds::default() };
    let mut inconclusive: Vec<(&Trial, &PreparedCase<'_>)> =
        trials.iter().filter_map(|trial| Some((trial, cases.get(trial.case.as_str())?))).collect();
    loop {
        let judged = JudgementsByTrial::new(&done.judgements);
        let rounds: Vec<Round> = inconclusive
            .par_iter()
            .map(|(trial, prepared)| next_round(prepared, trial, &judged.decisions(prepared.case, trial)))
            .collect();
        let mut questions = Vec::new();
        let mut still = Vec::new();
        for ((trial, prepared), round) in inconclusive.into_iter().zip(rounds) {
            if round.questions.is_empty() {
                done.saved += round.open;
                continue;
            }
            let case = prepared.case;
            let question = |ask: &crate::matching::questions::OpenPair| PairQuestion {
                case,
                trial,
                golden: &case.goldens[ask.golden],
                finding: &trial.findings[ask.finding],
                score: ask.score,
                order: PairOrder::GoldenFirst,
            };
            questions.extend(round.questions.iter().map(question));
            still.push((trial, prepared));
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
    let vocabulary = vocabulary(suite, profile);
    let context = CaseContext { cases: &suite.cases, vocabulary: &vocabulary, profile };
    mark_unjudged_in(context, trials, judgements, judges)
}

/// The same of the trials of some cases.
pub fn mark_unjudged_in(
    context: CaseContext<'_>,
    trials: &[Trial],
    judgements: &[Judgement],
    judges: &BTreeSet<&JudgeName>,
) -> Vec<Judgement> {
    let profile = context.profile;
    if profile.method != Method::Score || profile.uses_judge() || judges.is_empty() {
        return Vec::new();
    }
    let cases = context.prepare(trials);
    let judged = JudgementsByTrial::new(judgements);
    let of_trial = |trial: &Trial| -> Vec<Judgement> {
        let Some(prepared) = cases.get(trial.case.as_str()) else { return Vec::new() };
        let case = prepared.case;
        let decided =
            judged.about(trial).iter().filter(|(_, judgement)| matches!(judgement.decision, Decision::Pair(_)));
        // The first by name, so that it makes no difference in which order judgements are read.
        let Some(judge) = decided.map(|(_, judgement)| &judgement.judge).filter(|judge| judges.contains(judge)).min()
        else {
            return Vec::new();
        };
        let open = counted_by_score(prepared, trial, &judged.decisions(case, trial));
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
fn unanswered(questions: &[PairQuestion<'_>], answers: &[Judgement], judge: &JudgeName) -> Vec<Judgement> {
    let answered: BTreeSet<(&CaseId, &ToolName, u32, &GoldenId, &FindingId)> = answers
        .iter()
        .filter_map(|judgement| {
            let (golden, finding) = match &judgement.decision {
                Decision::Pair(pair) => (pair.golden.as_ref()?, &pair.finding),
                Decision::Unjudged(pair) => (&pair.golden, &pair.finding),
                Decision::Audit(_) | Decision::Extra(_) => return None,
            };
            Some((&judgement.case, &judgement.tool, judgement.trial, golden, finding))
        })
        .collect();
    let is_missing = |PairQuestion { trial, golden, finding, .. }: &&PairQuestion<'_>| {
        !answered.contains(&(&trial.case, &trial.tool, trial.number, &golden.id, &finding.id))
    };
    let missing = questions.iter().filter(is_missing);
    missing.map(|q| unjudged(q.trial, judge, q.golden, q.finding, "no answer came")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::pair::PREPARED;
    use crate::path::{FilePattern, RepoPath};
    use std::convert::Infallible;

    #[test]
    fn a_case_is_prepared_once_for_all_trials_and_rounds() {
        let id = "prepared-once";
        let golden = Golden {
            title: Some("A golden".to_owned()),
            file: FilePattern::new("a.rs"),
            keywords: vec!["lock".to_owned()],
            ..Golden::new("g")
        };
        let case = Case { goldens: vec![golden], ..Case::new(id) };
        let suite = Suite { name: "s".to_owned(), digest: String::new(), cases: vec![case] };
        let finding = Finding { title: Some("lock".to_owned()), file: RepoPath::new("a.rs"), ..Finding::new("f") };
        let trial =
            |number| Trial { findings: vec![finding.clone()], ..Trial::reported(id.into(), "t".into(), number) };
        let profile: Profile = toml::from_str(include_str!("../../../karat/profiles/karat.toml")).unwrap();
        let profile = Profile { judge: "m".to_owned(), ..profile };
        let silent = &mut |_: &[PairQuestion<'_>]| Ok::<_, Infallible>(Vec::new());
        let trials = [trial(1), trial(2)];
        let done = run_judge_rounds(&suite, &trials, Vec::new(), &profile, &JudgeName::new("m"), silent).unwrap();
        assert_eq!(done.asked, 2);
        let prepared = PREPARED.lock().unwrap();
        assert_eq!(prepared.iter().filter(|case| case.as_str() == id).count(), 1);
    }
}
