//! Asking a judge about the pairs of many trials, and keeping count of what that took.

use super::context;
use super::engine::{Engine, EngineError, EngineEvent, Tally};
use super::ledger::{Exchange, Ledger, LedgerKey, Outcome};
use super::roster::{Judge, Kind};
use super::template;
use crate::format::report::{JudgeSpentV1, JudgeV1};
use crate::sandbox::Cancel;
use crate::suite::LoadedSuite;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement, PairDecision, UnjudgedPair};
use karat_core::local_judge::LocalJudge;
use karat_core::profile::Profile;
use karat_core::scorecard::{Question, consult};
use karat_core::trial::Trial;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What is needed to ask.
pub struct Desk<'a> {
    /// The suite, for the code around the places.
    pub loaded: &'a LoadedSuite,
    /// Where exchanges are kept.
    pub ledger: &'a mut dyn Ledger,
    /// What people have said of the trials.
    pub labels: &'a [Judgement],
    /// A wish to stop.
    pub cancel: &'a Cancel,
    /// Hears how it goes.
    pub tell: &'a mut dyn FnMut(Told<'_>),
}

/// How asking goes.
#[derive(Debug)]
pub enum Told<'a> {
    /// So many more questions are put.
    Round(usize),
    /// One of them is done.
    Settled,
    /// A request failed and is made again.
    Retrying {
        /// How long it waits.
        wait: Duration,
        /// What happened.
        why: &'a str,
    },
}

/// What came of asking.
#[derive(Debug, Default)]
pub struct Asked {
    /// All judgements: those given, then those made.
    pub judgements: Vec<Judgement>,
    /// What each judge did.
    pub judges: Vec<JudgeV1>,
    /// By judge that is a model: what it cost this time.
    pub spent: BTreeMap<String, JudgeSpentV1>,
    /// What a reader of the report should know.
    pub notes: Vec<String>,
}

/// Why asking ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The engine could not go on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Somebody asked to stop.
    #[error("stopped: what was answered is kept in the ledger, and the same command goes on from there")]
    Stopped,
    /// Every single question failed.
    #[error("the judge {judge} answered none of {questions} questions, the first because {why}")]
    Mute {
        /// Who.
        judge: String,
        /// How many were put.
        questions: usize,
        /// What came of the first.
        why: String,
    },
}

/// Asks a judge about everything that can still change the assignment of a trial. Pairs that the given judgements decide are
/// not asked about.
pub fn ask(
    judge: &Judge,
    trials: &[Trial],
    given: Vec<Judgement>,
    profile: &Profile,
    desk: &mut Desk<'_>,
) -> Result<Asked, AskError> {
    let suite = &desk.loaded.suite;
    let mut usage = Usage::default();
    let mut answer = |questions: &[Question<'_>]| {
        (desk.tell)(Told::Round(questions.len()));
        answers(judge, questions, desk, &mut usage)
    };
    let consulted = consult(suite, trials, given, profile, &judge.name, &mut answer)?;
    if let Some(why) = usage.first_failure.as_ref().filter(|_| usage.unjudged == usage.asked) {
        let (judge, why) = (judge.name.to_string(), why.clone());
        return Err(AskError::Mute { judge, questions: usage.asked, why });
    }
    let notes = usage.notes(&judge.name);
    let spent = usage.spent.iter().map(|spent| (judge.name.to_string(), spent.clone())).collect();
    let judges = vec![usage.told(&judge.name, consulted.saved)];
    Ok(Asked { judgements: consulted.judgements, judges, spent, notes })
}

