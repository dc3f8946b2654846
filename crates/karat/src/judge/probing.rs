//! Probing a judge: it is asked about pairs whose answer is known, plain and disturbed.

use super::registry::Judge;
use super::session::{AskError, JudgeContext, SessionResult, ask_about};
use karat_core::ids::{FindingId, ToolName};
use karat_core::judgement::{Decision, Judgement};
use karat_core::probe::{Probe, ProbeKind, probes, score};
use karat_core::scorecard::{PairOrder, Question};
use karat_core::trial::Trial;
use karat_format::probe::ProbeV1;
use std::collections::BTreeMap;

/// What came of probing a judge.
#[derive(Debug)]
pub struct Probing {
    /// How often it was wrong, and how often it was fooled.
    pub scorecard: ProbeV1,
    /// Kinds of probes that do not apply to this judge.
    pub left_out: Vec<ProbeKind>,
    /// Probes whose answer was wrong, in the order in which they were put.
    pub wrong: Vec<Wrong>,
    /// Why probes have no answer, and how often.
    pub failures: BTreeMap<String, usize>,
    /// What the judge did.
    pub asked: SessionResult,
}

/// A wrong answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// What the probe was for.
    pub kind: ProbeKind,
    /// What the judge said; the opposite is true.
    pub said: bool,
    /// Whether the plain pair was answered rightly, so that what was added made the difference.
    pub fooled: bool,
    /// The case of the golden.
    pub case: String,
    /// The golden.
    pub golden: String,
    /// The key of the exchange, where a model was asked.
    pub exchange: Option<String>,
}

/// The tool that probes are said to come from. No judge sees it.
const TOOL: &str = "probe";

/// Probes a judge with pairs made from the suite's goldens, at most so many right and so many wrong ones. Nothing where the
/// suite has no golden in words.
pub fn probe(judge: &Judge, most: usize, context: &mut JudgeContext<'_>) -> Result<Option<Probing>, AskError> {
    let suite = &context.loaded.suite;
    // Only a model is shown one half of a pair before the other.
    let left_out = if judge.asks_models() { Vec::new() } else { vec![ProbeKind::SwappedOrder] };
    // Plain pairs come first and none of them is left out, so that what disturbs them still names them rightly.
    let probes: Vec<Probe<'_>> =
        probes(suite, most).into_iter().filter(|probe| !left_out.contains(&probe.kind)).collect();
    if probes.is_empty() {
        return Ok(None);
    }
    let trials: Vec<Trial> = (1..).zip(&probes).map(|(number, probe)| trial(number, probe)).collect();
    let questions: Vec<Question<'_>> =
        probes.iter().zip(&trials).filter_map(|(probe, trial)| question(probe, trial)).collect();
    let asked = ask_about(judge, &questions, context)?;
    // Each probe is a trial of its own.
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
        let said = answers[index].filter(|said| *said != probe.matches)?;
        let fooled = probe.plain.is_some_and(|plain| answers[plain] == Some(probe.matches));
        let exchange = judgement(index).and_then(|judgement| judgement.exchange.clone());
        let (case, golden) = (probe.case.id.to_string(), probe.golden.id.to_string());
        Some(Wrong { kind: probe.kind, said, fooled, case, golden, exchange })
    });
    let pairs = probes.iter().filter(|probe| probe.plain.is_none()).count();
    let scorecard = ProbeV1::new(&suite.name, &suite.digest, pairs, &score(&probes, &answers));
    Ok(Some(Probing { scorecard, left_out, wrong: wrong.collect(), failures, asked }))
}

/// A trial that reports one thing. Its name says what it is for, which helps whoever writes a script and is shown to no judge.
fn trial(number: u32, probe: &Probe<'_>) -> Trial {
    let mut trial = Trial::reported(probe.case.id.clone(), ToolName::new(TOOL), number);
    let mut finding = probe.finding.clone();
    finding.id = FindingId::new(probe.kind.name());
    trial.findings.push(finding);
    trial
}

fn question<'a>(probe: &Probe<'a>, trial: &'a Trial) -> Option<Question<'a>> {
    let order = if probe.kind == ProbeKind::SwappedOrder { PairOrder::FindingFirst } else { PairOrder::GoldenFirst };
    let finding = trial.findings.first()?;
    Some(Question { case: probe.case, trial, golden: probe.golden, finding, score: 0.0, order })
}

fn decision(judgement: &Judgement) -> Option<bool> {
    match &judgement.decision {
        Decision::Pair(pair) => Some(pair.matched),
        Decision::Unjudged(_) | Decision::Audit(_) | Decision::Extra(_) => None,
    }
}
