//! The log of an assessment: a line of JSON for everything that happens, written as it happens.

mod summary;

pub use summary::summarize;

use super::event::{About, AssessEvent, Named};
use crate::format::log::LogLineV1;
use jiff::Timestamp;
use karat_core::wording::count;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of logs, within a store's.
const FOLDER: &str = "logs";

/// What every line of an execution belongs to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bound {
    /// The execution.
    pub batch_run_id: String,
    /// The session whose documents are used.
    pub session_id: Option<String>,
    /// The stages that are measured.
    pub assessment_mode: String,
}

impl Bound {
    /// Of an execution that begins now.
    pub fn new(session_id: Option<String>, assessment_mode: &str) -> Self {
        let batch_run_id = uuid::Uuid::now_v7().to_string();
        Self { batch_run_id, session_id, assessment_mode: assessment_mode.to_owned() }
    }
}

/// A log that is being written. A log that cannot be written stops nothing: the fault is kept, and told at the end.
pub struct Journal {
    bound: Bound,
    file: Option<File>,
    fault: Option<String>,
}

impl Journal {
    /// Begins the log of an execution in a store's folder.
    pub fn begin(store: &Path, bound: Bound) -> Self {
        let folder = store.join(FOLDER);
        let path = folder.join(format!("{}.jsonl", bound.batch_run_id));
        let file = std::fs::create_dir_all(&folder)
            .and_then(|()| OpenOptions::new().create_new(true).append(true).open(&path));
        match file {
            Ok(file) => Self { bound, file: Some(file), fault: None },
            Err(error) => Self { bound, file: None, fault: Some(format!("{}: {error}", path.display())) },
        }
    }

    /// A log that nobody reads.
    pub fn unwritten(bound: Bound) -> Self {
        Self { bound, file: None, fault: None }
    }

    /// What every line belongs to.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// Why lines are missing.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Writes a line. One write for each line keeps lines whole when the process is killed.
    pub fn write(&mut self, event: &str, line: LogLineV1) {
        let Some(file) = &mut self.file else { return };
        let line = LogLineV1 {
            time: Timestamp::now().to_string(),
            event: event.to_owned(),
            batch_run_id: self.bound.batch_run_id.clone(),
            session_id: self.bound.session_id.clone(),
            assessment_mode: Some(self.bound.assessment_mode.clone()),
            ..line
        };
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        if let Err(error) = file.write_all(text.as_bytes()) {
            self.fault = Some(error.to_string());
            self.file = None;
        }
    }
}

impl Journal {
    /// Writes down what happened.
    pub fn hear(&mut self, event: &AssessEvent<'_>) {
        match event {
            AssessEvent::Read { document, sections, reused, took } => {
                let detail = Some(format!("{document}, {}", count(*sections, "section")));
                let line = LogLineV1 { stage: Some("ingest".into()), cached: *reused, detail, ..timed(*took) };
                self.write("document_read", line);
            }
            AssessEvent::Searched { bundle, requirements, took } => {
                let detail = Some(count(*requirements, "requirement"));
                let line = LogLineV1 { stage: Some("search".into()), detail, ..timed(*took) };
                self.write("bundle_searched", of_bundle(bundle, line));
            }
            AssessEvent::Settled { model, about, call } => {
                let line = LogLineV1 {
                    evaluation_model: Some((*model).to_owned()),
                    stage: Some(call.step.name().to_owned()),
                    latency_ms: call.latency.map(milliseconds),
                    cached: call.cached,
                    requests: Some(call.requests),
                    tokens_in: Some(call.tokens_in),
                    tokens_out: Some(call.tokens_out),
                    usd: call.usd,
                    error_kind: call.failure.as_ref().map(|(kind, _)| (*kind).to_owned()),
                    error: call.failure.as_ref().map(|(_, why)| why.clone()),
                    ..LogLineV1::default()
                };
                self.write("call_settled", of_requirement(about, line));
            }
            AssessEvent::Retrying { model, wait, why } => {
                let detail = Some(format!("once more in {} ms: {why}", milliseconds(*wait)));
                let line = LogLineV1 { evaluation_model: Some((*model).to_owned()), detail, ..LogLineV1::default() };
                self.write("call_failed_once", line);
            }
            AssessEvent::Assessed { model, about, assessed } => {
                let detail = match assessed {
                    Ok(opinion) => opinion.verdict.name().to_owned(),
                    Err(none) => format!("no answer to {}", none.step.name()),
                };
                let evaluation_model = Some((*model).to_owned());
                let line = LogLineV1 { evaluation_model, detail: Some(detail), ..LogLineV1::default() };
                self.write("assessed", of_requirement(about, line));
            }
            AssessEvent::ModelFailed { model, why } => {
                let line = LogLineV1 {
                    evaluation_model: Some((*model).to_owned()),
                    stage: Some("relevance".into()),
                    error_kind: Some("unreachable".into()),
                    error: Some((*why).to_owned()),
                    ..LogLineV1::default()
                };
                self.write("model_failed", line);
            }
            AssessEvent::Round { .. } => {}
        }
    }
}

