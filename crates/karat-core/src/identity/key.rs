//! Building and taking apart identity keys.
//!
//! `v2|<path>|<rule>|<anchor>` names a place by lines or by a scanner's own locator;
//! `v3|<path>|<rule>|symbol:<qualified.name>#<n>` names it by the enclosing symbol, which survives moved lines.

use super::matcher::RefusedKey;
use crate::finding::{Finding, MergedReport};
use crate::golden::Golden;
use crate::lines::Lines;
use crate::path::{FilePattern, RepoPath, glob_matches};
use crate::profile::IdentityRules;
use std::collections::HashSet;
use std::fmt;

/// A stable locator within a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anchor {
    /// A scanner's own node id.
    Node(String),
    /// The lines.
    Lines(Lines),
    /// The index of a chunk.
    Chunk(u32),
    /// The lines of a chunk.
    ChunkLines(Lines),
    /// The enclosing symbol.
    Symbol(String),
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(id) => write!(f, "anchor:{}", part(id)),
            Self::Lines(lines) => write!(f, "lines:{}-{}", lines.start, lines.end),
            Self::Chunk(index) => write!(f, "chunk:{index}"),
            Self::ChunkLines(lines) => write!(f, "chunklines:{}-{}", lines.start, lines.end),
            Self::Symbol(symbol) => write!(f, "symbol:{}", part(symbol)),
        }
    }
}

/// What a place can be anchored by; the first that is there is taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// A scanner's own node id.
    pub node: Option<&'a str>,
    /// First and last line.
    pub lines: (Option<u32>, Option<u32>),
    /// The index of a chunk.
    pub chunk: Option<u32>,
    /// First and last line of a chunk.
    pub chunk_lines: (Option<u32>, Option<u32>),
}

impl Place<'_> {
    /// The first anchor that is there.
    pub fn anchor(&self) -> Option<Anchor> {
        let node = self.node.map(str::trim).filter(|id| !id.is_empty());
        node.map(|id| Anchor::Node(id.to_owned()))
            .or_else(|| Lines::from_either(self.lines.0, self.lines.1).map(Anchor::Lines))
            .or_else(|| self.chunk.map(Anchor::Chunk))
            .or_else(|| Lines::from_either(self.chunk_lines.0, self.chunk_lines.1).map(Anchor::ChunkLines))
    }
}

/// A rule as it stands in a key: trimmed and lowercased; a blank one is missing.
pub fn normal_rule(rule: &str) -> Option<String> {
    let rule = rule.trim();
    (!rule.is_empty()).then(|| rule.to_lowercase())
}

/// A key of path, rule and anchor; any of them missing means no key.
pub fn build(
    path: Option<&RepoPath>,
    rule: Option<&str>,
    anchor: Option<&Anchor>,
    source: Option<&str>,
) -> Option<String> {
    let (path, rule, anchor) = (path?, normal_rule(rule?)?, anchor?);
    let version = if matches!(anchor, Anchor::Symbol(_)) { "v3" } else { "v2" };
    let mut key = format!("{version}|{}|{}|{anchor}", part(path.as_str()), part(&rule));
    if let Some(source) = source {
        key.push_str("|source:");
        key.push_str(&part(source.trim()));
    }
    Some(key)
}

/// A bar would end the part, so it becomes a slash.
pub(super) fn part(text: &str) -> String {
    text.replace('|', "/")
}

/// The v2 key computed from a finding's own fields, whatever key it carries.
pub fn computed(finding: &Finding, rules: &IdentityRules) -> Option<String> {
    build(finding.file.as_ref(), finding.rule_id.as_deref(), place(finding).anchor().as_ref(), source(finding, rules))
}

/// The key that counts for a finding: the one it carries, else the computed one.
pub fn of_finding(finding: &Finding, rules: &IdentityRules) -> Option<String> {
    given(finding.identity_key.as_deref()).or_else(|| computed(finding, rules))
}

/// A stated key, and the one computed of the same thing's fields, which is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// The key that is stated, and counts.
    pub stated: String,
    /// The key that the fields make.
    pub computed: String,
}

/// The keys of a finding that carries another key than the computed one.
pub fn differing(finding: &Finding, rules: &IdentityRules) -> Option<Differing> {
    let stated = given(finding.identity_key.as_deref())?;
    let computed = computed(finding, rules)?;
    let same = stated == computed || symbolic(finding, rules).as_ref() == Some(&stated);
    (!same).then_some(Differing { stated, computed })
}

