//! What is worth asking a judge: pairs whose answer can still change who is assigned to whom.
//!
//! Questions come in rounds. In each, every open pair is taken to be the best match it could turn out to be, and the best
//! assignment under that hope is worked out; only its open pairs are asked about. When that assignment has no open pair
//! left, no answer to any other question could improve on it, and those questions are saved.

use super::assign::{self, Edge};
use super::decisions::Decisions;
use super::pair::PreparedCase;
use super::search::Search;
use super::text::Vocabulary;
use crate::golden::Acceptance;
use crate::profile::{Assignment, Method, Profile};
use crate::trial::{Outcome, Trial};
use std::collections::BTreeSet;

/// A pair to ask a judge about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    /// Index of the golden.
    pub golden: usize,
    /// Index of the finding.
    pub finding: usize,
    /// What file, lines and words make of it.
    pub score: f64,
}

/// What to ask now, the most promising first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// The questions; when there are none, the trial is settled.
    pub ask: Vec<Ask>,
    /// Candidates that are neither decided nor asked about now. Once the trial is settled, so many questions were saved.
    pub open: usize,
}

/// The next questions about one trial, given what is decided so far.
pub fn next_round(
    case: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
    vocabulary: &Vocabulary,
    profile: &Profile,
) -> Round {
    if trial.outcome != Outcome::Reported || profile.method != Method::Score || !profile.asks_a_judge() {
        return Round::default();
    }
    let search = Search::new(case, &trial.findings, decisions, vocabulary, profile);
    let table = Table::new(&search, case, trial, decisions, profile);
    let mut ask = match profile.assignment {
        Assignment::Greedy => table.given_by_greed(),
        Assignment::Exact => {
            let hoped = table.hoped_for(case);
            if hoped.is_empty() { table.possible_repeats(case, profile) } else { hoped }
        }
    };
    ask.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.golden, a.finding).cmp(&(b.golden, b.finding))));
    let open = table.candidates.iter().filter(|candidate| candidate.state == State::Open).count();
    Round { open: open - ask.len(), ask }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Nobody has said anything.
    Open,
    /// A match, of this final score.
    Match(f64),
    /// No match, or nobody can tell.
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
    fn new(
        search: &Search<'_>,
        case: &PreparedCase<'_>,
        trial: &Trial,
        decisions: &Decisions<'_>,
        profile: &Profile,
    ) -> Self {
        let share = profile.heuristic_share;
        let goldens = case.case.goldens.len();
        // Greedy assignment looks at all pairs and asks about the one it gives each golden.
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
                let state = match decisions.about(golden, finding) {
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

    /// What a pair would weigh if it were all it could be. An open one weighs a grain more, so that it is asked about also
    /// where it could do no more than draw level: two assignments of equal weight are told, and so must be known.
    fn hope(&self, candidate: &Candidate) -> Option<i64> {
        let (score, grain) = match candidate.state {
            State::Open => (self.share * candidate.heuristic + (1.0 - self.share), 1),
            State::Match(score) => (score, 0),
            State::Closed => return None,
        };
        Some(assign::quantum(score).max(1) + grain)
    }

    /// The pairs that greedy assignment gives each golden by the heuristic alone, as far as nobody has decided them.
    fn given_by_greed(&self) -> Vec<Ask> {
        let edges: Vec<Edge> = self.edges(|candidate| Some(assign::quantum(candidate.heuristic).max(1)));
        let chosen = assign::greedy::assign(self.goldens, self.findings, &edges);
        self.open_among(chosen.iter().map(|pair| (pair.row as usize, pair.column as usize)))
    }

    /// The open pairs of the best assignment there could be.
    fn hoped_for(&self, case: &PreparedCase<'_>) -> Vec<Ask> {
        let chosen = self.best(case);
        self.open_among(chosen.into_iter())
    }

    fn best(&self, case: &PreparedCase<'_>) -> Vec<(usize, usize)> {
        let acceptance: Vec<Acceptance> = case.case.goldens.iter().map(|golden| golden.acceptance).collect();
        let edges = self.edges(|candidate| self.hope(candidate));
        let chosen = assign::exact::assign(self.findings, &assign::tiers(&acceptance), &edges);
        chosen.iter().map(|pair| (pair.row as usize, pair.column as usize)).collect()
    }

    /// Findings that nobody was assigned to may repeat a golden that was found, which makes them no false alarm: one question
    /// for each of them at a time, its best open pair.
    fn possible_repeats(&self, case: &PreparedCase<'_>, profile: &Profile) -> Vec<Ask> {
        if profile.duplicates_are_false {
            return Vec::new();
        }
        let chosen = self.best(case);
        let mut found = vec![false; self.goldens];
        let mut settled = vec![false; self.findings];
        for (golden, finding) in chosen {
            found[golden] = true;
            settled[finding] = true;
        }
        // A finding that repeats a trap may repeat something true as well, and then it is no false alarm.
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
        best.into_iter().flatten().map(ask).collect()
    }

    fn edges(&self, weight: impl Fn(&Candidate) -> Option<i64>) -> Vec<Edge> {
        let edge = |c: &Candidate| Some(Edge { row: c.golden as u32, column: c.finding as u32, weight: weight(c)? });
        self.candidates.iter().filter_map(edge).collect()
    }

    fn open_among(&self, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Ask> {
        let pairs: BTreeSet<(usize, usize)> = pairs.collect();
        let wanted = |c: &&Candidate| c.state == State::Open && pairs.contains(&(c.golden, c.finding));
        self.candidates.iter().filter(wanted).map(ask).collect()
    }
}

fn ask(candidate: &Candidate) -> Ask {
    Ask { golden: candidate.golden, finding: candidate.finding, score: candidate.heuristic }
}
