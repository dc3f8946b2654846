//! The log of an assessment: one JSON line per event, written immediately.

mod summary;

pub use summary::summarize;

use super::AssessEvent;
use super::bundle::RequirementRef;
use jiff::Timestamp;
use karat_core::wording::count;
use karat_format::log::LogLineV1;
use karat_llm::engine::Retry;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FOLDER: &str = "logs";

/// What all lines of an execution that begins now have in common.
pub fn new_context(session_id: Option<String>, assessment_mode: &str) -> LogLineV1 {
    let (batch_run_id, assessment_mode) = (uuid::Uuid::now_v7().to_string(), Some(assessment_mode.to_owned()));
    LogLineV1 { batch_run_id, session_id, assessment_mode, ..LogLineV1::default() }
}

/// Writes a log. An error does not stop the assessment; it is kept and reported at the end.
pub struct LogWriter {
    pub context: LogLineV1,
    file: Option<File>,
    /// Why lines are missing.
    pub fault: Option<String>,
}

impl LogWriter {
    /// Starts the log of an execution in a store's folder; without a store, nothing is written.
    pub fn begin(store: Option<&Path>, context: LogLineV1) -> Self {
        let mut log = Self { context, file: None, fault: None };
        let Some(folder) = store.map(|store| store.join(FOLDER)) else { return log };
        let path = folder.join(format!("{}.jsonl", log.context.batch_run_id));
        let created = std::fs::create_dir_all(&folder);
        match created.and_then(|()| OpenOptions::new().create_new(true).append(true).open(&path)) {
            Ok(file) => log.file = Some(file),
            Err(error) => log.fault = Some(format!("{}: {error}", path.display())),
        }
        log
    }

    /// Writes a line in a single write, so that lines stay complete if the process is killed.
    pub fn write(&mut self, event: &str, line: LogLineV1) {
        let Some(file) = &mut self.file else { return };
        let line = LogLineV1 {
            time: Timestamp::now().to_string(),
            event: event.to_owned(),
            batch_run_id: self.context.batch_run_id.clone(),
            session_id: self.context.session_id.clone(),
            assessment_mode: self.context.assessment_mode.clone(),
            ..line
        };
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        if let Err(error) = file.write_all(text.as_bytes()) {
            self.fault = Some(error.to_string());
            self.file = None;
        }
    }

    pub fn record(&mut self, event: &AssessEvent<'_>) {
        let by = |model: &str| LogLineV1 { evaluation_model: Some(model.to_owned()), ..LogLineV1::default() };
        let (name, line) = match event {
            AssessEvent::Read { document, sections, reused, took } => {
                let (stage, cached) = (Some("ingest".to_owned()), *reused);
                let detail = Some(format!("{document}, {}", count(*sections, "section")));
                ("document_read", LogLineV1 { stage, cached, detail, ..with_latency(*took) })
            }
            AssessEvent::Searched { bundle_id, template_id, requirements, took } => {
                let (stage, detail) = (Some("search".to_owned()), Some(count(*requirements, "requirement")));
                let (bundle_id, template_id) = (Some((*bundle_id).to_owned()), Some((*template_id).to_owned()));
                ("bundle_searched", LogLineV1 { bundle_id, template_id, stage, detail, ..with_latency(*took) })
            }
            AssessEvent::SearchModelUsed { stage, provider, bundle_id, template_id, requirement_id, took, used } => {
                let asked = used.as_ref().ok();
                let failure = used.as_ref().err().map(ToString::to_string);
                let line = LogLineV1 {
                    bundle_id: Some((*bundle_id).to_owned()),
                    template_id: Some((*template_id).to_owned()),
                    requirement_id: requirement_id.map(str::to_owned),
                    stage: Some((*stage).to_owned()),
                    search_model: Some((*provider).to_owned()),
                    requests: asked.and_then(|used| u32::try_from(used.calls).ok()),
                    tokens_in: asked.and_then(|used| used.tokens),
                    error_kind: failure.as_ref().map(|_| "failed".to_owned()),
                    error: failure,
                    ..with_latency(*took)
                };
                ("search_model_used", line)
            }
            AssessEvent::Settled { model, about, step, exchange, failure } => {
                // A cached answer costs nothing.
                let cost = |n: u64| Some(if exchange.cached { 0 } else { n });
                let requests = if exchange.cached { 0 } else { exchange.attempts };
                let line = LogLineV1 {
                    stage: Some(step.name().to_owned()),
                    latency_ms: (requests > 0).then(|| milliseconds(exchange.request_time)),
                    cached: exchange.cached,
                    requests: Some(requests),
                    tokens_in: cost(exchange.tokens_in),
                    tokens_out: cost(exchange.tokens_out),
                    usd: exchange.usd.filter(|_| !exchange.cached),
                    error_kind: failure.map(|failure| failure.kind.clone()),
                    error: failure.map(|failure| failure.why.clone()),
                    ..by(model)
                };
                ("call_settled", with_requirement(about, line))
            }
            AssessEvent::Retrying { model, retry: Retry { why, wait, next, most } } => {
                let detail = Some(format!("{why}, try {next} of {most} in {} ms", milliseconds(*wait)));
                ("call_failed_once", LogLineV1 { detail, ..by(model) })
            }
            AssessEvent::Assessed { model, about, assessed } => {
                let detail = match assessed {
                    Ok(opinion) => opinion.verdict.as_str().to_owned(),
                    Err(none) => format!("no answer to {}", none.step.name()),
                };
                ("assessed", with_requirement(about, LogLineV1 { detail: Some(detail), ..by(model) }))
            }
            AssessEvent::ModelFailed { model, why } => {
                let (stage, error_kind) = (Some("relevance".to_owned()), Some("unreachable".to_owned()));
                let error = Some((*why).to_owned());
                ("model_failed", LogLineV1 { stage, error_kind, error, ..by(model) })
            }
            AssessEvent::Round { .. } => return,
        };
        self.write(name, line);
    }
}

