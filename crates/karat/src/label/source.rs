//! Loads what is labelled: the findings of a stored run, or of submissions to a suite.

use super::context::LabelContext;
use super::session::{LabelScope, Queue};
use crate::failure::Failure;
use crate::judge::run::{JudgeEnv, JudgeObserver, JudgeRequest, run_judge};
use crate::profile::request::{ProfileRequest, resolve_for_suite};
use crate::run_loader::{self, StoredRun};
use crate::scoring::Work;
use crate::submissions::{load_suite, open_submissions, read_judgement_files};
use crate::suite::LoadedSuite;
use karat_core::ids::{CaseId, FindingId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Judgement};
use karat_core::panel::Consensus;
use karat_core::profile::Profile;
use karat_core::scorecard::{Scorecard, score};
use karat_core::trial::Trial;
use karat_format::recorded::read_trials;
use karat_store::Store;
use karat_store::label::{Sample, labels_as_judgements};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Where the items to label come from.
#[derive(Clone, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct LabelRequest {
    /// A stored run; default: the latest.
    pub run: Option<String>,
    /// A suite with submissions, instead of a run.
    pub suite: Option<String>,
    /// Default: the suite's own.
    pub submissions: Vec<PathBuf>,
    pub profile: ProfileRequest,
    /// The judge that decides which findings are extras.
    pub judge: JudgeRequest,
    pub store_folder: PathBuf,
}

/// Which items are labelled.
#[expect(missing_docs, reason = "field names say it")]
pub enum QueueRequest {
    /// Pairs, or a random sample of them.
    Pairs { sample: Option<Sample> },
    /// Extras that at least so many tools report.
    Extras { min_tools: usize },
    /// Findings of audited cases.
    Audits,
}

/// The items to label, and their suite.
#[expect(missing_docs, reason = "field names say it")]
pub struct LabelItems {
    pub loaded: LoadedSuite,
    pub queue: Queue,
    /// The short id of the run, if it is a run.
    pub run: Option<String>,
}

/// Loads the items to label, in the order in which their labels help most.
pub fn label_queue(
    request: &LabelRequest,
    items: &QueueRequest,
    observer: &mut dyn JudgeObserver,
) -> Result<LabelItems, Failure> {
    let (source, profile) = LabelSource::load_with_profile(request)?;
    let run = source.run.clone();
    match items {
        QueueRequest::Pairs { sample } => {
            let context = LabelContext::new(source.loaded, source.trials, profile, source.judgements)?;
            Ok(LabelItems { queue: context.pairs(*sample)?, loaded: context.loaded, run })
        }
        QueueRequest::Extras { min_tools } => {
            let scored = source.score(profile, request, observer)?;
            Ok(LabelItems { queue: scored.extras(*min_tools), loaded: scored.loaded, run })
        }
        QueueRequest::Audits => {
            let LabelSource { loaded, trials, judgements, .. } = source;
            let scope =
                LabelScope { suite: &loaded.suite, trials: &trials, judgements: &judgements, profile: &profile };
            Ok(LabelItems { queue: Queue::audits(scope), loaded, run })
        }
    }
}

/// A suite, and trials whose findings are compared with its goldens.
pub(super) struct LabelSource {
    pub(super) loaded: LoadedSuite,
    pub(super) trials: Vec<Trial>,
    /// The judgements stored with the run.
    judgements: Vec<Judgement>,
    run: Option<String>,
    /// The consensus method of the run's judges.
    consensus: Option<String>,
}

impl LabelSource {
    pub(super) fn load(request: &LabelRequest) -> Result<Self, Failure> {
        match &request.suite {
            Some(suite) => Self::from_suite(suite, request),
            None => Ok(Self::from_run(read_run(request)?)),
        }
    }

    /// The same, with the profile that selects the pairs to label.
    pub(super) fn load_with_profile(request: &LabelRequest) -> Result<(Self, Profile), Failure> {
        if let Some(suite) = &request.suite {
            let source = Self::from_suite(suite, request)?;
            let profile = resolve_for_suite(&request.profile, Some(&source.loaded))?;
            return Ok((source, profile));
        }
        let (run, judgements) = read_run(request)?;
        let profile = run.profile(&request.profile)?;
        Ok((Self::from_run((run, judgements)), profile))
    }

    fn from_run((run, judgements): (StoredRun, Vec<Judgement>)) -> Self {
        let StoredRun { info, plan, loaded, trials, .. } = run;
        let trials = trials.into_iter().map(|stored| stored.trial).collect();
        Self { loaded, trials, judgements, run: Some(info.short_id), consensus: plan.consensus }
    }

    fn from_suite(name: &str, request: &LabelRequest) -> Result<Self, Failure> {
        let loaded = load_suite(name)?;
        let files = open_submissions(&request.submissions, &loaded)?;
        if files.is_empty() {
            return Err(Failure::usage("nothing to label; add a submission with --submission FILE"));
        }
        let trials = read_trials(files, Some(&loaded.suite))?;
        Ok(Self { loaded, trials, judgements: Vec::new(), run: None, consensus: None })
    }

