//! Builds and parses identity keys.
//!
//! `v2|<path>|<rule>|<anchor>` names a place by lines or by a scanner's own locator;
//! `v3|<path>|<rule>|symbol:<qualified.name>#<n>` names it by the enclosing symbol, which survives moved lines.

use crate::finding::Finding;
use crate::golden::Golden;
use crate::lines::Lines;
use crate::path::{FilePattern, RepoPath, glob_matches};
use crate::profile::IdentityRules;
use std::collections::HashSet;
use std::fmt;

/// A stable locator within a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anchor {
    Node(String),
    Lines(Lines),
    Chunk(u32),
    ChunkLines(Lines),
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

/// A rule as written in keys: trimmed and lowercased; `None` if blank.
pub fn normalize_rule(rule: &str) -> Option<String> {
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
    let (path, rule, anchor) = (path?, normalize_rule(rule?)?, anchor?);
    let version = if matches!(anchor, Anchor::Symbol(_)) { "v3" } else { "v2" };
    let mut key = format!("{version}|{}|{}|{anchor}", part(path.as_str()), part(&rule));
    if let Some(source) = source {
        key.push_str("|source:");
        key.push_str(&part(source.trim()));
    }
    Some(key)
}

/// `|` separates parts, so it becomes `/`.
pub(super) fn part(text: &str) -> String {
    text.replace('|', "/")
}

fn key_of(finding: &Finding, rule: Option<&str>, anchor: Option<Anchor>, rules: &IdentityRules) -> Option<String> {
    let source = rules.include_source.then(|| finding.source.as_deref().unwrap_or_default());
    build(finding.file.as_ref(), rule, anchor.as_ref(), source)
}

/// The v2 key computed from a finding's own fields, whatever key it carries.
pub fn computed_key(finding: &Finding, rules: &IdentityRules) -> Option<String> {
    key_of(finding, finding.rule_id.as_deref(), finding_anchor(finding), rules)
}

/// The key that counts for a finding: the one it carries, else the computed one.
pub fn finding_key(finding: &Finding, rules: &IdentityRules) -> Option<String> {
    stated_key(finding.identity_key.as_deref()).or_else(|| computed_key(finding, rules))
}

/// Which keys a finding has that carries another key than the computed one, in words.
pub fn key_mismatch(finding: &Finding, rules: &IdentityRules) -> Option<String> {
    let stated = stated_key(finding.identity_key.as_deref())?;
    let computed = computed_key(finding, rules)?;
    let same = stated == computed || symbol_key(finding, rules).as_ref() == Some(&stated);
    (!same).then(|| format!("has {stated}, computed {computed}"))
}

/// The same of a golden. A symbol's key and a source cannot be computed of it.
pub(crate) fn golden_key_mismatch(golden: &Golden, rules: &IdentityRules) -> Option<String> {
    let stated = stated_key(golden.identity_key.as_deref())?;
    let computed = computed_golden_keys(golden);
    let is_symbolic = parse(&stated).is_some_and(|parts| parts.version == "v3");
    let without_source = if rules.include_source { stated.rsplit_once("|source:").map(|(key, _)| key) } else { None };
    let own = without_source.unwrap_or(&stated);
    let fits = |key: &String| match (parse(key), parse(own)) {
        // A golden whose file is a glob may state the key of one of its files.
        (Some(a), Some(b)) if a.rest == b.rest && a.path.contains('*') => glob_matches(a.path, b.path),
        _ => key == own,
    };
    let first = computed.first().filter(|_| !is_symbolic && !computed.iter().any(fits))?;
    Some(format!("has {stated}, computed {first}"))
}

/// The v3 key, where the symbol is known.
pub fn symbol_key(finding: &Finding, rules: &IdentityRules) -> Option<String> {
    let anchor = Anchor::Symbol(finding.symbol.clone()?);
    key_of(finding, finding.rule_id.as_deref(), Some(anchor), rules)
}

/// All keys of a finding: the one that counts first, then those of merged reports.
pub fn finding_keys(finding: &Finding, rules: &IdentityRules) -> Vec<String> {
    let own = finding_key(finding, rules).into_iter().chain(symbol_key(finding, rules));
    if finding.merged.is_empty() {
        return own.collect();
    }
    let mut seen = HashSet::new();
    let merged = finding.merged.iter().filter_map(|report| {
        let lines = Lines::from_either(report.line_start, report.line_end);
        let anchor = anchor(report.anchor.as_deref(), lines).or_else(|| chunk_anchor(finding));
        key_of(finding, report.rule_id.as_deref(), anchor, rules)
    });
    own.chain(merged).filter(|key| seen.insert(key.clone())).collect()
}

