//! Matching by keys: exact, one to one; for goldens with one key each, in time proportional to goldens plus findings.

use super::key;
use crate::finding::Finding;
use crate::golden::Golden;
use crate::path::{FilePattern, RepoPath};
use crate::profile::IdentityRules;
use std::collections::{HashMap, HashSet};

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

/// The result for one trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentityMatches {
    /// Golden index, finding index, and how.
    pub matched: Vec<(usize, usize, Via)>,
    /// A finding that no golden was left for, and the matched golden whose key or rule it repeats.
    pub duplicates: Vec<(usize, usize)>,
}

/// Matches goldens to findings. Goldens with a key come before those with a glob, those before fallbacks;
/// within each, required goldens come before acceptable ones and those before traps.
pub fn match_all(goldens: &[Golden], findings: &[Finding], rules: &IdentityRules) -> IdentityMatches {
    let index = Index::new(findings, rules);
    let mut used = vec![false; findings.len()];
    let mut matched: Vec<Option<(usize, Via)>> = vec![None; goldens.len()];
    let wanted: Vec<Wanted> = goldens.iter().map(|golden| Wanted::new(golden, rules)).collect();

    let mut order: Vec<usize> = (0..goldens.len()).collect();
    order.sort_by_key(|&g| (wanted[g].rank(), goldens[g].acceptance, g));
    // Where many goldens share one key, each starts where the one before it stopped.
    let mut spent: HashMap<&[String], usize> = HashMap::new();
    for &g in &order {
        let skip = match &wanted[g] {
            Wanted::Keys(keys) => spent.entry(keys).or_default(),
            _ => &mut 0,
        };
        let free = index.candidates(&wanted[g]).skip(*skip).inspect(|_| *skip += 1).find(|&f| !used[f]);
        if let Some(f) = free {
            used[f] = true;
            matched[g] = Some((f, wanted[g].via()));
        }
    }

    let mut result = IdentityMatches::default();
    let mut duplicate_of: Vec<Option<usize>> = vec![None; findings.len()];
    let mut seen: HashSet<&[String]> = HashSet::new();
    for (g, found) in matched.iter().enumerate() {
        let Some((finding, via)) = *found else { continue };
        result.matched.push((g, finding, via));
        if let Wanted::Keys(keys) = &wanted[g]
            && !seen.insert(keys)
        {
            continue;
        }
        for f in index.candidates(&wanted[g]).filter(|&f| !used[f]) {
            duplicate_of[f].get_or_insert(g);
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
    /// Nothing: no key can be built, and the rules or the golden leave no other way.
    Nothing,
}

/// What a golden can be found by under these rules, whatever was reported.
pub fn found_by(golden: &Golden, rules: &IdentityRules) -> FoundBy {
    match Wanted::new(golden, rules) {
        Wanted::Keys(keys) if !keys.iter().any(|k| reachable(k, golden, rules)) => FoundBy::Nothing,
        Wanted::Keys(_) | Wanted::Glob { .. } => FoundBy::Key,
        Wanted::FileAndRule { .. } => FoundBy::FileAndRule,
        Wanted::Nothing => FoundBy::Nothing,
    }
}

/// Whether any finding could have this key: its anchor is accepted, and where the source belongs to keys, it names one.
fn reachable(key: &str, golden: &Golden, rules: &IdentityRules) -> bool {
    let sourced = !rules.include_source || golden.identity_key.is_some();
    key::anchor_allowed(key, rules) && sourced
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

/// Findings by what they can be looked up by, each list in file order.
struct Index<'a> {
    by_key: HashMap<String, Vec<usize>>,
    by_rest: HashMap<String, Vec<(RepoPath, usize)>>,
    by_rule: HashMap<String, Vec<usize>>,
    findings: &'a [Finding],
}

impl<'a> Index<'a> {
    fn new(findings: &'a [Finding], rules: &IdentityRules) -> Self {
        let mut index = Self { by_key: HashMap::new(), by_rest: HashMap::new(), by_rule: HashMap::new(), findings };
        for (f, finding) in findings.iter().enumerate() {
            for k in key::all_of_finding(finding, rules).into_iter().filter(|k| key::anchor_allowed(k, rules)) {
                if let Some((path, rest)) = key::parse(&k).and_then(|p| Some((RepoPath::new(p.path)?, p.rest))) {
                    index.by_rest.entry(rest.to_owned()).or_default().push((path, f));
                }
                index.by_key.entry(k).or_default().push(f);
            }
            for rule in finding.rules().filter_map(key::normal_rule) {
                index.by_rule.entry(rule).or_default().push(f);
            }
        }
        index
    }

    /// Findings that fit, in file order.
    fn candidates<'s>(&'s self, wanted: &'s Wanted<'_>) -> Box<dyn Iterator<Item = usize> + 's> {
        let mut found: Vec<usize> = match wanted {
            Wanted::Keys(keys) => {
                // One key is the common case and must stay linear however often it repeats.
                if let [only] = keys.as_slice() {
                    return Box::new(self.by_key.get(only).into_iter().flatten().copied());
                }
                keys.iter().filter_map(|k| self.by_key.get(k)).flatten().copied().collect()
            }
            Wanted::Glob { pattern, rests } => rests
                .iter()
                .filter_map(|rest| self.by_rest.get(rest))
                .flatten()
                .filter(|(path, _)| pattern.matches(path))
                .map(|&(_, f)| f)
                .collect(),
            Wanted::FileAndRule { file, rules } => rules
                .iter()
                .filter_map(|rule| self.by_rule.get(rule))
                .flatten()
                .copied()
                .filter(|&f| self.findings[f].file.as_ref().is_some_and(|path| file.matches(path)))
                .collect(),
            Wanted::Nothing => Vec::new(),
        };
        found.sort_unstable();
        found.dedup();
        Box::new(found.into_iter())
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
