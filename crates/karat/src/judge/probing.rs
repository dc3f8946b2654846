//! Probes a judge with pairs whose answer is known, plain and disturbed.

use super::registry::Judge;
use super::session::{AskError, JudgeContext, SessionResult, ask_about};
use karat_core::ids::{FindingId, ToolName};
use karat_core::judgement::{Decision, Judgement};
use karat_core::probe::{Probe, ProbeKind, probes, score};
use karat_core::scorecard::{PairOrder, PairQuestion};
use karat_core::trial::Trial;
use karat_format::probe::ProbeV1;
use std::collections::BTreeMap;

/// The result of probing a judge.
#[derive(Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Probing {
    pub scorecard: ProbeV1,
    /// Kinds of probes that do not apply to this judge.
    pub left_out: Vec<ProbeKind>,
    pub wrong: Vec<Wrong>,
    /// Why probes have no answer, and how often.
    pub failures: BTreeMap<String, usize>,
    pub asked: SessionResult,
}

/// A wrong answer.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Wrong {
    pub kind: ProbeKind,
    /// The judge's answer; the opposite is true.
    pub said: bool,
    /// Whether the plain pair was answered rightly, so that what was added made the difference.
    pub fooled: bool,
    pub case: String,
    pub golden: String,
    pub exchange: Option<String>,
}

/// The tool of the trials; no judge sees it.
const TOOL: &str = "probe";

/// Probes a judge with at most `most` right and `most` wrong pairs made from the suite's goldens. `None` if no golden has text.
pub fn probe(judge: &Judge, most: usize, context: &mut JudgeContext<'_>) -> Result<Option<Probing>, AskError> {
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
        probes.iter().zip(&trials).filter_map(|(probe, trial)| question(probe, trial)).collect();
    let asked = ask_about(judge, &questions, context)?;
    let by_number: BTreeMap<u32, &Judgement> =
        asked.judgements.iter().map(|judgement| (judgement.trial, judgement)).collect();
    let judgement = |index: usize| by_number.get(&trials.get(index)?.number).copied();
    let answers: Vec<Option<bool>> = (0..probes.len()).map(|index| decision(judgement(index)?)).collect();
    let mut failures: BTreeMap<String, usize> = BTreeMap::new();
    for judgement in &asked.judgements {
        if let Decision::Unjudged(pair) = &judgement.decision {
            *failures.entry(pair.why.clone()).or_default() += 1;
        }
    }
    if answers.iter().all(Option::is_none) {
        let why = failures.into_keys().next().unwrap_or_else(|| "no answer came".to_owned());
        return Err(AskError::NoAnswer { judge: judge.name.to_string(), questions: probes.len(), why });
    }
    let wrong = (0..probes.len()).filter_map(|index| {
        let probe = &probes[index];
        let said = answers[index].filter(|answer| *answer != probe.matches)?;
        let fooled = probe.plain.is_some_and(|plain| answers[plain] == Some(probe.matches));
        let exchange = judgement(index).and_then(|judgement| judgement.exchange.clone());
        let (case, golden) = (probe.case.id.to_string(), probe.golden.id.to_string());
        Some(Wrong { kind: probe.kind, said, fooled, case, golden, exchange })
    });
    let pairs = probes.iter().filter(|probe| probe.plain.is_none()).count();
    let scorecard = ProbeV1::new(&suite.name, &suite.digest, pairs, &score(&probes, &answers));
    Ok(Some(Probing { scorecard, left_out, wrong: wrong.collect(), failures, asked }))
}

/// A trial with one finding, whose id is the kind of probe, for scripts; no judge sees it.
fn trial(number: u32, probe: &Probe<'_>) -> Trial {
    let mut trial = Trial::reported(probe.case.id.clone(), ToolName::new(TOOL), number);
    let mut finding = probe.finding.clone();
    finding.id = FindingId::new(probe.kind.name());
    trial.findings.push(finding);
    trial
}

fn question<'a>(probe: &Probe<'a>, trial: &'a Trial) -> Option<PairQuestion<'a>> {
    let order = if probe.kind == ProbeKind::SwappedOrder { PairOrder::FindingFirst } else { PairOrder::GoldenFirst };
    let finding = trial.findings.first()?;
    Some(PairQuestion { case: probe.case, trial, golden: probe.golden, finding, score: 0.0, order })
}

fn decision(judgement: &Judgement) -> Option<bool> {
    match &judgement.decision {
        Decision::Pair(pair) => Some(pair.matched),
        Decision::Unjudged(_) | Decision::Audit(_) | Decision::Extra(_) => None,
    }
}
