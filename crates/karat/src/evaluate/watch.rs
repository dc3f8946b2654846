//! Watches a suite and its tools. Each round is a run: it executes the trials whose case or tool has changed, and takes over
//! the others from the round before as they are.

use super::prepare::TakenOver;
use super::watched_files::{WatchedFiles, path_variable};
use super::{EvaluateError, EvaluateObserver, EvaluateRequest, Evaluated, Prepared, execute, prepare};
use crate::failure::{Category, Failure, Result};
use crate::score_changes::{ComparedScores, ScoreChanges};
use karat_core::trial::Outcome;
use karat_format::config::ConfigV1;
use karat_format::run::{PlanV1, PlannedToolV1};
use karat_format::tool::ToolManifestV1;
use karat_store::{RunId, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Observes the rounds of a watch, beside what happens in each.
pub trait WatchObserver: EvaluateObserver {
    /// A round begins.
    fn begin(&mut self, start: &RoundStart);

    /// A round was executed and scored.
    fn done(&mut self, round: Round) -> Result<()>;

    /// Nothing could be evaluated. The next change may mend it.
    fn failed(&mut self, error: EvaluateError);

    /// After a failure, everything is again as it was in the last round.
    fn restored(&mut self) {}

    /// Waits for a change to these files and folders.
    fn waiting(&mut self, _watched: &[PathBuf]) {}
}

/// Why there is a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct RoundStart {
    /// Counted from 1.
    pub number: usize,
    /// Cases that are new, or of which a tool sees something else; none in the first round.
    pub changed_cases: Vec<String>,
    /// Tools that are new, or of which the manifest or a file has changed; none in the first round.
    pub changed_tools: Vec<String>,
    pub removed_cases: Vec<String>,
    pub removed_tools: Vec<String>,
    /// Trials of the round, and how many of them are taken over.
    pub trials: usize,
    pub taken_over: usize,
}

/// A round that was executed and scored.
#[expect(missing_docs, reason = "field names say it")]
pub struct Round {
    pub number: usize,
    pub evaluated: Evaluated,
    /// Since the last round that was scored; `None` in the first.
    pub changes: Option<ScoreChanges>,
}

/// Evaluates, and evaluates again whenever a file of the suite or of a tool has changed, until it is cancelled. Files that are
/// `ignored` may change at any time. Each round is a run in the store.
pub fn watch(
    mut request: EvaluateRequest,
    ignored: &[PathBuf],
    observer: &mut dyn WatchObserver,
) -> Result<(), EvaluateError> {
    let cancel = observer.cancel()?;
    let mut files = WatchedFiles::new(&request, ignored);
    let mut state = State::default();
    let mut has_failed = false;
    loop {
        // Taken before anything is read, so that what changes meanwhile is seen.
        let mut stamps = files.scan();
        let mut is_shown = true;
        match prepare(&request, observer) {
            Err(failure) if state.is_hopeless(&failure, &files) => return Err(failure.into()),
            Err(failure) => {
                has_failed = true;
                observer.failed(failure.into());
            }
            Ok(prepared) => {
                // By default it is computed from the suite, and every trial would depend on every case.
                request.seed = Some(prepared.plan.seed);
                let with_tools = add_tools(&request, &prepared, ignored);
                if with_tools.is_empty() {
                    let message = "--watch has no file to watch: the suite and its tools are built in";
                    return Err(Failure::usage(format!("{message}; name a folder or a manifest")).into());
                }
                if with_tools != files {
                    files = with_tools;
                    note_large_folders(&files, observer);
                    stamps = files.scan_since(&stamps);
                }
                let inputs = Inputs::new(&request, &prepared, &files);
                if state.last.as_ref().is_some_and(|last| last.is_scored && last.inputs == inputs) {
                    is_shown = std::mem::take(&mut has_failed);
                    if is_shown {
                        observer.restored();
                    }
                } else {
                    has_failed = !state.run_round(&request, prepared, inputs, observer)?;
                }
            }
        }
        if cancel.is_cancelled() {
            return Ok(());
        }
        if is_shown {
            observer.waiting(&files.roots());
        }
        if !files.wait_for_change(&stamps, &cancel) {
            return Ok(());
        }
    }
}

