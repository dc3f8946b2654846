//! Matching by keys: exact, one to one, in time proportional to goldens plus findings.
//!
//! Findings stand in queues, in file order: one for each key, one for each file and rule, and one for each distinct glob. A
//! golden takes the first finding of its queues that is not used yet. A used finding is never free again, so that no queue is
//! walked through more than once. Globs alone are tried out: each distinct one on the distinct paths that have its rule and
//! anchor and fit its file name, or begin as it does.

use super::key::{self, Missing};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::path::{FilePattern, RepoPath};
use crate::profile::IdentityRules;
use std::collections::HashMap;

/// How a golden came to its finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The same key.
    Key,
    /// A glob path, and the same rule and anchor.
    GlobKey,
    /// No key could be built: the same file and rule.
    FileAndRule,
}

/// Why a golden has no finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// It cannot be found, whatever is reported.
    Unfindable(Unfindable),
    /// No finding has what it is looked for by.
    Absent(Via),
    /// The first finding that has it reports another golden, and so do all others.
    Used {
        /// What it is looked for by.
        via: Via,
        /// The finding.
        finding: usize,
        /// The golden that it reports.
        by: usize,
    },
}

/// Why no finding can match a golden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfindable {
    /// No key can be built, and nothing else may match it.
    NoKey(Missing),
    /// The rules do not accept its kind of key.
    Refused(RefusedKey),
}

/// Why rules do not accept a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedKey {
    /// It names a chunk, and `identity.chunk_anchors` is off.
    Chunk,
    /// It is no `anchor:` key, and `identity.require_anchor` is on.
    NoAnchor,
    /// It names no source, and `identity.include_source` is on.
    NoSource,
}

impl RefusedKey {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chunk => "chunk_anchors",
            Self::NoAnchor => "require_anchor",
            Self::NoSource => "include_source",
        }
    }
}

/// The result for one trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentityMatches {
    /// Golden index, finding index, and how.
    pub matched: Vec<(usize, usize, Via)>,
    /// The other goldens, and why.
    pub unmatched: Vec<(usize, Unmatched)>,
    /// A finding that no golden was left for, and the matched golden whose key or rule it repeats.
    pub duplicates: Vec<(usize, usize)>,
}

/// Matches goldens to findings. Goldens with a key come before those with a glob, those before fallbacks;
/// within each, required goldens come before acceptable ones and those before traps.
pub fn match_all(goldens: &[Golden], findings: &[Finding], rules: &IdentityRules) -> IdentityMatches {
    let wanted: Vec<Wanted<'_>> = goldens.iter().map(|golden| Wanted::new(golden, rules)).collect();
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
    let wanted = Wanted::new(golden, rules);
    match (unfindable(golden, &wanted, rules), wanted) {
        (Some(why), _) => FoundBy::Nothing(why),
        (None, Wanted::FileAndRule { .. }) => FoundBy::FileAndRule,
        (None, _) => FoundBy::Key,
    }
}

fn unfindable(golden: &Golden, wanted: &Wanted<'_>, rules: &IdentityRules) -> Option<Unfindable> {
    let keys = match wanted {
        Wanted::FileAndRule { .. } => return None,
        Wanted::Nothing => return Some(Unfindable::NoKey(key::missing_of_golden(golden))),
        Wanted::Keys(_) | Wanted::Glob { .. } => key::of_golden(golden),
    };
    if rules.include_source && golden.identity_key.is_none() {
        return Some(Unfindable::Refused(RefusedKey::NoSource));
    }
    let refused: Option<Vec<RefusedKey>> = keys.iter().map(|key| key::refused(key, rules)).collect();
    refused.and_then(|refused| refused.first().copied()).map(Unfindable::Refused)
}

/// What a golden is looked for by.
enum Wanted<'a> {
    Keys(Vec<String>),
    Glob { pattern: FilePattern, rests: Vec<String> },
    FileAndRule { file: &'a FilePattern, rules: Vec<String> },
    Nothing,
}

