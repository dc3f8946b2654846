//! Checks identity keys written by hand: keys no finding can have, and keys that contradict their golden.

use super::key::{KeyParts, normalize_rule, parse, part};
use crate::golden::Golden;
use crate::path::{FilePattern, RepoPath};
use crate::profile::IdentityRules;
use std::fmt;

/// Why no finding can have a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "its text says it")]
pub enum KeyFault {
    NotAKey,
    Version(String),
    Path(String),
    Rule(String),
    Anchor(String),
    NoSource,
    Source(String),
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAKey => f.write_str("expected v2|<path>|<rule>|<anchor>"),
            Self::Version(version) => write!(f, "unknown key version {version:?}"),
            Self::Path(path) => write!(f, "invalid path {path:?}"),
            Self::Rule(rule) => write!(f, "invalid rule {rule:?}"),
            Self::Anchor(anchor) => write!(f, "invalid anchor {anchor:?} for its version"),
            Self::NoSource => f.write_str("it names no source, but identity.include_source is on"),
            Self::Source(source) => write!(f, "it names the source {source:?}, but identity.include_source is off"),
        }
    }
}

/// A stated key that no finding can have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct UnmatchableKey {
    pub fault: KeyFault,
    pub meant: Option<String>,
}

/// Whether any finding's computed key could be this one.
pub fn check(key: &str, rules: &IdentityRules) -> Result<(), UnmatchableKey> {
    let key = key.trim();
    let refuse = |fault: KeyFault, meant: Option<String>| Err(UnmatchableKey { fault, meant });
    let fields: Vec<&str> = key.split('|').collect();
    let (version, path, rule, anchor, source) = match fields[..] {
        [version, path, rule, anchor] => (version, path, rule, anchor, None),
        [version, path, rule, anchor, source] => (version, path, rule, anchor, Some(source)),
        _ => return refuse(KeyFault::NotAKey, None),
    };
    let looks_like_a_version = version.strip_prefix('v').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    if !matches!(version, "v2" | "v3") {
        let fault = if looks_like_a_version { KeyFault::Version(version.to_owned()) } else { KeyFault::NotAKey };
        return refuse(fault, None);
    }
    let normal_path = RepoPath::new(path);
    let (Some(normal_path), Some(rule_name)) = (normal_path, normalize_rule(rule)) else {
        return refuse(KeyFault::NotAKey, None);
    };
    let Some(normal_anchor) = normal_anchor(version, anchor) else {
        return refuse(KeyFault::Anchor(anchor.to_owned()), None);
    };
    let written = |with_source: Option<&str>| {
        let mut written = format!("{version}|{normal_path}|{rule_name}|{normal_anchor}");
        if let Some(source) = with_source {
            written.push('|');
            written.push_str(source);
        }
        written
    };
    let meant = Some(written(source.filter(|_| rules.include_source)));
    if normal_path.as_str() != path {
        return refuse(KeyFault::Path(path.to_owned()), meant);
    }
    if rule_name != rule {
        return refuse(KeyFault::Rule(rule.to_owned()), meant);
    }
    if normal_anchor != anchor {
        return refuse(KeyFault::Anchor(anchor.to_owned()), meant);
    }
    match source {
        None if rules.include_source => refuse(KeyFault::NoSource, None),
        Some(source) if !rules.include_source || !source.starts_with("source:") => {
            refuse(KeyFault::Source(source.to_owned()), meant.filter(|_| !rules.include_source))
        }
        _ => Ok(()),
    }
}

/// The anchor as keys write it; `None` where a key of that version has no such anchor.
fn normal_anchor(version: &str, anchor: &str) -> Option<String> {
    let (kind, rest) = anchor.split_once(':')?;
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let range = |text: &str| {
        let (start, end) = text.split_once('-').map_or((number(text), number(text)), |(s, e)| (number(s), number(e)));
        let (start, end) = (start?, end?);
        Some((start, end.max(start)))
    };
    match (version, kind.trim()) {
        ("v2", "anchor") => Some(rest.trim()).filter(|id| !id.is_empty()).map(|id| format!("anchor:{id}")),
        ("v2", kind @ ("lines" | "chunklines")) => range(rest).map(|(start, end)| format!("{kind}:{start}-{end}")),
        ("v2", "chunk") => number(rest).map(|index| format!("chunk:{index}")),
        ("v3", "symbol") => {
            let (name, ordinal) = rest.rsplit_once('#')?;
            let ordinal = number(ordinal).filter(|n| *n > 0)?;
            (!name.trim().is_empty()).then(|| format!("symbol:{}#{ordinal}", name.trim()))
        }
        _ => None,
    }
}

/// A field in which a golden's stated key and its own fields contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Contradiction {
    /// The golden's field: `file`, `rule_id`, `line_start` or `anchor`.
    pub field: &'static str,
    pub key: String,
    pub stated: String,
}

/// Where a golden's stated key contradicts its own fields. What either leaves out contradicts nothing.
pub fn contradictions(golden: &Golden) -> Vec<Contradiction> {
    let Some(parts) = golden.identity_key.as_deref().map(str::trim).and_then(parse) else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(file) = &golden.file
        && !same_place(file, &parts)
    {
        found.push(Contradiction { field: "file", key: parts.path.to_owned(), stated: file.to_string() });
    }
    let rules: Vec<String> = golden.rules().filter_map(normalize_rule).map(|rule| part(&rule)).collect();
    if !rules.is_empty() && !rules.iter().any(|rule| Some(rule.as_str()) == normalize_rule(parts.rule()).as_deref()) {
        found.push(Contradiction { field: "rule_id", key: parts.rule().to_owned(), stated: rules.join(", ") });
    }
    let anchor = parts.anchor();
    if let (Some(stated), Some(named)) = (golden.lines, anchor.strip_prefix("lines:")) {
        let stated = format!("{}-{}", stated.start, stated.end);
        if normal_anchor("v2", anchor).as_deref() != Some(&*format!("lines:{stated}")) {
            found.push(Contradiction { field: "line_start", key: named.to_owned(), stated });
        }
    }
    let own = golden.anchor.as_deref().map(str::trim).filter(|own| !own.is_empty());
    if let (Some(stated), Some(named)) = (own, anchor.strip_prefix("anchor:"))
        && part(stated) != named.trim()
    {
        found.push(Contradiction { field: "anchor", key: named.to_owned(), stated: stated.to_owned() });
    }
    found
}

fn same_place(file: &FilePattern, parts: &KeyParts<'_>) -> bool {
    let Some(named) = FilePattern::new(parts.path) else { return false };
    match (file, &named) {
        (FilePattern::Glob(_), FilePattern::Exact(path)) => file.matches(path),
        (FilePattern::Exact(path), FilePattern::Glob(_)) => named.matches(path),
        _ => part(file.path().as_str()) == part(named.path().as_str()),
    }
}

#[cfg(test)]
mod tests;
