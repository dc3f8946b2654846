//! Every reason in a report is checked against the report, the suite, the submission and the judge's answers.

use crate::build::{PairReports, ReportInput, TrialCosts, report};
use karat::profile;
use karat_core::finding::{Finding, MergedReport};
use karat_core::golden::{Acceptance, Golden};
use karat_core::identity::key;
use karat_core::ids::{CaseId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::lines::Lines;
use karat_core::matching::assign::quantum;
use karat_core::matching::pair::{PreparedCase, prose};
use karat_core::matching::text::Vocabulary;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{Intervals, PairQuestion, run_judge_rounds, score};
use karat_core::suite::{Case, Suite, Verdict};
use karat_core::trial::{Outcome, Trial};
use karat_format::report::DetailV1;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A small deterministic generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

const FILES: [&str; 5] = ["src/a.ts", "src/b.ts", "lib/a.ts", "lib/c.ts", "d.ts"];
const WORDS: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];
const RULES: [&str; 3] = ["r1", "r2", "r3"];

fn golden(random: &mut Random, number: usize) -> Golden {
    let mut golden = Golden::new(format!("g{number}"));
    let glob = random.one_in(6);
    let file = if glob { "src/*.ts" } else { random.pick(&FILES) };
    golden.file = (!random.one_in(6)).then(|| FilePattern::new(file)).flatten();
    let start = 1 + random.below(6) as u32;
    golden.lines = (!random.one_in(4)).then_some(Lines { start, end: start + random.below(2) as u32 });
    golden.rule_id = (!random.one_in(5)).then(|| random.pick(&RULES).to_owned());
    if random.one_in(5) {
        golden.rule_aliases = vec![random.pick(&RULES).to_owned()];
    }
    if !random.one_in(3) {
        golden.keywords = (0..1 + random.below(3)).map(|_| random.pick(&WORDS).to_owned()).collect();
    }
    golden.title = (!random.one_in(4)).then(|| format!("{} {}", random.pick(&WORDS), random.pick(&WORDS)));
    golden.acceptance = match random.below(6) {
        0 => Acceptance::Acceptable,
        1 => Acceptance::Trap,
        _ => Acceptance::Required,
    };
    if random.one_in(8) {
        golden.identity_key =
            Some(format!("v2|{}|{}|chunk:{}", random.pick(&FILES), random.pick(&RULES), random.below(2)));
    } else if random.one_in(8) {
        golden.identity_key = Some(format!("v2|{}|{}|lines:{start}-{start}", random.pick(&FILES), random.pick(&RULES)));
    }
    golden
}

fn finding(random: &mut Random, number: usize) -> Finding {
    let mut finding = Finding::new(format!("f{number}"));
    finding.file = (!random.one_in(7)).then(|| RepoPath::new(random.pick(&FILES))).flatten();
    finding.line_start = (!random.one_in(4)).then(|| 1 + random.below(6) as u32);
    finding.rule_id = (!random.one_in(5)).then(|| random.pick(&RULES).to_owned());
    finding.message = Some((0..random.below(4)).map(|_| random.pick(&WORDS)).collect::<Vec<_>>().join(" "));
    finding.chunk = random.one_in(4).then(|| random.below(2) as u32);
    if random.one_in(5) {
        let (rule_id, line_start) = (Some(random.pick(&RULES).to_owned()), Some(1 + random.below(6) as u32));
        finding.merged = vec![MergedReport { rule_id, line_start, ..MergedReport::default() }];
    }
    finding
}

#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Yes,
    No,
    Silent,
}

fn script(seed: u64, golden: &str, finding: &str, budget: &mut u64) -> Answer {
    let text = format!("{seed} {golden} {finding}");
    let hash = blake3::hash(text.as_bytes()).as_bytes()[0];
    if *budget == 0 {
        return Answer::Silent;
    }
    *budget -= 1;
    match hash % 8 {
        0..=2 => Answer::Yes,
        3..=6 => Answer::No,
        _ => Answer::Silent,
    }
}

