//! A language model as an assessor: it is asked which parts are relevant, then whether the requirement is met.

use super::{Assessed, CitedPart, Opinion, RequirementInput};
use crate::assess::AssessEvent;
use crate::assess::bundle::RequirementRef;
use karat_core::assessment::record::{Compliance, Role};
use karat_format::assessment::{StepV1 as Step, UnansweredV1};
use karat_format::judge::JudgeConfigV1;
use karat_io::cancel::Cancel;
use karat_llm::engine::{Engine, EngineError, EngineEvent, EngineStats};
use karat_llm::ledger::{Answer, Exchange, FailureReason, Ledger};
use karat_llm::prompt::{Question, Template};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Which parts are relevant to a requirement?
pub static RELEVANCE: Template =
    Template::new("relevance/v1", 2048, include_str!("../../../prompts/relevance/v1.md"), relevance_schema);

/// Is a requirement met, and which parts show it?
pub static COMPLIANCE: Template =
    Template::new("compliance/v1", 2048, include_str!("../../../prompts/compliance/v1.md"), compliance_schema);

/// A model, which all templates with the same description share. All its questions share a budget.
pub(in crate::assess) struct Model {
    /// The name given to `--evaluation`.
    pub(in crate::assess) name: String,
    pub(in crate::assess) config: JudgeConfigV1,
    /// What relative file names are resolved against, if there are any.
    pub(in crate::assess) folder: Option<PathBuf>,
    pub(in crate::assess) templates: Vec<String>,
    pub(in crate::assess) engine: Engine,
}

pub struct EvaluationContext<'a> {
    pub ledger: &'a mut dyn Ledger,
    pub cancel: &'a Cancel,
    pub observer: &'a mut dyn FnMut(AssessEvent<'_>),
}

