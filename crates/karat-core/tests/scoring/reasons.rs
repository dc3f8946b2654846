//! Every reason that is stated is true, and names the candidate that decided.

use crate::properties::{findings, goldens};
use crate::story::{describe, judgement, profile, score_one, suite};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::{Decision, Judgement, UnjudgedPair};
use karat_core::matching::outcome::{Candidate, ExtraReason, MissReason, RefusedBy, TrialResult};
use karat_core::profile::{Evidence, Method, Profile};
use karat_core::scorecard::{PairSelection, candidates, score, select_pairs};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use proptest::prelude::*;

/// A judge refused what lies on the golden's lines; another finding scores higher and is matched elsewhere.
#[test]
fn a_refused_candidate_is_named_before_a_neighbour_that_scores_higher() {
    let goldens = "g1 a.py:10 kw=sql,query | x\n g2 a.py:40 kw=race | y";
    let findings = "f1 a.py:10 | something else\n f2 a.py:40 | sql query race";
    let judged = "m g1 f1 no 0.7\n m g2 f2 yes 0.9";
    let (card, suite, trial) = score_one(&profile("karat", "judge = \"m\""), goldens, findings, judged);
    let result = &card.tools[0].cases[0].trials[0].result;
    assert_eq!(
        describe(result, &suite.cases[0], &trial),
        "g2=f2 0.940\nmiss g1: a judge refused the best candidate\nextra f1: a judge refused its best golden"
    );
    let miss = &result.misses[0];
    assert_eq!(miss.why, MissReason::Refused { finding: 0, judgement: 0 });
    assert_eq!(miss.best.as_ref().map(|best| best.index), Some(0));
    assert_eq!(miss.refused.iter().map(|refused| refused.index).collect::<Vec<_>>(), [0]);
    assert_eq!(result.extras[0].refused.iter().map(|refused| refused.index).collect::<Vec<_>>(), [0]);
}

#[test]
fn without_a_judge_the_score_refuses() {
    let (card, ..) = score_one(&profile("karat", ""), "g a.py:10 kw=sql,query | x", "f a.py:90 | a remark", "");
    let miss = &card.tools[0].cases[0].trials[0].result.misses[0];
    assert_eq!(miss.refused[0].refused_by, Some(RefusedBy::Score { threshold: 0.575 }));
}

#[test]
fn pairs_on_which_judge_and_rules_disagree_are_selected() {
    let goldens = "g1 a.py:5 kw=sql | x\n g2 b.py:5 kw=race | y";
    let findings = "f1 a.py:5 | sql\n f2 z.rb:100 | race\n f3 b.py:5 | race";
    let select = |judged: &str, selection| -> Vec<String> {
        let (_, suite, trial) = score_one(&profile("karat", ""), goldens, findings, judged);
        let judged: Vec<Judgement> = judged.lines().map(judgement).collect();
        let pairs = select_pairs(&suite, &[trial], &judged, &profile("karat", "judge = \"m\""), selection);
        pairs.iter().map(|pair| format!("g{} f{} {}", pair.golden + 1, pair.finding + 1, pair.matched)).collect()
    };
    let judged = "m g1 f1 no 0.95\nm g2 f2 yes 0.55\nm g2 f3 yes 0.9\nhuman:ann g1 f3 yes 0.5";
    assert_eq!(select(judged, PairSelection::Disputed), ["g1 f1 false", "g2 f2 true"]);
    assert_eq!(select(judged, PairSelection::Unsure), ["g2 f2 true"]);
    assert_eq!(select("human:ann g1 f1 no", PairSelection::Disputed), [""; 0], "what people decided is not disputed");
}

struct Story<'a> {
    rules: &'a Profile,
    case: &'a Case,
    trial: &'a Trial,
    judgements: &'a [Judgement],
    result: &'a TrialResult,
    /// By golden.
    candidates: Vec<Vec<Candidate>>,
}