struct ScoredTrial {
    case: Case,
    trial: Trial,
    profile: Profile,
    /// The judge's answers by golden and finding, including missing ones.
    asked: BTreeMap<(String, String), Answer>,
    report: Value,
}

fn score_random_trial(seed: u64) -> ScoredTrial {
    let mut random = Random(seed * 2 + 1);
    for _ in 0..8 {
        random.below(2);
    }
    let mut case = Case::new("c");
    case.goldens = (0..random.below(7) as usize).map(|number| golden(&mut random, number)).collect();
    case.verdict = if case.is_clean() { Verdict::Safe } else { Verdict::Vulnerable };
    let mut trial = Trial::reported(CaseId::new("c"), ToolName::new("t"), 1);
    trial.findings = (0..random.below(8) as usize).map(|number| finding(&mut random, number)).collect();
    if random.one_in(20) {
        trial.findings.clear();
        trial.outcome = Outcome::Crashed;
    }
    let name = random.pick(&["karat", "karat", "crb", "crb", "identity", "identity", "recorded", "owasp"]);
    let mut profile = profile::resolve(name, &karat::profile::no_files, &[]).expect("a shipped profile");
    profile.judge = if profile.method == Method::Score && random.one_in(2) { "local" } else { "none" }.to_owned();
    if random.one_in(4) {
        profile.identity.chunk_anchors = true;
    }
    if random.one_in(6) {
        profile.identity.require_anchor = true;
    }
    if random.one_in(5) {
        profile.identity.rule_fallback = false;
    }
    profile.top_k = random.below(4) as u32;
    let mut budget = if random.one_in(4) { random.below(4) } else { u64::MAX };
    let suite = Suite { name: "s".to_owned(), digest: String::new(), cases: vec![case.clone()] };
    let trials = vec![trial.clone()];
    let mut asked = BTreeMap::new();
    let judge = JudgeName::new("scripted");
    let given: Vec<Judgement> = if random.one_in(3) && !case.goldens.is_empty() && !trial.findings.is_empty() {
        let golden = &case.goldens[random.below(case.goldens.len() as u64) as usize].id;
        let finding = &trial.findings[random.below(trial.findings.len() as u64) as usize].id;
        let matched = random.one_in(2);
        asked.insert((golden.to_string(), finding.to_string()), if matched { Answer::Yes } else { Answer::No });
        vec![judgement(&trial, &judge, golden.as_str(), finding.as_str(), matched)]
    } else {
        Vec::new()
    };
    let mut answer = |questions: &[PairQuestion<'_>]| -> Result<Vec<Judgement>, ()> {
        let mut answers = Vec::new();
        for question in questions {
            let (golden, finding) = (question.golden.id.as_str(), question.finding.id.as_str());
            let reply = script(seed, golden, finding, &mut budget);
            asked.insert((golden.to_owned(), finding.to_owned()), reply);
            if reply != Answer::Silent {
                answers.push(judgement(&trial, &judge, golden, finding, reply == Answer::Yes));
            }
        }
        Ok(answers)
    };
    let consulted =
        run_judge_rounds(&suite, &trials, given, &profile, &judge, &mut answer).expect("the script never fails");
    let mut card = score(&suite, &trials, &consulted.judgements, &profile);
    let pairs = PairReports::of_scorecard(&suite, &trials, &consulted.judgements, &profile, &card, DetailV1::All);
    let input = ReportInput {
        suite: &suite,
        profile: &profile,
        seed: 1,
        intervals: &Intervals::default(),
        scorecard: &mut card,
        keep_cases: true,
        corrected: &[],
        notes: &[],
        isolation: &BTreeMap::new(),
        recorded: &BTreeMap::new(),
        asked: &[],
        spent: &BTreeMap::new(),
    };
    let report = report(input, pairs, &TrialCosts::new(&trials));
    let report = serde_json::to_value(&report).expect("a report is JSON");
    ScoredTrial { case, trial, profile, asked, report }
}

