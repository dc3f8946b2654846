//! A tool that is a language model: one question for each trial. Nothing is executed on this machine.

mod prompt_input;

use super::doctor::{Examined, Surroundings, Variable, remark_open_model};
use super::manifest::{Check, NO_MODEL};
use super::replay::Recordings;
use super::run_context::RunContext;
use super::{Declaration, Kind, LoadResult, NO_CODE, PrepareResult, RunResult, Task, Tool, ToolFailure, TrialRunner};
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
use karat_llm::engine::{Engine, EngineError, EngineEvent, EngineOptions, Prices, Retry, StartMode};
use karat_llm::ledger::{Answer, CacheMode, Exchange, FailureReason, MemoryLedger};
use karat_llm::models::ModelTable;
use karat_llm::prompt::{Question, Template};
use karat_llm::provider::{Provider, ProviderEnv, ProviderError};
use karat_llm::providers::{self, PROVIDERS, ProviderEntry, open_ready};
use karat_sandbox::Isolation;
use karat_store::record::Artifact;
use prompt_input::PromptInput;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
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
        "effort",
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
    /// Trials take them by turns; at least one.
    styles: Vec<StyleV1>,
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
        let mut styles = BTreeSet::new();
        if let Some(twice) = raw.style.iter().find(|style| !styles.insert(**style)) {
            self.fault(&["style"], "twice", format!("`{}` is given twice; remove one", twice.as_str()));
        }
        if !raw.style.is_empty() && raw.role == Some(RoleV1::Reviewer) {
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
        if let (Some(_), None, Some(model)) =
            (raw.budget_usd, raw.price_in, config.model.as_deref().or(self.raw.model.as_deref()))
        {
            let known = ModelTable::shipped();
            let price = known.find(&config.provider, model).and_then(Prices::of_model);
            if price.is_none() {
                let reason = format!("what tokens of {model} cost is not known; give `price_in` and `price_out`");
                self.fault(&["budget_usd"], "bad-value", reason);
            }
        }
        LlmTool { role: raw.role.unwrap_or_default(), styles: raw.styles(), config }
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
            style: if self.role == RoleV1::Reviewer { Vec::new() } else { self.styles.clone() },
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
        let defaults = EngineOptions::for_provider(&self.config, CacheMode::Off, &*provider);
        let defaults = defaults.map_err(io::Error::other)?;
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
        let review = (self.role != RoleV1::Auditor).then_some(&REVIEW);
        let audits = self.styles.iter().filter(|_| self.role != RoleV1::Reviewer).map(|style| audit(*style));
        review.into_iter().chain(audits).collect()
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
    fn run_trial(&self, task: &Task, case: Option<&Case>, _: Option<&Checkout>, on_retry: &dyn Fn(Retry)) -> RunResult {
        let Some(case) = case else { return Ok(Some(task.skipped(NO_CODE))) };
        let asked = self.question(task, case).map_err(|error| checkout_error(case, &error))?;
        let AskedQuestion { question, style, notes } = asked;
        let began = Instant::now();
        let mut answered = None;
        let mut observe = |event: EngineEvent<'_>| match event {
            EngineEvent::Retrying(retry) => on_retry(retry.clone()),
            EngineEvent::Settled { exchange, .. } => answered = Some(exchange),
        };
        let asked = self.engine.ask([question], &mut MemoryLedger::default(), &self.context.cancel, &mut observe);
        asked.map_err(|error| match error {
            EngineError::Provider { .. } => io::Error::other(ToolFailure(error.to_string())),
            other => io::Error::other(other),
        })?;
        let Some(exchange) = answered else { return Ok(None) };
        if matches!(exchange.answer, Answer::Missing { reason: FailureReason::Cancelled, .. }) {
            return Ok(None);
        }
        let mut record = task.record();
        let (trial, detail) = (&mut record.trial, &mut record.detail);
        trial.style = style.map(|style| style.as_str().to_owned());
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
    /// The question about a case. It contains neither the case's name nor its goldens.
    fn question(&self, task: &Task, case: &Case) -> io::Result<AskedQuestion> {
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
            let turn = task.key.number.saturating_sub(1) as usize % self.tool.styles.len();
            let style = self.tool.styles[turn];
            let question = review::audit_question(id, style, code.text);
            return Ok(AskedQuestion { question, style: Some(style), notes: code.notes });
        };
        let pr = case.pr.clone().unwrap_or_default();
        let description = prompt_input::description(&pr.description, &mut notes);
        let question = review::review_question(id, &pr.title, &description, text);
        Ok(AskedQuestion { question, style: None, notes })
    }
}

struct AskedQuestion {
    question: Question,
    /// `None` for a reviewer.
    style: Option<StyleV1>,
    /// What was left out of it.
    notes: Vec<String>,
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
        FailureReason::Budget => (Outcome::Unavailable, format!("it was not asked: {why}")),
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
    cwe: Option<Value>,
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
        cwe: reported.cwe.map(weakness_numbers).unwrap_or_default(),
        ..Finding::new(format!("f{number}"))
    }
}

/// The CWE numbers of an answer; a text such as `none` is none.
fn weakness_numbers(value: Value) -> Vec<u32> {
    let numbers = karat_core::one_or_many::cwe_list(value).unwrap_or_default();
    numbers.into_iter().filter(|number| *number > 0).collect()
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
