//! Matches by identity key: exact, one to one, as many as possible.
//!
//! Findings stand in queues, in file order: one for each key, one for each file and rule, and one for each distinct glob with
//! its rule and anchor. A golden takes the first finding of its queues that is not used yet. Where there is none, goldens that
//! share a queue with it may give way by taking another finding, which only findings or goldens with several keys allow. Which
//! goldens are matched does not depend on the order of the findings: those that come first in the order of goldens and that can be
//! matched together. A used finding is never free again, and what a search in vain has seen is not searched again, so that the
//! time is linear in goldens plus findings where each has one key. Globs alone are tried out: each distinct one on the distinct
//! paths that have its rule and anchor and fit its file name, or begin as it does.

use super::outcome::{
    DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, MissReason, TrialResult, place_match,
};
use super::pair::PreparedCase;
use crate::finding::Finding;
use crate::golden::{Acceptance, Golden};
use crate::identity::key::{self, MatchedVia, RefusedKey};
use crate::path::{FilePattern, RepoPath};
use crate::profile::IdentityRules;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

pub(super) fn by_identity(case: &PreparedCase<'_>, findings: &[Finding]) -> TrialResult {
    let (goldens, rules) = (&case.case.goldens, &case.profile.identity);
    let matched = match_all(goldens, findings, rules);
    let mut result = TrialResult::default();
    let mut finding_used = vec![false; findings.len()];
    for &(golden, finding, via) in &matched.matched {
        finding_used[finding] = true;
        let found = Match::new(golden, finding, DecidedBy::Identity(via), None);
        place_match(&mut result, found, goldens[golden].acceptance);
    }
    for &(golden, why) in matched.unmatched.iter().filter(|(golden, _)| goldens[*golden].is_required()) {
        result.misses.push(Miss::new(golden, why));
    }
    for &(finding, golden) in &matched.duplicates {
        finding_used[finding] = true;
        if goldens[golden].acceptance == Acceptance::Trap {
            let why = ExtraReason::Trap { golden };
            result.extras.push(Extra { flags: vec![Flag::Trap], ..Extra::new(finding, why) });
        } else {
            result.duplicates.push(Duplicate::new(finding, Some(golden)));
        }
    }
    for (finding, f) in findings.iter().enumerate().filter(|(i, _)| !finding_used[*i]) {
        let keys = key::finding_keys(f, rules);
        let refused: Option<Vec<RefusedKey>> = keys.iter().map(|key| key::refusal(key, rules)).collect();
        let why = match refused.map(|refused| refused.first().copied()) {
            _ if goldens.is_empty() => ExtraReason::CleanCase,
            Some(None) => ExtraReason::NoKey(key::missing_finding_fields(f)),
            Some(Some(why)) => ExtraReason::KeyRefused(why),
            None => ExtraReason::UnexpectedKey,
        };
        result.extras.push(Extra::new(finding, why));
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdentityMatches {
    /// Golden index, finding index, and how.
    pub matched: Vec<(usize, usize, MatchedVia)>,
    /// The other goldens, and why.
    pub unmatched: Vec<(usize, MissReason)>,
    /// A finding that no golden was left for, and the matched golden whose key or rule it repeats.
    pub duplicates: Vec<(usize, usize)>,
}

/// Matches goldens to findings. Goldens with a key come before those with a glob, those before fallbacks;
/// within each, required goldens come before acceptable ones and those before traps.
pub fn match_all(goldens: &[Golden], findings: &[Finding], rules: &IdentityRules) -> IdentityMatches {
    let wanted: Vec<GoldenQuery> = goldens.iter().map(|golden| GoldenQuery::new(golden, rules)).collect();
    let mut index = Index::new(findings, rules, &wanted);
    let queues: Vec<Vec<usize>> = wanted.iter().map(|wanted| index.queues_of(wanted)).collect();
    let queues_with_findings = index.queues;

    let mut order: Vec<usize> = (0..goldens.len()).collect();
    order.sort_by_key(|&g| (wanted[g].via(), goldens[g].acceptance, g));
    let mut assignment = Assignment::new(&queues, queues_with_findings, goldens.len(), findings.len());
    for &g in &order {
        if !assignment.take_free(g) {
            assignment.augment(g);
        }
    }
    let Assignment { golden_of, finding_of, findings_in: queues_with_findings, .. } = assignment;

    let mut result = IdentityMatches::default();
    let is_trap = |golden: usize| goldens[golden].acceptance == Acceptance::Trap;
    let mut first_matched: Vec<Option<usize>> = vec![None; queues_with_findings.len()];
    for (g, golden) in goldens.iter().enumerate() {
        if let Some(finding) = finding_of[g] {
            result.matched.push((g, finding, wanted[g].via()));
            for &queue in &queues[g] {
                // What repeats a true golden is no known false alarm.
                let is_better = |other: usize| is_trap(other) && !is_trap(g);
                if first_matched[queue].is_none_or(is_better) {
                    first_matched[queue] = Some(g);
                }
            }
            continue;
        }
        let first = queues[g].iter().filter_map(|&queue| queues_with_findings[queue].findings.first()).min();
        let why = match first.and_then(|&f| Some((f, golden_of[f]?))) {
            Some((finding, by)) => MissReason::KeyUsed { via: wanted[g].via(), finding, by },
            None => match wanted[g].found_by(golden, rules) {
                Err(why) => why,
                Ok(_) if findings.is_empty() => MissReason::NothingReported,
                Ok(via) => MissReason::KeyAbsent(via),
            },
        };
        result.unmatched.push((g, why));
    }
    let mut duplicate_of: Vec<Option<usize>> = vec![None; findings.len()];
    for (queue, first) in queues_with_findings.iter().zip(first_matched) {
        let Some(g) = first else { continue };
        for &f in queue.findings.iter().filter(|f| golden_of[**f].is_none()) {
            let better = |other: usize| std::cmp::min_by_key(other, g, |golden| (is_trap(*golden), *golden));
            duplicate_of[f] = Some(duplicate_of[f].map_or(g, better));
        }
    }
    result.duplicates = duplicate_of.iter().enumerate().filter_map(|(f, g)| g.map(|g| (f, g))).collect();
    result
}

/// What a golden can be found by under these rules, whatever was reported; or why by nothing.
pub fn found_by(golden: &Golden, rules: &IdentityRules) -> Result<MatchedVia, MissReason> {
    GoldenQuery::new(golden, rules).found_by(golden, rules)
}

/// What a golden is looked for by: keys, or places that fit the pattern and have one of the rules, with its anchor if known.
enum GoldenQuery {
    Keys(Vec<String>),
    Places { via: MatchedVia, pattern: FilePattern, names: Vec<String> },
    Nothing,
}

impl GoldenQuery {
    fn new(golden: &Golden, rules: &IdentityRules) -> Self {
        let keys = key::golden_keys(golden);
        if keys.is_empty() {
            let names: Vec<String> = golden.rules().filter_map(key::normalize_rule).collect();
            return match golden.file.clone() {
                Some(pattern) if rules.rule_fallback && !names.is_empty() => {
                    Self::Places { via: MatchedVia::FileAndRule, pattern, names }
                }
                _ => Self::Nothing,
            };
        }
        let glob = key::parse(&keys[0]).map(|parts| parts.path).filter(|path| path.contains('*'));
        match glob.and_then(FilePattern::new) {
            Some(pattern) => {
                let names = keys.iter().filter_map(|k| key::parse(k)).map(|parts| parts.rest.to_owned()).collect();
                Self::Places { via: MatchedVia::GlobKey, pattern, names }
            }
            None => Self::Keys(keys),
        }
    }

    fn via(&self) -> MatchedVia {
        match self {
            Self::Keys(_) => MatchedVia::Key,
            Self::Places { via, .. } => *via,
            Self::Nothing => MatchedVia::FileAndRule,
        }
    }

    fn found_by(&self, golden: &Golden, rules: &IdentityRules) -> Result<MatchedVia, MissReason> {
        let keys = match self {
            Self::Places { via: MatchedVia::FileAndRule, .. } => return Ok(MatchedVia::FileAndRule),
            Self::Nothing => return Err(MissReason::NoKey(key::missing_golden_fields(golden))),
            Self::Keys(_) | Self::Places { .. } => key::golden_keys(golden),
        };
        if rules.include_source && golden.identity_key.is_none() {
            return Err(MissReason::KeyRefused(RefusedKey::NoSource));
        }
        let refused: Option<Vec<RefusedKey>> = keys.iter().map(|key| key::refusal(key, rules)).collect();
        let first = refused.and_then(|refused| refused.first().copied());
        first.map_or(Ok(self.via()), |refused| Err(MissReason::KeyRefused(refused)))
    }
}

/// Findings in file order, the used ones in front passed over.
#[derive(Default)]
struct Queue {
    findings: Vec<usize>,
    next: usize,
}

impl Queue {
    fn first_unused(&mut self, golden_of: &[Option<usize>]) -> Option<usize> {
        while self.findings.get(self.next).is_some_and(|&f| golden_of[f].is_some()) {
            self.next += 1;
        }
        self.findings.get(self.next).copied()
    }
}

/// A one-to-one assignment that grows golden by golden. A golden that is matched stays so, though its finding may change.
struct Assignment<'q> {
    /// By golden.
    queues: &'q [Vec<usize>],
    /// By queue.
    findings_in: Vec<Queue>,
    golden_of: Vec<Option<usize>>,
    finding_of: Vec<Option<usize>>,
    /// By queue: the last search that saw it. From a queue that a search in vain saw, no free finding can be reached at any later time.
    seen: Vec<usize>,
    searches: usize,
}

/// What [`Assignment::seen`] says of a queue that leads nowhere.
const EXHAUSTED: usize = usize::MAX;

impl<'q> Assignment<'q> {
    fn new(queues: &'q [Vec<usize>], findings_in: Vec<Queue>, goldens: usize, findings: usize) -> Self {
        Self {
            queues,
            seen: vec![0; findings_in.len()],
            findings_in,
            golden_of: vec![None; findings],
            finding_of: vec![None; goldens],
            searches: 0,
        }
    }

    fn assign(&mut self, golden: usize, finding: usize) {
        self.golden_of[finding] = Some(golden);
        self.finding_of[golden] = Some(finding);
    }

    /// Gives a golden the first finding of its queues that is not used; false where there is none.
    fn take_free(&mut self, golden: usize) -> bool {
        let (queues, findings_in, golden_of) = (self.queues, &mut self.findings_in, &self.golden_of);
        let first = queues[golden].iter().filter_map(|&queue| findings_in[queue].first_unused(golden_of)).min();
        if let Some(finding) = first {
            self.assign(golden, finding);
        }
        first.is_some()
    }

    /// Gives a golden a finding whose golden, or one after the other, takes another one; nothing where that cannot be.
    fn augment(&mut self, golden: usize) {
        self.searches += 1;
        // Each step: a golden, the step whose golden would take its finding, and none for the first.
        let mut steps: Vec<(usize, Option<usize>)> = vec![(golden, None)];
        let mut seen_now = Vec::new();
        let mut at = 0;
        while let Some(&(own, before)) = steps.get(at) {
            let given_up = self.finding_of[own];
            if at > 0 && self.take_free(own) {
                return self.shift_findings(&steps, before, given_up);
            }
            let queues = self.queues;
            for &queue in &queues[own] {
                if self.seen[queue] == EXHAUSTED || self.seen[queue] == self.searches {
                    continue;
                }
                self.seen[queue] = self.searches;
                seen_now.push(queue);
                let holders = self.findings_in[queue].findings.iter().filter_map(|finding| self.golden_of[*finding]);
                steps.extend(holders.filter(|holder| *holder != own).map(|holder| (holder, Some(at))));
            }
            at += 1;
        }
        seen_now.into_iter().for_each(|queue| self.seen[queue] = EXHAUSTED);
    }

    /// Gives a finding to the golden of a step, the finding of that golden to the one of the step before, and so on.
    fn shift_findings(&mut self, steps: &[(usize, Option<usize>)], mut to: Option<usize>, mut finding: Option<usize>) {
        while let (Some(step), Some(given)) = (to, finding) {
            let (golden, before) = steps[step];
            finding = self.finding_of[golden];
            self.assign(golden, given);
            to = before;
        }
    }
}

/// The findings that share something, in file order, by their paths; and the paths of each file name.
#[derive(Default)]
struct Bucket {
    paths: BTreeMap<RepoPath, Vec<usize>>,
    names: HashMap<String, BTreeSet<RepoPath>>,
}

impl Bucket {
    fn add(&mut self, path: RepoPath, finding: usize) {
        self.names.entry(path.file_name().to_owned()).or_default().insert(path.clone());
        self.paths.entry(path).or_default().push(finding);
    }

    fn fitting(&self, pattern: &FilePattern) -> Vec<usize> {
        let text = pattern.path().as_str();
        let name = pattern.path().file_name();
        let near: Vec<(&RepoPath, &Vec<usize>)> = if !pattern.is_glob() {
            self.paths.get_key_value(pattern.path()).into_iter().collect()
        } else if name.contains('*') {
            // All that fit begin as the glob does.
            let start = &text[..text.find('*').unwrap_or(text.len())];
            let from_start = self.paths.range::<str, _>((Bound::Included(start), Bound::Unbounded));
            from_start.take_while(|(path, _)| path.as_str().starts_with(start)).collect()
        } else {
            self.names.get(name).into_iter().flatten().filter_map(|path| self.paths.get_key_value(path)).collect()
        };
        near.into_iter().filter(|(path, _)| pattern.matches(path)).flat_map(|(_, findings)| findings).copied().collect()
    }
}

struct Index<'a> {
    queues: Vec<Queue>,
    by_key: HashMap<String, usize>,
    by_place: HashMap<(MatchedVia, &'a FilePattern, &'a str), usize>,
    /// By rule and anchor, where a golden's path is a glob.
    rests: HashMap<&'a str, Bucket>,
    /// By rule, where no key can be built for a golden.
    rules: HashMap<&'a str, Bucket>,
}

