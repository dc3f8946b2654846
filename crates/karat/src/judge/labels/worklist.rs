//! Which pairs are worth a label, the most telling first.

use super::pair::{Known, PairKey, Reported};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::local_judge::LocalJudge;
use karat_core::matching::assign::quantum;
use karat_core::matching::decisions::Decisions;
use karat_core::matching::pair::{PreparedCase, prose};
use karat_core::matching::text::Vocabulary;
use karat_core::matching::trial::best_candidates;
use karat_core::profile::{Method, Profile};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// A pair that a person may be asked about.
#[derive(Clone, Debug)]
pub struct Open<'a> {
    /// What a label of it hangs on.
    pub key: PairKey,
    /// The case.
    pub case: &'a Case,
    /// The golden.
    pub golden: &'a Golden,
    /// The finding, in the first trial that has it.
    pub finding: &'a Finding,
    /// How far the local judge is from wavering.
    pub(super) sureness: f64,
}

/// The pairs of these trials that a judge would be asked about, each once, those first of which the local judge is least sure.
/// Where the rules compare no scores, they are all pairs of a case's goldens and a trial's findings.
pub fn worklist<'a>(suite: &'a Suite, trials: &'a [Trial], profile: &Profile, judge: &LocalJudge) -> Vec<Open<'a>> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let goldens: Vec<&Golden> = suite.cases.iter().flat_map(|case| &case.goldens).collect();
    let vocabulary = Vocabulary::learn(&goldens, |golden| prose(golden));
    let of_trial = |trial: &'a Trial| -> Vec<Open<'a>> {
        let Some(&case) = cases.get(trial.case.as_str()) else { return Vec::new() };
        let wanted = wanted(case, trial, &vocabulary, profile);
        if wanted.is_empty() {
            return Vec::new();
        }
        let known: Vec<String> = case.goldens.iter().map(|golden| Known::of(case, golden).text()).collect();
        let reported: Vec<String> = trial.findings.iter().map(|finding| Reported::of(finding).text()).collect();
        let likely = judge.probabilities(&case.goldens, &trial.findings);
        let open = |(g, f): (usize, usize)| Open {
            key: PairKey::of(&known[g], &reported[f]),
            case,
            golden: &case.goldens[g],
            finding: &trial.findings[f],
            sureness: (likely[g * trial.findings.len() + f] - judge.params().threshold).abs(),
        };
        wanted.into_iter().map(open).collect()
    };
    let all: Vec<Vec<Open<'a>>> = trials.par_iter().map(of_trial).collect();
    let mut once: BTreeMap<PairKey, Open<'a>> = BTreeMap::new();
    for open in all.into_iter().flatten() {
        // The rivals of a pair differ from trial to trial, and with them what the judge makes of it.
        let sureness = open.sureness;
        let first = once.entry(open.key.clone()).or_insert(open);
        first.sureness = first.sureness.min(sureness);
    }
    let mut open: Vec<Open<'a>> = once.into_values().collect();
    // Equally sure pairs stay in the order of their keys, which tells nothing.
    open.sort_by(|a, b| a.sureness.total_cmp(&b.sureness));
    open
}

/// Goldens and findings whose scores make them worth asking about.
fn wanted(case: &Case, trial: &Trial, vocabulary: &Vocabulary, profile: &Profile) -> Vec<(usize, usize)> {
    if profile.method != Method::Score {
        let findings = trial.findings.len();
        return (0..case.goldens.len()).flat_map(|g| (0..findings).map(move |f| (g, f))).collect();
    }
    let (prepared, nothing) = (PreparedCase::new(case, vocabulary, profile), Decisions::default());
    let candidates = best_candidates(&prepared, trial, &nothing, vocabulary, profile, usize::MAX);
    let worth = quantum(profile.judge_threshold);
    let mut pairs = Vec::new();
    for (golden, candidates) in candidates.iter().enumerate() {
        let near = candidates.iter().filter(|candidate| quantum(candidate.score) >= worth);
        pairs.extend(near.map(|candidate| (golden, candidate.index)));
    }
    pairs
}
