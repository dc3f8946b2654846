//! Scores submissions to a suite, or a stored run by other rules.

mod indexed;

use crate::case_observer::CaseObserver;
use crate::failure::{Failure, Result};
use crate::judge::run::{JudgeEnv, JudgeObserver, JudgeRequest, run_judge};
use crate::profile::{ProfileRequest, resolve_for_suite};
use crate::report_source::names_run;
use crate::run_facts::RunFacts;
use crate::run_loader;
use crate::score_changes::ScoreChanges;
use crate::submissions::{
    SubmissionRequest, read_judgement_files, read_submissions, refuse_duplicates, refuse_repeated_stdin,
};
use crate::suggestion;
use crate::suite::{LoadedSuite, load_suite};
use crate::work::{Scoring, Work};
use indexed::IndexedInput;
use karat_core::clusters::ClusterBy;
use karat_core::ids::ToolName;
use karat_core::judgement::Judgement;
use karat_core::scorecard::Intervals;
use karat_core::suite::Suite;
use karat_format::judgement::JudgementV1;
use karat_format::report::{DetailV1, ReportV1};
use karat_store::{LATEST, RunId, RunState, Store, StoreError, StoreLocation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is scored.
#[derive(Clone, Debug)]
pub enum ScoreSource {
    /// A suite by folder or name, with submissions.
    Suite(String),
    /// A stored run by id, prefix, name or `latest`; submissions are added to it. Its goldens are those of a suite as it is now,
    /// by folder or name, or else those it was run with.
    #[expect(missing_docs, reason = "field names say it")]
    Run { name: String, suite: Option<String> },
}

impl ScoreSource {
    /// Decides whether a name is that of a stored run.
    pub fn resolve(name: &str, store: &StoreLocation) -> Self {
        if names_run(name, store) { Self::run(name) } else { Self::Suite(name.to_owned()) }
    }

    /// A stored run with the goldens it was run with.
    pub fn run(name: impl Into<String>) -> Self {
        Self::Run { name: name.into(), suite: None }
    }

    /// The latest run of the suite in a folder; the suite itself if the store has none. A folder without a suite stands for
    /// the latest run of any suite.
    pub fn latest_of(folder: &Path, store: &StoreLocation) -> Self {
        let suite = || Self::Suite(folder.display().to_string());
        if !Store::is_at(store) {
            return suite();
        }
        let has_suite = ["karat.toml", "cases.jsonl", "cases"].iter().any(|file| folder.join(file).exists());
        if !has_suite {
            return Self::run(LATEST);
        }
        let place = folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).display().to_string();
        let find = || -> Result<Option<RunId>, StoreError> {
            let mut store = Store::open(store)?;
            for run in store.overview()? {
                if store.plan(&run.id)?.suite.place == place {
                    return Ok(Some(run.id));
                }
            }
            Ok(None)
        };
        // A damaged store must not keep the suite from being explained.
        find().ok().flatten().map_or_else(suite, |run| Self::run(run.to_string()))
    }
}

/// What is scored, by which rules, and which judge is asked.
#[expect(missing_docs, reason = "field names say it")]
pub struct ScoreRequest {
    pub source: ScoreSource,
    pub submissions: SubmissionRequest,
    pub judgements: Vec<PathBuf>,
    /// Files of human labels. They decide no match: they measure the judge's errors.
    pub labels: Vec<PathBuf>,
    /// Tools to score; default: all. A single one also names the tool of imported files.
    pub tools: Vec<String>,
    pub judge: JudgeRequest,
    /// The profile; default: that of the suite or the run.
    pub profile: ProfileRequest,
    pub intervals: Intervals,
    /// Seed of random numbers; default: derived from the data.
    pub seed: Option<u64>,
    pub store: StoreLocation,
    /// What follows `karat label next` to select the same trials, profile and judge; `None` where it cannot.
    pub label_source: Option<String>,
    /// What the report holds of single trials. With less than everything, trials are read case by case, and neither they nor
    /// judgements are kept.
    pub detail: DetailV1,
    /// Whether the judgements that were made are kept, to be saved.
    pub keep_voices: bool,
    /// The day until which the model was trained, as `YYYY-MM-DD`; default: that of the run.
    pub model_cutoff: Option<String>,
}

impl ScoreRequest {
    /// Everything of a source, by its own profile.
    pub fn new(source: ScoreSource, store: impl Into<StoreLocation>) -> Self {
        Self {
            source,
            submissions: SubmissionRequest::default(),
            judgements: Vec::new(),
            labels: Vec::new(),
            tools: Vec::new(),
            judge: JudgeRequest::default(),
            profile: ProfileRequest::default(),
            intervals: Intervals::default(),
            seed: None,
            store: store.into(),
            label_source: None,
            detail: DetailV1::All,
            keep_voices: true,
            model_cutoff: None,
        }
    }

