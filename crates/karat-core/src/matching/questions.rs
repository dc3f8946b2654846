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
    let mut questions = match profile.assignment {
        Assignment::Greedy => table.greedy_questions(),
        Assignment::Exact => {
            let questions = table.open_among(table.best(case).into_iter());
            if questions.is_empty() { table.duplicate_questions(case) } else { questions }
        }
    };
    questions.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.golden, a.finding).cmp(&(b.golden, b.finding))));
    let open = table.candidates.iter().filter(|candidate| candidate.state == State::Open).count();
    Round { open: open - questions.len(), questions }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    Match(f64),
    Closed,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    golden: usize,
    finding: usize,
    heuristic: f64,
    state: State,
}

/// All pairs that are or may become matches.
struct Table {
    candidates: Vec<Candidate>,
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
            for (finding, heuristic) in of_golden {
                let state = match decisions.pair(golden, finding) {
                    Some(decided) if decided.matched => {
                        State::Match(share * heuristic + (1.0 - share) * decided.confidence.unwrap_or(1.0))
                    }
                    Some(_) => State::Closed,
                    None if decisions.unjudged.contains(&(golden, finding)) => State::Closed,
                    None => State::Open,
                };
                candidates.push(Candidate { golden, finding, heuristic, state });
            }
        }
        Self { candidates, goldens, findings: trial.findings.len(), share }
    }

    /// The weight of a pair at best. An open pair weighs one unit more, so that it is asked about even if it
    /// could only tie: ties are flagged as ambiguous and must be known.
    fn optimistic_weight(&self, candidate: &Candidate) -> Option<i64> {
        let (score, grain) = match candidate.state {
            State::Open => (self.share * candidate.heuristic + (1.0 - self.share), 1),
            State::Match(score) => (score, 0),
            State::Closed => return None,
        };
        Some(assign::quantum(score).max(1) + grain)
    }

    /// The undecided pairs of a greedy assignment by heuristic score.
    fn greedy_questions(&self) -> Vec<OpenPair> {
        let edges: Vec<Edge> = self.edges(|candidate| Some(assign::quantum(candidate.heuristic).max(1)));
        let chosen = assign::greedy::assign(self.goldens, self.findings, &edges);
        self.open_among(chosen.iter().map(|pair| (pair.row as usize, pair.column as usize)))
    }

    /// The best possible assignment.
    fn best(&self, case: &PreparedCase<'_>) -> Vec<(usize, usize)> {
        let acceptance: Vec<Acceptance> = case.case.goldens.iter().map(|golden| golden.acceptance).collect();
        let edges = self.edges(|candidate| self.optimistic_weight(candidate));
        let chosen = assign::exact::assign(self.findings, &assign::tiers(&acceptance), &edges);
        chosen.iter().map(|pair| (pair.row as usize, pair.column as usize)).collect()
    }

    /// An unassigned finding may repeat a found golden, which makes it no false alarm. Asks one question per
    /// finding at a time, about its best open pair.
    fn duplicate_questions(&self, case: &PreparedCase<'_>) -> Vec<OpenPair> {
        if case.profile.duplicates_are_false {
            return Vec::new();
        }
        let chosen = self.best(case);
        let mut found = vec![false; self.goldens];
        let mut settled = vec![false; self.findings];
        for (golden, finding) in chosen {
            found[golden] = true;
            settled[finding] = true;
        }
        // A finding that repeats a trap may also repeat a true golden, and then is not a false alarm.
        let is_trap = |golden: usize| case.case.goldens[golden].acceptance == Acceptance::Trap;
        let mut trapped = vec![false; self.findings];
        for candidate in self.candidates.iter().filter(|c| matches!(c.state, State::Match(_)) && found[c.golden]) {
            let known = if is_trap(candidate.golden) { &mut trapped } else { &mut settled };
            known[candidate.finding] = true;
        }
        let mut best: Vec<Option<&Candidate>> = vec![None; self.findings];
        let open = self.candidates.iter().filter(|c| c.state == State::Open && found[c.golden]);
        for candidate in open.filter(|c| !(trapped[c.finding] && is_trap(c.golden))) {
            let slot = &mut best[candidate.finding];
            if !settled[candidate.finding] && slot.is_none_or(|other| candidate.heuristic > other.heuristic) {
                *slot = Some(candidate);
            }
        }
        best.into_iter().flatten().map(question).collect()
    }

    fn edges(&self, weight: impl Fn(&Candidate) -> Option<i64>) -> Vec<Edge> {
        let edge = |c: &Candidate| Some(Edge { row: c.golden as u32, column: c.finding as u32, weight: weight(c)? });
        self.candidates.iter().filter_map(edge).collect()
    }

    fn open_among(&self, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<OpenPair> {
        let pairs: BTreeSet<(usize, usize)> = pairs.collect();
        let wanted = |c: &&Candidate| c.state == State::Open && pairs.contains(&(c.golden, c.finding));
        self.candidates.iter().filter(wanted).map(question).collect()
    }
}

fn question(candidate: &Candidate) -> OpenPair {
    OpenPair { golden: candidate.golden, finding: candidate.finding, score: candidate.heuristic }
}
