//! Matches by identity key: exact, one to one, in time linear in goldens plus findings.
//!
//! Findings stand in queues, in file order: one for each key, one for each file and rule, and one for each distinct glob. A
//! golden takes the first finding of its queues that is not used yet. A used finding is never free again, so that no queue is
//! walked through more than once. Globs alone are tried out: each distinct one on the distinct paths that have its rule and
//! anchor and fit its file name, or begin as it does.

pub use super::key::RefusedKey;

use super::key::{self, MissingKeyFields};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::path::{FilePattern, RepoPath};
use crate::profile::IdentityRules;
use std::collections::HashMap;

/// What a golden and its finding share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedVia {
    /// The same key.
    Key,
    /// A glob path, and the same rule and anchor.
    GlobKey,
    /// No key could be built: the same file and rule.
    FileAndRule,
}

/// Why a golden has no finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Unmatched {
    /// It cannot be found, whatever is reported.
    Unfindable(Unfindable),
    /// No finding has what it is looked for by.
    Absent(MatchedVia),
    /// The first finding that has it reports another golden, and so do all others.
    Used { via: MatchedVia, finding: usize, by: usize },
}

/// Why no finding can match a golden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfindable {
    /// No key can be built, and nothing else may match it.
    NoKey(MissingKeyFields),
    /// The rules do not accept its kind of key.
    Refused(RefusedKey),
}

/// The result for one trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentityMatches {
    /// Golden index, finding index, and how.
    pub matched: Vec<(usize, usize, MatchedVia)>,
    /// The other goldens, and why.
    pub unmatched: Vec<(usize, Unmatched)>,
    /// A finding that no golden was left for, and the matched golden whose key or rule it repeats.
    pub duplicates: Vec<(usize, usize)>,
}

/// Matches goldens to findings. Goldens with a key come before those with a glob, those before fallbacks;
/// within each, required goldens come before acceptable ones and those before traps.
pub fn match_all(goldens: &[Golden], findings: &[Finding], rules: &IdentityRules) -> IdentityMatches {
    let wanted: Vec<GoldenQuery<'_>> = goldens.iter().map(|golden| GoldenQuery::new(golden, rules)).collect();
    let mut index = Index::new(findings, rules, &wanted);
    let queues: Vec<Vec<usize>> = wanted.iter().map(|wanted| index.queues_of(wanted)).collect();
    let mut queues_with_findings = index.queues;

    let mut order: Vec<usize> = (0..goldens.len()).collect();
    order.sort_by_key(|&g| (wanted[g].rank(), goldens[g].acceptance, g));
    let mut golden_of: Vec<Option<usize>> = vec![None; findings.len()];
    let mut finding_of: Vec<Option<usize>> = vec![None; goldens.len()];
    for &g in &order {
        let first = queues[g].iter().filter_map(|&queue| queues_with_findings[queue].first_unused(&golden_of)).min();
        if let Some(f) = first {
            golden_of[f] = Some(g);
            finding_of[g] = Some(f);
        }
    }

    let mut result = IdentityMatches::default();
    let mut first_matched: Vec<Option<usize>> = vec![None; queues_with_findings.len()];
    for (g, golden) in goldens.iter().enumerate() {
        if let Some(finding) = finding_of[g] {
            result.matched.push((g, finding, wanted[g].via()));
            queues[g].iter().for_each(|&queue| _ = first_matched[queue].get_or_insert(g));
            continue;
        }
        let first = queues[g].iter().filter_map(|&queue| queues_with_findings[queue].findings.first()).min();
        let why = match (first.and_then(|&f| Some((f, golden_of[f]?))), unfindable(golden, &wanted[g], rules)) {
            (Some((finding, by)), _) => Unmatched::Used { via: wanted[g].via(), finding, by },
            (None, Some(why)) => Unmatched::Unfindable(why),
            (None, None) => Unmatched::Absent(wanted[g].via()),
        };
        result.unmatched.push((g, why));
    }
    let mut duplicate_of: Vec<Option<usize>> = vec![None; findings.len()];
    for (queue, first) in queues_with_findings.iter().zip(first_matched) {
        let Some(g) = first else { continue };
        for &f in queue.findings.iter().filter(|f| golden_of[**f].is_none()) {
            duplicate_of[f] = Some(duplicate_of[f].map_or(g, |other| other.min(g)));
        }
    }
    result.duplicates = duplicate_of.iter().enumerate().filter_map(|(f, g)| g.map(|g| (f, g))).collect();
    result
}