impl Story<'_> {
    fn is_matched(&self, golden: usize, finding: usize) -> bool {
        let mut found = self.result.matches.iter().chain(&self.result.acceptable);
        found.any(|found| (found.golden, found.finding) == (golden, finding))
            || self.result.extras.iter().any(|e| e.finding == finding && e.why == ExtraReason::Trap { golden })
    }

    fn matched_golden(&self, finding: usize) -> Option<usize> {
        (0..self.case.goldens.len()).find(|golden| self.is_matched(*golden, finding))
    }

    /// Whether a judgement is about exactly this pair; one that names no golden is about all of them.
    fn is_about(&self, judgement: &Judgement, golden: usize, finding: usize) -> bool {
        let Decision::Pair(pair) = &judgement.decision else { return false };
        let id = &self.case.goldens[golden].id;
        pair.finding == self.trial.findings[finding].id && pair.golden.as_ref().is_none_or(|own| own == id)
    }

    fn is_decided(&self, golden: usize, finding: usize) -> bool {
        let says_no =
            |own: &Judgement| matches!(&own.decision, Decision::Pair(pair) if pair.golden.is_some() || !pair.matched);
        self.judgements.iter().any(|own| says_no(own) && self.is_about(own, golden, finding))
    }

    fn is_refused(&self, golden: usize, finding: usize, judgement: usize) -> bool {
        let own = &self.judgements[judgement];
        self.is_about(own, golden, finding) && matches!(&own.decision, Decision::Pair(pair) if !pair.matched)
    }

    fn is_unjudged(&self, golden: usize, finding: usize) -> bool {
        let (golden, finding) = (&self.case.goldens[golden].id, &self.trial.findings[finding].id);
        let asked = |own: &UnjudgedPair| own.golden == *golden && own.finding == *finding;
        let failed = self.judgements.iter().any(|own| matches!(&own.decision, Decision::Unjudged(pair) if asked(pair)));
        let vote = |own: &Judgement| match &own.decision {
            Decision::Pair(pair) if pair.golden.as_ref() == Some(golden) && pair.finding == *finding => {
                Some((own.judge.is_human(), pair.matched))
            }
            _ => None,
        };
        let votes: Vec<(bool, bool)> = self.judgements.iter().filter_map(vote).collect();
        let people = votes.iter().any(|(human, _)| *human);
        let votes: Vec<bool> = votes.into_iter().filter(|(human, _)| *human == people).map(|(_, yes)| yes).collect();
        // All are equally sure.
        let split = !votes.is_empty() && 2 * votes.iter().filter(|yes| **yes).count() == votes.len();
        failed || split
    }

    fn candidate(&self, golden: usize, finding: usize) -> &Candidate {
        let found = self.candidates[golden].iter().find(|candidate| candidate.index == finding);
        found.unwrap_or_else(|| panic!("{finding} is no candidate of {golden}"))
    }

    fn counts(candidate: &Candidate) -> bool {
        candidate.judged.unwrap_or(candidate.refused_by.is_none())
    }

    fn place(&self, candidate: &Candidate) -> f64 {
        let (parts, weights) = (&candidate.parts, &self.rules.weights);
        weights.file * parts.file.unwrap_or(0.0) + weights.line * parts.line.unwrap_or(0.0)
    }

    fn has_evidence(&self, golden: usize, finding: usize) -> bool {
        let parts = self.candidate(golden, finding).parts;
        let (golden, finding) = (&self.case.goldens[golden], &self.trial.findings[finding]);
        self.rules.evidence.is_empty()
            || self.rules.evidence.iter().any(|evidence| match evidence {
                Evidence::Line => parts.line > Some(0.0),
                Evidence::Keyword => parts.keyword > Some(0.0),
                Evidence::Text => parts.text.is_some_and(|text| text > 0.0 && text >= self.rules.evidence_text_floor),
                Evidence::Rule => golden.rule_id == finding.rule_id,
                Evidence::Cwe | Evidence::Category => false,
            })
    }

    fn check_refused(&self, refused: &[Candidate], pair: impl Fn(&Candidate) -> (usize, usize)) {
        for candidate in refused {
            let (golden, finding) = pair(candidate);
            match candidate.refused_by {
                Some(RefusedBy::Judge(judgement)) => assert!(self.is_refused(golden, finding, judgement)),
                Some(RefusedBy::Score { threshold }) => assert!(candidate.heuristic < threshold),
                Some(RefusedBy::NoEvidence) => assert!(!self.has_evidence(golden, finding)),
                None => panic!("{candidate:?} was not refused"),
            }
        }
    }

    fn check_miss(&self, golden: usize, why: MissReason) -> Option<usize> {
        let all = &self.candidates;
        match why {
            MissReason::NothingReported => assert!(self.trial.findings.is_empty()),
            MissReason::NoCandidate => assert!(all[golden].is_empty() && self.rules.require.is_empty()),
            MissReason::NoneAllowed => assert!(all[golden].is_empty() && !self.rules.require.is_empty()),
            MissReason::BelowThreshold { finding, score, threshold } => {
                assert!(!self.rules.uses_judge() && threshold == self.rules.threshold && score < threshold);
                assert!(all[golden].iter().all(|candidate| candidate.heuristic <= score + 1e-9));
                return Some(finding);
            }
            MissReason::PathAlone { finding } => {
                assert!(
                    !self.rules.uses_judge()
                        && self.candidate(golden, finding).heuristic + 1e-9 >= self.rules.threshold
                );
                assert!(!self.has_evidence(golden, finding));
                return Some(finding);
            }
            MissReason::NotWorthAsking { finding, score, threshold } => {
                assert!(self.rules.uses_judge() && threshold == self.rules.judge_threshold && score < threshold);
                assert!(!self.is_decided(golden, finding));
                return Some(finding);
            }
            MissReason::Taken { finding, by } => {
                assert!(by != golden && self.is_matched(by, finding));
                assert!(Self::counts(self.candidate(golden, finding)));
                return Some(finding);
            }
            MissReason::Refused { finding, judgement } => {
                assert!(self.is_refused(golden, finding, judgement));
                let own = self.place(self.candidate(golden, finding));
                let named = all[golden].iter().filter(|other| match other.refused_by {
                    Some(RefusedBy::Judge(at)) => names_golden(&self.judgements[at]),
                    _ => false,
                });
                named.for_each(|other| assert!(self.place(other) <= own + 1e-9, "{other:?} is nearer"));
                // A pair that nobody was asked about does not count either.
                assert!(all[golden].iter().all(|other| other.judged != Some(true)), "one was accepted");
                return Some(finding);
            }
            MissReason::Unjudged { finding: Some(finding) } => {
                assert!(self.is_unjudged(golden, finding));
                return Some(finding);
            }
            MissReason::NotAsked { finding, matched_to } => {
                assert!(self.rules.uses_judge() && !self.is_decided(golden, finding));
                assert!(self.candidate(golden, finding).heuristic + 1e-9 >= self.rules.judge_threshold);
                assert_eq!(matched_to, self.matched_golden(finding));
                return Some(finding);
            }
            MissReason::KeyUsed { finding, by, .. } => assert!(self.is_matched(by, finding)),
            MissReason::NotRecorded => assert!(self.result.matches.iter().all(|found| found.golden != golden)),
            MissReason::KeyAbsent(_) | MissReason::KeyRefused(_) | MissReason::NoKey(_) => {}
            other => panic!("{other:?}"),
        }
        None
    }

    fn check_extra(&self, finding: usize, why: ExtraReason) -> Option<usize> {
        let is_near = |candidates: &Vec<Candidate>| candidates.iter().any(|candidate| candidate.index == finding);
        match why {
            ExtraReason::CleanCase => assert!(self.case.goldens.is_empty()),
            ExtraReason::NothingNear => assert!(!self.candidates.iter().any(is_near) && self.rules.require.is_empty()),
            ExtraReason::NoneAllowed => assert!(!self.candidates.iter().any(is_near) && !self.rules.require.is_empty()),
            ExtraReason::BelowThreshold { golden, score, threshold } => {
                assert!(!self.rules.uses_judge() && threshold == self.rules.threshold && score < threshold);
                return Some(golden);
            }
            ExtraReason::PathAlone { golden } => {
                assert!(
                    !self.rules.uses_judge()
                        && self.candidate(golden, finding).heuristic + 1e-9 >= self.rules.threshold
                );
                assert!(!self.has_evidence(golden, finding));
                return Some(golden);
            }
            ExtraReason::NotWorthAsking { golden, score, threshold } => {
                assert!(self.rules.uses_judge() && threshold == self.rules.judge_threshold && score < threshold);
                assert!(!self.is_decided(golden, finding));
                return Some(golden);
            }
            ExtraReason::Refused { golden, judgement } => {
                assert!(self.is_refused(golden, finding, judgement));
                return Some(golden);
            }
            ExtraReason::Unjudged { golden: Some(golden) } => {
                assert!(self.is_unjudged(golden, finding));
            }
            ExtraReason::NotAsked { golden, matched_to } => {
                assert!(self.rules.uses_judge() && !self.is_decided(golden, finding));
                assert!(self.candidate(golden, finding).heuristic + 1e-9 >= self.rules.judge_threshold);
                let matches = |other: &usize| *other != finding && self.is_matched(golden, *other);
                assert!(matched_to.is_none_or(|other| matches(&other)));
                assert_eq!(matched_to.is_some(), (0..self.trial.findings.len()).any(|other| matches(&other)));
                return Some(golden);
            }
            ExtraReason::Trap { .. } | ExtraReason::NotRecorded => {}
            ExtraReason::UnexpectedKey | ExtraReason::KeyRefused(_) | ExtraReason::NoKey(_) => {}
            other => panic!("{other:?}"),
        }
        None
    }

    fn check(&self) {
        for miss in &self.result.misses {
            let named = self.check_miss(miss.golden, miss.why);
            assert!(named.is_none() || miss.best.as_ref().map(|best| best.index) == named, "{miss:?}");
            self.check_refused(&miss.refused, |candidate| (miss.golden, candidate.index));
        }
        for extra in &self.result.extras {
            let named = self.check_extra(extra.finding, extra.why);
            assert!(named.is_none() || extra.best.as_ref().map(|best| best.index) == named, "{extra:?}");
            self.check_refused(&extra.refused, |candidate| (candidate.index, extra.finding));
        }
    }
}