/// What is watched, now that the tools are known.
fn add_tools(request: &EvaluateRequest, prepared: &Prepared, ignored: &[PathBuf]) -> WatchedFiles {
    let mut files = WatchedFiles::new(request, ignored);
    for tool in &prepared.plan.tools {
        files.add_tool(&tool.manifest, tool.manifest_dir.as_deref(), path_variable(request));
    }
    files
}

fn note_large_folders(files: &WatchedFiles, observer: &mut dyn WatchObserver) {
    for folder in files.large_folders() {
        let folder = folder.display();
        observer.note(&format!(
            "{folder} has too many files to watch; only those directly in it are, and what manifests name"
        ));
    }
}

#[derive(Default)]
struct State {
    rounds: usize,
    /// The last run that began.
    last: Option<LastRun>,
    /// The scores of the last round that was scored, and its number.
    scores: Option<(usize, ComparedScores)>,
}

struct LastRun {
    run: RunId,
    inputs: Inputs,
    is_scored: bool,
}

impl State {
    /// Whether a failure before the first round is in what was asked for, which no change to a file mends.
    fn is_hopeless(&self, failure: &Failure, files: &WatchedFiles) -> bool {
        let is_usage = matches!(failure, Failure::Message(Category::Usage, _) | Failure::BrokenPipe);
        let has_no_suite = files.suite.as_ref().is_some_and(|suite| !suite.is_dir());
        self.last.is_none() && (is_usage || has_no_suite || files.is_empty())
    }

    /// Executes a round; whether it could be scored. An error ends the watch.
    fn run_round(
        &mut self,
        request: &EvaluateRequest,
        mut prepared: Prepared,
        inputs: Inputs,
        observer: &mut dyn WatchObserver,
    ) -> Result<bool, EvaluateError> {
        self.rounds += 1;
        let number = self.rounds;
        let mut start = RoundStart { number, trials: planned(&prepared.plan), ..RoundStart::default() };
        if let Some(last) = &self.last {
            let taken_over = last.take_over(request, &inputs)?;
            start.taken_over = taken_over.trials.len();
            last.describe_changes(&inputs, &mut start);
            prepared.taken_over = Some(taken_over);
        }
        observer.begin(&start);
        let cancel = observer.cancel()?;
        match execute(request, prepared, observer) {
            Ok(evaluated) => {
                self.last = Some(LastRun { run: evaluated.run.info.id.clone(), inputs, is_scored: true });
                let scores = ComparedScores::new(&evaluated.scoring.report);
                let changes =
                    self.scores.as_ref().map(|(since, before)| scores.compare(format!("round {since}"), before));
                self.scores = Some((number, scores));
                observer.done(Round { number, evaluated, changes })?;
                Ok(true)
            }
            Err(error) => {
                // What was executed need not be executed again.
                if let EvaluateError::Stopped { info, .. } | EvaluateError::NotJudged { info, .. } = &error {
                    self.last = Some(LastRun { run: info.id.clone(), inputs, is_scored: false });
                }
                if cancel.is_cancelled() {
                    return Err(error);
                }
                observer.failed(error);
                Ok(false)
            }
        }
    }
}

fn planned(plan: &PlanV1) -> usize {
    plan.tools.iter().map(|tool| tool.trials as usize * plan.cases.len()).sum()
}

/// Everything a run depends on.
#[derive(PartialEq)]
struct Inputs {
    plan: PlanV1,
    config: ConfigV1,
    /// What tools see of each planned case.
    cases: BTreeMap<String, blake3::Hash>,
    /// Each tool with its files.
    tools: BTreeMap<String, blake3::Hash>,
}

