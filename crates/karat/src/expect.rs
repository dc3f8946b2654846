//! Expectations from a trusted scan: what a tool reports today is what it must report later.

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::identity::{key, stated};
use karat_core::ids::{CaseId, GoldenId};
use karat_core::lines::Lines;
use karat_core::matching::by_identity::match_all;
use karat_core::path::FilePattern;
use karat_core::profile::IdentityRules;
use karat_core::suite::{Case, Verdict};
use karat_core::trial::{Outcome, Trial};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The cases with their expectations, and how they differ from those before.
#[derive(Debug, Default)]
pub struct Expectations {
    /// All cases: those given, updated, then new ones in the order of the trials.
    pub cases: Vec<Case>,
    /// Goldens that are new, as `case: key`.
    pub added: Vec<String>,
    /// Goldens whose key the scan lacks, as `case: key`.
    pub gone: Vec<String>,
    /// How many goldens are unchanged.
    pub kept: usize,
    /// Findings without a key that the rules accept, as `case: finding`.
    pub keyless: Vec<String>,
    /// Trials that did not end in a report, as `case: outcome`; their cases stay as they were.
    pub failed: Vec<String>,
}

/// Turns the findings of trials, at most one for each case, into goldens with keys. Goldens of `known` whose key is found
/// again stay as they are; those whose key is gone stay too, unless `prune`.
pub fn from_trials(trials: &[Trial], known: &[Case], rules: &IdentityRules, prune: bool) -> Expectations {
    let mut result = Expectations::default();
    let mut cases: Vec<Case> = known.to_vec();
    let mut index: BTreeMap<CaseId, usize> = cases.iter().enumerate().map(|(i, c)| (c.id.clone(), i)).collect();
    for trial in trials {
        // A case whose trial failed is a case of the suite all the same.
        let slot = *index.entry(trial.case.clone()).or_insert_with(|| {
            cases.push(Case::new(trial.case.as_str()));
            cases.len() - 1
        });
        if trial.outcome != Outcome::Reported {
            result.failed.push(format!("{}: {}", trial.case, trial.outcome.as_str()));
            continue;
        }
        update(&mut cases[slot], trial, rules, prune, &mut result);
    }
    result.cases = cases;
    result
}

fn update(case: &mut Case, trial: &Trial, rules: &IdentityRules, prune: bool, result: &mut Expectations) {
    // The same matching as in scoring, with globs, folded reports and fallbacks.
    let matched = match_all(&case.goldens, &trial.findings, rules);
    let mut met = vec![false; case.goldens.len()];
    let mut expected = vec![false; trial.findings.len()];
    for (golden, finding, _) in matched.matched {
        met[golden] = true;
        expected[finding] = true;
    }
    // Another report of a golden that is not required is not a new golden.
    for (finding, golden) in matched.duplicates {
        expected[finding] |= !case.goldens[golden].is_required();
    }
    let mut met = met.into_iter();
    case.goldens.retain(|golden| {
        if met.next().unwrap_or_default() {
            result.kept += 1;
            return true;
        }
        // A golden that is not required stays, although it was not found.
        if !golden.is_required() {
            return true;
        }
        let shown = key::golden_keys(golden).into_iter().next().unwrap_or_else(|| golden.id.to_string());
        result.gone.push(format!("{}: {shown}", case.id));
        !prune
    });
    let mut ids = Ids { taken: case.goldens.iter().map(|g| g.id.to_string()).collect(), next: HashMap::new() };
    for (finding, _) in trial.findings.iter().zip(&expected).filter(|(_, expected)| !**expected) {
        let usable = |key: &String| key::refusal(key, rules).is_none() && stated::check(key, rules).is_ok();
        match key::finding_key(finding, rules).filter(usable) {
            None => result.keyless.push(format!("{}: {}", case.id, finding.id)),
            Some(key) => {
                result.added.push(format!("{}: {key}", case.id));
                case.goldens.push(golden(finding, key, &mut ids));
            }
        }
    }
    if !case.is_clean() {
        case.verdict = Verdict::Vulnerable;
    }
}

/// Ids have a maximum length, and a line and a number must fit behind the rule.
const MAX_STEM: usize = 120;

struct Ids {
    taken: BTreeSet<String>,
    /// By stem: the number to try next.
    next: HashMap<String, usize>,
}

impl Ids {
    fn give(&mut self, stem: &str) -> String {
        let next = self.next.entry(stem.to_owned()).or_insert(1);
        loop {
            let id = if *next == 1 { stem.to_owned() } else { format!("{stem}-{next}") };
            *next += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

fn golden(finding: &Finding, key: String, ids: &mut Ids) -> Golden {
    let rule = finding.rule_id.as_deref().unwrap_or_default();
    let line = finding.line_start.map_or_else(String::new, |line| format!("-{line}"));
    let plain: String = rule.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let short: String = plain.trim_matches('-').chars().take(MAX_STEM).collect();
    let stem = format!("{}{line}", if short.is_empty() { "finding" } else { &short });
    let headline = finding.headline().lines().map(str::trim).find(|line| !line.is_empty());
    let mut golden = Golden {
        id: GoldenId::new(ids.give(&stem)),
        severity: finding.severity,
        category: finding.category.clone(),
        file: finding.file.as_ref().and_then(|path| FilePattern::new(path.as_str())),
        lines: Lines::from_either(finding.line_start, finding.line_end),
        function: finding.function.clone(),
        title: Some(headline.unwrap_or(&stem).to_owned()),
        rule_id: finding.rule_id.clone(),
        anchor: finding.anchor.clone(),
        identity_key: Some(key),
        cwe: finding.cwe.clone(),
        ..Golden::new("")
    };
    follow_key(&mut golden);
    golden
}

/// If a tool's own key names another place or rule than its finding, the golden states what the key names.
fn follow_key(golden: &mut Golden) {
    let contradictions = stated::contradictions(golden);
    let Some(parts) = golden.identity_key.as_deref().and_then(key::parse) else { return };
    let (path, rule) = (FilePattern::new(parts.path), parts.rule.to_owned());
    for contradiction in contradictions {
        match contradiction.field {
            "file" => golden.file = path.clone(),
            "rule_id" => golden.rule_id = Some(rule.clone()),
            "anchor" => golden.anchor = Some(contradiction.key),
            _ => golden.lines = None,
        }
    }
}