/// The keys of a golden that states another key than the computed ones. A symbol's key and a source cannot be computed of it.
pub fn differing_of_golden(golden: &Golden, rules: &IdentityRules) -> Option<Differing> {
    let stated = given(golden.identity_key.as_deref())?;
    let computed = computed_of_golden(golden);
    let is_symbolic = parse(&stated).is_some_and(|parts| parts.version == "v3");
    let without_source = if rules.include_source { stated.rsplit_once("|source:").map(|(key, _)| key) } else { None };
    let own = without_source.unwrap_or(&stated);
    let fits = |key: &String| match (parse(key), parse(own)) {
        // A golden whose file is a glob may state the key of one of its files.
        (Some(a), Some(b)) if a.rest == b.rest && a.path.contains('*') => glob_matches(a.path, b.path),
        _ => key == own,
    };
    let same = computed.iter().any(fits);
    (!is_symbolic && !same).then(|| Some(Differing { computed: computed.into_iter().next()?, stated })).flatten()
}

/// The v3 key, where the symbol is known.
pub fn symbolic(finding: &Finding, rules: &IdentityRules) -> Option<String> {
    let anchor = Anchor::Symbol(finding.symbol.clone()?);
    build(finding.file.as_ref(), finding.rule_id.as_deref(), Some(&anchor), source(finding, rules))
}

/// Every key a finding answers to, the one that counts first, then those of the reports folded into it.
pub fn all_of_finding(finding: &Finding, rules: &IdentityRules) -> Vec<String> {
    let own = of_finding(finding, rules).into_iter().chain(symbolic(finding, rules));
    if finding.merged.is_empty() {
        return own.collect();
    }
    let mut seen = HashSet::new();
    let merged = finding.merged.iter().filter_map(|report| of_merged(finding, report, rules));
    own.chain(merged).filter(|key| seen.insert(key.clone())).collect()
}

fn of_merged(finding: &Finding, report: &MergedReport, rules: &IdentityRules) -> Option<String> {
    let place = Place {
        node: report.anchor.as_deref(),
        lines: (report.line_start, report.line_end),
        chunk: finding.chunk,
        chunk_lines: (finding.chunk_start, finding.chunk_end),
    };
    build(finding.file.as_ref(), report.rule_id.as_deref(), place.anchor().as_ref(), source(finding, rules))
}

fn place(finding: &Finding) -> Place<'_> {
    Place {
        node: finding.anchor.as_deref(),
        lines: (finding.line_start, finding.line_end),
        chunk: finding.chunk,
        chunk_lines: (finding.chunk_start, finding.chunk_end),
    }
}

fn source<'a>(finding: &'a Finding, rules: &IdentityRules) -> Option<&'a str> {
    rules.include_source.then(|| finding.source.as_deref().unwrap_or_default())
}

fn given(key: Option<&str>) -> Option<String> {
    key.map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned)
}

/// The keys a golden is looked for by: the one it states, else one for each name of its rule. Empty: no key can be built.
pub fn of_golden(golden: &Golden) -> Vec<String> {
    if let Some(key) = given(golden.identity_key.as_deref()) {
        return vec![key];
    }
    computed_of_golden(golden)
}

/// The v2 keys built from a golden's own fields, whatever key it states: one for each name of its rule.
pub fn computed_of_golden(golden: &Golden) -> Vec<String> {
    let path = golden.file.as_ref().map(FilePattern::path);
    let anchor = place_of_golden(golden).anchor();
    golden.rules().filter_map(|rule| build(path, Some(rule), anchor.as_ref(), None)).collect()
}

fn place_of_golden(golden: &Golden) -> Place<'_> {
    Place {
        node: golden.anchor.as_deref(),
        lines: (golden.lines.map(|l| l.start), golden.lines.map(|l| l.end)),
        ..Place::default()
    }
}

/// A key taken apart again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyParts<'a> {
    /// `v2` or `v3`.
    pub version: &'a str,
    /// The path, perhaps a glob.
    pub path: &'a str,
    /// All that follows the path: rule, anchor and, where it belongs to the key, source.
    pub rest: &'a str,
}

impl<'a> KeyParts<'a> {
    /// The rule.
    pub fn rule(&self) -> &'a str {
        self.rest.split('|').next().unwrap_or_default()
    }

    /// The anchor with its kind, such as `lines:3-4`.
    pub fn anchor(&self) -> &'a str {
        self.rest.split('|').nth(1).unwrap_or_default()
    }
}

/// Takes a key apart; `None` when it is none of ours.
pub fn parse(key: &str) -> Option<KeyParts<'_>> {
    let (version, rest) = key.split_once('|')?;
    let (path, rest) = rest.split_once('|')?;
    (matches!(version, "v2" | "v3") && !path.is_empty() && rest.contains('|')).then_some(KeyParts {
        version,
        path,
        rest,
    })
}

