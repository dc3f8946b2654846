//! From a planned tool to one whose trials can be executed.

use super::command::{CommandTool, isolation_words};
use super::drive::Task;
use super::llm::LlmTool;
use super::ready_error::ReadyError;
use super::replay::{Recording, RecordingError, Recordings};
use super::run_context::RunContext;
use super::templates::Templates;
use super::{patterns, plan::RequestedTool};
use crate::suite::LoadedSuite;
use crate::tool::manifest::{Context, Kind, Llm, Manifest, ManifestFault};
use crate::tool::patterns::Patterns;
use karat_core::ids::{CaseId, ToolName};
use karat_core::suite::Case;
use karat_format::diagnostic::Faults;
use karat_format::run::{NOTHING_EXECUTED, PlannedToolV1, ToolFactsV1};
use karat_format::tool::ToolManifestV1;
use karat_import::ImportError;
use karat_import::rule_map::RuleMap;
use karat_io::regular_file;
use karat_sandbox::Isolation;
use karat_store::record::TrialRecord;
use std::collections::HashMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A tool with all that its trials need but a place to run.
pub enum Loaded {
    /// A program.
    Command(Box<(Manifest, Option<RuleMap>)>),
    /// Recorded trials.
    Replay(Recording),
    /// The built-in baseline, or rules of one's own.
    Patterns(Box<Patterns>),
    /// A language model.
    Llm(Box<Llm>),
}

/// Why a tool cannot be used as it is declared.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its manifest is wrong.
    #[error("the tool `{tool}`: {}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Manifest {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        faults: Vec<ManifestFault>,
    },
    /// Its recording cannot be read.
    #[error("the tool `{tool}`: {source}")]
    Recording {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        source: RecordingError,
    },
    /// Its table of rules cannot be read.
    #[error("the tool `{tool}`: {source}")]
    RuleMap {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        source: ImportError,
    },
    /// Its patterns are wrong.
    #[error("the tool `{tool}`: its rules cannot be used: {faults}")]
    Rules {
        /// The tool.
        tool: String,
        /// What is wrong with them.
        faults: Faults,
    },
    /// A file it names cannot be read.
    #[error("the tool `{tool}`: {file}: {why}")]
    File {
        /// The tool.
        tool: String,
        /// The file.
        file: String,
        /// What the system said.
        why: String,
    },
}

/// Reads everything a tool names. Relative files lie in the suite.
pub fn load(
    name: &str,
    raw: &ToolManifestV1,
    loaded: &LoadedSuite,
    context: &Context<'_>,
    recordings: &mut Recordings,
) -> Result<(Loaded, Option<String>), LoadError> {
    let manifest = Manifest::resolve(name, raw, Path::new(""), context)
        .map_err(|faults| LoadError::Manifest { tool: name.to_owned(), faults })?;
    let model = manifest.model.clone();
    let tool = match &manifest.kind {
        Kind::Replay { submission, recorded_as } => {
            let recording = recordings.recording(loaded, submission, recorded_as);
            Loaded::Replay(recording.map_err(|source| LoadError::Recording { tool: name.to_owned(), source })?)
        }
        Kind::Patterns { rules } => Loaded::Patterns(Box::new(rules_of(name, rules.as_deref(), loaded)?)),
        Kind::Llm(llm) => Loaded::Llm(llm.clone()),
        Kind::Command(_) => {
            let rules = manifest.rule_map.as_deref().map(|path| {
                let inside = || loaded.files.on_disk(&path.to_string_lossy());
                let Some(file) = path.is_absolute().then(|| path.to_owned()).or_else(inside) else {
                    let why = "there is no such file on disk in the suite".to_owned();
                    return Err(LoadError::File { tool: name.to_owned(), file: path.display().to_string(), why });
                };
                // What lies in a suite may be anything, and a pipe is waited for.
                regular_file::open(&file).map_err(|error| LoadError::File {
                    tool: name.to_owned(),
                    file: path.display().to_string(),
                    why: error.to_string(),
                })?;
                RuleMap::read(&file).map_err(|source| LoadError::RuleMap { tool: name.to_owned(), source })
            });
            Loaded::Command(Box::new((manifest.clone(), rules.transpose()?)))
        }
    };
    Ok((tool, model))
}

