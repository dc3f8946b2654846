//! Scored trials whose items people label.

use super::session::{Queue, ShownPairs};
use crate::failure::Result;
use crate::judge::local;
use crate::judge::registry::NONE;
use crate::judge::run::{JudgeEnv, JudgeRequest, NoObserver, run_judge};
use crate::profile::ProfileRequest;
use crate::run_loader;
use crate::suite::adopt::{Proposals, proposals};
use crate::suite::{LoadedSuite, load};
use crate::work::Work;
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::NAME;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::label_priority::case_half_width;
use karat_core::scorecard::{Intervals, Scorecard, score};
use karat_core::trial::Trial;
use karat_format::shipped_suites::locate;
use karat_io::files::Files;
use karat_store::label::{Label, labels_as_judgements};
use karat_store::{RunInfo, Store, StoreLocation};
use std::path::{Path, PathBuf};

/// Enough samples for the digits of an interval's width that are shown.
const SAMPLES: usize = 1_000;

/// A suite and scored trials. Annotators are shown neither judgements nor scores.
#[expect(missing_docs, reason = "field names say it")]
pub struct LabelContext {
    pub loaded: LoadedSuite,
    pub trials: Vec<Trial>,
    pub profile: Profile,
    pub scorecard: Scorecard,
    judgements: Vec<Judgement>,
}

impl LabelContext {
    /// Scores trials by the given judgements or, without any, by the local judge, which costs nothing. Human judgements are
    /// left out, so that the order of the items does not reveal them.
    pub(super) fn new(
        loaded: LoadedSuite,
        trials: Vec<Trial>,
        profile: Profile,
        mut judgements: Vec<Judgement>,
    ) -> Result<Self> {
        judgements.retain(|judgement| !judgement.judge.is_human());
        let mut work = Work { judgements, ..Work::new(trials, profile.clone()) };
        if work.judgements.is_empty() && matches!(profile.method, Method::Score) && profile.judge != NONE {
            let request = JudgeRequest { judge: Some(NAME.to_owned()), ..JudgeRequest::default() };
            // The local judge needs no store.
            let nowhere = StoreLocation::from(Path::new(""));
            let env = JudgeEnv { request: &request, location: &nowhere, store: None, observer: &mut NoObserver };
            run_judge(env, &loaded, &[], &mut work)?;
        }
        Ok(Self::from_work(loaded, Work { profile, ..work }))
    }

    pub(super) fn from_work(loaded: LoadedSuite, work: Work) -> Self {
        let Work { trials, judgements, profile, .. } = work;
        let scorecard = score(&loaded.suite, &trials, &judgements, &profile);
        Self { loaded, trials, profile, scorecard, judgements }
    }

    /// A run's trials by its own profile, compared with its suite or another version of it.
    pub(super) fn from_run(
        store: &mut Store,
        run: &RunInfo,
        suite: impl FnOnce(LoadedSuite) -> LoadedSuite,
    ) -> Result<Self> {
        let read = run_loader::run(store, run.id.as_str())?;
        let (profile, judgements) = (read.profile(&ProfileRequest::default())?, run_loader::judgements(store, run)?);
        let trials = read.trials.into_iter().map(|stored| stored.trial).collect();
        Self::new(suite(read.loaded), trials, profile, judgements)
    }

    /// A run's trials, compared with its suite as it is now, and the suite's folder, or why that cannot be changed.
    pub fn with_current_suite(store: &mut Store, run: &RunInfo) -> Result<(Self, Result<PathBuf, &'static str>)> {
        let place = store.plan(&run.id)?.suite.place;
        let mut root = Err("The suite's folder is missing or has moved since the run, so nothing can be added to it.");
        let context = Self::from_run(store, run, |remembered| {
            let Ok(now) = load(locate(&place)) else { return remembered };
            root = match &now.files {
                Files::Disk(root) => Ok(root.clone()),
                Files::Embedded(..) => Err("A built-in suite is read-only; copy it first."),
            };
            now
        })?;
        Ok((context, root))
    }

    /// Leaves out what people decided, which the order of the items would reveal.
    pub(super) fn leave_out_people(&mut self) {
        self.judgements.retain(|judgement| !judgement.judge.is_human());
    }

    pub(super) fn pairs(&self, shown: ShownPairs) -> Result<Queue> {
        let (suite, profile) = (&self.loaded.suite, &self.profile);
        let mut scorecard = self.scorecard.clone();
        let intervals = Intervals { seed: Some(0), resamples: SAMPLES, ..Intervals::default() };
        scorecard.add_intervals(suite, profile, &intervals);
        let cases = case_half_width(&scorecard, profile);
        Ok(Queue::pairs(suite, &self.trials, &self.judgements, profile, &local::shipped()?, cases, shown))
    }

    /// Extras to label that at least so many tools report.
    pub(super) fn extras(&self, min_tools: usize) -> Queue {
        Queue::extras(&self.loaded.suite, &self.trials, &self.profile, &self.scorecard, min_tools)
    }

    /// The goldens that the suite should have by these labels of extras, in place of all other judgements of extras.
    pub fn proposals(&self, labels: &[Label]) -> Proposals<'_> {
        let is_extra = |judgement: &Judgement| matches!(judgement.decision, Decision::Extra(_));
        let mut judgements = self.judgements.clone();
        judgements.retain(|judgement| !is_extra(judgement));
        judgements.extend(labels_as_judgements(labels, &self.loaded.suite, &self.trials).into_iter().filter(is_extra));
        let scorecard = score(&self.loaded.suite, &self.trials, &judgements, &self.profile);
        proposals(&self.loaded, &self.trials, &scorecard, &self.profile)
    }
}