/// What a golden can be found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// A key.
    Key,
    /// File and rule alone, because no key can be built.
    FileAndRule,
    /// Nothing, whatever is reported.
    Nothing(Unfindable),
}

/// What a golden can be found by under these rules, whatever was reported.
pub fn found_by(golden: &Golden, rules: &IdentityRules) -> FoundBy {
    let wanted = GoldenQuery::new(golden, rules);
    match (unfindable(golden, &wanted, rules), wanted) {
        (Some(why), _) => FoundBy::Nothing(why),
        (None, GoldenQuery::FileAndRule { .. }) => FoundBy::FileAndRule,
        (None, _) => FoundBy::Key,
    }
}

fn unfindable(golden: &Golden, wanted: &GoldenQuery<'_>, rules: &IdentityRules) -> Option<Unfindable> {
    let keys = match wanted {
        GoldenQuery::FileAndRule { .. } => return None,
        GoldenQuery::Nothing => return Some(Unfindable::NoKey(key::missing_golden_fields(golden))),
        GoldenQuery::Keys(_) | GoldenQuery::Glob { .. } => key::golden_keys(golden),
    };
    if rules.include_source && golden.identity_key.is_none() {
        return Some(Unfindable::Refused(RefusedKey::NoSource));
    }
    let refused: Option<Vec<RefusedKey>> = keys.iter().map(|key| key::refusal(key, rules)).collect();
    refused.and_then(|refused| refused.first().copied()).map(Unfindable::Refused)
}

enum GoldenQuery<'a> {
    Keys(Vec<String>),
    Glob { pattern: FilePattern, rests: Vec<String> },
    FileAndRule { file: &'a FilePattern, rules: Vec<String> },
    Nothing,
}

impl<'a> GoldenQuery<'a> {
    fn new(golden: &'a Golden, rules: &IdentityRules) -> Self {
        let keys = key::golden_keys(golden);
        if keys.is_empty() {
            let names: Vec<String> = golden.rules().filter_map(key::normalize_rule).collect();
            return match &golden.file {
                Some(file) if rules.rule_fallback && !names.is_empty() => Self::FileAndRule { file, rules: names },
                _ => Self::Nothing,
            };
        }
        let glob = key::parse(&keys[0]).map(|parts| parts.path).filter(|path| path.contains('*'));
        match glob.and_then(FilePattern::new) {
            Some(pattern) => {
                let rests = keys.iter().filter_map(|k| key::parse(k)).map(|parts| parts.rest.to_owned()).collect();
                Self::Glob { pattern, rests }
            }
            None => Self::Keys(keys),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Keys(_) => 0,
            Self::Glob { .. } => 1,
            Self::FileAndRule { .. } => 2,
            Self::Nothing => 3,
        }
    }