impl<'a> Wanted<'a> {
    fn new(golden: &'a Golden, rules: &IdentityRules) -> Self {
        let keys = key::of_golden(golden);
        if keys.is_empty() {
            let names: Vec<String> = golden.rules().filter_map(key::normal_rule).collect();
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

    fn via(&self) -> Via {
        match self {
            Self::Keys(_) => Via::Key,
            Self::Glob { .. } => Via::GlobKey,
            Self::FileAndRule { .. } | Self::Nothing => Via::FileAndRule,
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
    fn new(findings: &[Finding], rules: &IdentityRules, wanted: &[Wanted<'a>]) -> Self {
        let mut rests: HashMap<&str, Vec<(RepoPath, usize)>> = HashMap::new();
        let mut names: HashMap<&str, Vec<(RepoPath, usize)>> = HashMap::new();
        for wanted in wanted {
            match wanted {
                Wanted::Glob { rests: own, .. } => rests.extend(own.iter().map(|rest| (rest.as_str(), Vec::new()))),
                Wanted::FileAndRule { rules, .. } => names.extend(rules.iter().map(|rule| (rule.as_str(), Vec::new()))),
                Wanted::Keys(_) | Wanted::Nothing => {}
            }
        }
        let mut queues: Vec<Queue> = Vec::new();
        let mut by_key: HashMap<String, usize> = HashMap::new();
        for (f, finding) in findings.iter().enumerate() {
            for k in key::all_of_finding(finding, rules).into_iter().filter(|k| key::refused(k, rules).is_none()) {
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
            for rule in finding.rules().filter_map(key::normal_rule) {
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
    fn queues_of(&mut self, wanted: &Wanted<'a>) -> Vec<usize> {
        match wanted {
            Wanted::Keys(keys) => keys.iter().filter_map(|key| self.by_key.get(key).copied()).collect(),
            Wanted::Glob { pattern, rests } => {
                let key = (pattern.clone(), rests.clone());
                if let Some(&queue) = self.by_glob.get(&key) {
                    return vec![queue];
                }
                let buckets = rests.iter().filter_map(|rest| self.rests.get(rest));
                let queue = self.add(buckets.flat_map(|bucket| bucket.fitting(pattern)).collect());
                self.by_glob.insert(key, queue);
                vec![queue]
            }
            Wanted::FileAndRule { file, rules } => {
                rules.iter().filter_map(|rule| self.queue_of_rule(file, rule)).collect()
            }
            Wanted::Nothing => Vec::new(),
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
mod tests {
    use super::*;
    use crate::finding::MergedReport;
    use crate::lines::Lines;

    const RULES: IdentityRules =
        IdentityRules { chunk_anchors: false, require_anchor: false, rule_fallback: true, include_source: false };

    fn golden(file: &str, rule: &str, line: Option<u32>) -> Golden {
        Golden {
            file: FilePattern::new(file),
            rule_id: Some(rule.to_owned()),
            lines: Lines::from_start(line, None),
            ..Golden::named("g")
        }
    }

    fn finding(file: &str, rule: &str, line: u32) -> Finding {
        Finding {
            file: RepoPath::new(file),
            rule_id: Some(rule.to_owned()),
            line_start: Some(line),
            ..Finding::named("f")
        }
    }

    /// `golden>finding` pairs and `finding=golden` duplicates.
    fn check(goldens: &[Golden], findings: &[Finding], rules: &IdentityRules, expect: &str) {
        let result = match_all(goldens, findings, rules);
        let mut words: Vec<String> = result.matched.iter().map(|(g, f, _)| format!("{g}>{f}")).collect();
        words.extend(result.duplicates.iter().map(|(f, g)| format!("{f}={g}")));
        assert_eq!(words.join(" "), expect);
    }

    #[test]
    fn equal_keys_match_one_to_one_in_file_order() {
        let goldens = [golden("a.ts", "r", Some(3)), golden("a.ts", "r", Some(3))];
        let findings = [finding("a.ts", "R", 3), finding("./a.ts", "r", 3), finding("a.ts", "r", 3)];
        check(&goldens, &findings, &RULES, "0>0 1>1 2=0");
    }

    #[test]
    fn a_key_has_no_fallback() {
        check(&[golden("a.ts", "r", Some(3))], &[finding("a.ts", "r", 4)], &RULES, "");
    }

    #[test]
    fn globs_need_rule_and_anchor_too() {
        let goldens = [golden("src/**/a.ts", "r", Some(3))];
        check(&goldens, &[finding("src/x/a.ts", "r", 4), finding("src/x/a.ts", "r", 3)], &RULES, "0>1");
    }

    #[test]
    fn without_lines_file_and_rule_decide_through_aliases_and_folded_reports() {
        let mut aliased = golden("a.ts", "old-name", None);
        aliased.rule_aliases = vec!["New-Name".to_owned()];
        check(&[aliased.clone()], &[finding("a.ts", "new-name", 9)], &RULES, "0>0");
        let mut folded = finding("a.ts", "other", 9);
        folded.merged = vec![MergedReport { rule_id: Some("old-name".to_owned()), ..MergedReport::default() }];
        check(&[aliased.clone()], &[folded], &RULES, "0>0");
        let strict = IdentityRules { rule_fallback: false, ..RULES };
        check(&[aliased], &[finding("a.ts", "new-name", 9)], &strict, "");
    }

    #[test]
    fn a_fallback_never_takes_what_a_key_wants() {
        let goldens = [golden("a.ts", "r", None), golden("a.ts", "r", Some(3))];
        check(&goldens, &[finding("a.ts", "r", 3), finding("a.ts", "r", 8)], &RULES, "0>1 1>0");
    }

    #[test]
    fn chunk_anchors_match_only_when_allowed() {
        let mut g = golden("a.ts", "r", None);
        g.identity_key = Some("v2|a.ts|r|chunk:2".to_owned());
        let f = Finding { chunk: Some(2), line_start: None, ..finding("a.ts", "r", 1) };
        check(std::slice::from_ref(&g), std::slice::from_ref(&f), &RULES, "");
        check(&[g], &[f], &IdentityRules { chunk_anchors: true, ..RULES }, "0>0");
    }

    #[test]
    fn many_equal_keys_stay_linear() {
        let goldens: Vec<Golden> = (0..20_000).map(|_| golden("a.ts", "r", Some(3))).collect();
        let findings: Vec<Finding> = (0..20_000).map(|_| finding("a.ts", "r", 3)).collect();
        assert_eq!(match_all(&goldens, &findings, &RULES).matched.len(), 20_000);
    }
}