fn judgement(trial: &Trial, judge: &JudgeName, golden: &str, finding: &str, matched: bool) -> Judgement {
    Judgement {
        case: trial.case.clone(),
        tool: trial.tool.clone(),
        trial: trial.number,
        judge: judge.clone(),
        exchange: None,
        decision: Decision::Pair(PairDecision {
            golden: Some(golden.into()),
            finding: finding.into(),
            matched,
            partial: None,
            confidence: Some(0.9),
            explanation: None,
            probability: None,
            grounds: None,
        }),
    }
}

/// Checks the reasons in a report.
struct Verifier<'a> {
    scored: &'a ScoredTrial,
    result: &'a Value,
    /// The score without a judge of each pair that the profile allows.
    heuristic: BTreeMap<(&'a str, &'a str), f64>,
    /// Pairs with more evidence than a common path.
    evident: BTreeSet<(&'a str, &'a str)>,
    assigned: BTreeSet<(&'a str, &'a str)>,
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

impl<'a> Verifier<'a> {
    fn new(scored: &'a ScoredTrial) -> Self {
        let result = &scored.report["tools"][0]["cases"][0]["trials"][0];
        let goldens = &scored.case.goldens;
        let vocabulary = Vocabulary::learn(goldens, prose);
        let prepared = PreparedCase::new(&scored.case, &vocabulary, &scored.profile);
        let findings = prepared.prepare(&scored.trial.findings);
        let (mut heuristic, mut evident) = (BTreeMap::new(), BTreeSet::new());
        for (g, golden) in goldens.iter().enumerate() {
            for (f, finding) in scored.trial.findings.iter().enumerate() {
                if let Some((score, parts)) = prepared.score(g, &findings, f) {
                    let pair = (golden.id.as_str(), finding.id.as_str());
                    heuristic.insert(pair, score);
                    if prepared.has_evidence(g, &findings, f, &parts) {
                        evident.insert(pair);
                    }
                }
            }
        }
        let pairs = |list: &str| result[list].as_array().into_iter().flatten();
        let mut assigned: BTreeSet<(&str, &str)> = BTreeSet::new();
        for found in pairs("matches").chain(pairs("acceptable")) {
            assigned.insert((text(found, "finding"), text(found, "golden")));
        }
        for extra in pairs("extras").filter(|extra| extra["reason"]["kind"] == "trap") {
            assigned.insert((text(extra, "finding"), text(&extra["reason"], "golden")));
        }
        Self { scored, result, heuristic, evident, assigned }
    }

    fn asks(&self) -> bool {
        self.scored.profile.uses_judge()
    }

    fn script_for(&self, golden: &str, finding: &str) -> Option<Answer> {
        self.scored.asked.get(&(golden.to_owned(), finding.to_owned())).copied()
    }

    fn counts(&self, golden: &str, finding: &str) -> bool {
        match self.script_for(golden, finding) {
            Some(Answer::Yes) => true,
            Some(Answer::No) => false,
            Some(Answer::Silent) | None => {
                let score = self.heuristic.get(&(golden, finding)).map(|score| quantum(*score));
                let enough = score.is_some_and(|score| score >= quantum(self.scored.profile.threshold));
                !self.asks() && enough && self.evident.contains(&(golden, finding))
            }
        }
    }

    fn rank(&self, golden: &str, finding: &str) -> (bool, i64) {
        let heuristic = self.heuristic.get(&(golden, finding)).copied().unwrap_or_default();
        let counts = self.counts(golden, finding);
        let share = self.scored.profile.heuristic_share;
        let judged = self.script_for(golden, finding) == Some(Answer::Yes);
        let score = if counts && judged { share * heuristic + (1.0 - share) * 0.9 } else { heuristic };
        (counts, quantum(score))
    }