fn timed(took: Duration) -> LogLineV1 {
    LogLineV1 { latency_ms: Some(milliseconds(took)), ..LogLineV1::default() }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn of_bundle(bundle: &Named<'_>, line: LogLineV1) -> LogLineV1 {
    let (bundle_id, template_id) = (Some(bundle.bundle_id.to_owned()), Some(bundle.template_id.to_owned()));
    LogLineV1 { bundle_id, template_id, ..line }
}

fn of_requirement(about: &About<'_>, line: LogLineV1) -> LogLineV1 {
    of_bundle(&about.bundle, LogLineV1 { requirement_id: Some(about.requirement_id.to_owned()), ..line })
}

/// A log that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The execution.
    pub batch_run_id: String,
    /// The file.
    pub path: PathBuf,
}

/// Why there is no such log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// None goes by that name.
    #[error("there is no log `{wanted}` in {}; {hint}", .folder.display())]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// Where.
        folder: PathBuf,
        /// What to do.
        hint: String,
    },
    /// Several ids begin so.
    #[error("`{wanted}` is the beginning of several ids: {}; give more of it", .ids.join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The ids.
        ids: Vec<String>,
    },
    /// The folder or a file cannot be read.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// All logs of a store, the oldest first.
pub fn logs(store: &Path) -> Result<Vec<Written>, LogError> {
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
            found.push(Written { batch_run_id: id.to_owned(), path });
        }
    }
    // Ids begin with the moment.
    found.sort_by(|a, b| a.batch_run_id.cmp(&b.batch_run_id));
    Ok(found)
}

/// The log of that id, of an id that begins so, or the `latest`.
pub fn find(store: &Path, wanted: &str) -> Result<Written, LogError> {
    let mut all = logs(store)?;
    if wanted == "latest"
        && let Some(last) = all.pop()
    {
        return Ok(last);
    }
    let fits = |log: &&Written| !wanted.is_empty() && log.batch_run_id.starts_with(wanted);
    let fitting: Vec<&Written> = all.iter().filter(fits).collect();
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

    fn bound(id: &str) -> Bound {
        Bound { batch_run_id: id.into(), session_id: Some("s".into()), assessment_mode: "full".into() }
    }

    #[test]
    fn every_line_says_what_it_belongs_to() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::begin(folder.path(), bound("0a"));
        journal.write("run_began", LogLineV1::default());
        let settled = LogLineV1 { evaluation_model: Some("m".into()), tokens_in: Some(3), ..LogLineV1::default() };
        journal.write("call_settled", settled);
        assert_eq!(journal.fault(), None);
        let text = std::fs::read_to_string(find(folder.path(), "latest").unwrap().path).unwrap();
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!((&value["batch_run_id"], &value["session_id"]), (&"0a".into(), &"s".into()));
            assert_eq!(value["assessment_mode"], "full");
        }
        assert!(text.lines().nth(1).unwrap().contains(r#""evaluation_model":"m""#), "{text}");
    }

    #[test]
    fn logs_are_found_by_the_beginning_of_their_id() {
        let folder = tempfile::tempdir().unwrap();
        let told = |wanted: &str| find(folder.path(), wanted).map_or_else(|e| e.to_string(), |log| log.batch_run_id);
        assert!(told("latest").contains("`karat assess` writes one"));
        for id in ["0a1", "0a2", "0b"] {
            Journal::begin(folder.path(), bound(id));
        }
        assert_eq!((told("0b").as_str(), told("latest").as_str()), ("0b", "0b"));
        assert_eq!(told("0a"), "`0a` is the beginning of several ids: 0a1, 0a2; give more of it");
        assert!(told("1").contains("the latest is 0b") && told("").contains("there is no log"));
    }

    #[test]
    fn a_log_that_cannot_be_written_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FOLDER), "a file is in the way").unwrap();
        let mut journal = Journal::begin(folder.path(), bound("0a"));
        journal.write("run_began", LogLineV1::default());
        assert!(journal.fault().is_some());
    }
}