impl Model {
    /// Asks about all requirements: first which parts are relevant, then whether they are met. Unanswered questions are part
    /// of the result; an error means that the provider cannot be used at all or that the ledger failed.
    pub(in crate::assess) fn assess(
        &self,
        inputs: &[RequirementInput<'_>],
        context: &mut EvaluationContext<'_>,
    ) -> Result<(Vec<Assessed>, EngineStats), EngineError> {
        let with_parts: Vec<usize> = (0..inputs.len()).filter(|at| !inputs[*at].parts.is_empty()).collect();
        let select = |places: &[usize]| places.iter().map(|at| &inputs[*at]).collect::<Vec<_>>();
        let questions = with_parts.iter().map(|at| relevance(&inputs[*at])).collect();
        let (answers, mut tally) = self.ask(Step::Relevance, &select(&with_parts), questions, context)?;
        // Without retrieved parts there is nothing to choose from, so the verdict is asked for at once.
        let mut relevant: Vec<Result<Vec<usize>, UnansweredV1>> = inputs.iter().map(|_| Ok(Vec::new())).collect();
        for (at, answer) in with_parts.into_iter().zip(answers) {
            relevant[at] = answer.and_then(|answer| relevant_parts(&answer, inputs[at].parts.len()));
        }
        let asked: Vec<usize> = (0..inputs.len()).filter(|at| relevant[*at].is_ok()).collect();
        let shown = |at: usize| relevant[at].as_deref().unwrap_or_default();
        let questions = asked.iter().map(|at| compliance(&inputs[*at], shown(*at))).collect();
        let (answers, second) = self.ask(Step::Verdict, &select(&asked), questions, context)?;
        tally += &second;
        let mut answers = answers.into_iter();
        let opinion = |relevant: Result<Vec<usize>, UnansweredV1>| {
            let relevant = relevant?;
            let answer =
                answers.next().unwrap_or_else(|| Err(unanswered(Step::Verdict, "unanswered", "no answer came")))?;
            opinion(&answer, relevant)
        };
        Ok((relevant.into_iter().map(opinion).collect(), tally))
    }

    fn ask(
        &self,
        step: Step,
        inputs: &[&RequirementInput<'_>],
        questions: Vec<Question>,
        context: &mut EvaluationContext<'_>,
    ) -> Result<(Vec<Result<Value, UnansweredV1>>, EngineStats), EngineError> {
        let model = self.name.as_str();
        (context.observer)(AssessEvent::Round { model, questions: questions.len() });
        let mut answers: Vec<Option<Result<Value, UnansweredV1>>> = vec![None; questions.len()];
        let observer = &mut *context.observer;
        let mut on_event = |event: EngineEvent<'_>| match event {
            EngineEvent::Retrying(retry) => observer(AssessEvent::Retrying { model, retry }),
            EngineEvent::Settled { index, exchange } => {
                let answer = answer(step, &exchange);
                let (about, failure) = (inputs[index].about, answer.as_ref().err());
                observer(AssessEvent::Settled { model, about, step, exchange: &exchange, failure });
                answers[index] = Some(answer);
            }
        };
        let tally = self.engine.ask(questions, context.ledger, context.cancel, &mut on_event)?;
        let nothing = || Err(unanswered(step, "cancelled", "it was not asked any more"));
        Ok((answers.into_iter().map(|answer| answer.unwrap_or_else(nothing)).collect(), tally))
    }
}

fn unanswered(step: Step, kind: &str, why: impl Into<String>) -> UnansweredV1 {
    UnansweredV1 { step, kind: kind.to_owned(), why: why.into() }
}

fn answer(step: Step, exchange: &Exchange) -> Result<Value, UnansweredV1> {
    match &exchange.answer {
        Answer::Given(value) => Ok(value.clone()),
        Answer::Refused { why } => Err(unanswered(step, "refused", why)),
        Answer::Missing { reason, why } => {
            let kind = match reason {
                FailureReason::Budget => "budget",
                FailureReason::Cancelled => "cancelled",
                // As with tools: no answer in time is the model's doing.
                FailureReason::Unanswered if exchange.timed_out => "timed_out",
                FailureReason::Unanswered => "unanswered",
                FailureReason::Unreadable => "unreadable",
                FailureReason::Rejected => "rejected",
            };
            Err(unanswered(step, kind, why))
        }
    }
}

fn relevance_schema() -> Arc<Value> {
    Arc::new(json!({
        "type": "object",
        "properties": {
            "relevant": {
                "type": "array",
                "description": "the parts that bear on the requirement",
                "items": {
                    "type": "object",
                    "properties": {
                        "part": { "type": "string", "description": "the id of the part, as it is given" },
                        "reason": { "type": "string", "description": "a few words, why it matters" }
                    },
                    "required": ["part", "reason"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["relevant"],
        "additionalProperties": false
    }))
}

fn compliance_schema() -> Arc<Value> {
    let parts =
        |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    Arc::new(json!({
        "type": "object",
        "properties": {
            "verdict": {
                "type": "string",
                "enum": ["yes", "partial", "no", "not_applicable"],
                "description": "how far the documents meet the requirement"
            },
            "primary": parts("the ids of the parts that decide"),
            "supporting": parts("the ids of the parts that back them"),
            "rationale": { "type": "string", "description": "one to three sentences, why" }
        },
        "required": ["verdict", "primary", "supporting", "rationale"],
        "additionalProperties": false
    }))
}

fn relevance(input: &RequirementInput<'_>) -> Question {
    let parts = Some(parts(input, 0..input.parts.len()));
    question(input, Step::Relevance, &RELEVANCE, [("parts", parts), ("answers", answers(input))])
}

/// Also asked without parts, since a requirement may not apply.
fn compliance(input: &RequirementInput<'_>, relevant: &[usize]) -> Question {
    let guidance = &input.requirement.guidance;
    let line = |name: &str| guidance.get(name).map(|when| format!("{name}: {}", when.trim()));
    let in_order = Compliance::ALL.iter().filter_map(|verdict| line(verdict.as_str()));
    let guidance = (!guidance.is_empty()).then(|| in_order.collect::<Vec<_>>().join("\n"));
    let shown = (!relevant.is_empty()).then(|| parts(input, relevant.iter().copied()));
    let fields = [("guidance", guidance), ("answers", answers(input)), ("parts", shown)];
    question(input, Step::Verdict, &COMPLIANCE, fields)
}

fn question<const N: usize>(
    input: &RequirementInput<'_>,
    step: Step,
    template: &'static Template,
    given: [(&'static str, Option<String>); N],
) -> Question {
    let RequirementRef { bundle_id, requirement_id, .. } = input.about;
    let mut fields = vec![("requirement", requirement(input))];
    fields.extend(given.into_iter().filter_map(|(name, text)| Some((name, text?))));
    let id = format!("{bundle_id}/{requirement_id}#{}", step.name());
    Question { id, template, fields, form: None }
}

fn requirement(input: &RequirementInput<'_>) -> String {
    let applies = input.requirement.applies_when.iter().map(|(question, wanted)| {
        let words = input.answers.iter().find(|known| known.question == question).map(|known| known.words);
        let words = words.filter(|words| !words.is_empty()).unwrap_or(question);
        format!("\n\nIt applies where the answer to \"{words}\" is {wanted}.")
    });
    let applies: String = applies.collect();
    format!("{}\n\n{}{applies}", input.requirement.title.trim(), input.requirement.description.trim())
}

fn answers(input: &RequirementInput<'_>) -> Option<String> {
    let line = |known: &super::GivenAnswer<'_>| {
        let words = if known.words.is_empty() { known.question } else { known.words };
        format!("{words}: {}", known.answer)
    };
    (!input.answers.is_empty()).then(|| input.answers.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// JSON, so that no text can pass for another part.
fn parts(input: &RequirementInput<'_>, which: impl Iterator<Item = usize>) -> String {
    let part = |at: usize| {
        let shown = &input.parts[at];
        json!({ "id": name(at), "document": shown.document, "heading": shown.heading, "text": shown.text })
    };
    serde_json::to_string_pretty(&which.map(part).collect::<Vec<_>>()).unwrap_or_default()
}

fn name(at: usize) -> String {
    format!("P{}", at + 1)
}

/// The index of a part named such as `P3`, `p3` or `[P3]`; `None` if none of that name was shown.
fn place(parsed: &str, most: usize) -> Option<usize> {
    let parsed = parsed.trim().trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let number: usize = parsed.strip_prefix(['P', 'p'])?.parse().ok()?;
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

fn relevant_parts(answer: &Value, most: usize) -> Result<Vec<usize>, UnansweredV1> {
    let parsed = RelevanceV1::deserialize(answer)
        .map_err(|error| unanswered(Step::Relevance, "unreadable", error.to_string()))?;
    // Parts that were not shown are dropped.
    let mut places: Vec<usize> = parsed.relevant.iter().filter_map(|one| place(&one.part, most)).collect();
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

fn opinion(answer: &Value, relevant: Vec<usize>) -> Assessed {
    let parsed =
        VerdictV1::deserialize(answer).map_err(|error| unanswered(Step::Verdict, "unreadable", error.to_string()))?;
    let mut citations: Vec<CitedPart> = Vec::new();
    for (role, names) in [(Role::Primary, parsed.primary), (Role::Supporting, parsed.supporting)] {
        for name in names {
            let part = place(&name, usize::MAX).filter(|at| relevant.contains(at));
            let again = |cited: &CitedPart| {
                cited.role == role
                    && (cited.part, cited.part.is_none().then_some(&cited.name))
                        == (part, part.is_none().then_some(&name))
            };
            if !citations.iter().any(again) {
                citations.push(CitedPart { role, part, name });
            }
        }
    }
    Ok(Opinion { verdict: parsed.verdict, citations, relevant, rationale: parsed.rationale })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_names_are_parsed_leniently() {
        for (parsed, expect) in [
            ("P1", Some(0)),
            ("p3", Some(2)),
            (" [P2] ", Some(1)),
            ("P4", None),
            ("P0", None),
            ("3", None),
            ("Part 1", None),
            ("", None),
        ] {
            assert_eq!(place(parsed, 3), expect, "{parsed:?}");
        }
    }

    #[test]
    fn citations_of_unknown_parts_are_kept_without_a_part() {
        let answer = json!({
            "verdict": "partial",
            "primary": ["P1", "[P1]", "P9"],
            "supporting": ["P3", "P1", "nonsense", "nonsense"],
            "rationale": "r"
        });
        let parsed = opinion(&answer, vec![0, 2]).unwrap();
        let lines: Vec<String> =
            parsed.citations.iter().map(|cited| format!("{:?} {} {:?}", cited.role, cited.name, cited.part)).collect();
        assert_eq!(
            lines,
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
