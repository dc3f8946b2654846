//! A tool that is a language model: one question for each trial. Nothing is executed on this machine.

mod prompt_input;

use super::doctor::{Examined, Surroundings, Variable, remark_open_model};
use super::manifest::{Check, NO_MODEL};
use super::replay::Recordings;
use super::run_context::RunContext;
use super::{Declaration, Kind, LoadResult, NO_CODE, PrepareResult, RunResult, Task, Tool, TrialRunner};
use super::{checkout_error, facts_without_program, milliseconds};
use crate::checkout::Template as Checkout;
use crate::judge::template::review::{self, REVIEW, audit};
use crate::suite::LoadedSuite;
use karat_core::finding::Finding;
use karat_core::path::RepoPath;
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use karat_format::judge::JudgeConfigV1;
use karat_format::llm::{RoleV1, StyleV1};
use karat_format::run::PlannedLlmV1;
use karat_format::tool::ToolManifestV1;
use karat_io::files::Files;
use karat_llm::adaptation::Adaptation;
use karat_llm::engine::{Engine, EngineOptions, StartMode};
use karat_llm::ledger::{Answer, CacheMode, Exchange, FailureReason, MemoryLedger};
use karat_llm::prompt::{Question, Template};
use karat_llm::provider::{Provider, ProviderEnv, ProviderError};
use karat_llm::providers::{self, PROVIDERS, ProviderEntry, open_ready};
use karat_sandbox::Isolation;
use karat_store::record::Artifact;
use prompt_input::PromptInput;
use serde::Deserialize;
use serde_json::Value;
use std::io;
use std::path::Path;
use std::time::Instant;

pub(super) static KIND: Kind = Kind {
    keys: &[
        "timeout",
        "provider",
        "role",
        "style",
        "base_url",
        "key_env",
        "temperature",
        "max_tokens",
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "retries",
        "price_in",
        "price_out",
        "budget_usd",
        "budget_calls",
        "file",
        "api",
    ],
    resolve: |check| Box::new(check.llm()),
};

struct LlmTool {
    role: RoleV1,
    style: StyleV1,
    /// Who is asked, and how, in the terms of a judge.
    config: JudgeConfigV1,
}

/// The time limit of a request. Reading a large change and writing many findings takes longer than deciding a pair.
const DEFAULT_TIMEOUT: &str = "5m";
/// Characters of a model's answer that are quoted in the reason of a failure.
const MAX_QUOTE: usize = 300;

impl Check<'_> {
    /// Checks everything that does not depend on the environment.
    fn llm(&mut self) -> LlmTool {
        let raw = &self.raw.llm;
        if let Some(provider) = self.provider() {
            let is_remote = provider.remote.is_some();
            if is_remote && self.model.is_none() && self.raw.model.is_none() {
                self.fault(&[], NO_MODEL, "needs `model`, or --model NAME, or KARAT_TOOL_MODEL");
            }
            match &raw.file {
                None if !is_remote => {
                    let message = format!("provider = \"{}\" needs `file`, a JSONL file with answers", provider.name);
                    self.fault(&[], "no-file", message);
                }
                Some(_) if is_remote => {
                    let message = format!("has no effect for provider = \"{}\"; remove it", provider.name);
                    self.fault(&["file"], "foreign-key", message);
                }
                _ => {}
            }
        }
        if raw.style.is_some() && raw.role == Some(RoleV1::Reviewer) {
            let message = "is for auditors; remove it, or use role = \"auditor\" or role = \"auto\"";
            self.fault(&["style"], "foreign-key", message);
        }
        if let Some(name) = &raw.key_env {
            self.variable(&["key_env"], name);
        }
        let file = self.file("file", raw.file.as_deref()).map(|file| file.to_string_lossy().into_owned());
        let timeout = self.raw.timeout.clone().unwrap_or_else(|| DEFAULT_TIMEOUT.to_owned());
        let config = JudgeConfigV1 { file, ..raw.to_judge_config(self.model.clone(), Some(timeout)) };
        if let Err(ProviderError::BadValue { field, reason }) = EngineOptions::from_config(&config, CacheMode::Off) {
            self.fault(&[field], "bad-value", reason);
        }
        LlmTool { role: raw.role.unwrap_or_default(), style: raw.style.unwrap_or_default(), config }
    }

    fn provider(&mut self) -> Option<&'static ProviderEntry> {
        let names: Vec<&str> = PROVIDERS.iter().filter(|p| p.reads_prompts()).map(|p| p.name).collect();
        let names = names.join(", ");
        let Some(name) = self.raw.llm.provider.as_deref() else {
            let message = format!("kind = \"llm\" needs `provider`, who is asked; available: {names}");
            self.fault(&[], "no-provider", message);
            return None;
        };
        match providers::entry(name) {
            Ok(entry) if entry.reads_prompts() => return Some(entry),
            Ok(_) => {
                let message = format!("`{name}` cannot be asked to review anything; available: {names}");
                self.fault(&["provider"], "unknown-provider", message);
            }
            Err(error) => self.fault(&["provider"], "unknown-provider", error.to_string()),
        }
        None
    }
}

