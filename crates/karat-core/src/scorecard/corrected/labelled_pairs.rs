//! The candidates of each trial, which of them people labelled, and how those were picked.

use super::{PairIndex, pair};
use crate::finding::Finding;
use crate::matching::assign::quantum;
use crate::matching::decisions::Decisions;
use crate::matching::pair::PreparedCase;
use crate::matching::trial::best_candidates;
use crate::scorecard::{Numbered, TrialScore};
use crate::stats::two_phase::{Cluster, Draw, Totals, TwoPhase};
use crate::suite::Case;
use crate::trial::Trial;
use std::collections::{BTreeMap, BTreeSet};

/// One trial: its candidates, and what people said of them.
pub(super) struct TrialPairs<'a> {
    pub(super) cluster: usize,
    pub(super) index: usize,
    pub(super) case: &'a Case,
    pub(super) score: &'a TrialScore,
    /// None where it did not end in a report.
    pub(super) trial: Option<&'a Trial>,
    pub(super) matches: BTreeSet<PairIndex>,
    pub(super) others: BTreeSet<PairIndex>,
    pub(super) drawn: Vec<Drawn>,
}

/// Pairs of one finding that were picked together and that the judge gave the same answer.
pub(super) struct Drawn {
    pub(super) pairs: Vec<PairIndex>,
    pub(super) matches: usize,
    pub(super) wrong: bool,
    pub(super) probability: f64,
    /// Whether people said of the finding, and not of a pair, that it reports nothing.
    pub(super) of_finding: bool,
}

impl TrialPairs<'_> {
    pub(super) fn is_single(&self) -> bool {
        let (mut goldens, mut findings) = (BTreeSet::new(), BTreeSet::new());
        self.matches
            .iter()
            .chain(&self.others)
            .all(|(golden, finding)| goldens.insert(*golden) && findings.insert(*finding))
    }

    /// Draws that share a golden or a finding, also through matching pairs. Groups change the counts independently.
    pub(super) fn groups(&self, draws: &[usize]) -> Vec<Vec<usize>> {
        let goldens = self.case.goldens.len();
        let findings = self.trial.map_or(0, |trial| trial.findings.len());
        let mut parents: Vec<usize> = (0..goldens + findings).collect();
        let turned = draws.iter().flat_map(|draw| &self.drawn[*draw].pairs);
        let sure = self.drawn.iter().filter(|draw| draw.wrong).flat_map(|draw| &draw.pairs);
        for &(golden, finding) in self.matches.iter().chain(turned).chain(sure) {
            let (a, b) = (root(&mut parents, golden), root(&mut parents, goldens + finding));
            parents[a] = b;
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for draw in draws {
            let golden = self.drawn[*draw].pairs.first().map_or(0, |place| place.0);
            groups.entry(root(&mut parents, golden)).or_default().push(*draw);
        }
        groups.into_values().collect()
    }
}

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

pub(super) fn first_phase(trials: &[TrialPairs<'_>]) -> TwoPhase {
    let mut sample = TwoPhase::default();
    // A finding that says the same twice in one trial is two; in two trials it is one that was labelled once.
    let mut units: BTreeMap<(Unit<'_>, usize), usize> = BTreeMap::new();
    for own in trials {
        if sample.clusters.len() <= own.cluster {
            sample.clusters.resize(own.cluster + 1, Cluster::default());
        }
        let cluster = &mut sample.clusters[own.cluster];
        cluster.totals = cluster.totals.plus(own.score.counts.into(), 1.0);
        cluster.matches += own.matches.len();
        cluster.others += own.others.len();
        let mut seen: BTreeMap<Unit<'_>, usize> = BTreeMap::new();
        for drawn in &own.drawn {
            let (unit, next) = (unit(own, drawn), units.len());
            let repeat = seen.entry(unit).or_default();
            *repeat += 1;
            sample.draws.push(Draw {
                cluster: own.cluster,
                unit: *units.entry((unit, *repeat)).or_insert(next),
                probability: drawn.probability,
                weight: 1.0 / drawn.probability,
                matches: drawn.matches,
                is_counted: drawn.pairs.iter().all(|place| own.matches.contains(place) || own.others.contains(place)),
                wrong: drawn.wrong,
                change: Totals::default(),
            });
        }
    }
    sample
}

/// Case and golden, then file, title and message, and the lines of the finding.
type Unit<'a> = (usize, Option<usize>, [Option<&'a str>; 3], [Option<u32>; 2]);

