//! A model as an assessor: it is asked which parts bear on a requirement, and then how far it is met.

use super::{Assessed, Cited, Matter, Opinion, Unanswered};
use crate::format::assessment::StepV1 as Step;
use crate::format::judge::JudgeConfigV1;
use crate::judge::engine::{Engine, EngineError, EngineEvent, EngineOptions, Tally};
use crate::judge::ledger::{CacheMode, Exchange, Ledger, Outcome, Unjudged};
use crate::judge::provider::{ProviderError, ProviderId, Surroundings};
use crate::judge::providers;
use crate::judge::template::Question;
use crate::judge::watched::{Log, Watched};
use crate::sandbox::Cancel;
use karat_core::assessment::record::{Compliance, Role};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// A model, ready to be asked. All its questions share a budget.
pub struct Model {
    /// What it is called, as `--evaluation` has it.
    pub name: String,
    engine: Engine,
    log: Log,
}

/// Where a model is asked.
pub struct Desk<'a> {
    /// What was answered before.
    pub ledger: &'a mut dyn Ledger,
    /// A wish to stop.
    pub cancel: &'a Cancel,
    /// Who hears how it goes.
    pub tell: &'a mut dyn FnMut(Told<'_>),
}

/// How asking goes.
pub enum Told<'a> {
    /// So many questions are asked now.
    Round(usize),
    /// One of them is settled.
    Settled(&'a Call),
    /// A request failed and is made again.
    Retrying {
        /// After this long.
        wait: Duration,
        /// Why.
        why: &'a str,
    },
}

/// One question, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What was asked.
    pub step: Step,
    /// The place of the matter among those given.
    pub matter: usize,
    /// Whether the ledger answered.
    pub cached: bool,
    /// How many requests it took.
    pub requests: u32,
    /// Tokens that were read.
    pub tokens_in: u64,
    /// Tokens that were written.
    pub tokens_out: u64,
    /// In USD, where prices are known.
    pub usd: Option<f64>,
    /// How long its requests were under way; none where none was made.
    pub latency: Option<Duration>,
    /// Why it got no answer: the kind of reason, and the reason in words.
    pub failure: Option<(&'static str, String)>,
}

impl Model {
    /// Opens a model. No connection is made before the first question.
    pub fn open(
        name: &str,
        config: &JudgeConfigV1,
        around: &Surroundings<'_>,
        cache: CacheMode,
    ) -> Result<Self, ProviderError> {
        let provider = providers::open(config, around)?;
        let log = Log::default();
        let watched = Box::new(Watched::new(provider, log.clone()));
        let engine = Engine::new(watched, EngineOptions::of(config, cache)?).shared();
        Ok(Self { name: name.to_owned(), engine, log })
    }

    /// Who is asked.
    pub fn id(&self) -> &ProviderId {
        self.engine.provider().id()
    }

    /// What must be set before it can be asked, such as a key.
    pub fn lacks(&self) -> Option<&str> {
        self.engine.provider().lacks()
    }