impl Declaration for LlmTool {
    fn load(self: Box<Self>, _: &LoadedSuite, _: &mut Recordings) -> LoadResult {
        Ok(self)
    }

    /// Only the key can be missing; a server other than the provider's own may need none.
    fn examine(&self, raw: &ToolManifestV1, around: &Surroundings<'_>, examined: &mut Examined) {
        let config = &self.config;
        let Some(remote) = providers::entry(&config.provider).ok().and_then(|entry| entry.remote) else {
            examined.isolation = "runs no program; answers from a file".to_owned();
            return;
        };
        examined.isolation = "runs no program; asks over the network".to_owned();
        let name = config.key_env.clone().unwrap_or_else(|| remote.key.to_owned());
        let set = (around.is_set)(&name);
        let elsewhere = config.base_url.is_some() || (around.is_set)(remote.base);
        if !set && (config.key_env.is_some() || !elsewhere) {
            examined.usable = false;
            examined.remarks.push(format!("no key: set {name}"));
        }
        examined.variables.push(Variable { name, set });
        remark_open_model(raw, examined);
    }
}

impl Tool for LlmTool {
    fn planned_llm(&self) -> Option<PlannedLlmV1> {
        Some(PlannedLlmV1 {
            provider: self.config.provider.clone(),
            role: self.role,
            style: (self.role != RoleV1::Reviewer).then_some(self.style),
            prompts: self.templates().iter().map(|template| template.name.to_owned()).collect(),
        })
    }

    fn missing_key(&self, context: &RunContext<'_>) -> Option<String> {
        match self.open_provider(context) {
            Err(ProviderError::NoKey(why)) => Some(why),
            _ => None,
        }
    }

    /// Checks that there is a key and that the settings make sense. Nothing is asked yet.
    fn prepare<'a>(self: Box<Self>, _: Isolation, context: &'a RunContext<'a>) -> PrepareResult<'a> {
        let provider = self.open_provider(context).map_err(io::Error::other)?;
        // Trials are independent samples, so no answer is used twice.
        let defaults = EngineOptions::from_config(&self.config, CacheMode::Off).map_err(io::Error::other)?;
        let options = EngineOptions { seed: context.seed, start: StartMode::Independent, ..defaults };
        let engine = Engine::new(provider, options).shared();
        // The model and the prompts are to a model what a version is to a program.
        let id = engine.provider().id();
        let prompts: Vec<&str> = self.templates().iter().map(|template| template.name).collect();
        let model = if id.model.is_empty() { "no model" } else { &id.model };
        let version = format!("{model} ({}), prompts {}", id.provider, prompts.join(", "));
        Ok((Box::new(LlmRunner { tool: *self, engine, context }), facts_without_program(Some(version))))
    }
}

impl LlmTool {
    fn open_provider(&self, context: &RunContext<'_>) -> Result<Box<dyn Provider>, ProviderError> {
        let variable = |name: &str| context.variable(name).and_then(|value| value.to_str()).map(str::to_owned);
        let folder = match &context.loaded.files {
            Files::Disk(root) => root.as_path(),
            Files::Embedded(..) => Path::new(""),
        };
        open_ready(&self.config, &ProviderEnv { variable: &variable, folder })
    }

    fn templates(&self) -> Vec<&'static Template> {
        match self.role {
            RoleV1::Auto => vec![&REVIEW, audit(self.style)],
            RoleV1::Reviewer => vec![&REVIEW],
            RoleV1::Auditor => vec![audit(self.style)],
        }
    }
}

/// A model that is ready for its trials. All of them use one engine, whatever thread they run on.
struct LlmRunner<'a> {
    tool: LlmTool,
    engine: Engine,
    context: &'a RunContext<'a>,
}

impl TrialRunner for LlmRunner<'_> {
    /// An error means that no other question would be answered either.
    fn run_trial(&self, task: &Task, case: Option<&Case>, _: Option<&Checkout>) -> RunResult {
        let Some(case) = case else { return Ok(Some(task.skipped(NO_CODE))) };
        let (question, notes) = self.question(task, case).map_err(|error| checkout_error(case, &error))?;
        let began = Instant::now();
        let answered = self.engine.ask_all(vec![question], &mut MemoryLedger::default(), &self.context.cancel);
        let Some(exchange) = answered.map_err(io::Error::other)?.0.into_iter().next() else { return Ok(None) };
        if matches!(exchange.answer, Answer::Missing { reason: FailureReason::Cancelled, .. }) {
            return Ok(None);
        }
        let mut record = task.record();
        let (trial, detail) = (&mut record.trial, &mut record.detail);
        detail.stages_ms.insert("asking".to_owned(), milliseconds(began.elapsed()));
        if exchange.attempts > 1 {
            detail.remarks.push(format!("{} requests were made", exchange.attempts));
        }
        // Waiting for a turn, and between requests that failed, is not the model's time.
        trial.latency_ms = (exchange.attempts > 0).then(|| milliseconds(exchange.request_time));
        // Some servers count no tokens, which is not the same as none used.
        if exchange.tokens_in > 0 || exchange.tokens_out > 0 {
            trial.tokens_in = Some(exchange.tokens_in);
            trial.tokens_out = Some(exchange.tokens_out);
            trial.cost_usd = exchange.usd;
        }
        if let Err((outcome, reason)) = read_answer(&exchange, trial) {
            trial.outcome = outcome;
            detail.reason = Some(reason);
        } else {
            trial.notes = notes;
            trial.notes.extend(Adaptation::from_parameters(&exchange.provider.parameters).describe());
        }
        let mut bytes = serde_json::to_vec(&exchange).unwrap_or_default();
        bytes.push(b'\n');
        record.artifacts.push(Artifact { name: "exchange".to_owned(), bytes });
        Ok(Some(record))
    }
}

