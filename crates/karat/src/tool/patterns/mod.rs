//! The built-in baseline that reviewers have to beat: rules with one regular expression each, matched against the changed
//! lines.
//!
//! The rules are written from what is commonly known to go wrong and not from any suite. Every rule has a line that it
//! matches and a line that it does not, and is refused if that is not so.

use super::facts_without_program;
use super::run_context::RunContext;
use super::{Declaration, Kind, LoadResult, NO_CODE, PrepareResult, RunResult, Task, Tool, TrialRunner};
use crate::checkout::Template;
use crate::failure::Failure;
use crate::suite::LoadedSuite;
use crate::tool::replay::Recordings;
use karat_core::finding::Finding;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, Change};
use karat_format::diagnostic::Faults;
use karat_format::document::{Syntax, decode, schema_of};
use karat_format::patterns::{RuleV1, RulesV1};
use karat_io::regular_file;
use karat_llm::engine::Retry;
use karat_sandbox::Isolation;
use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub(super) static KIND: Kind =
    Kind { keys: &["rules"], resolve: |check| Box::new(RulesFile(check.file("rules", check.raw.rules.as_deref()))) };

/// The file with the rules; `None` for the built-in ones.
struct RulesFile(Option<PathBuf>);

impl Declaration for RulesFile {
    fn load(self: Box<Self>, suite: &LoadedSuite, _: &mut Recordings) -> LoadResult {
        let Some(path) = &self.0 else { return Ok(Box::new(Patterns::built_in()?)) };
        let file = path.display().to_string();
        let failed = |why: String| Failure::bad_input(format!("{file}: {why}"));
        let bytes = if path.is_absolute() { regular_file::read(path).map(Some) } else { suite.files.read(&file) };
        let bytes = bytes.map_err(|error| failed(error.to_string()))?;
        let bytes = bytes.ok_or_else(|| failed("there is no such file in the suite".to_owned()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".to_owned()))?;
        Ok(Box::new(Patterns::load(&text, &file)?))
    }
}

impl Tool for Patterns {
    fn prepare<'a>(self: Box<Self>, _: Isolation, context: &'a RunContext<'a>) -> PrepareResult<'a> {
        let facts = facts_without_program(Some(format!("karat {}", env!("CARGO_PKG_VERSION"))));
        Ok((Box::new(PatternsRunner { patterns: *self, suite: context.loaded }), facts))
    }
}

struct PatternsRunner<'a> {
    patterns: Patterns,
    suite: &'a LoadedSuite,
}

impl TrialRunner for PatternsRunner<'_> {
    fn run_trial(&self, task: &Task, case: Option<&Case>, _: Option<&Template>, _: &dyn Fn(Retry)) -> RunResult {
        let Some(case) = case else { return Ok(Some(task.skipped(NO_CODE))) };
        let mut record = task.record();
        record.trial.findings = self.patterns.scan(self.suite.touched_sources(case), case.change.as_ref());
        Ok(Some(record))
    }
}

/// Larger files are not source code that anybody reviews.
const MAX_FILE_SIZE: usize = 1 << 20;
/// Longer lines were not written by hand.
const MAX_LINE: usize = 2000;
const MAX_RULE_SIZE: usize = 1 << 20;
const MAX_SET_SIZE: usize = 64 << 20;

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

/// Compiled rules.
#[derive(Debug)]
pub struct Patterns {
    rules: Vec<Compiled>,
    /// By extension; those under the empty one apply to all files.
    by_extension: BTreeMap<String, Group>,
}

#[derive(Debug)]
struct Compiled {
    rule: RuleV1,
    unless: Option<Regex>,
}

#[derive(Debug)]
struct Group {
    /// Indices of rules, in the order of the file.
    rules: Vec<usize>,
    set: RegexSet,
}

impl Patterns {
    /// The built-in rules, which a test keeps free of faults.
    pub fn built_in() -> Result<Self, Faults> {
        Self::load(include_str!("rules.toml"), "rules.toml")
    }

