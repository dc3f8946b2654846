//! The built-in baseline: one regular expression a line, matched against the lines that changed. What does a reviewer add to
//! this?
//!
//! The rules are honest grep, written from what is commonly known to go wrong and not from any suite. Every rule carries a
//! line it fires on and a line it does not, and is refused where that is not so.

mod rules;

use karat_core::finding::Finding;
use karat_core::ids::FindingId;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_core::suite::Change;
use karat_format::diagnostic::Faults;
use karat_format::document::{Document, Syntax, decode, schema_of};
use karat_format::patterns::{RuleV1, RulesV1};
use regex::{Regex, RegexSet, RegexSetBuilder};
use std::collections::BTreeMap;

/// The built-in rules.
pub static BUILT_IN: &str = include_str!("rules.toml");

/// The name under which faults of the built-in rules are told.
pub const BUILT_IN_FILE: &str = "rules.toml";

/// A file above this size is no source that anybody reviews.
const LARGEST_FILE: usize = 1 << 20;
/// A line above this length was not written by hand.
const LONGEST_LINE: usize = 2000;
/// What the expressions of a file may take up once compiled.
const LARGEST_SET: usize = 64 << 20;

/// Rules, ready to be matched with code.
#[derive(Debug)]
pub struct Patterns {
    rules: Vec<Compiled>,
    /// For each extension, and under the empty one for all files, the rules and one automaton for all of them.
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
        Self::load(BUILT_IN, BUILT_IN_FILE)
    }

    /// Reads a file with rules. All its faults come at once.
    pub fn load(text: &str, file: &str) -> Result<Self, Faults> {
        let decoded = decode::<RulesV1>(file, text, Syntax::Toml, &schema_of::<RulesV1>());
        let (stated, document) = decoded.into_result()?;
        let mut faults = Vec::new();
        let mut compiled = Vec::new();
        for (index, rule) in stated.rules.iter().enumerate() {
            let earlier = &stated.rules[..index];
            match rules::compile(rule, earlier) {
                Ok(unless) => compiled.push(Compiled { rule: rule.clone(), unless }),
                Err(found) => faults.extend(found.iter().map(|fault| placed(&document, index, fault))),
            }
        }
        if !faults.is_empty() {
            return Err(Faults(faults));
        }
        let mut indices: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, rule) in compiled.iter().enumerate() {
            for extension in rules::extensions(&rule.rule) {
                indices.entry(extension).or_default().push(index);
            }
        }
        let mut by_extension = BTreeMap::new();
        for (extension, rules) in indices {
            let expressions = rules.iter().map(|index| compiled[*index].rule.regex.as_str());
            let set = RegexSetBuilder::new(expressions).size_limit(LARGEST_SET).build();
            let too_large =
                |_| document.at(&["rules".into()], "too-large", "these rules together are too large to be compiled");
            by_extension.insert(extension, Group { rules, set: set.map_err(|error| Faults(vec![too_large(error)]))? });
        }
        Ok(Self { rules: compiled, by_extension })
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Holds the rules against files: against the lines that the change touched, or against all where there is no change.
    /// Findings come by file, line and rule, whatever the order of the files.
    pub fn scan(&self, files: impl Iterator<Item = (RepoPath, String)>, change: Option<&Change>) -> Vec<Finding> {
        let mut found: Vec<(RepoPath, u32, usize)> = Vec::new();
        for (path, text) in files {
            let touched = change.map(|change| change.touched.get(&path).map(Vec::as_slice).unwrap_or_default());
            if touched.is_some_and(<[Lines]>::is_empty) || text.len() > LARGEST_FILE || text.contains('\0') {
                continue;
            }
            let groups = self.groups(&path);
            for (number, line) in (1..).zip(text.lines()) {
                let own = Lines { start: number, end: number };
                if line.len() <= LONGEST_LINE && touched.is_none_or(|touched| touched.iter().any(|t| t.overlaps(own))) {
                    let rules = groups.iter().flat_map(|group| self.firing(group, line));
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

    fn firing<'a>(&'a self, group: &'a Group, line: &'a str) -> impl Iterator<Item = usize> + 'a {
        let rules = group.set.matches(line).into_iter().filter_map(|index| group.rules.get(index).copied());
        let quiet = |rule: &Compiled| rule.unless.as_ref().is_some_and(|unless| unless.is_match(line));
        rules
            .filter(move |index| self.rules.get(*index).is_some_and(|rule| !quiet(rule)))
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn finding(&self, number: usize, path: RepoPath, line: u32, index: usize) -> Finding {
        let mut finding = Finding::new("");
        finding.id = FindingId::new(format!("f{number}"));
        finding.file = Some(path);
        finding.line_start = Some(line);
        finding.line_end = Some(line);
        finding.source = Some("static".to_owned());
        if let Some(Compiled { rule, .. }) = self.rules.get(index) {
            finding.rule_id = Some(rule.id.clone());
            finding.title = Some(rule.title.clone());
            finding.message = Some(rule.message.clone());
            finding.severity = Some(rule.severity);
            finding.category = Some(rule.category.clone());
            finding.cwe = rule.cwe.clone();
        }
        finding
    }
}

fn placed(document: &Document, index: usize, fault: &rules::RuleFault) -> karat_format::diagnostic::Diagnostic {
    document.at(&["rules".into(), index.into(), fault.key.into()], fault.code, fault.message.clone())
}

#[cfg(test)]
mod tests;
