//! What beside the texts speaks for a match: place, kind, weakness, severity, keywords.
//!
//! The data that text weights are fitted on has none of these, so that their weights are set by reason. Each is an amount
//! of log-odds, and what either side does not say counts as nothing.

use crate::finding::Finding;
use crate::golden::{Golden, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Weights that were set by reason, in log-odds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reasoned {
    /// The same file, and lines that overlap.
    pub same_lines: f64,
    /// The same file, and lines next to each other; it fades to `far_lines` over `near` lines.
    pub near_lines: f64,
    /// The same file, and lines further apart.
    pub far_lines: f64,
    /// How many lines apart is far.
    pub near: u32,
    /// The same file, where a side has no lines.
    pub same_file: f64,
    /// A file of the same name in another folder.
    pub same_file_name: f64,
    /// Another file.
    pub other_file: f64,
    /// The finding's rule is one the golden names.
    pub same_rule: f64,
    /// The same category.
    pub same_category: f64,
    /// Another category.
    pub other_category: f64,
    /// A weakness number in common.
    pub same_cwe: f64,
    /// Weakness numbers on both sides, none in common.
    pub other_cwe: f64,
    /// The same function, or the golden's is named in the finding's text.
    pub same_function: f64,
    /// Another function.
    pub other_function: f64,
    /// Each step between the severities.
    pub severity_step: f64,
    /// All keywords of the golden are there rather than none.
    pub keywords: f64,
    /// The share of keywords that speaks neither for nor against.
    pub usual_keywords: f64,
    /// The least that texts amount to where the golden says hardly more than its category and keywords, and the finding is
    /// of that category or has all of the keywords, at no other place: there is nothing in the golden that other words could
    /// contradict.
    pub terse_golden: f64,
}

impl Default for Reasoned {
    fn default() -> Self {
        Self {
            same_lines: 3.0,
            near_lines: 2.25,
            far_lines: -1.0,
            near: 20,
            same_file: 0.5,
            same_file_name: 0.0,
            other_file: -2.5,
            same_rule: 2.0,
            same_category: 0.75,
            other_category: -0.25,
            same_cwe: 1.0,
            other_cwe: -0.5,
            same_function: 0.75,
            other_function: -0.5,
            severity_step: -0.1,
            keywords: 2.0,
            usual_keywords: 0.25,
            terse_golden: -1.0,
        }
    }
}

impl Reasoned {
    /// What a pair has beside its texts, each with its name and weight, in a fixed order; `text` is the finding's, in
    /// lowercase.
    pub(super) fn of(&self, golden: &Golden, finding: &Finding, text: &str) -> Vec<(&'static str, f64)> {
        let said = [
            self.place(golden, finding),
            self.rule(golden, finding),
            self.category(golden, finding),
            self.cwe(golden, finding),
            self.function(golden, finding, text),
            self.severity(golden.severity, finding.severity),
            self.keywords(golden, finding, text),
        ];
        said.into_iter().flatten().collect()
    }

    /// Every amount, to be looked through for what is not a number.
    pub(super) fn all(&self) -> [f64; 17] {
        [
            self.same_lines,
            self.near_lines,
            self.far_lines,
            self.same_file,
            self.same_file_name,
            self.other_file,
            self.same_rule,
            self.same_category,
            self.other_category,
            self.same_cwe,
            self.other_cwe,
            self.same_function,
            self.other_function,
            self.severity_step,
            self.keywords,
            self.usual_keywords,
            self.terse_golden,
        ]
    }

    /// What is added where a terse golden meets a finding that has what little it asks for, and whose texts amount to `texts`.
    pub(super) fn terse(
        &self,
        golden: &Golden,
        finding: &Finding,
        text: &str,
        texts: f64,
    ) -> Option<(&'static str, f64)> {
        let same_category = || matches!(self.category(golden, finding), Some(("same_category", _)));
        let all_keywords = || keyword_share(golden, finding, text) == Some(1.0);
        let placed = || self.place(golden, finding).is_none_or(|(_, log_odds)| log_odds >= 0.0);
        (texts < self.terse_golden && is_terse(golden) && placed() && (same_category() || all_keywords()))
            .then_some(("terse_golden", self.terse_golden - texts))
    }

    fn place(&self, golden: &Golden, finding: &Finding) -> Option<(&'static str, f64)> {
        let (own, other) = (golden.file.as_ref()?, finding.file.as_ref()?);
        if !own.matches(other) {
            let same_name = own.path().file_name() == other.file_name();
            return Some(if same_name {
                ("same_file_name", self.same_file_name)
            } else {
                ("other_file", self.other_file)
            });
        }
        let (Some(a), Some(b)) = (golden.lines, finding.lines()) else { return Some(("same_file", self.same_file)) };
        if a.overlaps(b) {
            return Some(("same_lines", self.same_lines));
        }
        let gap = a.gap(b);
        if gap >= self.near {
            return Some(("far_lines", self.far_lines));
        }
        let way = f64::from(gap) / f64::from(self.near);
        Some(("near_lines", self.near_lines + (self.far_lines - self.near_lines) * way))
    }

    fn rule(&self, golden: &Golden, finding: &Finding) -> Option<(&'static str, f64)> {
        let same = golden.rules().any(|own| finding.rules().any(|other| same_word(own, other)));
        same.then_some(("same_rule", self.same_rule))
    }

    fn category(&self, golden: &Golden, finding: &Finding) -> Option<(&'static str, f64)> {
        let same = same_word(golden.category.as_ref()?, finding.category.as_ref()?);
        Some(if same { ("same_category", self.same_category) } else { ("other_category", self.other_category) })
    }

    fn cwe(&self, golden: &Golden, finding: &Finding) -> Option<(&'static str, f64)> {
        if golden.cwe.is_empty() || finding.cwe.is_empty() {
            return None;
        }
        let same = golden.cwe.iter().any(|cwe| finding.cwe.contains(cwe));
        Some(if same { ("same_cwe", self.same_cwe) } else { ("other_cwe", self.other_cwe) })
    }

    fn function(&self, golden: &Golden, finding: &Finding, text: &str) -> Option<(&'static str, f64)> {
        let own = golden.function.as_ref().map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty())?;
        let other = finding.function.as_ref().map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty());
        if other.as_ref() == Some(&own) || text.contains(&own) {
            return Some(("same_function", self.same_function));
        }
        other.map(|_| ("other_function", self.other_function))
    }

    fn severity(&self, golden: Option<Severity>, finding: Option<Severity>) -> Option<(&'static str, f64)> {
        let steps = (golden? as u8).abs_diff(finding? as u8);
        (steps > 0).then(|| ("severity_step", self.severity_step * f64::from(steps)))
    }

    fn keywords(&self, golden: &Golden, finding: &Finding, text: &str) -> Option<(&'static str, f64)> {
        let share = keyword_share(golden, finding, text)?;
        Some(("keywords", self.keywords * (share - self.usual_keywords)))
    }
}