    /// Asks about all matters: first which parts bear on them, then how far they are met. What got no answer says so, and
    /// counts as no opinion; an error means that nobody can be asked at all, or that the ledger failed.
    pub fn assess(&self, matters: &[Matter<'_>], desk: &mut Desk<'_>) -> Result<(Vec<Assessed>, Tally), EngineError> {
        let with_parts: Vec<usize> = (0..matters.len()).filter(|at| !matters[*at].parts.is_empty()).collect();
        let questions = with_parts.iter().map(|at| relevance(&matters[*at])).collect();
        let (answers, mut tally) = self.ask(Step::Relevance, &with_parts, questions, desk)?;
        // Where nothing was found there is nothing to choose from, and the verdict is asked for at once.
        let mut relevant: Vec<Result<Vec<usize>, Unanswered>> = matters.iter().map(|_| Ok(Vec::new())).collect();
        for (at, answer) in with_parts.into_iter().zip(answers) {
            relevant[at] = answer.and_then(|answer| relevant_parts(&answer, matters[at].parts.len()));
        }
        let asked: Vec<usize> = (0..matters.len()).filter(|at| relevant[*at].is_ok()).collect();
        let shown = |at: usize| relevant[at].as_deref().unwrap_or_default();
        let questions = asked.iter().map(|at| compliance(&matters[*at], shown(*at))).collect();
        let (answers, second) = self.ask(Step::Verdict, &asked, questions, desk)?;
        tally += &second;
        let mut answers = answers.into_iter();
        let opinion = |relevant: Result<Vec<usize>, Unanswered>| {
            let relevant = relevant?;
            let answer =
                answers.next().unwrap_or_else(|| Err(unanswered(Step::Verdict, "unanswered", "no answer came")))?;
            opinion(&answer, relevant)
        };
        Ok((relevant.into_iter().map(opinion).collect(), tally))
    }

    /// Asks one question of each of these matters.
    fn ask(
        &self,
        step: Step,
        matters: &[usize],
        questions: Vec<Question>,
        desk: &mut Desk<'_>,
    ) -> Result<(Vec<Result<Value, Unanswered>>, Tally), EngineError> {
        (desk.tell)(Told::Round(questions.len()));
        let ids: Vec<String> = questions.iter().map(|question| question.id.clone()).collect();
        let mut answers: Vec<Option<Result<Value, Unanswered>>> = vec![None; questions.len()];
        let tell = &mut *desk.tell;
        let mut hear = |event: EngineEvent<'_>| match event {
            EngineEvent::Retrying { wait, why, .. } => tell(Told::Retrying { wait, why }),
            EngineEvent::Settled { index, exchange } => {
                let answer = answer(step, &exchange);
                let spent = self.log.take(&ids[index]);
                tell(Told::Settled(&Call {
                    step,
                    matter: matters[index],
                    cached: exchange.cached,
                    requests: if exchange.cached { 0 } else { exchange.attempts },
                    tokens_in: if exchange.cached { 0 } else { exchange.tokens_in },
                    tokens_out: if exchange.cached { 0 } else { exchange.tokens_out },
                    usd: exchange.usd.filter(|_| !exchange.cached),
                    latency: (!exchange.cached && exchange.attempts > 0).then_some(spent.time),
                    failure: answer.as_ref().err().map(|failed| (failed.kind, failed.why.clone())),
                }));
                answers[index] = Some(answer);
            }
        };
        let tally = self.engine.ask(questions, desk.ledger, desk.cancel, &mut hear)?;
        let nothing = || Err(unanswered(step, "cancelled", "it was not asked any more"));
        Ok((answers.into_iter().map(|answer| answer.unwrap_or_else(nothing)).collect(), tally))
    }
}

fn unanswered(step: Step, kind: &'static str, why: impl Into<String>) -> Unanswered {
    Unanswered { step, kind, why: why.into() }
}

fn answer(step: Step, exchange: &Exchange) -> Result<Value, Unanswered> {
    match &exchange.outcome {
        Outcome::Decided(value) => Ok(value.clone()),
        Outcome::Refused { why } => Err(unanswered(step, "refused", why)),
        Outcome::Unjudged { reason, why } => {
            let kind = match reason {
                Unjudged::Budget => "budget",
                Unjudged::Cancelled => "cancelled",
                Unjudged::Unanswered => "unanswered",
                Unjudged::Unreadable => "unreadable",
                Unjudged::Rejected => "rejected",
            };
            Err(unanswered(step, kind, why))
        }
    }
}

fn relevance(matter: &Matter<'_>) -> Question {
    let parts = parts(matter, 0..matter.parts.len());
    Question::relevance(format!("{}#relevance", matter.id), requirement(matter), answers(matter), parts)
}

fn compliance(matter: &Matter<'_>, relevant: &[usize]) -> Question {
    let guidance = &matter.requirement.guidance;
    let in_order = Compliance::ALL
        .iter()
        .filter_map(|verdict| guidance.get(verdict.name()).map(|when| format!("{}: {}", verdict.name(), when.trim())));
    let guidance = (!guidance.is_empty()).then(|| in_order.collect::<Vec<_>>().join("\n"));
    let shown = (!relevant.is_empty()).then(|| parts(matter, relevant.iter().copied()));
    Question::compliance(format!("{}#verdict", matter.id), requirement(matter), guidance, answers(matter), shown)
}

fn requirement(matter: &Matter<'_>) -> String {
    let applies = matter.requirement.applies_when.iter().map(|(question, wanted)| {
        let words = matter.answers.iter().find(|known| known.question == question).map(|known| known.words);
        let words = words.filter(|words| !words.is_empty()).unwrap_or(question);
        format!("\n\nIt applies where the answer to \"{words}\" is {wanted}.")
    });
    let applies: String = applies.collect();
    format!("{}\n\n{}{applies}", matter.requirement.title.trim(), matter.requirement.description.trim())
}