/// What a person sees of a draw: the same in every trial in which a finding says the same.
fn unit<'a>(own: &TrialPairs<'a>, drawn: &Drawn) -> Unit<'a> {
    let (golden, at) = drawn.pairs.first().map_or((0, 0), |place| *place);
    let visible = |finding: &'a Finding| {
        let file = finding.file.as_ref().map(|file| file.as_str());
        ([file, finding.title.as_deref(), finding.message.as_deref()], [finding.line_start, finding.line_end])
    };
    let (texts, lines) = own.trial.and_then(|trial| trial.findings.get(at)).map_or(([None; 3], [None; 2]), visible);
    (own.index, (!drawn.of_finding).then_some(golden), texts, lines)
}

/// Pairs that match, and other candidates: with a decision or a failed question; without a judge, those worth asking about.
pub(super) fn candidates_by_score(
    prepared: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
) -> (BTreeSet<PairIndex>, BTreeSet<PairIndex>) {
    let profile = prepared.profile;
    let (mut matches, mut others) = (BTreeSet::new(), decisions.unjudged.clone());
    let by_score = !profile.uses_judge();
    for (golden, candidates) in best_candidates(prepared, trial, decisions, usize::MAX).iter().enumerate() {
        for candidate in candidates {
            let score = quantum(candidate.score);
            let place = (golden, candidate.index);
            if candidate.judged.unwrap_or(by_score && score >= quantum(profile.threshold)) {
                matches.insert(place);
            } else if candidate.judged.is_some() || by_score && score >= quantum(profile.judge_threshold) {
                others.insert(place);
            }
        }
    }
    others.retain(|place| !matches.contains(place));
    (matches, others)
}

pub(super) fn recorded_candidates(
    case: &Case,
    trial: &Trial,
    decisions: &Decisions<'_>,
) -> (BTreeSet<PairIndex>, BTreeSet<PairIndex>) {
    let places = || (0..case.goldens.len()).flat_map(|golden| (0..trial.findings.len()).map(move |f| (golden, f)));
    let decided = |place: &PairIndex| decisions.pair(place.0, place.1);
    let matches = places().filter(|place| decided(place).is_some_and(|decided| decided.matched)).collect();
    let refused = |place: &PairIndex| decided(place).is_some_and(|decided| !decided.matched);
    (matches, places().filter(|place| refused(place) || decisions.unjudged.contains(place)).collect())
}

/// What people said of this trial. "Reports no golden" is about all pairs of a finding; the highest probability is taken.
pub(super) fn draws(
    case: &Case,
    trial: &Trial,
    labels: &[Numbered<'_>],
    matches: &BTreeSet<PairIndex>,
    others: &BTreeSet<PairIndex>,
) -> Vec<Drawn> {
    let decisions = Decisions::settle(labels, &case.goldens, &trial.findings);
    let probability = |golden: Option<usize>, finding: usize| -> f64 {
        let golden = golden.map(|golden| &case.goldens[golden].id);
        let own = labels.iter().filter_map(|(_, label)| pair(label));
        let own = own.filter(|pair| pair.finding == trial.findings[finding].id && pair.golden.as_ref() == golden);
        own.map(|pair| pair.probability.unwrap_or(1.0)).fold(0.0, f64::max)
    };
    let mut drawn: Vec<Drawn> = Vec::new();
    for (&place, decided) in &decisions.pairs {
        let judged = matches.contains(&place);
        drawn.push(Drawn {
            pairs: vec![place],
            matches: usize::from(judged),
            wrong: decided.matched != judged,
            probability: probability(Some(place.0), place.1),
            of_finding: false,
        });
    }
    for (&finding, _) in decisions.unnamed.iter().filter(|(_, decided)| !decided.matched) {
        let probability = probability(None, finding);
        let own = |place: &&PairIndex| place.1 == finding && !decisions.pairs.contains_key(*place);
        let wrong: Vec<PairIndex> = matches.iter().filter(own).copied().collect();
        if !wrong.is_empty() {
            drawn.push(Drawn { matches: wrong.len(), pairs: wrong, wrong: true, probability, of_finding: true });
        }
        for place in others.iter().filter(own) {
            drawn.push(Drawn { pairs: vec![*place], matches: 0, wrong: false, probability, of_finding: true });
        }
    }
    drawn
}