    fn wants(&self, tool: &ToolName) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|own| own == tool.as_str())
    }
}

/// Scored trials and their suite.
#[expect(missing_docs, reason = "field names say it")]
pub struct Scored {
    pub loaded: LoadedSuite,
    pub scoring: Scoring,
    /// What the store knows of the run, if one was scored.
    pub run: Option<RunFacts>,
    /// What is different from the stored report of a run that was scored with the present goldens of a suite.
    pub changes: Option<ScoreChanges>,
}

/// Reads trials, asks the judge about pairs without a judgement, and scores.
pub fn score(request: &ScoreRequest, observer: &mut dyn JudgeObserver) -> Result<Scored> {
    // Labels are compared with the pairs of all trials.
    let mut scored = match request.detail.is_all() || !request.labels.is_empty() {
        true => score_in_memory(request, observer)?,
        false => IndexedInput::load(request)?.score(request, observer, None)?,
    };
    scored.changes = changes_since_run(request, &scored.scoring.report)?;
    Ok(scored)
}

/// The same case by case, whatever the detail of the report; `cases` gets every scored case.
pub fn score_observed(
    request: &ScoreRequest,
    observer: &mut dyn JudgeObserver,
    cases: &mut dyn CaseObserver,
) -> Result<Scored> {
    if !request.labels.is_empty() {
        return Err(Failure::usage(
            "--labels with tables needs --detail all: labels are compared with the pairs of all trials",
        ));
    }
    let mut scored = IndexedInput::load(request)?.score(request, observer, Some(cases))?;
    scored.changes = changes_since_run(request, &scored.scoring.report)?;
    Ok(scored)
}

/// What the present goldens of a suite change in the report of a run.
fn changes_since_run(request: &ScoreRequest, report: &ReportV1) -> Result<Option<ScoreChanges>> {
    let ScoreSource::Run { name, suite: Some(_) } = &request.source else { return Ok(None) };
    let mut store = Store::open(&request.store)?;
    let info = store.find_findings(name)?;
    let Some(before) = run_loader::stored_report(&mut store, &info)? else { return Ok(None) };
    Ok(Some(ScoreChanges::between(&before, report, format!("run {}", info.short_id))))
}

fn score_in_memory(request: &ScoreRequest, observer: &mut dyn JudgeObserver) -> Result<Scored> {
    let mut input = ScoreInput::load(request)?;
    input.loaded.set_model_cutoff(request.model_cutoff.as_deref());
    let tools: BTreeSet<ToolName> = input.work.trials.iter().map(|trial| trial.tool.clone()).collect();
    input.work.trials.retain(|trial| request.wants(&trial.tool));
    if input.work.trials.is_empty() && !request.tools.is_empty() {
        return Err(no_trials_of(request, tools.iter()));
    }
    if matches!(request.source, ScoreSource::Suite(_)) {
        let mut numbers: BTreeMap<&ToolName, BTreeSet<u32>> = BTreeMap::new();
        for trial in &input.work.trials {
            numbers.entry(&trial.tool).or_default().insert(trial.number);
        }
        let notes = too_few_trials(&numbers, input.loaded.config.scoring.trials);
        input.work.notes.extend(notes);
    }
    input.work.detail = request.detail;
    input.work.judgements.extend(read_judgement_files(&request.judgements, &input.loaded.suite)?);
    input.judge(&request.store, observer)?;
    input.work.labels = read_judgement_files(&request.labels, &input.loaded.suite)?;
    check_cluster_field(&request.intervals.cluster, &input.loaded.suite)?;
    input.work.intervals = request.intervals.clone();
    input.work.label_source = request.label_source.clone();
    let scoring = input.work.score(&input.loaded);
    Ok(Scored { loaded: input.loaded, scoring, run: input.run, changes: None })
}

pub(crate) struct ScoreInput {
    pub(crate) loaded: LoadedSuite,
    pub(crate) work: Work,
    store: Option<Store>,
    request: JudgeRequest,
    models: Vec<(String, String)>,
    /// The run, if it is finished.
    finished: Option<RunId>,
    run: Option<RunFacts>,
}

impl ScoreInput {
    pub(crate) fn load(request: &ScoreRequest) -> Result<Self> {
        refuse_repeated_stdin(request.submissions.files.iter().chain(&request.judgements))?;
        match &request.source {
            ScoreSource::Suite(name) => Self::load_suite(request, name),
            ScoreSource::Run { name, suite } => Self::load_run(request, name, suite.as_deref()),
        }
    }

