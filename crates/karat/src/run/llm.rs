//! A language model as a tool: one question for each trial, and what came of it. Nothing of it runs on this machine.

mod prompt_input;
mod tool_reference;

pub use tool_reference::parse_reference;

use super::drive::Task;
use super::ready_error::ReadyError;
use super::run_context::RunContext;
use crate::judge::template::review::{self, REVIEW, audit};
use crate::tool::manifest::Llm;
use karat_core::finding::Finding;
use karat_core::path::RepoPath;
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use karat_format::llm::{RoleV1, StyleV1};
use karat_format::run::{PlannedLlmV1, TrialDetailV1};
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_io::files::Files;
use karat_llm::adaptation::AdaptationRecord;
use karat_llm::engine::{Engine, EngineOptions, StartMode};
use karat_llm::ledger::{CacheMode, Exchange, ExchangeOutcome as Answer, FailureReason, MemoryLedger};
use karat_llm::prompt::{Question, Template};
use karat_llm::provider::ProviderEnv;
use karat_llm::providers::open_ready;
use karat_llm::timed_provider::{TimedProvider, TimingLog};
use karat_store::record::{Artifact, TrialRecord};
use prompt_input::PromptInput;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// A model, ready for its trials. All of them go through one engine, whatever thread they come from.
pub struct LlmTool {
    role: RoleV1,
    style: StyleV1,
    engine: Engine,
    log: TimingLog,
}

/// So much of what a model said is told with its failure.
const LAST_WORDS: usize = 300;

/// What a plan says of a model; `None` for tools of other kinds.
pub fn planned(manifest: &ToolManifestV1) -> Option<PlannedLlmV1> {
    let asked = (manifest.kind == ToolKindV1::Llm).then_some(&manifest.llm)?;
    let (role, style) = (asked.role.unwrap_or_default(), asked.style.unwrap_or_default());
    Some(PlannedLlmV1 {
        provider: asked.provider.clone().unwrap_or_default(),
        role,
        style: (role != RoleV1::Reviewer).then_some(style),
        prompts: templates(role, style).iter().map(|template| template.name.to_owned()).collect(),
    })
}

fn templates(role: RoleV1, style: StyleV1) -> Vec<&'static Template> {
    match role {
        RoleV1::Auto => vec![&REVIEW, audit(style)],
        RoleV1::Reviewer => vec![&REVIEW],
        RoleV1::Auditor => vec![audit(style)],
    }
}

impl LlmTool {
    /// Sees that there is a key and that the settings make sense. Nobody is asked yet.
    pub fn ready(llm: Llm, site: &RunContext<'_>) -> Result<Self, ReadyError> {
        let variable = |name: &str| site.variable(name).and_then(|value| value.to_str()).map(str::to_owned);
        let folder = match &site.loaded.files {
            Files::Disk(root) => root.as_path(),
            Files::Embedded(..) => Path::new(""),
        };
        let provider = open_ready(&llm.config, &ProviderEnv { variable: &variable, folder })?;
        // Trials are independent samples, so no answer is ever used twice.
        let usual = EngineOptions::from_config(&llm.config, CacheMode::Off)?;
        let options = EngineOptions { seed: site.seed, start: StartMode::Independent, ..usual };
        let log = TimingLog::default();
        let engine = Engine::new(Box::new(TimedProvider::new(provider, log.clone())), options).shared();
        Ok(Self { role: llm.role, style: llm.style, engine, log })
    }

    /// The model and the prompts, which together are what a version is to a program.
    pub fn version(&self) -> String {
        let id = self.engine.provider().id();
        let prompts: Vec<&str> = templates(self.role, self.style).iter().map(|template| template.name).collect();
        let model = if id.model.is_empty() { "no model" } else { &id.model };
        format!("{model} ({}), prompts {}", id.provider, prompts.join(", "))
    }

    /// Asks about one case; `None` when it was cancelled. An error means that no other question would be answered either.
    pub(super) fn execute(
        &self,
        task: &Task,
        case: Option<&Case>,
        site: &RunContext<'_>,
    ) -> Result<Option<TrialRecord>, ReadyError> {
        let key = &task.key;
        let mut trial = Trial::reported(key.case.clone(), key.tool.clone(), key.number);
        let mut detail = TrialDetailV1::default();
        let question = case.filter(|case| site.loaded.has_tree(&case.id));
        let question = question.map(|case| self.question(task, case, site)).transpose();
        let asked = question.map_err(|source| ReadyError::Checkout { case: key.case.to_string(), source })?;
        let Some((question, notes)) = asked else {
            trial.outcome = Outcome::Skipped;
            detail.reason = Some("the case has no code".to_owned());
            return Ok(Some(TrialRecord { trial, attempt: task.attempt, detail, artifacts: Vec::new() }));
        };
        let (id, began) = (question.id.clone(), Instant::now());
        let answered = self.engine.ask_all(vec![question], &mut MemoryLedger::default(), &site.cancel);
        let spent = self.log.take(&id);
        let Some(exchange) = answered?.0.into_iter().next() else { return Ok(None) };
        if matches!(exchange.outcome, Answer::Unjudged { reason: FailureReason::Cancelled, .. }) {
            return Ok(None);
        }
        detail.stages_ms.insert("asking".to_owned(), milliseconds(began.elapsed()));
        if exchange.attempts > 1 {
            detail.remarks.push(format!("{} requests were made", exchange.attempts));
        }
        // Waiting for a turn, and between requests that failed, is not the model's doing.
        trial.latency_ms = (exchange.attempts > 0).then(|| milliseconds(spent.time));
        let (tokens_in, tokens_out) = (exchange.tokens_in, exchange.tokens_out);
        // Some servers count nothing, which is not the same as nothing used.
        if tokens_in > 0 || tokens_out > 0 {
            (trial.tokens_in, trial.tokens_out, trial.cost_usd) = (Some(tokens_in), Some(tokens_out), exchange.usd);
        }
        if let Err((outcome, reason)) = answer(&exchange, spent.cut_off, &mut trial) {
            trial.outcome = outcome;
            detail.reason = Some(reason);
        } else {
            trial.notes = notes;
            trial.notes.extend(AdaptationRecord::from_parameters(&exchange.provider.parameters).describe());
        }
        let mut bytes = serde_json::to_vec(&exchange).unwrap_or_default();
        bytes.push(b'\n');
        let artifacts = vec![Artifact { name: "exchange".to_owned(), bytes }];
        Ok(Some(TrialRecord { trial, attempt: task.attempt, detail, artifacts }))
    }

