//! Scored trials whose items people label.

use super::session::Queue;
use crate::failure::{Failure, Result};
use crate::judge::local;
use crate::judge::registry::NONE;
use crate::judge::run::{JudgeEnv, JudgeRequest, NoObserver, run_judge};
use crate::suite::LoadedSuite;
use crate::work::Work;
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::NAME;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::label_priority::case_half_width;
use karat_core::scorecard::{Intervals, Scorecard, score};
use karat_core::trial::Trial;
use karat_store::label::{Label, Sample, labels_as_judgements};
use std::path::Path;

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
    pub fn new(
        loaded: LoadedSuite,
        trials: Vec<Trial>,
        profile: Profile,
        mut judgements: Vec<Judgement>,
    ) -> Result<Self> {
        judgements.retain(|judgement| !judgement.judge.is_human());
        let mut work = Work { judgements, ..Work::new(trials, profile.clone()) };
        if work.judgements.is_empty() && matches!(profile.method, Method::Score) && profile.judge != NONE {
            let request = JudgeRequest { judge: Some(NAME.to_owned()), ..JudgeRequest::default() };
            let env =
                JudgeEnv { request: &request, store_folder: Path::new(""), store: None, observer: &mut NoObserver };
            run_judge(env, &loaded, &[], &mut work)?;
        }
        Ok(Self::from_work(loaded, Work { profile, ..work }))
    }

    pub(super) fn from_work(loaded: LoadedSuite, work: Work) -> Self {
        let Work { trials, judgements, profile, .. } = work;
        let scorecard = score(&loaded.suite, &trials, &judgements, &profile);
        Self { loaded, trials, profile, scorecard, judgements }
    }

    /// Pairs to label.
    pub fn pairs(&self, sample: Option<Sample>) -> Result<Queue> {
        let judge = local::shipped().map_err(|error| Failure::bad_input(error.to_string()))?;
        let (suite, profile) = (&self.loaded.suite, &self.profile);
        let mut scorecard = self.scorecard.clone();
        let intervals = Intervals { seed: Some(0), resamples: SAMPLES, ..Intervals::default() };
        scorecard.add_intervals(suite, profile, &intervals);
        let cases = case_half_width(&scorecard, profile);
        Ok(Queue::pairs(suite, &self.trials, &self.judgements, profile, &judge, cases, sample))
    }

    /// Extras to label that at least so many tools report.
    pub fn extras(&self, min_tools: usize) -> Queue {
        Queue::extras(&self.loaded.suite, &self.trials, &self.profile, &self.scorecard, min_tools)
    }

    /// Findings to classify.
    pub fn audits(&self) -> Queue {
        Queue::audits(&self.loaded.suite, &self.trials)
    }

    /// The scores with these labels of extras, in place of all other judgements of extras.
    pub fn with_extras(&self, labels: &[Label]) -> Scorecard {
        let is_extra = |judgement: &Judgement| matches!(judgement.decision, Decision::Extra(_));
        let mut judgements = self.judgements.clone();
        judgements.retain(|judgement| !is_extra(judgement));
        judgements.extend(labels_as_judgements(labels, &self.loaded.suite, &self.trials).into_iter().filter(is_extra));
        score(&self.loaded.suite, &self.trials, &judgements, &self.profile)
    }
}
