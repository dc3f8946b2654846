//! Parameters of the local judge, with their provenance.

use super::agreement::Reasoned;
use super::features::{FEATURES, Feature, VERSION};
use super::rarity::Rarity;
use super::scanner;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format of parameter files.
pub const SCHEMA: &str = "karat.local-judge/1";

/// Everything the local judge knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of the features that the weights belong to.
    pub features: u32,
    /// From this probability on, a pair matches.
    pub threshold: f64,
    /// What it was fitted on, and how well that went.
    pub provenance: Provenance,
    /// How texts are weighed.
    pub text: TextWeights,
    /// How rivals change that.
    pub rivals: RivalWeights,
    /// Weights of what is beside the texts, set by reason.
    pub reasoned: Reasoned,
    /// How much words tell.
    pub rarity: Rarity,
    /// How pairs with a scanner's finding are weighed, instead of by their texts alone.
    pub scanner: ScannerParams,
}

/// How the pairs of scanners' findings are weighed: log-odds are `base` plus, for each feature, `weight · (value − mean) / spread`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScannerParams {
    /// The log-odds of a pair that is average in everything.
    pub base: f64,
    /// What it was fitted on, and how well that went.
    pub provenance: Provenance,
    /// By the name of the feature.
    pub weights: BTreeMap<String, Weight>,
    /// How much words of messages, rules and goldens tell.
    pub rarity: Rarity,
}

/// What parameters were fitted on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The suite.
    pub suite: String,
    /// A hash of what the suite says and holds.
    pub digest: String,
    /// Whose decisions were learned.
    pub judges: Vec<String>,
    /// How many trials had decisions.
    pub trials: usize,
    /// How many pairs were decided, by statement or by what follows from statements.
    pub pairs: usize,
    /// How many of these match.
    pub matches: usize,
    /// The field that groups of cases were made by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// The mean over groups, each judged by parameters fitted on all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
    /// Agreement on goldens found, group by group.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held_out_kappa: BTreeMap<String, f64>,
}

/// How parameters fitted in the same way did on groups they had not seen, averaged over the groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldOut {
    /// Cohen's kappa on goldens found.
    pub kappa: f64,
    /// Precision on goldens found.
    pub precision: f64,
    /// Recall on goldens found.
    pub recall: f64,
    /// Area under the curve of the pairs.
    pub auc: f64,
    /// Expected calibration error of the pairs.
    pub ece: f64,
}

/// How the texts of a pair are weighed: log-odds are `base` plus, for each feature, `weight · (value − mean) / spread`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextWeights {
    /// The log-odds of a pair that is average in everything.
    pub base: f64,
    /// By the name of the feature.
    pub weights: BTreeMap<String, Weight>,
}

/// The weight of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weight {
    /// Log-odds for each spread above the mean.
    pub weight: f64,
    /// The feature's mean over the pairs it was fitted on.
    pub mean: f64,
    /// Its standard deviation over them.
    pub spread: f64,
}

/// How the score of a pair and its rivals become log-odds: `base + score · s + behind_golden · a + behind_finding · b`,
/// with `s` the log-odds of texts and all that is beside them, `a` and `b` how far `s` lies behind the best golden for the
/// same finding and the best finding for the same golden, from −4 to 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RivalWeights {
    /// What is added always.
    pub base: f64,
    /// The weight of the pair's own score.
    pub score: f64,
    /// The weight of lying behind another golden of the case.
    pub behind_golden: f64,
    /// The weight of lying behind another finding of the trial.
    pub behind_finding: f64,
}

impl ScannerParams {
    /// The weight over its spread and the mean of each feature, in their order.
    pub(super) fn scale(&self) -> [(f64, f64); scanner::COUNT] {
        scanner::FEATURES
            .each_ref()
            .map(|feature| self.weights.get(feature.name).map_or((0.0, 0.0), |own| (own.weight / own.spread, own.mean)))
    }
}

impl Params {
    /// All reasons why the parameters cannot be used.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.schema != SCHEMA {
            faults.push(format!("schema is {:?}, but this version reads {SCHEMA:?}", self.schema));
        }
        if self.features != VERSION {
            let own = self.features;
            faults
                .push(format!("features is {own}, but this version has features {VERSION}: fit the parameters again"));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            faults.push(format!("threshold is {}, expected a number from 0 to 1", self.threshold));
        }
        faults.extend(weight_faults("text", &self.text.weights, &FEATURES));
        faults.extend(weight_faults("scanner", &self.scanner.weights, &scanner::FEATURES));
        let rivals = &self.rivals;
        let all =
            [self.text.base, self.scanner.base, rivals.base, rivals.score, rivals.behind_golden, rivals.behind_finding];
        if !all.iter().all(|number| number.is_finite()) || !self.reasoned.is_finite() {
            faults.push("text.base, scanner.base, rivals and reasoned: expected finite numbers".to_owned());
        }
        faults
    }
}

fn weight_faults(part: &str, weights: &BTreeMap<String, Weight>, features: &[Feature]) -> Vec<String> {
    let mut faults = Vec::new();
    for name in weights.keys().filter(|name| features.iter().all(|feature| feature.name != **name)) {
        faults.push(format!("{part}.weights.{name}: unknown feature"));
    }
    for feature in features.iter().filter(|feature| !weights.contains_key(feature.name)) {
        faults.push(format!("{part}.weights.{} is missing", feature.name));
    }
    for (name, weight) in weights {
        let sound = weight.weight.is_finite() && weight.mean.is_finite() && weight.spread.is_finite();
        if !sound || weight.spread <= 0.0 {
            faults.push(format!("{part}.weights.{name}: expected finite numbers and a spread above 0"));
        }
    }
    faults
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Parameters that decide nothing.
    pub(in crate::local_judge) fn blank() -> Params {
        let weights = |features: &[Feature]| {
            let blank = Weight { weight: 0.0, mean: 0.0, spread: 1.0 };
            features.iter().map(|feature| (feature.name.to_owned(), blank)).collect()
        };
        Params {
            schema: SCHEMA.to_owned(),
            features: VERSION,
            threshold: 0.5,
            provenance: Provenance::default(),
            text: TextWeights { base: 0.0, weights: weights(&FEATURES) },
            rivals: RivalWeights { base: 0.0, score: 1.0, behind_golden: 0.0, behind_finding: 0.0 },
            reasoned: Reasoned::default(),
            rarity: Rarity::default(),
            scanner: ScannerParams {
                base: 0.0,
                provenance: Provenance::default(),
                weights: weights(&scanner::FEATURES),
                rarity: Rarity::default(),
            },
        }
    }
}