    /// What to ask about a case, and what is left out of it. Neither its name nor its goldens go in.
    fn question(&self, task: &Task, case: &Case, site: &RunContext<'_>) -> std::io::Result<(Question, Vec<String>)> {
        let id = format!("{}#{}", task.key.case, task.key.number);
        let change = match self.role {
            RoleV1::Auditor => None,
            RoleV1::Reviewer => Some(prompt_input::change(site.loaded, case)?),
            // Without a `before` there is nothing to review: all of the code is as new as any other part of it.
            RoleV1::Auto if case.change.is_none() => None,
            RoleV1::Auto => Some(prompt_input::change(site.loaded, case)?).filter(|change| !change.text.is_empty()),
        };
        let Some(PromptInput { text, mut notes }) = change else {
            let code = prompt_input::code(site.loaded, case)?;
            return Ok((review::audit_question(id, self.style, code.text), code.notes));
        };
        let pr = case.pr.clone().unwrap_or_default();
        let description = prompt_input::description(&pr.description, &mut notes);
        Ok((review::review_question(id, &pr.title, &description, text), notes))
    }
}

/// Puts an answer into its trial, or says what else came of the question.
fn answer(exchange: &Exchange, cut_off: bool, trial: &mut Trial) -> Result<(), (Outcome, String)> {
    let (reason, why) = match &exchange.outcome {
        Answer::Decided(value) => {
            let said = AnswerV1::deserialize(value).map_err(|error| (Outcome::Unparsable, error.to_string()))?;
            trial.verdict = said.verdict;
            trial.confidence = said.confidence;
            trial.findings = said.findings.into_iter().enumerate().map(finding).collect();
            return Ok(());
        }
        Answer::Refused { why } => {
            return Err((Outcome::Crashed, format!("the model refused to answer: {}", shortened(why))));
        }
        Answer::Unjudged { reason, why } => (*reason, why),
    };
    Err(match reason {
        FailureReason::Unreadable => (Outcome::Unparsable, format!("{why}{}", last_words(exchange))),
        FailureReason::Unanswered if cut_off => (Outcome::TimedOut, why.clone()),
        FailureReason::Budget => (Outcome::Crashed, format!("it was not asked: {why} (budget_usd, budget_calls)")),
        FailureReason::Unanswered | FailureReason::Rejected | FailureReason::Cancelled => {
            (Outcome::Crashed, why.clone())
        }
    })
}

/// An answer that fits its schema.
#[derive(Deserialize)]
struct AnswerV1 {
    verdict: Option<karat_core::suite::Verdict>,
    confidence: Option<f64>,
    findings: Vec<SaidV1>,
}

/// A finding as a model states it.
#[derive(Deserialize)]
struct SaidV1 {
    title: String,
    message: String,
    file: Option<String>,
    line_start: Option<i64>,
    line_end: Option<i64>,
    severity: Option<karat_core::golden::Severity>,
    category: Option<String>,
    confidence: Option<f64>,
    cwe: Option<i64>,
}

fn finding((index, said): (usize, SaidV1)) -> Finding {
    // A model that knows no line says 0 as often as null, and an end before the start is no end.
    let number = |value: Option<i64>| value.and_then(|value| u32::try_from(value).ok()).filter(|value| *value > 0);
    let text = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    let line_start = number(said.line_start);
    Finding {
        title: text(said.title),
        message: text(said.message),
        file: said.file.as_deref().and_then(RepoPath::new),
        line_start,
        line_end: number(said.line_end).filter(|end| line_start.is_some_and(|start| start <= *end)),
        severity: said.severity,
        category: said.category.and_then(text),
        confidence: said.confidence,
        cwe: number(said.cwe).into_iter().collect(),
        ..Finding::new(format!("f{}", index + 1))
    }
}

fn last_words(exchange: &Exchange) -> String {
    let last = exchange.replies.last();
    let said = last.map(|reply| reply.structured.as_ref().map_or_else(|| reply.text.clone(), Value::to_string));
    let said = said.filter(|said| !said.trim().is_empty());
    said.map(|said| format!("; it said: {}", shortened(&said))).unwrap_or_default()
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LAST_WORDS) {
        None => line,
        Some((end, _)) => format!("{} …", &line[..end]),
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