    /// Scores the trials: which findings are extras depends on the judge of the pairs.
    pub(super) fn score(
        self,
        profile: Profile,
        request: &LabelRequest,
        observer: &mut dyn JudgeObserver,
    ) -> Result<ScoredTrials, Failure> {
        let Self { loaded, trials, consensus, .. } = self;
        let planned = || consensus.as_deref().and_then(Consensus::parse);
        let judge = JudgeRequest { consensus: request.judge.consensus.or_else(planned), ..request.judge.clone() };
        let mut work = Work::new(trials, profile);
        let env = JudgeEnv { request: &judge, store_folder: &request.store_folder, store: None, observer };
        run_judge(env, &loaded, &[], &mut work)?;
        let scorecard = score(&loaded.suite, &work.trials, &work.judgements, &work.profile);
        Ok(ScoredTrials { loaded, trials: work.trials, profile: work.profile, scorecard })
    }
}

fn read_run(request: &LabelRequest) -> Result<(StoredRun, Vec<Judgement>), Failure> {
    let folder = &request.store_folder;
    if request.run.is_none() && !Store::is_at(folder) {
        let help = "use a suite with --suite and --submission instead";
        return Err(Failure::usage(format!("no runs in {}; {help}", folder.display())));
    }
    let mut store = Store::open(folder)?;
    let run = run_loader::run(&mut store, request.run.as_deref().unwrap_or("latest"))?;
    let judgements = run_loader::judgements(&mut store, &run.info)?;
    Ok((run, judgements))
}

/// A suite and scored trials.
#[expect(missing_docs, reason = "field names say it")]
pub struct ScoredTrials {
    pub loaded: LoadedSuite,
    pub trials: Vec<Trial>,
    pub profile: Profile,
    pub scorecard: Scorecard,
}

impl ScoredTrials {
    /// The extras to label that at least `min_tools` tools report.
    pub(super) fn extras(&self, min_tools: usize) -> Queue {
        let (suite, trials, profile) = (&self.loaded.suite, &self.trials, &self.profile);
        Queue::extras(LabelScope { suite, trials, judgements: &[], profile }, &self.scorecard, min_tools)
    }
}

/// Findings whose human labels may become goldens.
#[expect(missing_docs, reason = "field names say it")]
pub struct AdoptRequest {
    /// The suite that is changed.
    pub suite: String,
    /// The run with the labelled findings, instead of submissions.
    pub run: Option<String>,
    /// Default: the suite's own.
    pub submissions: Vec<PathBuf>,
    /// Files of labels, in addition to those in the store.
    pub labels: Vec<PathBuf>,
    pub profile: ProfileRequest,
    pub judge: JudgeRequest,
    pub store_folder: PathBuf,
}

/// Scores findings by what people said of extras. Only human labels may change a suite; models' judgements of extras are
/// ignored.
pub fn score_for_adoption(request: &AdoptRequest, observer: &mut dyn JudgeObserver) -> Result<ScoredTrials, Failure> {
    let loaded = load_suite(&request.suite)?;
    if !matches!(loaded.files, karat_io::files::Files::Disk(_)) {
        return Err(Failure::usage("a built-in suite is read-only; copy it first"));
    }
    let profile = resolve_for_suite(&request.profile, Some(&loaded))?;
    let trials = match &request.run {
        Some(run) => {
            let run = run_loader::run(&mut Store::open(&request.store_folder)?, run)?;
            run.trials.into_iter().map(|stored| stored.trial).collect()
        }
        None => {
            let files = open_submissions(&request.submissions, &loaded)?;
            if files.is_empty() {
                let message = "nothing to adopt from; name a run, or add a submission with --submission FILE";
                return Err(Failure::usage(message));
            }
            read_trials(files, Some(&loaded.suite))?
        }
    };
    let mut work = Work::new(trials, profile);
    let env = JudgeEnv { request: &request.judge, store_folder: &request.store_folder, store: None, observer };
    run_judge(env, &loaded, &[], &mut work)?;
    work.judgements.retain(|judgement| !matches!(judgement.decision, Decision::Extra(_)));
    work.judgements.extend(human_extra_labels(request, &loaded, &work.trials)?);
    let scorecard = score(&loaded.suite, &work.trials, &work.judgements, &work.profile);
    Ok(ScoredTrials { loaded, trials: work.trials, profile: work.profile, scorecard })
}

/// Human labels of extras, from files and the store; one label per person and finding.
fn human_extra_labels(
    request: &AdoptRequest,
    loaded: &LoadedSuite,
    trials: &[Trial],
) -> Result<Vec<Judgement>, Failure> {
    let mut labels = read_judgement_files(&request.labels, &loaded.suite)?;
    if Store::is_at(&request.store_folder) {
        let stored = Store::open(&request.store_folder)?.labels()?;
        labels.extend(labels_as_judgements(&stored, &loaded.suite, trials));
    }
    let mut seen: BTreeSet<(JudgeName, CaseId, ToolName, u32, FindingId)> = BTreeSet::new();
    labels.retain(|label| match &label.decision {
        Decision::Extra(extra) if label.judge.is_human() => {
            let Judgement { judge, case, tool, trial, .. } = label.clone();
            seen.insert((judge, case, tool, trial, extra.finding.clone()))
        }
        _ => false,
    });
    Ok(labels)
}
