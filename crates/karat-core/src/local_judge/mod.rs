//! The local judge: a small deterministic model that decides whether a finding reports a golden, without a network.
//!
//! A pair is scored in three steps. Its texts are compared by twenty [features](features::FEATURES) whose weights are
//! fitted on labelled pairs, and for a scanner's finding further by [what scanners state](scanner::FEATURES); what lies beside the texts, such as places, adds log-odds that are set by reason; and a pair
//! that lies behind a better golden for its finding, or a better finding for its golden, loses some of them. The same
//! values in give the same bits out, on every machine.

mod agreement;
mod concepts;
mod cwe;
pub mod evaluate;
pub mod features;
pub mod fit;
mod hashing;
pub mod labels;
mod metadata;
pub mod params;
mod rarity;
pub mod scanner;
mod shared;
mod table;
mod text_index;
mod weaknesses;
mod words;

use crate::finding::Finding;
use crate::golden::Golden;
use crate::judgement::Reason;
pub use agreement::Reasoned;
use concepts::Concepts;
use features::{COUNT, FEATURES};
use params::Params;
pub use rarity::Rarity;
use rarity::Weights;
use scanner::ScannerModel;
use table::{Table, Texts};
use text_index::TextParts;
pub(crate) use words::stems;

/// The judge's name in judgements.
pub const NAME: &str = "local";

/// The judge's opinion on a pair, given by indices in the case and in the trial.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PairOpinion {
    pub golden: usize,
    pub finding: usize,
    pub probability: f64,
    pub matched: bool,
    /// The strongest reasons for a match, the strongest first, then the strongest against: names of features, of weights set by
    /// reason or of rivals, each with its log-odds relative to an average pair.
    pub reasons: Vec<(&'static str, f64)>,
}

impl PairOpinion {
    /// The reasons as a judgement keeps them.
    pub fn reasons(&self) -> Vec<Reason> {
        self.reasons.iter().map(|(name, log_odds)| Reason::new(name, *log_odds)).collect()
    }

    /// The reasons in one line, for a judgement's explanation.
    pub fn explanation(&self) -> String {
        let side = |word: &str, wanted: fn(f64) -> bool| {
            let own = self.reasons.iter().filter(|(_, log_odds)| wanted(*log_odds));
            let reasons: Vec<String> = own.map(|(name, log_odds)| format!("{name} {log_odds:+.1}")).collect();
            if reasons.is_empty() { format!("nothing {word}") } else { format!("{word}: {}", reasons.join(", ")) }
        };
        format!("{}; {}", side("for", |log_odds| log_odds > 0.0), side("against", |log_odds| log_odds < 0.0))
    }
}

/// The judge, ready to decide.
pub struct LocalJudge {
    params: Params,
    /// Weights over spread and means, in the order of the features.
    scale: [(f64, f64); COUNT],
    /// What of texts is read: what has no weight need not be.
    wanted: TextParts,
    words: Weights,
    concepts: Concepts,
    scanner: ScannerModel,
}

impl LocalJudge {
    /// A judge with these parameters, or everything that is wrong with them.
    pub fn new(params: Params) -> Result<Self, Vec<String>> {
        let faults = params.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut scale = [(0.0, 0.0); COUNT];
        for (own, feature) in scale.iter_mut().zip(&FEATURES) {
            if let Some(weight) = params.text.weights.get(feature.name) {
                *own = (weight.weight / weight.spread, weight.mean);
            }
        }
        let weighs = |name: &str| params.text.weights.get(name).is_some_and(|weight| weight.weight != 0.0);
        let wanted = TextParts { phrases: weighs("phrases"), grams: weighs("letters") || weighs("golden_letters") };
        let words = params.rarity.weights();
        let scanner = ScannerModel::new(params.scanner.scale(), params.scanner.base, params.scanner.rarity.weights());
        Ok(Self { scale, wanted, words, concepts: Concepts::new(), scanner, params })
    }

    /// The parameters it decides by.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// What it says of the wanted pairs, given by golden and finding. Pairs that are not wanted are rivals all the same, so
    /// that an opinion does not depend on what else is asked; a pair that is not there gets none.
    pub fn judge(&self, goldens: &[Golden], findings: &[Finding], wanted: &[(usize, usize)]) -> Vec<PairOpinion> {
        let texts = Texts::read(self, goldens, findings, self.wanted);
        Table::new(self, &texts).opinions(wanted)
    }

    /// How likely each pair matches, all findings of the first golden first.
    pub fn probabilities(&self, goldens: &[Golden], findings: &[Finding]) -> Vec<f64> {
        let texts = Texts::read(self, goldens, findings, self.wanted);
        Table::new(self, &texts).into_probabilities()
    }
}

pub(crate) fn golden_text(golden: &Golden) -> String {
    joined([golden.title.as_deref(), golden.description.as_deref()])
}

/// What a finding says; the rule alone where there is nothing else.
pub(crate) fn finding_text(finding: &Finding) -> String {
    let text = joined([finding.title.as_deref(), finding.message.as_deref()]);
    if text.is_empty() { finding.rule_id.clone().unwrap_or_default() } else { text }
}

fn joined(parts: [Option<&str>; 2]) -> String {
    match parts {
        [Some(title), Some(text)] if !text.contains(title) => format!("{title}. {text}"),
        [_, Some(text)] => text.to_owned(),
        [title, None] => title.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests;