    fn load_suite(request: &ScoreRequest, name: &str) -> Result<Self> {
        let loaded = load_suite(name)?;
        let profile = resolve_for_suite(&request.profile, Some(&loaded))?;
        let tool = if let [only] = request.tools.as_slice() { Some(only.as_str()) } else { None };
        let (trials, notes) = read_submissions(&request.submissions, &loaded, tool)?;
        let work = Work { seed: request.seed, notes, ..Work::new(trials, profile) };
        Ok(Self {
            loaded,
            work,
            store: None,
            request: request.judge.clone(),
            models: Vec::new(),
            finished: None,
            run: None,
        })
    }

    fn load_run(request: &ScoreRequest, name: &str, suite: Option<&str>) -> Result<Self> {
        let mut store = Store::open(&request.store)?;
        let mut run = run_loader::run_on(&mut store, name, suite)?;
        let mut work = run.work(run.profile(&request.profile)?, request.seed);
        if !request.submissions.files.is_empty() {
            let (more, notes) = read_submissions(&request.submissions, &run.loaded, None)?;
            refuse_duplicates(work.trials.iter().chain(&more))?;
            work.trials.extend(more);
            work.notes.extend(notes);
        }
        let (request, models) = (run.judge_request(&request.judge), run.models());
        // Decisions about other goldens are the judge's to repeat: its ledger knows which are still the same question.
        let finished = (run.info.state == RunState::Complete && suite.is_none()).then(|| run.info.id.clone());
        let facts = run.take_facts();
        Ok(Self { loaded: run.loaded, work, store: Some(store), request, models, finished, run: Some(facts) })
    }

    /// The valid judgements stored with a finished run.
    pub(crate) fn stored_judgements(&mut self) -> Result<Vec<Judgement>> {
        let (Some(store), Some(run)) = (&mut self.store, &self.finished) else { return Ok(Vec::new()) };
        let stored = store.judgements(run)?.into_iter().map(JudgementV1::into_judgement);
        Ok(stored.filter(|(_, faults)| faults.is_empty()).map(|(judgement, _)| judgement).collect())
    }

    pub(crate) fn judge(&mut self, location: &StoreLocation, observer: &mut dyn JudgeObserver) -> Result<()> {
        let env = JudgeEnv { request: &self.request, location, store: self.store.as_mut(), observer };
        run_judge(env, &self.loaded, &std::mem::take(&mut self.models), &mut self.work)
    }
}

/// Refuses tools of which what is scored has no trial; `there` are those that it has.
fn no_trials_of<'t>(request: &ScoreRequest, there: impl Iterator<Item = &'t ToolName>) -> Failure {
    let files = request.submissions.files.iter().map(|file| file.display().to_string());
    let place = match &request.source {
        ScoreSource::Suite(name) if request.submissions.files.is_empty() => name.clone(),
        ScoreSource::Suite(_) => files.collect::<Vec<_>>().join(", "),
        ScoreSource::Run { name, .. } => {
            std::iter::once(format!("run {name}")).chain(files).collect::<Vec<_>>().join(", ")
        }
    };
    let there: Vec<&str> = there.map(ToolName::as_str).collect();
    let available = if there.is_empty() { String::new() } else { format!(" Available: {}", there.join(", ")) };
    let hint = match request.tools.as_slice() {
        [only] => suggestion(only, there.iter().copied(), "."),
        _ => ".".to_owned(),
    };
    Failure::usage(format!("{place}: no trials of {}{hint}{available}", request.tools.join(", ")))
}

fn too_few_trials(numbers: &BTreeMap<&ToolName, BTreeSet<u32>>, planned: Option<u32>) -> Vec<String> {
    let planned = planned.unwrap_or(1) as usize;
    let fewer = numbers.iter().filter(|(_, done)| done.len() < planned);
    fewer.map(|(tool, done)| format!("{tool}: only {} of {planned} planned trials of each case", done.len())).collect()
}

pub(crate) fn check_cluster_field(cluster: &ClusterBy, suite: &Suite) -> Result<()> {
    let Some(field) = cluster.named() else { return Ok(()) };
    let there: BTreeSet<String> = suite.cases.iter().flat_map(|case| case.fields().map(|(name, _)| name)).collect();
    if there.contains(field) {
        return Ok(());
    }
    let none = "the cases have no fields".to_owned();
    let known = if there.is_empty() { none } else { Vec::from_iter(there).join(", ") };
    Err(Failure::usage(format!("--cluster {field}: no case has this field; available: {known}")))
}
