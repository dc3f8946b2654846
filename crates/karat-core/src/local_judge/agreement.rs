//! Evidence for a match beyond the texts: location, category, severity, keywords.
//!
//! The data that text weights are fitted on has none of these, so that their weights are set by reason. Each is an amount
//! of log-odds, and what either side does not say counts as nothing.

use super::metadata::{FindingMetadata, GoldenMetadata, PairMetadata};
use crate::golden::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Defines the weights with their defaults.
macro_rules! reasoned {
    ($($(#[$doc:meta])* $name:ident: $type:ident = $default:expr;)*) => {
        /// Weights that were set by reason, in log-odds.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Reasoned {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Default for Reasoned {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Reasoned {
            pub(super) fn is_finite(&self) -> bool {
                [$(f64::from(self.$name)),*].iter().all(|number| number.is_finite())
            }
        }
    };
}

reasoned! {
    /// The same file, and lines that overlap.
    same_lines: f64 = 2.5;
    /// The same file, and lines next to each other; it fades to `far_lines` over `near` lines.
    near_lines: f64 = 1.75;
    /// The same file, and lines further apart.
    far_lines: f64 = -1.0;
    /// How many lines apart is far.
    near: u32 = 20;
    /// The same file, where a side has no lines.
    same_file: f64 = 0.5;
    /// A file of the same name in another folder.
    same_file_name: f64 = 0.0;
    /// Another file.
    other_file: f64 = -2.5;
    /// The finding's rule is one the golden names.
    same_rule: f64 = 2.0;
    /// The same category.
    same_category: f64 = 0.75;
    /// Another category.
    other_category: f64 = -0.25;
    /// The same function, or the golden's is named in the finding's text.
    same_function: f64 = 0.75;
    /// Another function.
    other_function: f64 = -0.5;
    /// Each step between the severities.
    severity_step: f64 = -0.1;
    /// All keywords of the golden are there rather than none.
    keywords: f64 = 2.0;
    /// The share of keywords that speaks neither for nor against.
    usual_keywords: f64 = 0.25;
    /// The least that texts amount to where the golden says hardly more than its category and keywords, and the finding is
    /// of that category or has all of the keywords, at no other place: there is nothing in the golden that other words could
    /// contradict.
    terse_golden: f64 = -1.0;
}

/// One thing that a pair has beside its texts: its name, and its weight.
pub(super) type Contribution = Option<(&'static str, f64)>;

impl Reasoned {
    /// What golden `g` and finding `f` have beside their texts, which amount to `texts`, in a fixed order.
    pub(super) fn contributions(&self, metadata: &PairMetadata, g: usize, f: usize, texts: f64) -> [Contribution; 7] {
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
            self.function(metadata, g, f),
            self.severity(golden.severity, finding.severity),
            share.map(|share| ("keywords", self.keywords * (share - self.usual_keywords))),
            is_terse.then_some(("terse_golden", self.terse_golden - texts)),
        ]
    }

    fn place(&self, golden: &GoldenMetadata, finding: &FindingMetadata) -> Contribution {
        let (own, other) = (golden.place.as_ref()?, finding.file?);
        if !own.has(other) {
            let same = own.file.name == other.name;
            return Some(if same { ("same_file_name", self.same_file_name) } else { ("other_file", self.other_file) });
        }
        Some(match golden.lines.zip(finding.lines).map(|(a, b)| a.gap(b)) {
            None => ("same_file", self.same_file),
            Some(0) => ("same_lines", self.same_lines),
            Some(gap) if gap >= self.near => ("far_lines", self.far_lines),
            Some(gap) => {
                let way = f64::from(gap) / f64::from(self.near);
                ("near_lines", self.near_lines + (self.far_lines - self.near_lines) * way)
            }
        })
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