    fn via(&self) -> MatchedVia {
        match self {
            Self::Keys(_) => MatchedVia::Key,
            Self::Glob { .. } => MatchedVia::GlobKey,
            Self::FileAndRule { .. } | Self::Nothing => MatchedVia::FileAndRule,
        }
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

/// The findings that share something, by their paths.
#[derive(Default)]
struct Bucket {
    /// By rising path.
    paths: Vec<RepoPath>,
    /// By index of the path, in file order.
    findings: Vec<Vec<usize>>,
    names: HashMap<String, Vec<usize>>,
}

impl Bucket {
    fn new(mut places: Vec<(RepoPath, usize)>) -> Self {
        places.sort_unstable();
        let mut bucket = Self::default();
        for same in places.chunk_by(|a, b| a.0 == b.0) {
            let path = same[0].0.clone();
            bucket.names.entry(path.file_name().to_owned()).or_default().push(bucket.paths.len());
            bucket.paths.push(path);
            bucket.findings.push(same.iter().map(|(_, f)| *f).collect());
        }
        bucket
    }

    /// The findings whose paths fit.
    fn fitting<'s>(&'s self, pattern: &'s FilePattern) -> impl Iterator<Item = usize> + 's {
        let text = pattern.path().as_str();
        let name = pattern.path().file_name();
        let near: Vec<usize> = if !pattern.is_glob() {
            self.paths.binary_search(pattern.path()).into_iter().collect()
        } else if name.contains('*') {
            // All that fit begin as the glob does.
            let start = &text[..text.find('*').unwrap_or(text.len())];
            let from = self.paths.partition_point(|path| path.as_str() < start);
            let begins = |at: &usize| self.paths[*at].as_str().starts_with(start);
            (from..self.paths.len()).take_while(begins).collect()
        } else {
            self.names.get(name).cloned().unwrap_or_default()
        };
        let fits = |at: &usize| pattern.matches(&self.paths[*at]);
        near.into_iter().filter(fits).flat_map(|at| self.findings[at].iter().copied())
    }
}

/// Findings by what they can be looked up by.
struct Index<'a> {
    queues: Vec<Queue>,
    by_key: HashMap<String, usize>,
    by_glob: HashMap<(FilePattern, Vec<String>), usize>,
    by_file_and_rule: HashMap<(&'a FilePattern, String), usize>,
    /// By rule and anchor, where a golden's path is a glob.
    rests: HashMap<String, Bucket>,
    /// By rule, where no key can be built for a golden.
    rules: HashMap<String, Bucket>,
}

impl<'a> Index<'a> {
    fn new(findings: &[Finding], rules: &IdentityRules, wanted: &[GoldenQuery<'a>]) -> Self {
        let mut rests: HashMap<&str, Vec<(RepoPath, usize)>> = HashMap::new();
        let mut names: HashMap<&str, Vec<(RepoPath, usize)>> = HashMap::new();
        for wanted in wanted {
            match wanted {
                GoldenQuery::Glob { rests: own, .. } => {
                    rests.extend(own.iter().map(|rest| (rest.as_str(), Vec::new())))
                }
                GoldenQuery::FileAndRule { rules, .. } => {
                    names.extend(rules.iter().map(|rule| (rule.as_str(), Vec::new())))
                }
                GoldenQuery::Keys(_) | GoldenQuery::Nothing => {}
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
                    bucket.push((path, f));
                }
                let queue = *by_key.entry(k).or_insert_with(|| {
                    queues.push(Queue::default());
                    queues.len() - 1
                });
                queues[queue].findings.push(f);
            }
            let Some(path) = finding.file.as_ref().filter(|_| !names.is_empty()) else { continue };
            for rule in finding.rules().filter_map(key::normalize_rule) {
                if let Some(bucket) = names.get_mut(rule.as_str()) {
                    bucket.push((path.clone(), f));
                }
            }
        }
        let buckets = |places: HashMap<&str, Vec<(RepoPath, usize)>>| -> HashMap<String, Bucket> {
            places.into_iter().map(|(name, places)| (name.to_owned(), Bucket::new(places))).collect()
        };
        Self {
            queues,
            by_key,
            by_glob: HashMap::new(),
            by_file_and_rule: HashMap::new(),
            rests: buckets(rests),
            rules: buckets(names),
        }
    }

    /// The queues that a golden is served from.
    fn queues_of(&mut self, wanted: &GoldenQuery<'a>) -> Vec<usize> {
        match wanted {
            GoldenQuery::Keys(keys) => keys.iter().filter_map(|key| self.by_key.get(key).copied()).collect(),
            GoldenQuery::Glob { pattern, rests } => {
                let key = (pattern.clone(), rests.clone());
                if let Some(&queue) = self.by_glob.get(&key) {
                    return vec![queue];
                }
                let buckets = rests.iter().filter_map(|rest| self.rests.get(rest));
                let queue = self.add(buckets.flat_map(|bucket| bucket.fitting(pattern)).collect());
                self.by_glob.insert(key, queue);
                vec![queue]
            }
            GoldenQuery::FileAndRule { file, rules } => {
                rules.iter().filter_map(|rule| self.queue_of_rule(file, rule)).collect()
            }
            GoldenQuery::Nothing => Vec::new(),
        }
    }

    fn queue_of_rule(&mut self, file: &'a FilePattern, rule: &str) -> Option<usize> {
        if let Some(&queue) = self.by_file_and_rule.get(&(file, rule.to_owned())) {
            return Some(queue);
        }
        let found = self.rules.get(rule)?.fitting(file).collect();
        let queue = self.add(found);
        self.by_file_and_rule.insert((file, rule.to_owned()), queue);
        Some(queue)
    }

    fn add(&mut self, mut findings: Vec<usize>) -> usize {
        findings.sort_unstable();
        findings.dedup();
        self.queues.push(Queue { findings, next: 0 });
        self.queues.len() - 1
    }
}

#[cfg(test)]
mod tests;
