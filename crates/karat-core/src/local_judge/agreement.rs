//! Evidence for a match beyond the texts: location, category, CWE, severity, keywords.
//!
//! The data that text weights are fitted on has none of these, so that their weights are set by reason. Each is an amount
//! of log-odds, and what either side does not say counts as nothing.

use super::metadata::{FindingMetadata, GoldenMetadata, PairMetadata};
use crate::golden::Severity;
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
            same_lines: 2.5,
            near_lines: 1.75,
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

/// One thing that a pair has beside its texts: its name, and its weight.
pub(super) type Contribution = Option<(&'static str, f64)>;

impl Reasoned {
    /// What golden `g` and finding `f` have beside their texts, which amount to `texts`, in a fixed order.
    pub(super) fn contributions(&self, metadata: &PairMetadata, g: usize, f: usize, texts: f64) -> [Contribution; 8] {
        let (golden, finding) = (&metadata.goldens[g], &metadata.findings[f]);
        let (place, category) = (self.place(golden, finding), self.category(golden, finding));
        let share = metadata.keyword_share(g, f);
        // A terse golden and a finding that has what little it asks for.
        let is_of_kind = matches!(category, Some(("same_category", _))) || share == Some(1.0);
        let is_placed = place.is_none_or(|(_, log_odds)| log_odds >= 0.0);
        let is_terse = is_of_kind && is_placed && texts < self.terse_golden && golden.is_terse;
        [
            place,
            self.rule(golden, finding),
            category,
            self.cwe(golden, finding),
            self.function(metadata, g, f),
            self.severity(golden.severity, finding.severity),
            share.map(|share| ("keywords", self.keywords * (share - self.usual_keywords))),
            is_terse.then_some(("terse_golden", self.terse_golden - texts)),
        ]
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

    fn place(&self, golden: &GoldenMetadata, finding: &FindingMetadata) -> Contribution {
        let (own, other) = (golden.place.as_ref()?, finding.file?);
        if !own.has(other) {
            return Some(if own.file.name == other.name {
                ("same_file_name", self.same_file_name)
            } else {
                ("other_file", self.other_file)
            });
        }
        let (Some(a), Some(b)) = (golden.lines, finding.lines) else { return Some(("same_file", self.same_file)) };
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

    fn rule(&self, golden: &GoldenMetadata, finding: &FindingMetadata) -> Contribution {
        let same = golden.rules.iter().any(|own| finding.rules.contains(own));
        same.then_some(("same_rule", self.same_rule))
    }

    fn category(&self, golden: &GoldenMetadata, finding: &FindingMetadata) -> Contribution {
        let (own, other) = (golden.category?, finding.category?);
        let same = own.is_some() && own == other;
        Some(if same { ("same_category", self.same_category) } else { ("other_category", self.other_category) })
    }

    fn cwe(&self, golden: &GoldenMetadata, finding: &FindingMetadata) -> Contribution {
        if golden.cwe.is_empty() || finding.cwe.is_empty() {
            return None;
        }
        let same = golden.cwe.iter().any(|cwe| finding.cwe.contains(cwe));
        Some(if same { ("same_cwe", self.same_cwe) } else { ("other_cwe", self.other_cwe) })
    }

    fn function(&self, metadata: &PairMetadata, g: usize, f: usize) -> Contribution {
        let (own, other) = (metadata.goldens[g].function?, metadata.findings[f].function);
        if other == Some(Some(own)) || metadata.in_text.has(f, own) {
            return Some(("same_function", self.same_function));
        }
        other.map(|_| ("other_function", self.other_function))
    }

    fn severity(&self, golden: Option<Severity>, finding: Option<Severity>) -> Contribution {
        let steps = (golden? as u8).abs_diff(finding? as u8);
        (steps > 0).then(|| ("severity_step", self.severity_step * f64::from(steps)))
    }
}