/// The share of the golden's keywords that the finding has; `text` is the finding's, in lowercase.
fn keyword_share(golden: &Golden, finding: &Finding, text: &str) -> Option<f64> {
    let wanted: Vec<String> =
        golden.keywords.iter().map(|word| word.trim().to_lowercase()).filter(|word| !word.is_empty()).collect();
    if wanted.is_empty() {
        return None;
    }
    let beside: Vec<String> = finding.rule_id.iter().chain(&finding.category).map(|word| word.to_lowercase()).collect();
    let there = |word: &&String| text.contains(*word) || beside.iter().any(|other| other.contains(*word));
    Some(wanted.iter().filter(there).count() as f64 / wanted.len() as f64)
}

/// A golden with more words of its own than this says something.
const TERSE: usize = 3;

/// Whether the golden says hardly more than its category and keywords.
fn is_terse(golden: &Golden) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let known: Vec<String> = golden.category.iter().chain(&golden.keywords).flat_map(|text| words(text)).collect();
    let said = golden.title.iter().chain(&golden.description).flat_map(|text| words(text));
    said.filter(|word| !known.contains(word)).nth(TERSE).is_none()
}

/// Whether two words are the same but for case and punctuation: `sql-injection` and `SQL injection`.
fn same_word(a: &str, b: &str) -> bool {
    let plain =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let a = plain(a);
    !a.is_empty() && a == plain(b)
}