impl<'a> Index<'a> {
    fn new(findings: &[Finding], rules: &IdentityRules, wanted: &'a [GoldenQuery]) -> Self {
        let mut rests: HashMap<&'a str, Bucket> = HashMap::new();
        let mut by_rule: HashMap<&'a str, Bucket> = HashMap::new();
        for wanted in wanted {
            if let GoldenQuery::Places { via, names, .. } = wanted {
                let places = if *via == MatchedVia::GlobKey { &mut rests } else { &mut by_rule };
                places.extend(names.iter().map(|name| (name.as_str(), Bucket::default())));
            }
        }
        let mut queues: Vec<Queue> = Vec::new();
        let mut by_key: HashMap<String, usize> = HashMap::new();
        for (f, finding) in findings.iter().enumerate() {
            for k in key::finding_keys(finding, rules).into_iter().filter(|k| key::refusal(k, rules).is_none()) {
                if let Some(parts) = key::parse(&k).filter(|_| !rests.is_empty())
                    && let Some(bucket) = rests.get_mut(parts.rest)
                    && let Some(path) = RepoPath::new(parts.path)
                {
                    bucket.add(path, f);
                }
                let queue = *by_key.entry(k).or_insert_with(|| {
                    queues.push(Queue::default());
                    queues.len() - 1
                });
                queues[queue].findings.push(f);
            }
            let Some(path) = finding.file.as_ref().filter(|_| !by_rule.is_empty()) else { continue };
            for rule in finding.rules().filter_map(key::normalize_rule) {
                if let Some(bucket) = by_rule.get_mut(rule.as_str()) {
                    bucket.add(path.clone(), f);
                }
            }
        }
        Self { queues, by_key, by_place: HashMap::new(), rests, rules: by_rule }
    }

    fn queues_of(&mut self, wanted: &'a GoldenQuery) -> Vec<usize> {
        match wanted {
            GoldenQuery::Keys(keys) => keys.iter().filter_map(|key| self.by_key.get(key).copied()).collect(),
            GoldenQuery::Places { via, pattern, names } => {
                names.iter().filter_map(|name| self.queue_at(*via, pattern, name)).collect()
            }
            GoldenQuery::Nothing => Vec::new(),
        }
    }

    fn queue_at(&mut self, via: MatchedVia, pattern: &'a FilePattern, name: &'a str) -> Option<usize> {
        if let Some(&queue) = self.by_place.get(&(via, pattern, name)) {
            return Some(queue);
        }
        let buckets = if via == MatchedVia::GlobKey { &self.rests } else { &self.rules };
        let mut findings: Vec<usize> = buckets.get(name)?.fitting(pattern);
        findings.sort_unstable();
        findings.dedup();
        let queue = self.queues.len();
        self.queues.push(Queue { findings, next: 0 });
        self.by_place.insert((via, pattern, name), queue);
        Some(queue)
    }
}

#[cfg(test)]
mod tests;
