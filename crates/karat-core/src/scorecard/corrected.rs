//! What pooled precision, recall and F1 would be without the judge's errors, by what people said of some pairs.
//!
//! The truth is what scoring would give, had people decided about every candidate. So each labelled pair that the judge got
//! wrong is turned round, and its trial scored again; [`TwoPhase`] makes estimates of what changes. A golden without a
//! candidate is missed whatever anybody says, and a finding without one reports nothing.

use super::{Numbered, Scorecard, ToolScore, TrialScore, vocabulary};
use crate::clusters;
use crate::finding::Finding;
use crate::ids::JudgeName;
use crate::judgement::{Decision, Judgement, PairDecision};
use crate::matching::assign::quantum;
use crate::matching::decisions::{Decided, Decisions};
use crate::matching::pair::PreparedCase;
use crate::matching::text::Vocabulary;
use crate::matching::trial::best_candidates;
use crate::profile::{Method, Profile};
use crate::stats::correct::{Corrected, Refused};
use crate::stats::two_phase::{Cluster, Draw, Figure, Term, Totals, TwoPhase};
use crate::suite::{Case, Suite};
use crate::trial::{Outcome, Trial};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// So many wrong answers that hang together are put right in all combinations.
const MOST_TOGETHER: usize = 12;

/// Corrected figures of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedTool {
    /// The tool's place in the scorecard.
    pub tool: usize,
    /// Findings with a label.
    pub findings: usize,
    /// Required goldens of trials with a label.
    pub goldens: usize,
    /// Pooled precision.
    pub precision: CorrectedMetric,
    /// Pooled recall.
    pub recall: CorrectedMetric,
    /// Pooled F1.
    pub f1: CorrectedMetric,
}

/// A figure as the judge has it, and as it would be without errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedMetric {
    /// As the judge has it; none where it is undefined.
    pub raw: Option<f64>,
    /// By the judge's sensitivity and specificity.
    pub rogan_gladen: Result<Corrected, Refused>,
    /// By what labels add to what the judge says of all.
    pub ppi: Result<Corrected, Refused>,
}

/// How labels were picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// No label says with which probability it was picked, so all are taken to be as likely.
    Alike,
    /// Labels say it; so many that do not are left out.
    Stated {
        /// Labels without a probability.
        left_out: usize,
    },
}

/// How these labels were picked. Labels that state no probability cannot be weighed beside those that do; what people say of
/// extras and in audits is about no pair, and corrects nothing.
pub fn picked(labels: &[Judgement]) -> Picked {
    let of_pairs = || labels.iter().filter_map(pair);
    let without = of_pairs().filter(|pair| pair.probability.is_none()).count();
    if without == of_pairs().count() { Picked::Alike } else { Picked::Stated { left_out: without } }
}

/// What a scorecard was made of, and what people say of some pairs. The scorecard must not have heard the labels itself.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// The trials.
    pub trials: &'a [Trial],
    /// The judgements that the scorecard heard.
    pub judgements: &'a [Judgement],
    /// What people say.
    pub labels: &'a [Judgement],
    /// The rules.
    pub profile: &'a Profile,
    /// The field whose values are clusters of cases that are alike; without one every case is its own.
    pub cluster: Option<&'a str>,
    /// How often intervals shall hold the truth.
    pub level: f64,
}

/// The figures of every tool that has labels.
pub fn corrected(scorecard: &Scorecard, labelled: Labelled<'_>) -> Vec<CorrectedTool> {
    let alike = picked(labelled.labels) == Picked::Alike;
    let usable = |label: &&Judgement| pair(label).is_some_and(|pair| alike || pair.probability.is_some());
    let labels: Vec<&Judgement> = labelled.labels.iter().filter(usable).collect();
    if labels.is_empty() {
        return Vec::new();
    }
    let vocabulary = vocabulary(labelled.suite, labelled.profile);
    let heard = by_trial(labelled.judgements.iter());
    let said = by_trial(labels.into_iter());
    let context = Context { labelled, vocabulary: &vocabulary, heard: &heard, said: &said };
    let tools = scorecard.tools.iter().enumerate();
    tools.filter_map(|(place, tool)| context.of_tool(place, tool)).collect()
}

fn pair(label: &Judgement) -> Option<&PairDecision> {
    match &label.decision {
        Decision::Pair(pair) => Some(pair),
        _ => None,
    }
}

/// Judgements by case, tool and trial.
type ByTrial<'a> = HashMap<(&'a str, &'a str, u32), Vec<Numbered<'a>>>;