impl Inputs {
    fn new(request: &EvaluateRequest, prepared: &Prepared, files: &WatchedFiles) -> Self {
        let planned: BTreeSet<&str> = prepared.plan.cases.iter().map(String::as_str).collect();
        let loaded = &prepared.loaded;
        let cases = loaded.suite.cases.iter().filter(|case| planned.contains(case.id.as_str()));
        let path = path_variable(request);
        let hash_tool = |tool: &PlannedToolV1| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&serde_json::to_vec(&identity(tool)).unwrap_or_default());
            hasher.update(files.hash_tool(&tool.manifest, tool.manifest_dir.as_deref(), path).as_bytes());
            hasher.finalize()
        };
        Self {
            cases: cases.map(|case| (case.id.to_string(), loaded.tool_input_hash(case))).collect(),
            tools: prepared.plan.tools.iter().map(|tool| (tool.name.clone(), hash_tool(tool))).collect(),
            plan: prepared.plan.clone(),
            config: loaded.config.clone(),
        }
    }
}

/// A tool without what does not change its trials.
fn identity(tool: &PlannedToolV1) -> PlannedToolV1 {
    let manifest =
        ToolManifestV1 { description: None, homepage: None, install: None, trials: None, ..tool.manifest.clone() };
    PlannedToolV1 { trials: 0, manifest, ..tool.clone() }
}

impl LastRun {
    /// The trials whose tool and case are the same. Those that met an outage are tried again.
    fn take_over(&self, request: &EvaluateRequest, inputs: &Inputs) -> Result<TakenOver> {
        let mut trials = Store::open(&request.store)?.finished_trials(&self.run)?;
        let numbers: BTreeMap<&str, u32> =
            inputs.plan.tools.iter().map(|tool| (tool.name.as_str(), tool.trials)).collect();
        trials.retain(|key, (_, outcome)| {
            let (tool, case) = (key.tool.as_str(), key.case.as_str());
            *outcome != Outcome::Unavailable
                && numbers.get(tool).is_some_and(|most| key.number <= *most)
                && inputs.tools.get(tool).is_some_and(|hash| self.inputs.tools.get(tool) == Some(hash))
                && inputs.cases.get(case).is_some_and(|hash| self.inputs.cases.get(case) == Some(hash))
        });
        Ok(TakenOver { run: self.run.clone(), trials })
    }

    fn describe_changes(&self, now: &Inputs, start: &mut RoundStart) {
        let changed = |before: &BTreeMap<String, blake3::Hash>, after: &BTreeMap<String, blake3::Hash>| {
            let differs = |(name, hash): &(&String, &blake3::Hash)| before.get(*name) != Some(*hash);
            after.iter().filter(differs).map(|(name, _)| name.clone()).collect()
        };
        let removed = |before: &BTreeMap<String, blake3::Hash>, after: &BTreeMap<String, blake3::Hash>| {
            before.keys().filter(|name| !after.contains_key(*name)).cloned().collect()
        };
        start.changed_cases = changed(&self.inputs.cases, &now.cases);
        start.changed_tools = changed(&self.inputs.tools, &now.tools);
        start.removed_cases = removed(&self.inputs.cases, &now.cases);
        start.removed_tools = removed(&self.inputs.tools, &now.tools);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_a_tool_do_not_change_it() {
        let tool = |manifest: ToolManifestV1, trials: u32| PlannedToolV1 {
            name: "a".to_owned(),
            kind: manifest.kind,
            trials,
            model: None,
            llm: None,
            isolation: String::new(),
            manifest,
            manifest_dir: None,
        };
        let plain = tool(ToolManifestV1::default(), 3);
        let described = ToolManifestV1 { description: Some("d".to_owned()), trials: Some(5), ..Default::default() };
        assert_eq!(identity(&tool(described, 5)), identity(&plain));
        let other = ToolManifestV1 { command: vec!["x".to_owned()], ..Default::default() };
        assert_ne!(identity(&tool(other, 3)), identity(&plain));
    }
}