fn rules_of(tool: &str, path: Option<&Path>, loaded: &LoadedSuite) -> Result<Patterns, LoadError> {
    let Some(path) = path else { return Patterns::built_in().map_err(|faults| bad_rules(tool, faults)) };
    let file = path.display().to_string();
    let failed = |why: String| LoadError::File { tool: tool.to_owned(), file: file.clone(), why };
    let bytes = if path.is_absolute() { regular_file::read(path).map(Some) } else { loaded.files.read(&file) };
    let bytes = bytes.map_err(|error| failed(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| failed("there is no such file in the suite".to_owned()))?;
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".to_owned()))?;
    Patterns::load(&text, &file).map_err(|faults| bad_rules(tool, faults))
}

fn bad_rules(tool: &str, faults: Faults) -> LoadError {
    LoadError::Rules { tool: tool.to_owned(), faults }
}

impl Loaded {
    /// The tool as a plan wants it.
    pub fn wanted(
        &self,
        name: &str,
        raw: &ToolManifestV1,
        model: Option<String>,
        isolation: Isolation,
    ) -> RequestedTool {
        RequestedTool {
            name: name.to_owned(),
            manifest: raw.clone(),
            model,
            isolation: match self {
                Self::Command(tool) => match &tool.0.kind {
                    Kind::Command(program) => isolation_words(isolation, program),
                    _ => NOTHING_EXECUTED.to_owned(),
                },
                Self::Replay(_) | Self::Patterns(_) | Self::Llm(_) => NOTHING_EXECUTED.to_owned(),
            },
            most_trials: match self {
                Self::Replay(recording) => Some(recording.most_trials()),
                Self::Command(_) | Self::Patterns(_) | Self::Llm(_) => None,
            },
        }
    }

    /// Gets it ready for its first trial: finds its program, sets it up, asks for its version.
    pub fn ready(
        self,
        planned: &PlannedToolV1,
        isolation: Isolation,
        site: &RunContext<'_>,
    ) -> Result<(Ready, ToolFactsV1), ReadyError> {
        let nothing = || ToolFactsV1 { isolation: NOTHING_EXECUTED.to_owned(), ..ToolFactsV1::default() };
        match self {
            Self::Replay(recording) => Ok((Ready::Replay(recording), nothing())),
            Self::Patterns(patterns) => {
                let version = Some(format!("karat {}", env!("CARGO_PKG_VERSION")));
                Ok((Ready::Patterns(patterns), ToolFactsV1 { version, ..nothing() }))
            }
            Self::Llm(llm) => {
                let tool = LlmTool::ready(*llm, site)?;
                let version = Some(tool.version());
                Ok((Ready::Llm(Box::new(tool)), ToolFactsV1 { version, ..nothing() }))
            }
            Self::Command(tool) => {
                let (manifest, rules) = *tool;
                let Kind::Command(program) = manifest.kind.clone() else {
                    return Err(ReadyError::NoProgram { program: planned.name.clone(), install: None });
                };
                let install = planned.manifest.install.clone();
                let (tool, facts) = CommandTool::ready(manifest, *program, install, rules, isolation, site)?;
                Ok((Ready::Command(Box::new(tool)), facts))
            }
        }
    }
}

/// A tool that can be executed.
pub enum Ready {
    /// A program.
    Command(Box<CommandTool>),
    /// Recorded trials.
    Replay(Recording),
    /// Rules.
    Patterns(Box<Patterns>),
    /// A language model.
    Llm(Box<LlmTool>),
}

/// All tools of a run, and the place where they run.
pub struct Executor<'a> {
    tools: HashMap<ToolName, Ready>,
    cases: HashMap<&'a CaseId, &'a Case>,
    templates: Templates<'a>,
    site: &'a RunContext<'a>,
}

impl<'a> Executor<'a> {
    /// An executor for these tasks.
    pub fn new(tools: HashMap<ToolName, Ready>, tasks: &[Task], site: &'a RunContext<'a>) -> Self {
        let mut wanted: HashMap<&CaseId, usize> = HashMap::new();
        for task in tasks.iter().filter(|task| matches!(tools.get(&task.key.tool), Some(Ready::Command(_)))) {
            *wanted.entry(&task.key.case).or_default() += 1;
        }
        let templates = Templates::new(site.loaded, &wanted);
        let cases = site.loaded.suite.cases.iter().map(|case| (&case.id, case)).collect();
        Self { tools, cases, templates, site }
    }

    /// Executes one trial. `None` when it was cancelled; an error is Karat's or the system's, never the tool's.
    pub fn execute(&self, task: &Task) -> Result<Option<TrialRecord>, ReadyError> {
        let started_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64);
        let case = &task.key.case;
        let record = match self.tools.get(&task.key.tool) {
            None => None,
            Some(Ready::Replay(recording)) => Some(recording.execute(task)),
            Some(Ready::Patterns(rules)) => {
                Some(patterns::execute(rules, self.site.loaded, self.cases.get(case).copied(), task))
            }
            Some(Ready::Llm(tool)) => tool.execute(task, self.cases.get(case).copied(), self.site)?,
            Some(Ready::Command(tool)) => {
                let template = self.templates.take(case);
                let template = template.map_err(|source| ReadyError::Checkout { case: case.to_string(), source })?;
                tool.execute(task, template, self.site)?
            }
        };
        Ok(record.map(|mut record| {
            record.detail.started_ms = started_ms;
            record
        }))
    }
}