fn names_golden(judgement: &Judgement) -> bool {
    matches!(&judgement.decision, Decision::Pair(pair) if pair.golden.is_some())
}

/// Golden and finding by number, judge, and what it says.
fn judged() -> impl Strategy<Value = Vec<(usize, usize, usize, u8)>> {
    proptest::collection::vec((0..7_usize, 0..9_usize, 0..3_usize, 0..6_u8), 0..12)
}

fn judgements(goldens: &[Golden], findings: &[Finding], judged: &[(usize, usize, usize, u8)]) -> Vec<Judgement> {
    let there = judged.iter().filter(|(golden, finding, ..)| *golden < goldens.len() && *finding < findings.len());
    let build = |&(golden, finding, judge, says): &(usize, usize, usize, u8)| {
        let judge = ["m", "n", "human:ann"][judge];
        let plain = judgement(&format!("{judge} g{golden} f{finding} {} 0.8", if says == 0 { "yes" } else { "no" }));
        match says {
            4 => judgement(&format!("{judge} - f{finding} no")),
            5 => {
                let (golden, finding) = (goldens[golden].id.clone(), findings[finding].id.clone());
                let why = "it was busy".to_owned();
                Judgement { decision: Decision::Unjudged(UnjudgedPair { golden, finding, why }), ..plain }
            }
            _ => plain,
        }
    };
    there.map(build).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn stated_reasons_are_true(goldens in goldens(), findings in findings(), judged in judged()) {
        let judgements = judgements(&goldens, &findings, &judged);
        let suite: Suite = suite(vec![Case { goldens, ..Case::new("c") }]);
        let trial = Trial { findings, ..Trial::reported(CaseId::new("c"), ToolName::new("t"), 1) };
        for (name, changes) in [
            ("karat", ""),
            ("karat", "judge = \"m\""),
            ("karat", "judge = \"m\"\nassignment = \"greedy\"\njudge_threshold = 0.5"),
            ("karat", "evidence = [\"rule\"]\nthreshold = 0.3"),
            ("karat", "require = [\"file\"]"),
            ("crb", ""),
            ("identity", ""),
            ("recorded", ""),
        ] {
            let rules = profile(name, changes);
            let card = score(&suite, std::slice::from_ref(&trial), &judgements, &rules);
            let case = &suite.cases[0];
            let mut candidates = candidates(&suite, case, &trial, &judgements, &rules, usize::MAX);
            if rules.method != Method::Score {
                candidates = vec![Vec::new(); case.goldens.len()];
            }
            let result = &card.tools[0].cases[0].trials[0].result;
            Story { rules: &rules, case, trial: &trial, judgements: &judgements, result, candidates }.check();
        }
    }
}
