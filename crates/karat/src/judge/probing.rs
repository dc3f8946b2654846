//! Probes a judge with pairs whose answer is known, plain and disturbed.

#![expect(missing_docs, reason = "names of fields say it")]

use super::registry::Judge;
use super::run::{JudgeEnv, JudgeObserver, JudgeRequest, open_judge};
use super::session::{JudgeContext, SessionResult, no_answer};
use crate::failure::{Failure, Result};
use crate::suite::load_suite;
use karat_core::ids::{FindingId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Judgement};
use karat_core::probe::{Probe, ProbeKind, probes, score};
use karat_core::scorecard::{PairOrder, PairQuestion};
use karat_core::trial::Trial;
use karat_format::probe::ProbeV1;
use karat_llm::judge_id::JudgeId;
use karat_store::{Store, StoreLocation};
use std::collections::BTreeMap;

/// A wrong answer.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Wrong {
    pub kind: ProbeKind,
    pub case: String,
    pub golden: String,
    /// The judge's answer; the opposite is true.
    pub said: bool,
    /// Whether the plain pair was answered rightly, so that what was added made the difference.
    pub fooled: bool,
    pub exchange: Option<String>,
}

/// The judge to probe, and the suite that the probes are made from.
pub struct ProbeRequest {
    pub suite: String,
    /// Maximum number of known-right and of known-wrong pairs.
    pub pairs: usize,
    pub judge: JudgeRequest,
    pub store: StoreLocation,
}

/// A probed judge.
pub struct ProbedJudge {
    pub judge: JudgeName,
    pub identity: JudgeId,
    pub scorecard: ProbeV1,
    /// Kinds of probes that do not apply to this judge.
    pub left_out: Vec<ProbeKind>,
    pub wrong: Vec<Wrong>,
    /// Why probes have no answer, and how often.
    pub failures: BTreeMap<String, usize>,
    pub asked: SessionResult,
    /// The store that holds the scorecard.
    pub stored_in: StoreLocation,
}

/// Probes a judge, and stores the scorecard for reports that use the same judge.
pub fn probe_judge(request: &ProbeRequest, observer: &mut dyn JudgeObserver) -> Result<ProbedJudge> {
    let loaded = load_suite(&request.suite)?;
    let judge = open_judge(&loaded, &request.judge)?;
    let identity = judge.identity().ok_or_else(|| refusal(&judge, &request.suite))?;
    // Open the store before asking, so that paid answers cannot be lost.
    let location = &request.store;
    let mut store = Store::create(location)?;
    let stored_in = location.clone();
    let env = JudgeEnv { request: &request.judge, location, store: Some(&mut store), observer };
    let ask = |context: &mut JudgeContext<'_>| probe(&judge, identity, stored_in, request.pairs, context);
    let Some(probed) = env.with(&judge, &loaded, &[], ask)? else {
        let message = "has no golden with a title or a description, from which probes are made";
        return Err(Failure::bad_input(format!("the suite {} {message}", loaded.suite.name)));
    };
    store.add_probe(&probed.identity, &probed.scorecard)?;
    Ok(probed)
}

fn refusal(judge: &Judge, suite: &str) -> Failure {
    let known = judge.members().iter().filter(|member| member.identity().is_some());
    let known: Vec<&str> = known.map(|member| member.name.as_str()).collect();
    let (name, members) = (&judge.name, known.join(" and "));
    Failure::usage(match known.first() {
        Some(first) => format!(
            "{name} is a panel, and panels cannot be probed: probe its members {members}, as in \
             `karat judge probe {suite} --judge {first}`"
        ),
        None => format!("{name} decides by human labels, and probes have none; use the local judge or a model"),
    })
}

/// Probes a judge with at most `most` right and `most` wrong pairs made from the suite's goldens. `None` if no golden has text.
fn probe(
    judge: &Judge,
    identity: JudgeId,
    stored_in: StoreLocation,
    most: usize,
    context: &mut JudgeContext<'_>,
) -> Result<Option<ProbedJudge>> {
    let suite = &context.loaded.suite;
    // Only models see the halves of a pair in an order.
    let left_out = if judge.asks_models() { Vec::new() } else { vec![ProbeKind::SwappedOrder] };
    // Plain pairs come first and are never left out, so that the indices of the disturbed ones stay valid.
    let probes: Vec<Probe<'_>> =
        probes(suite, most).into_iter().filter(|probe| !left_out.contains(&probe.kind)).collect();
    if probes.is_empty() {
        return Ok(None);
    }
    let trials: Vec<Trial> = (1..).zip(&probes).map(|(number, probe)| trial(number, probe)).collect();
    let questions: Vec<PairQuestion<'_>> =
        probes.iter().zip(&trials).map(|(probe, trial)| question(probe, trial)).collect();
    let asked = context.ask_about(judge, &questions)?;
    let by_number: BTreeMap<u32, &Judgement> = asked.judgements.iter().map(|own| (own.trial, own)).collect();
    let judgement = |index: usize| by_number.get(&trials.get(index)?.number).copied();
    let answer = |index: usize| match &judgement(index)?.decision {
        Decision::Pair(pair) => Some(pair.matched),
        Decision::Unjudged(_) | Decision::Audit(_) | Decision::Extra(_) => None,
    };
    let answers: Vec<Option<bool>> = (0..probes.len()).map(answer).collect();
    let mut failures: BTreeMap<String, usize> = BTreeMap::new();
    for judgement in &asked.judgements {
        if let Decision::Unjudged(pair) = &judgement.decision {
            *failures.entry(pair.why.clone()).or_default() += 1;
        }
    }
    if answers.iter().all(Option::is_none) {
        let why = failures.into_keys().next().unwrap_or_else(|| "no answer came".to_owned());
        return Err(no_answer(&judge.name, probes.len(), &why));
    }
    let wrong = (0..probes.len()).filter_map(|index| {
        let probe = &probes[index];
        let answer = answers[index].filter(|answer| *answer != probe.matches)?;
        let fooled = probe.plain.is_some_and(|plain| answers[plain] == Some(probe.matches));
        let exchange = judgement(index).and_then(|judgement| judgement.exchange.clone());
        let (case, golden) = (probe.case.id.to_string(), probe.golden.id.to_string());
        Some(Wrong { kind: probe.kind, said: answer, fooled, case, golden, exchange })
    });
    let pairs = probes.iter().filter(|probe| probe.plain.is_none()).count();
    let scorecard = ProbeV1::new(&suite.name, &suite.digest, pairs, &score(&probes, &answers));
    let (judge, wrong) = (judge.name.clone(), wrong.collect());
    Ok(Some(ProbedJudge { judge, identity, scorecard, left_out, wrong, failures, asked, stored_in }))
}

/// A trial with one finding, whose id is the kind of probe, for scripts; no judge sees it, nor the tool.
fn trial(number: u32, probe: &Probe<'_>) -> Trial {
    let mut trial = Trial::reported(probe.case.id.clone(), ToolName::new("probe"), number);
    let mut finding = probe.finding.clone();
    finding.id = FindingId::new(probe.kind.as_str());
    trial.findings.push(finding);
    trial
}

fn question<'a>(probe: &Probe<'a>, trial: &'a Trial) -> PairQuestion<'a> {
    let order = if probe.kind == ProbeKind::SwappedOrder { PairOrder::FindingFirst } else { PairOrder::GoldenFirst };
    PairQuestion { case: probe.case, trial, golden: probe.golden, finding: &trial.findings[0], score: 0.0, order }
}
