//! Selects the pairs whose answer can still change the assignment.
//!
//! Questions come in rounds. Each round computes the best assignment under the assumption that every open pair
//! turns out to be the best match it could be, and asks only about the open pairs of that assignment. When it
//! has none, no further answer could improve the assignment, and the remaining questions are saved.

use super::assign::{self, Edge};
use super::decisions::Decisions;
use super::pair::PreparedCase;
use super::search::Search;
use crate::golden::Acceptance;
use crate::profile::{Assignment, Method};
use crate::trial::{Outcome, Trial};
use std::collections::BTreeSet;

/// A pair to ask a judge about, by index of the golden and of the finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenPair {
    pub(crate) golden: usize,
    pub(crate) finding: usize,
    /// What file, lines and words make of it.
    pub(crate) score: f64,
}

/// What to ask now, the most promising first; when there is nothing, the trial is settled.
#[derive(Default)]
pub(crate) struct Round {
    pub(crate) questions: Vec<OpenPair>,
    /// Candidates that are neither decided nor asked about now; once the trial is settled, the number of questions saved.
    pub(crate) open: usize,
}

/// The next questions about one trial, given what is decided so far.
pub(crate) fn next_round(case: &PreparedCase<'_>, trial: &Trial, decisions: &Decisions<'_>) -> Round {
    let profile = case.profile;
    if trial.outcome != Outcome::Reported || profile.method != Method::Score || !profile.uses_judge() {
        return Round::default();
    }
    let table = Table::new(&Search::new(case, &trial.findings, decisions), case, trial, decisions);
    let best = table.best(case);
    let mut questions: Vec<OpenPair> =
        table.open().filter(|pair| best.contains(&(pair.golden, pair.finding))).collect();
    if questions.is_empty() && profile.assignment == Assignment::Exact && !profile.duplicates_are_false {
        questions = table.duplicate_questions(case, &best);
    }
    questions.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.golden, a.finding).cmp(&(b.golden, b.finding))));
    Round { open: table.open().count() - questions.len(), questions }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    Match(f64),
    Closed,
}

/// All pairs that are or may become matches.
struct Table {
    candidates: Vec<(OpenPair, State)>,
    goldens: usize,
    findings: usize,
    share: f64,
}

impl Table {
    fn new(search: &Search<'_>, case: &PreparedCase<'_>, trial: &Trial, decisions: &Decisions<'_>) -> Self {
        let (profile, share) = (case.profile, case.profile.heuristic_share);
        let goldens = case.case.goldens.len();
        // Greedy assignment considers all pairs and asks about the one it picks for each golden.
        let most = if profile.assignment == Assignment::Greedy { search.most_edges() } else { profile.top_k as usize };
        let nearest = search.nearest(assign::quantum(profile.judge_threshold), most);
        let mut candidates = Vec::new();
        for (golden, mut of_golden) in nearest.into_iter().enumerate() {
            let near: BTreeSet<usize> = of_golden.iter().map(|(finding, _)| *finding).collect();
            let named = decisions.pairs.range((golden, 0)..(golden + 1, 0));
            let matched = named.filter(|((_, finding), decided)| decided.matched && !near.contains(finding));
            for ((_, finding), _) in matched {
                of_golden.extend(search.scorer.score(golden, *finding).map(|pair| (*finding, pair.heuristic)));
            }
            for (finding, score) in of_golden {
                let state = match decisions.pair(golden, finding) {
                    Some(decided) if decided.matched => {
                        State::Match(share * score + (1.0 - share) * decided.confidence.unwrap_or(1.0))
                    }
                    Some(_) => State::Closed,
                    None if decisions.unjudged.contains(&(golden, finding)) => State::Closed,
                    None => State::Open,
                };
                candidates.push((OpenPair { golden, finding, score }, state));
            }
        }
        Self { candidates, goldens, findings: trial.findings.len(), share }
    }

    fn best(&self, case: &PreparedCase<'_>) -> BTreeSet<(usize, usize)> {
        let greedy = case.profile.assignment == Assignment::Greedy;
        let weight = |pair: &OpenPair, state: State| {
            // An open pair weighs one unit more, as ties must be known: they are flagged as ambiguous.
            let (score, grain) = match state {
                _ if greedy => (pair.score, 0),
                State::Open => (self.share * pair.score + (1.0 - self.share), 1),
                State::Match(score) => (score, 0),
                State::Closed => return None,
            };
            Some(assign::quantum(score).max(1) + grain)
        };
        let edge = |(pair, state): &(OpenPair, State)| {
            Some(Edge { row: pair.golden as u32, column: pair.finding as u32, weight: weight(pair, *state)? })
        };
        let edges: Vec<Edge> = self.candidates.iter().filter_map(edge).collect();
        let chosen = match case.profile.assignment {
            Assignment::Greedy => assign::greedy::assign(self.goldens, self.findings, &edges),
            Assignment::Exact => assign::exact::assign(self.findings, &assign::tiers(&case.case.goldens), &edges),
        };
        chosen.iter().map(|pair| (pair.row as usize, pair.column as usize)).collect()
    }

    /// A finding that repeats a found golden is no false alarm. Asks about the best open pair of each finding.
    fn duplicate_questions(&self, case: &PreparedCase<'_>, chosen: &BTreeSet<(usize, usize)>) -> Vec<OpenPair> {
        let mut found = vec![false; self.goldens];
        let mut settled = vec![false; self.findings];
        for &(golden, finding) in chosen {
            found[golden] = true;
            settled[finding] = true;
        }
        // A finding that repeats a trap may also repeat a true golden, and then is not a false alarm.
        let is_trap = |golden: usize| case.case.goldens[golden].acceptance == Acceptance::Trap;
        let mut trapped = vec![false; self.findings];
        for (pair, _) in self.candidates.iter().filter(|(p, state)| matches!(state, State::Match(_)) && found[p.golden])
        {
            let known = if is_trap(pair.golden) { &mut trapped } else { &mut settled };
            known[pair.finding] = true;
        }
        let mut best: Vec<Option<OpenPair>> = vec![None; self.findings];
        let open = self.open().filter(|pair| found[pair.golden] && !settled[pair.finding]);
        for pair in open.filter(|pair| !(trapped[pair.finding] && is_trap(pair.golden))) {
            let slot = &mut best[pair.finding];
            if slot.is_none_or(|other| pair.score > other.score) {
                *slot = Some(pair);
            }
        }
        best.into_iter().flatten().collect()
    }

    fn open(&self) -> impl Iterator<Item = OpenPair> {
        self.candidates.iter().filter(|(_, state)| *state == State::Open).map(|(pair, _)| *pair)
    }
}
