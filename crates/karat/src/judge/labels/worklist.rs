//! Which pairs are worth a label: what narrows the interval of the figure most comes first.

use super::pair::{Known, PairKey, Reported};
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
use karat_core::scorecard::doubt::{Doubt, Scene, Standing, doubts};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// How many tools report it.
    pub tools: usize,
    /// In how many trials it stands.
    pub trials: usize,
    /// How far it leaves the figure in doubt, as long as nobody has labelled it.
    pub doubt: Doubt,
}

/// The pairs of these trials that a judge would be asked about, each once. First come those whose label narrows the interval of
/// the figure most, given what was decided already. Where the rules compare no scores, they are all pairs of a case's goldens and
/// a trial's findings.
pub fn worklist<'a>(
    suite: &'a Suite,
    trials: &'a [Trial],
    judgements: &[Judgement],
    profile: &Profile,
    judge: &LocalJudge,
) -> Vec<Open<'a>> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let goldens: Vec<&Golden> = suite.cases.iter().flat_map(|case| &case.goldens).collect();
    let vocabulary = Vocabulary::learn(&goldens, |golden| prose(golden));
    let of_trial = |(at, trial): (usize, &'a Trial)| -> Vec<(Open<'a>, Standing)> {
        let Some(&case) = cases.get(trial.case.as_str()) else { return Vec::new() };
        let wanted = wanted(case, trial, &vocabulary, profile);
        if wanted.is_empty() {
            return Vec::new();
        }
        let known: Vec<String> = case.goldens.iter().map(|golden| Known::of(case, golden).text()).collect();
        let reported: Vec<String> = trial.findings.iter().map(|finding| Reported::of(finding).text()).collect();
        let likely = judge.probabilities(&case.goldens, &trial.findings);
        let open = |(golden, finding): (usize, usize)| {
            let key = PairKey::of(&known[golden], &reported[finding]);
            let (own, said) = (&case.goldens[golden], &trial.findings[finding]);
            let probability = likely[golden * trial.findings.len() + finding];
            let open = Open { key, case, golden: own, finding: said, tools: 0, trials: 0, doubt: Doubt::default() };
            (open, Standing { item: 0, trial: at, golden, finding, probability })
        };
        wanted.into_iter().map(open).collect()
    };
    let all: Vec<Vec<(Open<'a>, Standing)>> = trials.par_iter().enumerate().map(of_trial).collect();
    let mut once: BTreeMap<PairKey, (Open<'a>, Vec<Standing>)> = BTreeMap::new();
    for (open, standing) in all.into_iter().flatten() {
        once.entry(open.key.clone()).or_insert_with(|| (open, Vec::new())).1.push(standing);
    }
    let (mut pairs, mut standings) = (Vec::with_capacity(once.len()), Vec::new());
    for (item, (mut open, places)) in once.into_values().enumerate() {
        let trials_of: BTreeSet<usize> = places.iter().map(|standing| standing.trial).collect();
        let tools: BTreeSet<&str> = trials_of.iter().map(|at| trials[*at].tool.as_str()).collect();
        (open.tools, open.trials) = (tools.len(), trials_of.len());
        standings.extend(places.into_iter().map(|standing| Standing { item, ..standing }));
        pairs.push(open);
    }
    let scene = Scene { suite, trials, judgements, profile, threshold: judge.params().threshold };
    let found = doubts(scene, &standings, pairs.len());
    pairs.iter_mut().zip(found).for_each(|(open, doubt)| open.doubt = doubt);
    // Pairs that tell as much stay in the order of their keys, which tells nothing.
    pairs.sort_by(|a, b| b.doubt.variance().total_cmp(&a.doubt.variance()));
    pairs
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