fn answers(matter: &Matter<'_>) -> Option<String> {
    let line = |known: &super::Known<'_>| {
        let words = if known.words.is_empty() { known.question } else { known.words };
        format!("{words}: {}", known.answer)
    };
    (!matter.answers.is_empty()).then(|| matter.answers.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// JSON, so that no text can pass for another part.
fn parts(matter: &Matter<'_>, which: impl Iterator<Item = usize>) -> String {
    let part = |at: usize| {
        let shown = &matter.parts[at];
        json!({ "id": name(at), "document": shown.document, "heading": shown.heading, "text": shown.text })
    };
    serde_json::to_string_pretty(&which.map(part).collect::<Vec<_>>()).unwrap_or_default()
}

/// What a model calls a part.
fn name(at: usize) -> String {
    format!("P{}", at + 1)
}

/// The place of the part that a model means, by a name such as `P3`, `p3` or `[P3]`; none where it was shown none of that name.
fn place(said: &str, most: usize) -> Option<usize> {
    let said = said.trim().trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let number: usize = said.strip_prefix(['P', 'p'])?.parse().ok()?;
    number.checked_sub(1).filter(|at| *at < most)
}

#[derive(Deserialize)]
struct RelevanceV1 {
    relevant: Vec<RelevantV1>,
}

#[derive(Deserialize)]
struct RelevantV1 {
    part: String,
}

#[derive(Deserialize)]
struct VerdictV1 {
    verdict: Compliance,
    primary: Vec<String>,
    supporting: Vec<String>,
    rationale: String,
}

fn relevant_parts(answer: &Value, most: usize) -> Result<Vec<usize>, Unanswered> {
    let said = RelevanceV1::deserialize(answer)
        .map_err(|error| unanswered(Step::Relevance, "unreadable", error.to_string()))?;
    // What it was never shown cannot be shown to it again.
    let mut places: Vec<usize> = said.relevant.iter().filter_map(|one| place(&one.part, most)).collect();
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

fn opinion(answer: &Value, relevant: Vec<usize>) -> Assessed {
    let said =
        VerdictV1::deserialize(answer).map_err(|error| unanswered(Step::Verdict, "unreadable", error.to_string()))?;
    let mut citations: Vec<Cited> = Vec::new();
    for (role, names) in [(Role::Primary, said.primary), (Role::Supporting, said.supporting)] {
        for name in names {
            let part = place(&name, usize::MAX).filter(|at| relevant.contains(at));
            let again = |cited: &Cited| {
                cited.role == role
                    && (cited.part, cited.part.is_none().then_some(&cited.name))
                        == (part, part.is_none().then_some(&name))
            };
            if !citations.iter().any(again) {
                citations.push(Cited { role, part, name });
            }
        }
    }
    Ok(Opinion { verdict: said.verdict, citations, relevant, rationale: said.rationale })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_are_read_with_patience() {
        for (said, expect) in [
            ("P1", Some(0)),
            ("p3", Some(2)),
            (" [P2] ", Some(1)),
            ("P4", None),
            ("P0", None),
            ("3", None),
            ("Part 1", None),
            ("", None),
        ] {
            assert_eq!(place(said, 3), expect, "{said:?}");
        }
    }

    #[test]
    fn what_was_not_shown_is_named_and_counts_for_nothing() {
        let answer = json!({
            "verdict": "partial",
            "primary": ["P1", "[P1]", "P9"],
            "supporting": ["P3", "P1", "nonsense", "nonsense"],
            "rationale": "r"
        });
        let said = opinion(&answer, vec![0, 2]).unwrap();
        let told: Vec<String> =
            said.citations.iter().map(|cited| format!("{:?} {} {:?}", cited.role, cited.name, cited.part)).collect();
        assert_eq!(
            told,
            [
                "Primary P1 Some(0)",
                "Primary P9 None",
                "Supporting P3 Some(2)",
                "Supporting P1 Some(0)",
                "Supporting nonsense None"
            ]
        );
        let relevance = json!({ "relevant": [{ "part": "P2" }, { "part": "P1" }, { "part": "P2" }, { "part": "P7" }] });
        assert_eq!(relevant_parts(&relevance, 3).unwrap(), [0, 1]);
    }
}
