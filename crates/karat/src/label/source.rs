//! Loads what is labelled: the findings of a stored run, or of submissions to a suite.

use super::context::LabelContext;
use super::session::Queue;
use crate::failure::{Failure, Result};
use crate::judge::run::{JudgeEnv, JudgeObserver, JudgeRequest, run_judge};
use crate::profile::{ProfileRequest, resolve_for_suite};
use crate::run_loader;
use crate::submissions::{load_suite, open_submissions, read_judgement_files};
use crate::suite::LoadedSuite;
use crate::work::Work;
use karat_core::judgement::{Decision, Judgement};
use karat_core::profile::Profile;
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
) -> Result<LabelItems> {
    let (source, profile) = LabelSource::load(request)?;
    let (profile, run) = (profile?, source.run.clone());
    let (queue, loaded) = match items {
        QueueRequest::Pairs { sample } => {
            let context = LabelContext::new(source.loaded, source.trials, profile, source.judgements)?;
            (context.pairs(*sample)?, context.loaded)
        }
        QueueRequest::Extras { min_tools } => {
            let context = source.score(profile, request, observer)?;
            (context.extras(*min_tools), context.loaded)
        }
        QueueRequest::Audits => (Queue::audits(&source.loaded.suite, &source.trials), source.loaded),
    };
    Ok(LabelItems { loaded, queue, run })
}

pub(super) struct LabelSource {
    pub(super) loaded: LoadedSuite,
    pub(super) trials: Vec<Trial>,
    judgements: Vec<Judgement>,
    run: Option<String>,
    judge: JudgeRequest,
}

impl LabelSource {
    /// Loads trials, and the profile that selects the pairs to label.
    pub(super) fn load(request: &LabelRequest) -> Result<(Self, Result<Profile>)> {
        let folder = &request.store_folder;
        if let Some(name) = &request.suite {
            let loaded = load_suite(name)?;
            let files = open_submissions(&request.submissions, &loaded)?;
            if files.is_empty() {
                return Err(Failure::usage("nothing to label; add a submission with --submission FILE"));
            }
            let trials = read_trials(files, Some(&loaded.suite))?;
            let profile = resolve_for_suite(&request.profile, Some(&loaded));
            let judge = request.judge.clone();
            return Ok((Self { loaded, trials, judgements: Vec::new(), run: None, judge }, profile));
        }
        if request.run.is_none() && !Store::is_at(folder) {
            let help = "use a suite with --suite and --submission instead";
            return Err(Failure::usage(format!("no runs in {}; {help}", folder.display())));
        }
        let mut store = Store::open(folder)?;
        let run = run_loader::run(&mut store, request.run.as_deref().unwrap_or("latest"))?;
        let judgements = run_loader::judgements(&mut store, &run.info)?;
        let (profile, judge) = (run.profile(&request.profile), run.judge_request(&request.judge));
        let trials = run.trials.into_iter().map(|stored| stored.trial).collect();
        Ok((Self { loaded: run.loaded, trials, judgements, run: Some(run.info.short_id), judge }, profile))
    }

    /// Scores the trials: which findings are extras depends on the judge of the pairs.
    pub(super) fn score(
        self,
        profile: Profile,
        request: &LabelRequest,
        observer: &mut dyn JudgeObserver,
    ) -> Result<LabelContext> {
        let mut work = Work::new(self.trials, profile);
        let env = JudgeEnv { request: &self.judge, store_folder: &request.store_folder, store: None, observer };
        run_judge(env, &self.loaded, &[], &mut work)?;
        Ok(LabelContext::from_work(self.loaded, work))
    }
}

/// Findings whose human labels may become goldens.
#[expect(missing_docs, reason = "field names say it")]
pub struct AdoptRequest {
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

/// Scores findings by what people said of extras; models' judgements of extras may not change a suite.
pub fn score_for_adoption(request: &AdoptRequest, observer: &mut dyn JudgeObserver) -> Result<LabelContext> {
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
    let mut labels = read_judgement_files(&request.labels, &loaded.suite)?;
    if Store::is_at(&request.store_folder) {
        let stored = Store::open(&request.store_folder)?.labels()?;
        labels.extend(labels_as_judgements(&stored, &loaded.suite, &work.trials));
    }
    // One label per person and finding.
    let mut seen = BTreeSet::new();
    labels.retain(|label| match &label.decision {
        Decision::Extra(extra) if label.judge.is_human() => {
            let Judgement { judge, case, tool, trial, .. } = label.clone();
            seen.insert((judge, case, tool, trial, extra.finding.clone()))
        }
        _ => false,
    });
    work.judgements.extend(labels);
    Ok(LabelContext::from_work(loaded, work))
}
