//! Checks identity keys written by hand: keys no finding can have, and keys that contradict their golden.

use super::key::{KeyParts, normalize_rule, parse, part};
use crate::golden::Golden;
use crate::path::{FilePattern, RepoPath};
use crate::profile::IdentityRules;

/// A stated key that no finding can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchableKey {
    pub fault: String,
    pub corrected: Option<String>,
}

/// Whether any finding's computed key could be this one.
pub fn check(key: &str, rules: &IdentityRules) -> Result<(), UnmatchableKey> {
    let refuse = |fault: String, corrected: Option<String>| Err(UnmatchableKey { fault, corrected });
    let not_a_key = || refuse("expected v2|<path>|<rule>|<anchor>".to_owned(), None);
    let fields: Vec<&str> = key.trim().split('|').collect();
    let (version, path, rule, anchor, source) = match fields[..] {
        [version, path, rule, anchor] => (version, path, rule, anchor, None),
        [version, path, rule, anchor, source] => (version, path, rule, anchor, Some(source)),
        _ => return not_a_key(),
    };
    if !matches!(version, "v2" | "v3") {
        let looks_like_one = version.strip_prefix('v').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        return if looks_like_one { refuse(format!("unknown key version {version:?}"), None) } else { not_a_key() };
    }
    let (Some(normal_path), Some(rule_name)) = (RepoPath::new(path), normalize_rule(rule)) else { return not_a_key() };
    let invalid_anchor = || format!("invalid anchor {anchor:?} for its version");
    let Some(normal_anchor) = normal_anchor(version, anchor) else { return refuse(invalid_anchor(), None) };
    let mut corrected = format!("{version}|{normal_path}|{rule_name}|{normal_anchor}");
    if let Some(source) = source.filter(|_| rules.include_source) {
        corrected.push('|');
        corrected.push_str(source);
    }
    let corrected = Some(corrected);
    if normal_path.as_str() != path {
        return refuse(format!("invalid path {path:?}"), corrected);
    }
    if rule_name != rule {
        return refuse(format!("invalid rule {rule:?}"), corrected);
    }
    if normal_anchor != anchor {
        return refuse(invalid_anchor(), corrected);
    }
    match source {
        None if rules.include_source => {
            refuse("it names no source, but identity.include_source is on".to_owned(), None)
        }
        Some(source) if !rules.include_source || !source.starts_with("source:") => {
            let fault = format!("it names the source {source:?}, but identity.include_source is off");
            refuse(fault, corrected.filter(|_| !rules.include_source))
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
    if !rules.is_empty() && !rules.iter().any(|rule| Some(rule.as_str()) == normalize_rule(parts.rule).as_deref()) {
        found.push(Contradiction { field: "rule_id", key: parts.rule.to_owned(), stated: rules.join(", ") });
    }
    let anchor = parts.anchor;
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