    /// Whether no other candidate has a higher rank, or the same rank and a lower index.
    fn is_best<'s>(&self, chosen: usize, others: impl Iterator<Item = ((bool, i64), usize)> + 's) -> bool {
        let ranks: BTreeMap<usize, (bool, i64)> = others.map(|(rank, index)| (index, rank)).collect();
        let own = ranks.get(&chosen).copied();
        own.is_some_and(|own| ranks.iter().all(|(index, rank)| *rank < own || (*rank == own && *index >= chosen)))
    }

    fn finding(&self, id: &str) -> &'a Finding {
        self.scored.trial.findings.iter().find(|finding| finding.id.as_str() == id).expect("a finding of the trial")
    }

    fn miss(&self, miss: &Value) -> bool {
        let (reason, golden_id) = (&miss["reason"], text(miss, "golden"));
        let golden = self.scored.case.goldens.iter().find(|golden| golden.id.as_str() == golden_id).expect("a golden");
        let (finding, best) = (text(reason, "finding"), &miss["best"]);
        let heuristic = self.heuristic.get(&(golden_id, finding)).copied().unwrap_or_default();
        let (score, threshold) = (reason["score"].as_f64(), reason["threshold"].as_f64());
        let findings = &self.scored.trial.findings;
        let candidates = || {
            let named =
                |f: &Finding| matches!(self.script_for(golden_id, f.id.as_str()), Some(Answer::Yes | Answer::No));
            let all = findings.iter().enumerate().filter(move |(_, f)| {
                let pair = self.heuristic.get(&(golden_id, f.id.as_str()));
                pair.is_some_and(|score| quantum(*score) > 0 || named(f))
            });
            all.map(|(index, f)| (self.rank(golden_id, f.id.as_str()), index))
        };
        let shows_best = |finding: &str| {
            let at = findings.iter().position(|f| f.id.as_str() == finding);
            text(best, "finding") == finding && at.is_some_and(|at| self.is_best(at, candidates()))
        };
        let keys = |f: &Finding| -> Vec<String> {
            let rules = &self.scored.profile.identity;
            let accepted = |key: &String| {
                let chunk = key.contains("|chunk:") || key.contains("|chunklines:");
                if rules.require_anchor { key.contains("|anchor:") } else { !chunk || rules.chunk_anchors }
            };
            key::finding_keys(f, rules).into_iter().filter(accepted).collect()
        };
        let has = |f: &Finding| {
            let same_rule = || {
                let rules: Vec<String> = golden.rules().filter_map(key::normalize_rule).collect();
                f.rules().filter_map(key::normalize_rule).any(|rule| rules.contains(&rule))
            };
            let wanted: Vec<&str> = reason["keys"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            match text(reason, "by") {
                "key" => keys(f).iter().any(|key| wanted.contains(&key.as_str())),
                "glob_key" => keys(f).iter().any(|own| {
                    wanted.iter().any(|wanted| {
                        let (a, b) = (key::parse(wanted).expect("a key"), key::parse(own).expect("a key"));
                        a.rest == b.rest && karat_core::path::glob_matches(a.path, b.path)
                    })
                }),
                _ => {
                    let here = golden.file.as_ref().zip(f.file.as_ref()).is_some_and(|(own, path)| own.matches(path));
                    here && same_rule()
                }
            }
        };
        let required = &self.scored.report["profile"]["identity"];
        match text(reason, "kind") {
            "trial_failed" => self.result["outcome"] == reason["outcome"] && self.result["outcome"] != "reported",
            "nothing_reported" => self.result["findings"].as_array().is_some_and(Vec::is_empty),
            "no_candidate" => best.is_null() && candidates().next().is_none(),
            "below_threshold" => {
                let low = score < threshold && threshold == self.scored.report["profile"]["threshold"].as_f64();
                !self.asks() && shows_best(finding) && score == Some(heuristic) && low && best["judged"].is_null()
            }
            "path_alone" => {
                let enough = quantum(heuristic) >= quantum(self.scored.profile.threshold);
                !self.asks()
                    && shows_best(finding)
                    && enough
                    && best["judged"].is_null()
                    && !self.evident.contains(&(golden_id, finding))
            }
            "not_worth_asking" => {
                let low = score < threshold && threshold == self.scored.report["profile"]["judge_threshold"].as_f64();
                self.asks() && shows_best(finding) && score == Some(heuristic) && low && best["judged"].is_null()
            }
            "taken" => {
                let to = text(reason, "matched_to");
                let assigned = to != golden_id && self.assigned.contains(&(finding, to));
                assigned && shows_best(finding) && self.counts(golden_id, finding)
            }
            "refused" => {
                let said_no = self.script_for(golden_id, finding) == Some(Answer::No) && best["judged"] == false;
                said_no && text(best, "finding") == finding && text(reason, "judge") == "scripted"
            }
            "unjudged" => {
                let flagged = miss["flags"].as_array().is_some_and(|flags| flags.contains(&"unjudged".into()));
                flagged && self.script_for(golden_id, finding) == Some(Answer::Silent)
            }
            "not_asked" => {
                let worth = quantum(heuristic) >= quantum(self.scored.profile.judge_threshold);
                let to = reason["matched_to"].as_str();
                let assigned = self.assigned.iter().find(|(own, _)| *own == finding).map(|(_, golden)| *golden);
                let unasked = self.script_for(golden_id, finding).is_none() && best["judged"].is_null();
                self.asks() && worth && unasked && shows_best(finding) && to == assigned
            }
            "key_absent" => !findings.iter().any(has),
            "key_used" => {
                let to = text(reason, "matched_to");
                has(self.finding(finding)) && to != golden_id && self.assigned.contains(&(finding, to))
            }
            "key_refused" => match text(reason, "setting") {
                "chunk_anchors" => required["chunk_anchors"] == false && reason["keys"].to_string().contains("|chunk"),
                "require_anchor" => {
                    required["require_anchor"] == true && !reason["keys"].to_string().contains("|anchor:")
                }
                _ => false,
            },
            "no_key" => {
                let missing: Vec<&str> =
                    reason["missing"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let truly = [
                    ("file", golden.file.is_none()),
                    ("rule_id", golden.rules().next().is_none()),
                    ("line_start", golden.lines.is_none() && golden.anchor.is_none()),
                ];
                let expect: Vec<&str> = truly.iter().filter(|(_, missing)| *missing).map(|(name, _)| *name).collect();
                golden.identity_key.is_none() && missing == expect && !missing.is_empty()
            }
            "not_recorded" => self.scored.profile.method == Method::Recorded,
            _ => false,
        }
    }

    fn extra(&self, extra: &Value) -> bool {
        let (reason, finding_id) = (&extra["reason"], text(extra, "finding"));
        let (golden, best) = (text(reason, "golden"), &extra["best"]);
        let goldens = &self.scored.case.goldens;
        let heuristic = self.heuristic.get(&(golden, finding_id)).copied().unwrap_or_default();
        let (score, threshold) = (reason["score"].as_f64(), reason["threshold"].as_f64());
        let candidates = || {
            let named =
                |g: &Golden| matches!(self.script_for(g.id.as_str(), finding_id), Some(Answer::Yes | Answer::No));
            let all = goldens.iter().enumerate().filter(move |(_, g)| {
                let pair = self.heuristic.get(&(g.id.as_str(), finding_id));
                pair.is_some_and(|score| quantum(*score) > 0 || named(g))
            });
            all.map(|(index, g)| (self.rank(g.id.as_str(), finding_id), index))
        };
        let shows_best = || {
            let at = goldens.iter().position(|g| g.id.as_str() == golden);
            text(best, "golden") == golden && at.is_some_and(|at| self.is_best(at, candidates()))
        };
        match text(reason, "kind") {
            "clean_case" => goldens.is_empty(),
            "nothing_near" => best.is_null() && candidates().next().is_none(),
            "below_threshold" => {
                let low = score < threshold && threshold == self.scored.report["profile"]["threshold"].as_f64();
                !self.asks() && low && score == Some(heuristic) && shows_best()
            }
            "path_alone" => {
                let enough = quantum(heuristic) >= quantum(self.scored.profile.threshold);
                !self.asks() && enough && shows_best() && !self.evident.contains(&(golden, finding_id))
            }
            "not_worth_asking" => {
                let low = score < threshold && threshold == self.scored.report["profile"]["judge_threshold"].as_f64();
                self.asks() && low && score == Some(heuristic) && shows_best()
            }
            // The nearest by place of those that were refused, which need not have the highest score.
            "refused" => self.script_for(golden, finding_id) == Some(Answer::No) && text(best, "golden") == golden,
            "unjudged" => self.script_for(golden, finding_id) == Some(Answer::Silent),
            "not_asked" => {
                // A trap may be reported by several findings.
                let assigned = match reason["matched_to"].as_str() {
                    Some(finding) => self.assigned.contains(&(finding, golden)),
                    None => !self.assigned.iter().any(|(_, own)| *own == golden),
                };
                let unasked = self.script_for(golden, finding_id).is_none() && best["judged"].is_null();
                self.asks() && unasked && shows_best() && assigned
            }
            "trap" => goldens.iter().any(|g| g.id.as_str() == golden && g.acceptance == Acceptance::Trap),
            "unexpected_key" => {
                let keys: Vec<&str> =
                    reason["keys"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let expected: Vec<String> = goldens.iter().flat_map(key::golden_keys).collect();
                !keys.is_empty() && !expected.iter().any(|key| keys.contains(&key.as_str()) && !key.contains("|chunk"))
            }
            "key_refused" => reason["keys"].as_array().is_some_and(|keys| !keys.is_empty()),
            "no_key" => {
                let f = self.finding(finding_id);
                let place = f.line_start.is_none() && f.chunk.is_none();
                let truly = [("file", f.file.is_none()), ("rule_id", f.rule_id.is_none()), ("line_start", place)];
                let expect: Vec<&str> = truly.iter().filter(|(_, missing)| *missing).map(|(name, _)| *name).collect();
                let missing: Vec<&str> =
                    reason["missing"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                missing == expect && !missing.is_empty()
            }
            "not_recorded" => self.scored.profile.method == Method::Recorded,
            "not_compared" => self.scored.profile.method == Method::Verdict,
            _ => false,
        }
    }
}

#[test]
fn reasons_can_be_verified_from_the_report() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..6_000 {
        let scored = score_random_trial(seed);
        let verifier = Verifier::new(&scored);
        let described = |what: &Value| format!("seed {seed}, {}: {what:#}", scored.profile.name);
        for miss in verifier.result["misses"].as_array().into_iter().flatten() {
            assert!(verifier.miss(miss), "{}", described(miss));
            *kinds.entry(format!("miss {}", text(&miss["reason"], "kind"))).or_default() += 1;
        }
        for extra in verifier.result["extras"].as_array().into_iter().flatten() {
            assert!(verifier.extra(extra), "{}", described(extra));
            *kinds.entry(format!("extra {}", text(&extra["reason"], "kind"))).or_default() += 1;
        }
    }
    let described = kinds.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    assert_eq!(
        described,
        "extra below_threshold, extra clean_case, extra key_refused, extra no_key, extra not_asked, \
         extra not_compared, extra not_recorded, extra not_worth_asking, extra nothing_near, extra path_alone, extra refused, extra trap, \
         extra unexpected_key, extra unjudged, miss below_threshold, miss key_absent, miss key_refused, miss key_used, \
         miss no_candidate, miss no_key, miss not_asked, miss not_recorded, miss not_worth_asking, \
         miss nothing_reported, miss path_alone, miss refused, miss taken, miss trial_failed, miss unjudged"
    );
}