    /// Reads a file with rules. All its faults come at once.
    pub fn load(text: &str, file: &str) -> Result<Self, Faults> {
        let (stated, document) = decode::<RulesV1>(file, text, Syntax::Toml, &schema_of::<RulesV1>()).into_result()?;
        let mut faults = Vec::new();
        let mut compiled = Vec::new();
        for (index, rule) in stated.rules.iter().enumerate() {
            let unless = compile(rule, &stated.rules[..index], &mut |key, code, message| {
                faults.push(document.at(&["rules".into(), index.into(), key.into()], code, message));
            });
            compiled.push(Compiled { rule: rule.clone(), unless });
        }
        if !faults.is_empty() {
            return Err(Faults(faults));
        }
        let mut indices: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, rule) in compiled.iter().enumerate() {
            for extension in extensions(&rule.rule) {
                indices.entry(extension).or_default().push(index);
            }
        }
        let mut by_extension = BTreeMap::new();
        for (extension, rules) in indices {
            let expressions = rules.iter().map(|index| compiled[*index].rule.regex.as_str());
            let Ok(set) = RegexSetBuilder::new(expressions).size_limit(MAX_SET_SIZE).build() else {
                let message = "these rules together are too large to be compiled";
                return Err(Faults(vec![document.at(&["rules".into()], "too-large", message)]));
            };
            by_extension.insert(extension, Group { rules, set });
        }
        Ok(Self { rules: compiled, by_extension })
    }

    /// Matches the rules against the lines that the change touched, or against all lines if there is no change.
    /// Findings are sorted by file, line and rule, whatever the order of the files.
    fn scan(&self, files: impl Iterator<Item = (RepoPath, String)>, change: Option<&Change>) -> Vec<Finding> {
        let mut found: Vec<(RepoPath, u32, usize)> = Vec::new();
        for (path, text) in files {
            let touched = change.map(|change| change.touched.get(&path).map(Vec::as_slice).unwrap_or_default());
            if touched.is_some_and(<[Lines]>::is_empty) || text.len() > MAX_FILE_SIZE || text.contains('\0') {
                continue;
            }
            let groups = self.groups(&path);
            for (number, line) in (1..).zip(text.lines()) {
                let own = Lines { start: number, end: number };
                if line.len() <= MAX_LINE && touched.is_none_or(|touched| touched.iter().any(|t| t.overlaps(own))) {
                    let rules = groups.iter().flat_map(|group| self.matching_rules(group, line));
                    found.extend(rules.map(|rule| (path.clone(), number, rule)));
                }
            }
        }
        found.sort();
        found.dedup();
        let numbered = found.into_iter().enumerate();
        numbered.map(|(index, (path, line, rule))| self.finding(index + 1, path, line, rule)).collect()
    }

    fn groups(&self, path: &RepoPath) -> Vec<&Group> {
        let extension = path.file_name().rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        let own = extension.filter(|extension| !extension.is_empty()).and_then(|e| self.by_extension.get(&e));
        own.into_iter().chain(self.by_extension.get("")).collect()
    }

    fn matching_rules<'a>(&'a self, group: &'a Group, line: &'a str) -> impl Iterator<Item = usize> + 'a {
        let rules = group.set.matches(line).into_iter().map(|index| group.rules[index]);
        rules.filter(move |rule| !self.rules[*rule].unless.as_ref().is_some_and(|unless| unless.is_match(line)))
    }

    fn finding(&self, number: usize, path: RepoPath, line: u32, rule: usize) -> Finding {
        let rule = &self.rules[rule].rule;
        Finding {
            file: Some(path),
            line_start: Some(line),
            line_end: Some(line),
            source: Some("static".to_owned()),
            rule_id: Some(rule.id.clone()),
            title: Some(rule.title.clone()),
            message: Some(rule.message.clone()),
            severity: Some(rule.severity),
            category: Some(rule.category.clone()),
            cwe: rule.cwe.clone(),
            ..Finding::new(format!("f{number}"))
        }
    }
}

/// The extensions of the files a rule is for; the empty one stands for all.
fn extensions(rule: &RuleV1) -> BTreeSet<String> {
    let languages = LANGUAGES.iter().filter(|(name, _)| rule.languages.iter().any(|language| language == name));
    let known = languages.flat_map(|(_, extensions)| *extensions).map(|extension| (*extension).to_owned());
    known.chain(rule.extensions.iter().map(|extension| extension.to_ascii_lowercase())).collect()
}

/// Compiles `unless` and reports what is wrong with a rule: key, code and message.
fn compile(
    rule: &RuleV1,
    earlier: &[RuleV1],
    fault: &mut dyn FnMut(&'static str, &'static str, String),
) -> Option<Regex> {
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
    let mut build = |key: &'static str, text: &str| {
        let regex = RegexBuilder::new(text).size_limit(MAX_RULE_SIZE).build();
        regex.map_err(|error| fault(key, "bad-regex", error.to_string())).ok()
    };
    let regex = build("regex", &rule.regex);
    let unless = rule.unless.as_deref().map(|text| build("unless", text));
    let (Some(regex), None | Some(Some(_))) = (regex, &unless) else { return None };
    let unless = unless.flatten();
    let fires = |line: &str| regex.is_match(line) && !unless.as_ref().is_some_and(|unless| unless.is_match(line));
    if !fires(&rule.hit) {
        fault("hit", "no-hit", format!("`{}` does not fire on its own example", rule.id));
    }
    if fires(&rule.miss) {
        fault("miss", "no-miss", format!("`{}` fires on the line it should leave alone", rule.id));
    }
    unless
}

#[cfg(test)]
mod tests;
