//! The results of a judge on probes, in reports and in the store.

pub use karat_core::probe::ErrorRate as RateV1;

use karat_core::probe::{ProbeKind, ProbeScores};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often a judge was wrong about pairs whose answer is known, and how often it was fooled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeV1 {
    /// The suite whose goldens the pairs were made of.
    pub suite: String,
    /// A hash of everything that suite said and held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How many plain pairs were made of it, right and wrong ones.
    pub pairs: usize,
    /// By kind of probe. For plain pairs, how often the answer was wrong; for disturbed ones, how often a right answer to the
    /// plain pair changed. A kind that does not apply to the judge is absent.
    pub kinds: BTreeMap<String, RateV1>,
    /// All disturbed pairs together: how often the judge was fooled.
    pub fooled: RateV1,
}

impl ProbeV1 {
    /// What came of probes that were made of a suite.
    pub fn new(suite: &str, digest: &str, pairs: usize, probed: &ProbeScores) -> Self {
        Self {
            suite: suite.to_owned(),
            digest: Some(digest.to_owned()).filter(|digest| !digest.is_empty()),
            pairs,
            kinds: probed.kinds.clone(),
            fooled: probed.fooled.clone(),
        }
    }

    /// How the judge did, in words: pairs that match and pairs that do not apart, and how often it was fooled.
    pub fn describe(&self) -> String {
        let plain = [(ProbeKind::KnownRight, "known-right"), (ProbeKind::KnownWrong, "known-wrong")];
        let wrong = |(kind, words): &(ProbeKind, &str)| {
            let rate = self.kinds.get(kind.as_str())?;
            Some(format!("{} of {} {words}", rate.wrong, rate.n))
        };
        let wrong: Vec<String> = plain.iter().filter_map(wrong).collect();
        let wrong = if wrong.is_empty() { "no pairs".to_owned() } else { wrong.join(" and ") + " pairs" };
        format!("wrong about {wrong}, fooled in {} of {}", self.fooled.wrong, self.fooled.n)
    }
}