fn anchor(node: Option<&str>, lines: Option<Lines>) -> Option<Anchor> {
    let node = node.map(str::trim).filter(|id| !id.is_empty());
    node.map(|id| Anchor::Node(id.to_owned())).or(lines.map(Anchor::Lines))
}

fn chunk_anchor(finding: &Finding) -> Option<Anchor> {
    let lines = Lines::from_either(finding.chunk_start, finding.chunk_end);
    finding.chunk.map(Anchor::Chunk).or(lines.map(Anchor::ChunkLines))
}

/// A scanner's own locator, else lines, else a chunk, else its lines: the first that is there.
pub fn finding_anchor(finding: &Finding) -> Option<Anchor> {
    let lines = Lines::from_either(finding.line_start, finding.line_end);
    anchor(finding.anchor.as_deref(), lines).or_else(|| chunk_anchor(finding))
}

fn stated_key(key: Option<&str>) -> Option<String> {
    key.map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned)
}

/// The keys a golden is searched by: the stated one, else one per rule name. Empty if no key can be built.
pub fn golden_keys(golden: &Golden) -> Vec<String> {
    stated_key(golden.identity_key.as_deref()).map_or_else(|| computed_golden_keys(golden), |key| vec![key])
}

/// The v2 keys built from a golden's own fields, whatever key it states: one for each name of its rule.
pub fn computed_golden_keys(golden: &Golden) -> Vec<String> {
    let path = golden.file.as_ref().map(FilePattern::path);
    let anchor = anchor(golden.anchor.as_deref(), golden.lines);
    golden.rules().filter_map(|rule| build(path, Some(rule), anchor.as_ref(), None)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyParts<'a> {
    pub version: &'a str,
    pub path: &'a str,
    pub rule: &'a str,
    /// With its kind, such as `lines:3-4`.
    pub anchor: &'a str,
    /// All that follows the path: rule, anchor and, where it belongs to the key, source.
    pub rest: &'a str,
}

/// Parses a key; `None` when it is not one of ours.
pub fn parse(key: &str) -> Option<KeyParts<'_>> {
    let (version, rest) = key.split_once('|')?;
    let (path, rest) = rest.split_once('|')?;
    let mut parts = rest.split('|');
    let (rule, anchor) = (parts.next()?, parts.next()?);
    let is_ours = matches!(version, "v2" | "v3") && !path.is_empty();
    is_ours.then_some(KeyParts { version, path, rule, anchor, rest })
}

/// What a golden and its finding share. The order is the order in which goldens are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchedVia {
    /// The same key.
    Key,
    /// A glob path, and the same rule and anchor.
    GlobKey,
    /// No key could be built: the same file and rule.
    FileAndRule,
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

names!(RefusedKey {
    Chunk = "chunk_anchors",
    NoAnchor = "require_anchor",
    NoSource = "include_source",
});

/// Why the rules do not accept a key, whoever has it; `None` where they do.
pub fn refusal(key: &str, rules: &IdentityRules) -> Option<RefusedKey> {
    let anchor = parse(key)?.anchor;
    if rules.require_anchor {
        return (!anchor.starts_with("anchor:")).then_some(RefusedKey::NoAnchor);
    }
    let is_chunk = anchor.starts_with("chunk:") || anchor.starts_with("chunklines:");
    (is_chunk && !rules.chunk_anchors).then_some(RefusedKey::Chunk)
}

/// Fields missing to build a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingKeyFields {
    pub file: bool,
    pub rule: bool,
    pub place: bool,
}

impl MissingKeyFields {
    /// The names of the missing keys.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = [(self.file, "file"), (self.rule, "rule_id"), (self.place, "line_start")];
        named.into_iter().filter_map(|(missing, name)| missing.then_some(name))
    }
}

pub(crate) fn missing_golden_fields(golden: &Golden) -> MissingKeyFields {
    MissingKeyFields {
        file: golden.file.is_none(),
        rule: !golden.rules().any(|rule| normalize_rule(rule).is_some()),
        place: anchor(golden.anchor.as_deref(), golden.lines).is_none(),
    }
}

pub(crate) fn missing_finding_fields(finding: &Finding) -> MissingKeyFields {
    MissingKeyFields {
        file: finding.file.is_none(),
        rule: finding.rule_id.as_deref().is_none_or(|rule| normalize_rule(rule).is_none()),
        place: finding_anchor(finding).is_none(),
    }
}

#[cfg(test)]
mod tests;
