//! Rules of the baseline, checked.

use karat_format::patterns::RuleV1;
use regex::{Regex, RegexBuilder};
use std::collections::BTreeSet;

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RuleFault {
    pub(super) key: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// Languages and the extensions of their files.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("any", &[""]),
    ("c", &["c", "h"]),
    ("cpp", &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "h"]),
    ("go", &["go"]),
    ("java", &["java"]),
    ("javascript", &["js", "jsx", "mjs", "cjs"]),
    ("python", &["py", "pyw", "pyi"]),
    ("ruby", &["rb", "rake", "erb"]),
    ("rust", &["rs"]),
    ("solidity", &["sol"]),
    ("typescript", &["ts", "tsx", "mts", "cts"]),
];

/// Bytes of a compiled expression.
const MAX_SIZE: usize = 1 << 20;

/// The extensions of the files a rule is for; the empty one stands for all.
pub(super) fn extensions(rule: &RuleV1) -> BTreeSet<String> {
    let languages = LANGUAGES.iter().filter(|(name, _)| rule.languages.iter().any(|language| language == name));
    let known = languages.flat_map(|(_, extensions)| *extensions).map(|extension| (*extension).to_owned());
    known.chain(rule.extensions.iter().map(|extension| extension.to_ascii_lowercase())).collect()
}

/// Checks a rule and compiles its exception.
pub(super) fn compile(rule: &RuleV1, earlier: &[RuleV1]) -> Result<Option<Regex>, Vec<RuleFault>> {
    let mut faults = Vec::new();
    let mut fault = |key, code, message: String| faults.push(RuleFault { key, code, message });
    if earlier.iter().any(|other| other.id == rule.id) {
        fault("id", "duplicate-id", format!("duplicate rule `{}`", rule.id));
    }
    if rule.languages.is_empty() && rule.extensions.is_empty() {
        fault("id", "no-language", format!("`{}` applies to no file; give languages or extensions", rule.id));
    }
    for unknown in rule.languages.iter().filter(|name| !LANGUAGES.iter().any(|(known, _)| known == name)) {
        let names: Vec<&str> = LANGUAGES.iter().map(|(name, _)| *name).collect();
        let message = format!("unknown language `{unknown}`; available: {}", names.join(", "));
        fault("languages", "unknown-language", message);
    }
    let build = |text: &str| RegexBuilder::new(text).size_limit(MAX_SIZE).build();
    let regex = build(&rule.regex).map_err(|error| fault("regex", "bad-regex", error.to_string())).ok();
    let unless = match rule.unless.as_deref().map(build) {
        Some(Err(error)) => {
            fault("unless", "bad-regex", error.to_string());
            return Err(faults);
        }
        Some(Ok(unless)) => Some(unless),
        None => None,
    };
    if let Some(regex) = regex {
        let fires = |line: &str| regex.is_match(line) && !unless.as_ref().is_some_and(|unless| unless.is_match(line));
        if !fires(&rule.hit) {
            fault("hit", "no-hit", format!("`{}` does not fire on its own example", rule.id));
        }
        if fires(&rule.miss) {
            fault("miss", "no-miss", format!("`{}` fires on the line it should leave alone", rule.id));
        }
    }
    if faults.is_empty() { Ok(unless) } else { Err(faults) }
}
