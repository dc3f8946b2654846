//! How a single judge answers questions about pairs.

use super::usage::Usage;
use super::{AskError, JudgeContext, JudgeEvent};
use crate::judge::code_context;
use crate::judge::template;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement, PairDecision, UnjudgedPair};
use karat_core::local_judge::LocalJudge;
use karat_core::scorecard::{PairOrder, Question};
use karat_llm::engine::{Engine, EngineEvent};
use karat_llm::ledger::{Exchange, ExchangeOutcome};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What the local judge says. Whatever else its trial reported is a rival, so it looks at a trial as a whole.
pub(super) fn by_weights(local: &LocalJudge, name: &JudgeName, questions: &[Question<'_>]) -> Vec<Judgement> {
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
                probability: None,
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

/// What a model says.
pub(super) fn by_model(
    engine: &Engine,
    name: &JudgeName,
    questions: &[Question<'_>],
    context: &mut JudgeContext<'_>,
    usage: &mut Usage,
) -> Result<Vec<Judgement>, AskError> {
    let loaded = context.loaded;
    let put = |q: &Question<'_>| {
        let code = code_context::code(loaded, &q.case.id, q.golden, q.finding);
        let question = template::pair_question(called(q), q.golden, q.finding, code.as_deref());
        match q.order {
            PairOrder::GoldenFirst => question,
            PairOrder::FindingFirst => template::swapped(question),
        }
    };
    let mut judgements: Vec<Option<Judgement>> = vec![None; questions.len()];
    exchange(engine, questions.iter().map(put), context, usage, &mut |index, exchange| {
        if let (Some(place), Some(question)) = (judgements.get_mut(index), questions.get(index)) {
            let key = exchange.is_final().then(|| exchange.key.to_string());
            *place = Some(judgement(question, name, key, decided(question, exchange)));
        }
    })?;
    Ok(judgements.into_iter().flatten().collect())
}

/// Puts questions to a model; `hear` gets the index of each and what came of it.
pub(super) fn exchange(
    engine: &Engine,
    questions: impl IntoIterator<Item = karat_llm::prompt::Question>,
    context: &mut JudgeContext<'_>,
    usage: &mut Usage,
    hear: &mut dyn FnMut(usize, &Exchange),
) -> Result<(), AskError> {
    let tell = &mut *context.tell;
    let mut told = |event: EngineEvent<'_>| match event {
        EngineEvent::Retrying { wait, why, .. } => tell(JudgeEvent::Retrying { wait, why }),
        EngineEvent::Settled { index, exchange } => {
            tell(JudgeEvent::Settled { answered: exchange.decision().is_some() });
            usage.count(&exchange);
            hear(index, &exchange);
        }
    };
    let tally = engine.ask(questions, context.ledger, context.cancel, &mut told)?;
    usage.spend(&tally);
    if context.cancel.is_cancelled() { Err(AskError::Stopped) } else { Ok(()) }
}

/// What a question is called: for scripts, and for people who are told that it failed. No model sees it.
fn called(question: &Question<'_>) -> String {
    let trial = question.trial;
    format!("{}/{}/{}/{}/{}", trial.case, question.golden.id, trial.tool, trial.number, question.finding.id)
}

fn decided(question: &Question<'_>, exchange: &Exchange) -> Decision {
    let (golden, finding) = (question.golden.id.clone(), question.finding.id.clone());
    match &exchange.outcome {
        ExchangeOutcome::Decided(answer) => Decision::Pair(PairDecision {
            probability: None,
            golden: Some(golden),
            finding,
            matched: answer["match"].as_bool().unwrap_or(false),
            partial: answer["partial"].as_bool(),
            confidence: answer["confidence"].as_f64(),
            explanation: answer["explanation"].as_str().map(ToOwned::to_owned),
        }),
        ExchangeOutcome::Unjudged { why, .. } => Decision::Unjudged(UnjudgedPair { golden, finding, why: why.clone() }),
        ExchangeOutcome::Refused { why } => {
            Decision::Unjudged(UnjudgedPair { golden, finding, why: format!("it refused to answer: {why}") })
        }
    }
}

/// What people have said. Several may have labelled the same pair, and all are heard.
pub(super) fn by_people(
    name: &JudgeName,
    questions: &[Question<'_>],
    labels: &[Judgement],
    usage: &mut Usage,
) -> Vec<Judgement> {
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
                let why = "it is unlabelled; `karat label next` shows it".to_owned();
                usage.fail(&why);
                let pair = UnjudgedPair { golden: golden.clone(), finding: finding.clone(), why };
                judgements.push(judgement(question, name, None, Decision::Unjudged(pair)));
            }
        }
    }
    judgements
}

/// A decision about the pair of a question.
pub(super) fn judgement(
    question: &Question<'_>,
    judge: &JudgeName,
    exchange: Option<String>,
    decision: Decision,
) -> Judgement {
    Judgement {
        case: question.trial.case.clone(),
        tool: question.trial.tool.clone(),
        trial: question.trial.number,
        judge: judge.clone(),
        exchange,
        decision,
    }
}