fn by_trial<'a>(judgements: impl Iterator<Item = &'a Judgement>) -> ByTrial<'a> {
    let mut by_trial: ByTrial<'a> = HashMap::new();
    for (index, judgement) in judgements.enumerate() {
        let about = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
        by_trial.entry(about).or_default().push((index, judgement));
    }
    by_trial
}

/// Index of a golden and of a finding.
type Place = (usize, usize);

struct Context<'a> {
    labelled: Labelled<'a>,
    vocabulary: &'a Vocabulary,
    heard: &'a ByTrial<'a>,
    said: &'a ByTrial<'a>,
}

impl<'a> Context<'a> {
    fn of_tool(&self, place: usize, tool: &'a ToolScore) -> Option<CorrectedTool> {
        if !self.labelled.labels.iter().any(|label| label.tool == tool.tool && pair(label).is_some()) {
            return None;
        }
        let trials = self.trial_pairs(tool);
        let labelled_findings = labelled_sides(&trials, |place| place.1);
        if labelled_findings.is_empty() {
            return None;
        }
        let labelled_goldens = labelled_sides(&trials, |place| place.0);
        let goldens =
            labelled_goldens.iter().filter(|(trial, golden)| trials[*trial].case.goldens[*golden].is_required());
        let sample = if matches!(self.labelled.profile.method, Method::Score | Method::Recorded) {
            let mut sample = first_phase(&trials);
            sample.weigh();
            self.second_phase(&trials, sample)
        } else {
            Err((first_phase(&trials), Refused::NotByPairs))
        };
        let metric = |figure: Figure| match &sample {
            Ok(sample) => CorrectedMetric {
                raw: figure.value(sample.judged()),
                rogan_gladen: sample.rogan_gladen(figure, self.labelled.level),
                ppi: sample.ppi(figure, self.labelled.level),
            },
            Err((judged, why)) => {
                CorrectedMetric { raw: figure.value(judged.judged()), rogan_gladen: Err(*why), ppi: Err(*why) }
            }
        };
        Some(CorrectedTool {
            tool: place,
            findings: labelled_findings.len(),
            goldens: goldens.count(),
            precision: metric(Figure::Precision),
            recall: metric(Figure::Recall),
            f1: metric(Figure::F1),
        })
    }

    /// Every trial that counts.
    fn trial_pairs(&self, tool: &'a ToolScore) -> Vec<TrialPairs<'a>> {
        let Labelled { suite, cluster, .. } = self.labelled;
        let names = cluster.map_or_else(
            || (0..suite.cases.len()).collect(),
            |field| clusters::numbers(suite.cases.iter().map(|case| case.field(field))),
        );
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let counted = tool.cases.iter().flat_map(|score| score.counted().map(move |trial| (score.case, trial)));
        let numbered: Vec<(usize, usize, &TrialScore)> = counted
            .map(|(case, trial)| {
                let next = numbers.len();
                (*numbers.entry(names[case]).or_insert(next), case, trial)
            })
            .collect();
        numbered.into_par_iter().map(|(cluster, case, score)| self.pairs_of(tool, cluster, case, score)).collect()
    }

    fn pairs_of(&self, tool: &'a ToolScore, cluster: usize, index: usize, score: &'a TrialScore) -> TrialPairs<'a> {
        let Labelled { suite, trials, profile, .. } = self.labelled;
        let case = &suite.cases[index];
        let reported = score.line.filter(|_| score.outcome == Outcome::Reported);
        let Some(line) = reported else {
            return TrialPairs {
                cluster,
                index,
                case,
                score,
                trial: None,
                matches: BTreeSet::new(),
                others: BTreeSet::new(),
                drawn: Vec::new(),
            };
        };
        let trial = &trials[line];
        let decisions = self.decisions(case, trial);
        let (matches, others) = if profile.method == Method::Score {
            let prepared = PreparedCase::new(case, self.vocabulary, profile);
            candidates_by_score(&prepared, trial, &decisions, self.vocabulary, profile)
        } else {
            recorded_candidates(case, trial, &decisions)
        };
        let said = self.said.get(&(case.id.as_str(), tool.tool.as_str(), trial.number)).map_or(&[][..], Vec::as_slice);
        let drawn = draws(case, trial, said, &matches, &others);
        TrialPairs { cluster, index, case, score, trial: Some(trial), matches, others, drawn }
    }