impl LlmRunner<'_> {
    /// The question about a case, and what was left out of it. It contains neither the case's name nor its goldens.
    fn question(&self, task: &Task, case: &Case) -> io::Result<(Question, Vec<String>)> {
        let id = format!("{}#{}", task.key.case, task.key.number);
        let suite = self.context.loaded;
        let change = match self.tool.role {
            RoleV1::Auditor => None,
            RoleV1::Reviewer => Some(prompt_input::change(suite, case)?),
            // Without a `before` all code is equally new, so there is no change to review.
            RoleV1::Auto if case.change.is_none() => None,
            RoleV1::Auto => Some(prompt_input::change(suite, case)?).filter(|change| !change.text.is_empty()),
        };
        let Some(PromptInput { text, mut notes }) = change else {
            let code = prompt_input::code(suite, case)?;
            return Ok((review::audit_question(id, self.tool.style, code.text), code.notes));
        };
        let pr = case.pr.clone().unwrap_or_default();
        let description = prompt_input::description(&pr.description, &mut notes);
        Ok((review::review_question(id, &pr.title, &description, text), notes))
    }
}

/// Puts an answer into its trial, or returns why there is none.
fn read_answer(exchange: &Exchange, trial: &mut Trial) -> Result<(), (Outcome, String)> {
    let (reason, why) = match &exchange.answer {
        Answer::Given(value) => {
            let answer = AnswerV1::deserialize(value).map_err(|error| (Outcome::Unparsable, error.to_string()))?;
            trial.verdict = answer.verdict;
            trial.confidence = answer.confidence;
            trial.findings = answer.findings.into_iter().zip(1..).map(finding).collect();
            return Ok(());
        }
        Answer::Refused { why } => {
            return Err((Outcome::Crashed, format!("the model refused to answer: {}", shorten(why))));
        }
        Answer::Missing { reason, why } => (*reason, why),
    };
    Err(match reason {
        FailureReason::Unreadable => (Outcome::Unparsable, format!("{why}{}", last_reply(exchange))),
        FailureReason::Unanswered if exchange.timed_out => (Outcome::TimedOut, why.clone()),
        // Rate limits, servers and networks that are down, after all retries.
        FailureReason::Unanswered => (Outcome::Unavailable, why.clone()),
        FailureReason::Budget => (Outcome::Unavailable, format!("it was not asked: {why} (budget_usd, budget_calls)")),
        FailureReason::Rejected | FailureReason::Cancelled => (Outcome::Crashed, why.clone()),
    })
}

#[derive(Deserialize)]
struct AnswerV1 {
    verdict: Option<karat_core::suite::Verdict>,
    confidence: Option<f64>,
    findings: Vec<ReportedV1>,
}

#[derive(Deserialize)]
struct ReportedV1 {
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

fn finding((reported, number): (ReportedV1, usize)) -> Finding {
    // A model that knows no line writes 0 as often as null, and an end before the start means nothing.
    let positive = |value: Option<i64>| value.and_then(|value| u32::try_from(value).ok()).filter(|value| *value > 0);
    let text = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    let line_start = positive(reported.line_start);
    Finding {
        title: text(reported.title),
        message: text(reported.message),
        file: reported.file.as_deref().and_then(RepoPath::new),
        line_start,
        line_end: positive(reported.line_end).filter(|end| line_start.is_some_and(|start| start <= *end)),
        severity: reported.severity,
        category: reported.category.and_then(text),
        confidence: reported.confidence,
        cwe: positive(reported.cwe).into_iter().collect(),
        ..Finding::new(format!("f{number}"))
    }
}

fn last_reply(exchange: &Exchange) -> String {
    let Some(last) = exchange.replies.last() else { return String::new() };
    let text = last.structured.as_ref().map_or_else(|| last.text.clone(), Value::to_string);
    if text.trim().is_empty() { String::new() } else { format!("; it said: {}", shorten(&text)) }
}

fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_QUOTE) {
        None => line,
        Some((end, _)) => format!("{} …", &line[..end]),
    }
}
