//! Orders pairs for labelling: those that would narrow the interval of the figure most come first.

use super::pair::{FindingText, GoldenText, PairKey};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::judgement::Judgement;
use karat_core::local_judge::LocalJudge;
use karat_core::matching::assign::quantum;
use karat_core::matching::decisions::Decisions;
use karat_core::matching::pair::{PreparedCase, prose};
use karat_core::matching::text::Vocabulary;
use karat_core::matching::trial::best_candidates;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::label_priority::{PairInstance, PriorityInput, Uncertainty, uncertainties};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A pair that a person may be asked to label.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct OpenPair<'a> {
    pub key: PairKey,
    pub case: &'a Case,
    pub golden: &'a Golden,
    /// As reported by the first trial that has it.
    pub finding: &'a Finding,
    pub tools: usize,
    pub trials: usize,
    /// The uncertainty it adds while unlabelled.
    pub doubt: Uncertainty,
}

/// The distinct pairs of these trials that a judge would be asked about, those that would narrow the interval of the figure
/// most first, given the judgements. For profiles that compare no scores: all pairs of goldens and findings.
pub fn worklist<'a>(
    suite: &'a Suite,
    trials: &'a [Trial],
    judgements: &[Judgement],
    profile: &Profile,
    judge: &LocalJudge,
) -> Vec<OpenPair<'a>> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let goldens: Vec<&Golden> = suite.cases.iter().flat_map(|case| &case.goldens).collect();
    let vocabulary = Vocabulary::learn(&goldens, |golden| prose(golden));
    let of_trial = |(at, trial): (usize, &'a Trial)| -> Vec<(OpenPair<'a>, PairInstance)> {
        let Some(&case) = cases.get(trial.case.as_str()) else { return Vec::new() };
        let candidates = candidates(case, trial, &vocabulary, profile);
        if candidates.is_empty() {
            return Vec::new();
        }
        let known: Vec<String> = case.goldens.iter().map(|golden| GoldenText::new(case, golden).text()).collect();
        let reported: Vec<String> = trial.findings.iter().map(|finding| FindingText::new(finding).text()).collect();
        let likely = judge.probabilities(&case.goldens, &trial.findings);
        let open = |(golden, finding): (usize, usize)| {
            let key = PairKey::from_texts(&known[golden], &reported[finding]);
            let (own, reported_finding) = (&case.goldens[golden], &trial.findings[finding]);
            let probability = likely[golden * trial.findings.len() + finding];
            let open = OpenPair {
                key,
                case,
                golden: own,
                finding: reported_finding,
                tools: 0,
                trials: 0,
                doubt: Uncertainty::default(),
            };
            (open, PairInstance { item: 0, trial: at, golden, finding, probability })
        };
        candidates.into_iter().map(open).collect()
    };
    let all: Vec<Vec<(OpenPair<'a>, PairInstance)>> = trials.par_iter().enumerate().map(of_trial).collect();
    let mut once: BTreeMap<PairKey, (OpenPair<'a>, Vec<PairInstance>)> = BTreeMap::new();
    for (open, standing) in all.into_iter().flatten() {
        once.entry(open.key.clone()).or_insert_with(|| (open, Vec::new())).1.push(standing);
    }
    let (mut pairs, mut standings) = (Vec::with_capacity(once.len()), Vec::new());
    for (item, (mut open, places)) in once.into_values().enumerate() {
        let trials_of: BTreeSet<usize> = places.iter().map(|standing| standing.trial).collect();
        let tools: BTreeSet<&str> = trials_of.iter().map(|at| trials[*at].tool.as_str()).collect();
        (open.tools, open.trials) = (tools.len(), trials_of.len());
        standings.extend(places.into_iter().map(|standing| PairInstance { item, ..standing }));
        pairs.push(open);
    }
    let scene = PriorityInput { suite, trials, judgements, profile, threshold: judge.params().threshold };
    let found = uncertainties(scene, &standings, pairs.len());
    pairs.iter_mut().zip(found).for_each(|(open, doubt)| open.doubt = doubt);
    // Ties keep the order of keys, which is arbitrary but stable.
    pairs.sort_by(|a, b| b.doubt.variance().total_cmp(&a.doubt.variance()));
    pairs
}

fn candidates(case: &Case, trial: &Trial, vocabulary: &Vocabulary, profile: &Profile) -> Vec<(usize, usize)> {
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