    fn decisions(&self, case: &Case, trial: &Trial) -> Decisions<'a> {
        let about = (case.id.as_str(), trial.tool.as_str(), trial.number);
        let heard = self.heard.get(&about).map_or(&[][..], Vec::as_slice);
        Decisions::settle(heard, &case.goldens, &trial.findings)
    }

    /// Adds what labels change.
    fn second_phase(&self, trials: &[TrialPairs<'a>], mut sample: TwoPhase) -> Result<TwoPhase, (TwoPhase, Refused)> {
        let mut starts = Vec::with_capacity(trials.len());
        let mut next = 0;
        for own in trials {
            starts.push(next);
            next += own.drawn.len();
        }
        let is_single = trials.iter().all(TrialPairs::is_single) && sample.draws.iter().all(|draw| draw.is_counted);
        let of_trial = |(own, start): (&TrialPairs<'a>, &usize)| {
            let draws = &sample.draws[*start..*start + own.drawn.len()];
            self.changes(own, draws, is_single)
        };
        let changes: Result<Vec<Changes>, Refused> = trials.par_iter().zip(&starts).map(of_trial).collect();
        let changes = match changes {
            Ok(changes) => changes,
            Err(why) => return Err((sample, why)),
        };
        sample.is_single = is_single;
        for ((changes, own), start) in changes.into_iter().zip(trials).zip(starts) {
            for (draw, change) in sample.draws[start..].iter_mut().zip(changes.of_draws) {
                draw.change = change;
            }
            sample.terms.extend(changes.terms);
            let extremes = &mut sample.clusters[own.cluster].extremes;
            *extremes = [extremes[0].plus(changes.extremes[0], 1.0), extremes[1].plus(changes.extremes[1], 1.0)];
        }
        Ok(sample)
    }

    fn changes(&self, own: &TrialPairs<'a>, draws: &[Draw], is_single: bool) -> Result<Changes, Refused> {
        let base = own.totals();
        let Some(trial) = own.trial.filter(|_| !own.drawn.is_empty() || is_single) else {
            return Ok(Changes { extremes: [base; 2], ..Changes::default() });
        };
        let prepared = PreparedCase::new(own.case, self.vocabulary, self.labelled.profile);
        let mut scorer = Scorer {
            trial,
            line: own.score.line.unwrap_or_default(),
            prepared: &prepared,
            vocabulary: self.vocabulary,
            profile: self.labelled.profile,
            decisions: self.decisions(own.case, trial),
            judge: &JudgeName::new("human"),
        };
        let turned = |chosen: &[usize]| -> Vec<(Place, bool)> {
            let pairs = chosen.iter().flat_map(|draw| &own.drawn[*draw].pairs);
            pairs.map(|place| (*place, !own.matches.contains(place))).collect()
        };
        let of_draws = (0..draws.len()).map(|draw| scorer.totals(&turned(&[draw])).plus(base, -1.0)).collect();
        let (sure, open): (Vec<usize>, Vec<usize>) =
            (0..draws.len()).filter(|draw| draws[*draw].wrong).partition(|draw| draws[*draw].weight <= 1.0);
        let mut terms = Vec::new();
        let mut add = |times: f64, scaled: [usize; 2], change: Totals| {
            if change != Totals::default() {
                terms.push(Term { cluster: own.cluster, times, scaled, change });
            }
        };
        let corrected = if sure.is_empty() { base } else { scorer.totals(&turned(&sure)) };
        add(1.0, [0; 2], corrected.plus(base, -1.0));
        for group in own.groups(&open) {
            if group.len() > MOST_TOGETHER {
                return Err(Refused::TooManyTogether);
            }
            let chosen = |set: usize| (0..group.len()).filter(move |bit| set >> bit & 1 == 1).map(|bit| group[bit]);
            let of_set = |set: usize| {
                if set == 0 {
                    return corrected;
                }
                let with_sure: Vec<usize> = sure.iter().copied().chain(chosen(set)).collect();
                scorer.totals(&turned(&with_sure))
            };
            let mut sums: Vec<Totals> = (0..1 << group.len()).map(of_set).collect();
            // Subtracting from every set what its subsets change leaves what it changes beyond them.
            for bit in 0..group.len() {
                for set in (0..sums.len()).filter(|set| set >> bit & 1 == 1) {
                    sums[set] = sums[set].plus(sums[set ^ 1 << bit], -1.0);
                }
            }
            for (set, change) in sums.into_iter().enumerate().skip(1) {
                let times = chosen(set).map(|draw| draws[draw].weight).product();
                let as_others = chosen(set).filter(|draw| draws[*draw].matches == 0 && draws[*draw].is_counted).count();
                add(times, [chosen(set).count() - as_others, as_others], change);
            }
        }
        let all = |matched: bool| -> Vec<(Place, bool)> {
            own.matches.iter().chain(&own.others).map(|place| (*place, matched)).collect()
        };
        let extremes = if is_single { [scorer.totals(&all(false)), scorer.totals(&all(true))] } else { [base; 2] };
        Ok(Changes { of_draws, terms, extremes })
    }
}

