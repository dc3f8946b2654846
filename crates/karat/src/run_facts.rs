//! What is known of a stored run beside its trials.

use karat_core::ids::ToolName;
use karat_core::trial::Trial;
use karat_format::run::{ToolFactsV1, TrialDetailV1};
use karat_store::RunId;
use karat_store::record::TrialKey;
use std::collections::{BTreeMap, HashMap};

/// What is stored beside a trial: the number of the attempt, and how it went.
pub(crate) type StoredDetail = (u32, TrialDetailV1);

/// What a store knows of a run beside its trials.
#[derive(Clone, Debug)]
pub struct RunFacts {
    pub(crate) id: RunId,
    pub(crate) tools: BTreeMap<ToolName, ToolFactsV1>,
    pub(crate) models: HashMap<String, String>,
    pub(crate) details: HashMap<TrialKey, StoredDetail>,
}

impl RunFacts {
    pub(crate) fn id(&self) -> &RunId {
        &self.id
    }

    pub(crate) fn add_details(&mut self, trials: &[(Trial, Option<StoredDetail>)]) {
        let stored =
            |(trial, detail): &(Trial, Option<StoredDetail>)| Some((TrialKey::from_trial(trial), detail.clone()?));
        self.details.extend(trials.iter().filter_map(stored));
    }
}