fn with_latency(took: Duration) -> LogLineV1 {
    LogLineV1 { latency_ms: Some(milliseconds(took)), ..LogLineV1::default() }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn with_requirement(about: &RequirementRef<'_>, line: LogLineV1) -> LogLineV1 {
    let [bundle_id, template_id, requirement_id] =
        [about.bundle_id, about.template_id, about.requirement_id].map(|id| Some(id.to_owned()));
    LogLineV1 { bundle_id, template_id, requirement_id, ..line }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    pub batch_run_id: String,
    pub path: PathBuf,
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("there is no log `{wanted}` in {}; {hint}", .folder.display())]
    Unknown { wanted: String, folder: PathBuf, hint: String },
    #[error("`{wanted}` is the beginning of several ids: {}; give more of it", .ids.join(", "))]
    Ambiguous { wanted: String, ids: Vec<String> },
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// All logs of a store, oldest first.
pub fn logs(store: &Path) -> Result<Vec<LogFile>, LogError> {
    let folder = store.join(FOLDER);
    let wrong = |source| LogError::Io { path: folder.clone(), source };
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(wrong(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(wrong)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(id) = name.strip_suffix(".jsonl").filter(|_| path.is_file()) {
            found.push(LogFile { batch_run_id: id.to_owned(), path });
        }
    }
    // Ids start with a timestamp.
    found.sort_by(|a, b| a.batch_run_id.cmp(&b.batch_run_id));
    Ok(found)
}

/// Finds a log by id, unique prefix or `latest`.
pub fn find(store: &Path, wanted: &str) -> Result<LogFile, LogError> {
    let mut all = logs(store)?;
    if wanted == "latest"
        && let Some(last) = all.pop()
    {
        return Ok(last);
    }
    let fits = |log: &&LogFile| !wanted.is_empty() && log.batch_run_id.starts_with(wanted);
    let fitting: Vec<&LogFile> = all.iter().filter(fits).collect();
    match fitting.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let hint = match all.last() {
                Some(last) => format!("the latest is {}", last.batch_run_id),
                None => "`karat assess` writes one".to_owned(),
            };
            Err(LogError::Unknown { wanted: wanted.to_owned(), folder: store.join(FOLDER), hint })
        }
        several => {
            let ids = several.iter().map(|log| log.batch_run_id.clone()).collect();
            Err(LogError::Ambiguous { wanted: wanted.to_owned(), ids })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(id: &str) -> LogLineV1 {
        LogLineV1 { batch_run_id: id.into(), ..new_context(Some("s".into()), "full") }
    }

    #[test]
    fn every_line_has_run_session_and_mode() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogWriter::begin(Some(folder.path()), context("0a"));
        log.write("run_began", LogLineV1::default());
        let settled = LogLineV1 { evaluation_model: Some("m".into()), tokens_in: Some(3), ..LogLineV1::default() };
        log.write("call_settled", settled);
        assert_eq!(log.fault, None);
        let text = std::fs::read_to_string(find(folder.path(), "latest").unwrap().path).unwrap();
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!((&value["batch_run_id"], &value["session_id"]), (&"0a".into(), &"s".into()));
            assert_eq!(value["assessment_mode"], "full");
        }
        assert!(text.lines().nth(1).unwrap().contains(r#""evaluation_model":"m""#), "{text}");
    }

    #[test]
    fn logs_are_found_by_id_prefix() {
        let folder = tempfile::tempdir().unwrap();
        let described =
            |wanted: &str| find(folder.path(), wanted).map_or_else(|e| e.to_string(), |log| log.batch_run_id);
        assert!(described("latest").contains("`karat assess` writes one"));
        for id in ["0a1", "0a2", "0b"] {
            LogWriter::begin(Some(folder.path()), context(id));
        }
        assert_eq!((described("0b").as_str(), described("latest").as_str()), ("0b", "0b"));
        assert_eq!(described("0a"), "`0a` is the beginning of several ids: 0a1, 0a2; give more of it");
        assert!(described("1").contains("the latest is 0b") && described("").contains("there is no log"));
    }

    #[test]
    fn unwritable_log_is_not_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FOLDER), "a file is in the way").unwrap();
        let mut log = LogWriter::begin(Some(folder.path()), context("0a"));
        log.write("run_began", LogLineV1::default());
        assert!(log.fault.is_some());
    }
}