/// A judgement for each question; some of them say that there is none.
fn answers(
    judge: &Judge,
    questions: &[Question<'_>],
    desk: &mut Desk<'_>,
    usage: &mut Usage,
) -> Result<Vec<Judgement>, AskError> {
    usage.asked += questions.len();
    match &judge.kind {
        Kind::Local(local) => {
            let answers = by_weights(local, &judge.name, questions);
            questions.iter().for_each(|_| (desk.tell)(Told::Settled));
            Ok(answers)
        }
        Kind::Model(engine) => by_model(engine, &judge.name, questions, desk, usage),
        Kind::People => Ok(by_people(&judge.name, questions, desk.labels, usage)),
    }
}

/// What the local judge says. Whatever else its trial reported is a rival, so it looks at a trial as a whole.
fn by_weights(local: &LocalJudge, name: &JudgeName, questions: &[Question<'_>]) -> Vec<Judgement> {
    let trials: Vec<&[Question<'_>]> = questions.chunk_by(|a, b| std::ptr::eq(a.trial, b.trial)).collect();
    let of_trial = |asked: &&[Question<'_>]| {
        let Some(first) = asked.first() else { return Vec::new() };
        let (goldens, findings) = (&first.case.goldens, &first.trial.findings);
        let golden = |q: &Question<'_>| goldens.iter().position(|golden| std::ptr::eq(golden, q.golden));
        let finding = |q: &Question<'_>| findings.iter().position(|finding| std::ptr::eq(finding, q.finding));
        let wanted: Vec<(usize, usize)> = asked.iter().filter_map(|q| golden(q).zip(finding(q))).collect();
        let opinions = local.judge(goldens, findings, &wanted);
        let judged = asked.iter().zip(opinions).map(|(question, opinion)| {
            let sure = if opinion.matched { opinion.probability } else { 1.0 - opinion.probability };
            let decision = PairDecision {
                golden: Some(question.golden.id.clone()),
                finding: question.finding.id.clone(),
                matched: opinion.matched,
                partial: None,
                confidence: Some(sure),
                explanation: Some(opinion.explanation()),
            };
            judgement(question, name, None, Decision::Pair(decision))
        });
        judged.collect()
    };
    trials.par_iter().map(of_trial).collect::<Vec<_>>().concat()
}

fn by_model(
    engine: &Engine,
    name: &JudgeName,
    questions: &[Question<'_>],
    desk: &mut Desk<'_>,
    usage: &mut Usage,
) -> Result<Vec<Judgement>, AskError> {
    let loaded = desk.loaded;
    let put = |q: &Question<'_>| {
        let code = context::code(loaded, &q.case.id, q.golden, q.finding);
        template::Question::pair(called(q), q.golden, q.finding, code.as_deref())
    };
    let mut judgements: Vec<Option<Judgement>> = vec![None; questions.len()];
    let tell = &mut *desk.tell;
    let mut hear = |event: EngineEvent<'_>| match event {
        EngineEvent::Retrying { wait, why, .. } => tell(Told::Retrying { wait, why }),
        EngineEvent::Settled { index, exchange } => {
            tell(Told::Settled);
            usage.count(&exchange);
            if let (Some(place), Some(question)) = (judgements.get_mut(index), questions.get(index)) {
                let key = exchange.is_lasting().then(|| exchange.key.to_string());
                *place = Some(judgement(question, name, key, decided(question, &exchange)));
            }
        }
    };
    let tally = engine.ask(questions.iter().map(put), desk.ledger, desk.cancel, &mut hear)?;
    usage.spend(&tally);
    if desk.cancel.is_cancelled() {
        return Err(AskError::Stopped);
    }
    Ok(judgements.into_iter().flatten().collect())
}

/// What a question is called: for scripts, and for people who are told that it failed. No model sees it.
fn called(question: &Question<'_>) -> String {
    let trial = question.trial;
    format!("{}/{}/{}/{}/{}", trial.case, question.golden.id, trial.tool, trial.number, question.finding.id)
}

fn decided(question: &Question<'_>, exchange: &Exchange) -> Decision {
    let (golden, finding) = (question.golden.id.clone(), question.finding.id.clone());
    match &exchange.outcome {
        Outcome::Decided(answer) => Decision::Pair(PairDecision {
            golden: Some(golden),
            finding,
            matched: answer["match"].as_bool().unwrap_or(false),
            partial: answer["partial"].as_bool(),
            confidence: answer["confidence"].as_f64(),
            explanation: answer["explanation"].as_str().map(ToOwned::to_owned),
        }),
        Outcome::Unjudged { why, .. } => Decision::Unjudged(UnjudgedPair { golden, finding, why: why.clone() }),
        Outcome::Refused { why } => {
            Decision::Unjudged(UnjudgedPair { golden, finding, why: format!("it refused to answer: {why}") })
        }
    }
}

/// What people have said. Several may have labelled the same pair, and all are heard.
fn by_people(name: &JudgeName, questions: &[Question<'_>], labels: &[Judgement], usage: &mut Usage) -> Vec<Judgement> {
    let mut said: BTreeMap<(&str, &str, u32, &str, &str), Vec<&Judgement>> = BTreeMap::new();
    for label in labels {
        if let Decision::Pair(PairDecision { golden: Some(golden), finding, .. }) = &label.decision {
            let place = (label.case.as_str(), label.tool.as_str(), label.trial, golden.as_str(), finding.as_str());
            said.entry(place).or_default().push(label);
        }
    }
    let mut judgements = Vec::new();
    for question in questions {
        let trial = question.trial;
        let (golden, finding) = (&question.golden.id, &question.finding.id);
        let place = (trial.case.as_str(), trial.tool.as_str(), trial.number, golden.as_str(), finding.as_str());
        match said.get(&place) {
            Some(labels) => judgements.extend(labels.iter().map(|label| (*label).clone())),
            None => {
                let why = "nobody has labelled it".to_owned();
                usage.fail(&why);
                let pair = UnjudgedPair { golden: golden.clone(), finding: finding.clone(), why };
                judgements.push(judgement(question, name, None, Decision::Unjudged(pair)));
            }
        }
    }
    judgements
}

fn judgement(question: &Question<'_>, judge: &JudgeName, exchange: Option<String>, decision: Decision) -> Judgement {
    Judgement {
        case: question.trial.case.clone(),
        tool: question.trial.tool.clone(),
        trial: question.trial.number,
        judge: judge.clone(),
        exchange,
        decision,
    }
}

/// What a judge did, counted.
#[derive(Debug, Default)]
struct Usage {
    asked: usize,
    unjudged: usize,
    refused: usize,
    equal: usize,
    tokens: u64,
    usd: Option<f64>,
    /// What was answered, so that equal questions are counted once.
    seen: BTreeSet<LedgerKey>,
    /// Why questions failed, and how often.
    failures: BTreeMap<String, usize>,
    first_failure: Option<String>,
    spent: Option<JudgeSpentV1>,
}

impl Usage {
    fn count(&mut self, exchange: &Exchange) {
        match &exchange.outcome {
            Outcome::Decided(_) => {}
            Outcome::Unjudged { why, .. } => self.fail(why),
            Outcome::Refused { why } => {
                self.refused += 1;
                self.fail(&format!("it refused to answer: {why}"));
            }
        }
        if !self.seen.insert(exchange.key.clone()) {
            self.equal += 1;
            return;
        }
        self.tokens += exchange.tokens_in + exchange.tokens_out;
        if let Some(usd) = exchange.usd {
            *self.usd.get_or_insert(0.0) += usd;
        }
    }

    fn fail(&mut self, why: &str) {
        self.unjudged += 1;
        self.first_failure.get_or_insert_with(|| why.to_owned());
        *self.failures.entry(why.to_owned()).or_default() += 1;
    }

    fn spend(&mut self, tally: &Tally) {
        let spent = self.spent.get_or_insert_with(JudgeSpentV1::default);
        spent.from_ledger += tally.cached;
        spent.requests += tally.requests;
        spent.tokens_in += tally.tokens_in;
        spent.tokens_out += tally.tokens_out;
        if let Some(usd) = tally.usd {
            *spent.usd.get_or_insert(0.0) += usd;
        }
    }

    fn told(&self, judge: &JudgeName, saved: usize) -> JudgeV1 {
        JudgeV1 {
            judge: judge.to_string(),
            asked: self.asked,
            cached: self.equal,
            saved,
            unjudged: self.unjudged,
            refused: self.refused,
            beyond: 0,
            tokens: self.tokens,
            usd: self.usd,
            agreement: None,
        }
    }

    /// The commonest reasons why pairs have no decision.
    fn notes(&self, judge: &JudgeName) -> Vec<String> {
        const MOST: usize = 3;
        let mut reasons: Vec<(&String, &usize)> = self.failures.iter().collect();
        reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let shown = |(why, n): &(&String, &usize)| {
            format!("{judge}: {n} of {} pairs are unjudged and count as no match: {why}", self.asked)
        };
        reasons.iter().take(MOST).map(shown).collect()
    }
}