/// What labels change in one trial.
#[derive(Default)]
struct Changes {
    of_draws: Vec<Totals>,
    terms: Vec<Term>,
    /// The counts were no candidate a match, and were all of them.
    extremes: [Totals; 2],
}

/// One trial: its candidates, and what people said of them.
struct TrialPairs<'a> {
    cluster: usize,
    /// Index of the case.
    index: usize,
    case: &'a Case,
    score: &'a TrialScore,
    /// None where it did not end in a report.
    trial: Option<&'a Trial>,
    /// Pairs that count as a match.
    matches: BTreeSet<Place>,
    /// Candidates that do not.
    others: BTreeSet<Place>,
    drawn: Vec<Drawn>,
}

/// Pairs that were picked together and that the judge gave the same answer.
struct Drawn {
    pairs: Vec<Place>,
    matches: usize,
    wrong: bool,
    probability: f64,
    /// Whether people said of the finding, and not of a pair, that it reports nothing.
    of_finding: bool,
}

impl TrialPairs<'_> {
    fn totals(&self) -> Totals {
        let counts = self.score.counts;
        Totals { tp: counts.tp as f64, fp: counts.fp as f64, required: (counts.tp + counts.fn_) as f64 }
    }

    /// Whether no golden and no finding has several candidates.
    fn is_single(&self) -> bool {
        let (mut goldens, mut findings) = (BTreeSet::new(), BTreeSet::new());
        self.matches
            .iter()
            .chain(&self.others)
            .all(|(golden, finding)| goldens.insert(*golden) && findings.insert(*finding))
    }

    /// Draws that share a golden or a finding, be it through pairs that match. Draws of different groups change the counts
    /// independently.
    fn groups(&self, draws: &[usize]) -> Vec<Vec<usize>> {
        let goldens = self.case.goldens.len();
        let findings = self.trial.map_or(0, |trial| trial.findings.len());
        let mut parents: Vec<usize> = (0..goldens + findings).collect();
        let turned = draws.iter().flat_map(|draw| &self.drawn[*draw].pairs);
        let sure = self.drawn.iter().filter(|draw| draw.wrong).flat_map(|draw| &draw.pairs);
        for &(golden, finding) in self.matches.iter().chain(turned).chain(sure) {
            let (a, b) = (root(&mut parents, golden), root(&mut parents, goldens + finding));
            parents[a] = b;
        }
        for draw in draws {
            let places: Vec<usize> = self.drawn[*draw].pairs.iter().map(|place| place.0).collect();
            for pair in places.windows(2) {
                let (a, b) = (root(&mut parents, pair[0]), root(&mut parents, pair[1]));
                parents[a] = b;
            }
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

/// By place of the trial: goldens or findings of labelled pairs.
fn labelled_sides(trials: &[TrialPairs<'_>], side: impl Fn(&Place) -> usize) -> BTreeSet<(usize, usize)> {
    let of_trial = |(at, own): (usize, &TrialPairs<'_>)| -> Vec<(usize, usize)> {
        let pairs = own.drawn.iter().flat_map(|draw| &draw.pairs);
        pairs.map(|place| (at, side(place))).collect()
    };
    trials.iter().enumerate().flat_map(of_trial).collect()
}

/// What the judge says of all pairs, and which were picked.
fn first_phase(trials: &[TrialPairs<'_>]) -> TwoPhase {
    let mut sample = TwoPhase::default();
    // A finding that says the same twice in one trial is two; in two trials it is one that was labelled once.
    let mut units: BTreeMap<(Unit<'_>, usize), usize> = BTreeMap::new();
    for own in trials {
        if sample.clusters.len() <= own.cluster {
            sample.clusters.resize(own.cluster + 1, Cluster::default());
        }
        let cluster = &mut sample.clusters[own.cluster];
        cluster.totals = cluster.totals.plus(own.totals(), 1.0);
        cluster.matches += own.matches.len();
        cluster.others += own.others.len();
        let mut seen: BTreeMap<Unit<'_>, usize> = BTreeMap::new();
        for drawn in &own.drawn {
            let (unit, next) = (Unit::new(own, drawn), units.len());
            let repeat = seen.entry(unit.clone()).or_default();
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

/// What a person sees of a draw: the same in every trial in which a finding says the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Unit<'a> {
    case: usize,
    golden: Option<usize>,
    file: Option<&'a str>,
    lines: (Option<u32>, Option<u32>),
    title: Option<&'a str>,
    message: Option<&'a str>,
}

impl<'a> Unit<'a> {
    fn new(own: &TrialPairs<'a>, drawn: &Drawn) -> Self {
        let (golden, at) = drawn.pairs.first().map_or((0, 0), |place| *place);
        let finding: Option<&Finding> = own.trial.and_then(|trial| trial.findings.get(at));
        Self {
            case: own.index,
            golden: (!drawn.of_finding).then_some(golden),
            file: finding.and_then(|finding| finding.file.as_ref()).map(|file| file.as_str()),
            lines: finding.map_or((None, None), |finding| (finding.line_start, finding.line_end)),
            title: finding.and_then(|finding| finding.title.as_deref()),
            message: finding.and_then(|finding| finding.message.as_deref()),
        }
    }
}

/// Pairs that match, and other candidates: those that somebody decided or was asked about, and where no judge is asked those
/// that one would be asked about.
fn candidates_by_score(
    prepared: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
    vocabulary: &Vocabulary,
    profile: &Profile,
) -> (BTreeSet<Place>, BTreeSet<Place>) {
    let (mut matches, mut others) = (BTreeSet::new(), decisions.unjudged.clone());
    let by_score = !profile.asks_a_judge();
    let of_goldens = best_candidates(prepared, trial, decisions, vocabulary, profile, usize::MAX);
    for (golden, candidates) in of_goldens.iter().enumerate() {
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

fn recorded_candidates(case: &Case, trial: &Trial, decisions: &Decisions<'_>) -> (BTreeSet<Place>, BTreeSet<Place>) {
    let places = || (0..case.goldens.len()).flat_map(|golden| (0..trial.findings.len()).map(move |f| (golden, f)));
    let decided = |place: &Place| decisions.about(place.0, place.1);
    let matches = places().filter(|place| decided(place).is_some_and(|decided| decided.matched)).collect();
    let refused = |place: &Place| decided(place).is_some_and(|decided| !decided.matched);
    let others = places().filter(|place| refused(place) || decisions.unjudged.contains(place)).collect();
    (matches, others)
}

/// What people said of this trial.
///
/// That a finding reports no golden is said of all its pairs at once. Of several labels of one pair the highest probability is
/// taken.
fn draws(
    case: &Case,
    trial: &Trial,
    said: &[Numbered<'_>],
    matches: &BTreeSet<Place>,
    others: &BTreeSet<Place>,
) -> Vec<Drawn> {
    let decisions = Decisions::settle(said, &case.goldens, &trial.findings);
    let probability = |golden: Option<usize>, finding: usize| -> f64 {
        let golden = golden.map(|golden| &case.goldens[golden].id);
        let own = said.iter().filter_map(|(_, label)| pair(label));
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
        let own = |place: &&Place| place.1 == finding && !decisions.pairs.contains_key(*place);
        let wrong: Vec<Place> = matches.iter().filter(own).copied().collect();
        if !wrong.is_empty() {
            drawn.push(Drawn { matches: wrong.len(), pairs: wrong, wrong: true, probability, of_finding: true });
        }
        for place in others.iter().filter(own) {
            drawn.push(Drawn { pairs: vec![*place], matches: 0, wrong: false, probability, of_finding: true });
        }
    }
    drawn
}

/// Scores one trial with some decisions turned round.
struct Scorer<'a> {
    trial: &'a Trial,
    line: usize,
    prepared: &'a PreparedCase<'a>,
    vocabulary: &'a Vocabulary,
    profile: &'a Profile,
    decisions: Decisions<'a>,
    judge: &'a JudgeName,
}

impl<'a> Scorer<'a> {
    fn totals(&mut self, turned: &[(Place, bool)]) -> Totals {
        let mut before: Vec<(Place, Option<Decided<'a>>)> = Vec::new();
        for &(place, matched) in turned {
            let decided =
                Decided { matched, partial: false, confidence: None, judge: self.judge, judgement: usize::MAX };
            before.push((place, self.decisions.pairs.insert(place, decided)));
        }
        let score =
            TrialScore::new(self.prepared, self.trial, self.line, &self.decisions, self.vocabulary, self.profile);
        for (place, decided) in before.into_iter().rev() {
            match decided {
                Some(decided) => drop(self.decisions.pairs.insert(place, decided)),
                None => drop(self.decisions.pairs.remove(&place)),
            }
        }
        let counts = score.counts;
        Totals { tp: counts.tp as f64, fp: counts.fp as f64, required: (counts.tp + counts.fn_) as f64 }
    }
}

#[cfg(test)]
mod tests;