/// Why the rules do not accept a key, whoever has it; `None` where they do.
pub fn refused(key: &str, rules: &IdentityRules) -> Option<RefusedKey> {
    let anchor = parse(key)?.anchor();
    if rules.require_anchor {
        return (!anchor.starts_with("anchor:")).then_some(RefusedKey::NoAnchor);
    }
    let is_chunk = anchor.starts_with("chunk:") || anchor.starts_with("chunklines:");
    (is_chunk && !rules.chunk_anchors).then_some(RefusedKey::Chunk)
}

/// What a key cannot be built for want of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// The file.
    pub file: bool,
    /// The rule.
    pub rule: bool,
    /// Lines, or any other anchor.
    pub place: bool,
}

impl Missing {
    /// The names of the missing keys.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = [(self.file, "file"), (self.rule, "rule_id"), (self.place, "line_start")];
        named.into_iter().filter_map(|(missing, name)| missing.then_some(name))
    }
}

/// What a golden states too little of for a key.
pub fn missing_of_golden(golden: &Golden) -> Missing {
    Missing {
        file: golden.file.is_none(),
        rule: !golden.rules().any(|rule| normal_rule(rule).is_some()),
        place: place_of_golden(golden).anchor().is_none(),
    }
}

/// What a finding states too little of for a key.
pub fn missing_of_finding(finding: &Finding) -> Missing {
    Missing {
        file: finding.file.is_none(),
        rule: finding.rule_id.as_deref().is_none_or(|rule| normal_rule(rule).is_none()),
        place: place(finding).anchor().is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: IdentityRules =
        IdentityRules { chunk_anchors: false, require_anchor: false, rule_fallback: true, include_source: false };

    fn finding(path: &str, rule: &str) -> Finding {
        Finding { file: RepoPath::new(path), rule_id: Some(rule.to_owned()), ..Finding::named("f") }
    }

    #[test]
    fn the_worked_example_comes_out() {
        let f = Finding {
            line_start: Some(26),
            line_end: Some(33),
            ..finding("./cases\\supabase-baseline/frontend//utils/api.ts", " ANON_KEY_BEARER ")
        };
        assert_eq!(
            of_finding(&f, &RULES).as_deref(),
            Some("v2|cases/supabase-baseline/frontend/utils/api.ts|anon_key_bearer|lines:26-33")
        );
    }

    #[test]
    fn anchors_are_taken_in_order() {
        let check = |change: fn(&mut Finding), expect: Option<&str>| {
            let mut f = finding("a.ts", "r");
            change(&mut f);
            assert_eq!(of_finding(&f, &RULES).as_deref(), expect);
        };
        check(|_| (), None);
        check(|f| f.chunk_end = Some(9), Some("v2|a.ts|r|chunklines:9-9"));
        check(
            |f| {
                f.chunk = Some(4);
                f.chunk_end = Some(9);
            },
            Some("v2|a.ts|r|chunk:4"),
        );
        check(
            |f| {
                f.line_end = Some(7);
                f.chunk = Some(4);
            },
            Some("v2|a.ts|r|lines:7-7"),
        );
        check(
            |f| {
                f.line_start = Some(9);
                f.line_end = Some(7);
            },
            Some("v2|a.ts|r|lines:9-9"),
        );
        check(
            |f| {
                f.anchor = Some("jelly:a|b".to_owned());
                f.line_start = Some(9);
            },
            Some("v2|a.ts|r|anchor:jelly:a/b"),
        );
        check(|f| f.rule_id = Some("  ".to_owned()), None);
        check(|f| f.identity_key = Some("v2|x|y|lines:1-1".to_owned()), Some("v2|x|y|lines:1-1"));
    }

    #[test]
    fn folded_reports_give_further_keys() {
        let f = Finding {
            line_start: Some(3),
            merged: vec![MergedReport {
                rule_id: Some("B609".to_owned()),
                line_start: Some(12),
                ..MergedReport::default()
            }],
            ..finding("a.py", "B608")
        };
        assert_eq!(all_of_finding(&f, &RULES), ["v2|a.py|b608|lines:3-3", "v2|a.py|b609|lines:12-12"]);
    }

    #[test]
    fn words_of_a_model_never_enter_a_key() {
        let mut f = Finding { line_start: Some(1), ..finding("a.py", "r") };
        let before = of_finding(&f, &RULES);
        f.title = Some("other words".to_owned());
        f.message = Some("still other words".to_owned());
        f.fingerprints.insert("random".to_owned(), "5f1c".to_owned());
        assert_eq!(of_finding(&f, &RULES), before);
    }
}
