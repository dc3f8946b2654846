//! What is there to be labelled: a suite with trials, what judges made of them, and how far that can be trusted.

use super::session::{LabelScope, Queue};
use crate::failure::Failure;
use crate::judge::local;
use crate::judge::registry::NONE;
use crate::judge::run::{JudgeEnv, JudgeRequest, NoObserver, run_judge};
use crate::scoring::Work;
use crate::suite::LoadedSuite;
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::NAME;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::label_priority::case_half_width;
use karat_core::scorecard::{Intervals, Scorecard, score};
use karat_core::trial::Trial;
use karat_store::label::{Label, Sample, labels_as_judgements};
use std::path::Path;

/// So many samples tell how wide an interval is, to the digits that are shown.
const SAMPLES: usize = 1_000;

/// A suite with trials, and what judges made of them. Nobody who labels may be told of it.
#[expect(missing_docs, reason = "field names say it")]
pub struct LabelContext {
    pub loaded: LoadedSuite,
    pub trials: Vec<Trial>,
    pub profile: Profile,
    judgements: Vec<Judgement>,
    scorecard: Scorecard,
}

impl LabelContext {
    /// Trials as judges decided about them. Where nothing is known of that the local judge decides, who costs nothing. What
    /// people said is left out, so that nobody can tell it from what they are shown.
    pub fn new(
        loaded: LoadedSuite,
        trials: Vec<Trial>,
        profile: Profile,
        mut judgements: Vec<Judgement>,
    ) -> Result<Self, Failure> {
        judgements.retain(|judgement| !judgement.judge.is_human());
        let mut work = Work { judgements, ..Work::new(trials, profile.clone()) };
        let by_pairs = matches!(profile.method, Method::Score);
        if work.judgements.is_empty() && by_pairs && profile.judge != NONE {
            let request = JudgeRequest { judge: Some(NAME.to_owned()), ..JudgeRequest::default() };
            let env =
                JudgeEnv { request: &request, store_folder: Path::new(""), store: None, observer: &mut NoObserver };
            run_judge(env, &loaded, &[], &mut work)?;
        }
        let scorecard = score(&loaded.suite, &work.trials, &work.judgements, &profile);
        Ok(Self { loaded, trials: work.trials, profile, judgements: work.judgements, scorecard })
    }

    /// Pairs that are worth a label.
    pub fn pairs(&self, sample: Option<Sample>) -> Result<Queue, Failure> {
        let judge = local::shipped().map_err(|error| Failure::bad_input(error.to_string()))?;
        let mut scorecard = self.scorecard.clone();
        let intervals = Intervals { seed: Some(0), resamples: SAMPLES, ..Intervals::default() };
        scorecard.add_intervals(&self.loaded.suite, &self.profile, &intervals);
        let cases = case_half_width(&scorecard, &self.profile);
        Ok(Queue::pairs(self.scope(), &judge, cases, sample))
    }

    /// Extras that are worth a label.
    pub fn extras(&self) -> Queue {
        Queue::extras(self.scope(), &self.scorecard, 1)
    }

    /// Findings to classify.
    pub fn audits(&self) -> Queue {
        Queue::audits(self.scope())
    }

    /// What becomes of the trials when people are heard about extras.
    pub fn with_extras(&self, labels: &[Label]) -> Scorecard {
        let mut judgements = self.judgements.clone();
        judgements.retain(|judgement| !matches!(judgement.decision, Decision::Extra(_)));
        let heard = labels_as_judgements(labels, &self.loaded.suite, &self.trials);
        judgements.extend(heard.into_iter().filter(|judgement| matches!(judgement.decision, Decision::Extra(_))));
        score(&self.loaded.suite, &self.trials, &judgements, &self.profile)
    }

    fn scope(&self) -> LabelScope<'_> {
        let (suite, trials, judgements) = (&self.loaded.suite, &self.trials, &self.judgements);
        LabelScope { suite, trials, judgements, profile: &self.profile }
    }
}
