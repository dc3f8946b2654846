//! The comparison of two sides: differences, their certainty, and conclusions.

pub use karat_core::stats::paired::DifferenceVerdict as ConclusionV1;

use karat_core::comparison::MetricDifference;
use karat_core::metric::table::{self, Direction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.comparison/1";

/// What `karat compare` says: the difference of every two tools or runs in each metric, with intervals, tests and verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "comparison")]
pub struct ComparisonV1 {
    /// Always `karat.comparison/1`.
    pub schema: String,
    /// What people call the suite.
    pub suite: String,
    /// The rules both were scored by.
    pub profile: String,
    /// How often intervals hold the truth.
    pub level: f64,
    /// Differences within ± this count as equivalent.
    pub margin: f64,
    /// The field that clusters were named by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Every two sides that were compared with each other.
    pub comparisons: Vec<PairV1>,
    /// Tools in order with the ranks they may have, where ranks were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RanksV1>,
    /// What a reader must know before believing a number.
    pub warnings: Vec<String>,
}

impl ComparisonV1 {
    /// Where other judges decided for one side than for the other, once for every two results.
    pub fn other_judges(&self) -> Vec<&OtherJudgesV1> {
        let mut all: Vec<&OtherJudgesV1> = Vec::new();
        for own in self.comparisons.iter().filter_map(|pair| pair.other_judges.as_ref()) {
            if !all.contains(&own) {
                all.push(own);
            }
        }
        all
    }
}

/// One side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideV1 {
    /// What it is called.
    pub label: String,
    /// The tool.
    pub tool: String,
    /// A hash of the suite it was scored against.
    pub suite_digest: String,
    /// Who decided pairs.
    pub judges: Vec<String>,
}

/// Two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairV1 {
    /// The first side, which the second is compared with.
    pub a: SideV1,
    /// The second side.
    pub b: SideV1,
    /// How many cases were compared.
    pub cases: usize,
    /// Cases that were not, and why.
    pub left_out: Vec<LeftOutV1>,
    /// That other judges decided for one side than for the other; then there is no verdict unless it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_judges: Option<OtherJudgesV1>,
    /// The metrics, in the order in which they were asked for.
    pub metrics: Vec<DifferenceV1>,
    /// Required goldens found by one side and not by the other.
    pub goldens: GoldensV1,
    /// What was lost on cases that mean the same, where the second side is of a twisted suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twisted: Option<TwistedV1>,
    /// Cases that moved most, by the first metric that single cases have a value of.
    pub moved: Vec<CaseMovedV1>,
}

/// That other judges decided for one side than for the other, so that results may differ for that reason alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherJudgesV1 {
    /// Which, in a sentence.
    pub sentence: String,
    /// How to judge both alike.
    pub advice: String,
    /// Whether the sides were compared anyway, as `--across-judges` asks for.
    #[serde(default)]
    pub compared: bool,
}

/// Cases that could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutV1 {
    /// Why.
    pub why: String,
    /// Which.
    pub cases: Vec<String>,
}

/// A metric on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceV1 {
    /// The metric.
    pub metric: String,
    /// Which way is better.
    pub direction: Direction,
    /// Its value on the first side, over the cases that are compared: what the report states where these are all of them.
    pub a: Option<f64>,
    /// The same on the second side.
    pub b: Option<f64>,
    /// Second minus first; null where either is undefined.
    pub difference: Option<f64>,
    /// The interval of the difference.
    pub ci: Option<[f64; 2]>,
    /// How the interval came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// How likely a difference so large were if nothing set the two apart.
    pub p: Option<f64>,
    /// The same, adjusted by Holm for how many pairs of sides were compared.
    pub p_holm: Option<f64>,
    /// Cohen's dz: the mean difference over the spread of differences.
    pub effect: Option<f64>,
    /// The smallest true difference that would be seen four times out of five.
    pub detectable: Option<f64>,
    /// Where the result is the same on every case: the share of cases, or clusters, that could differ unseen (95 %).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<f64>,
    /// The number of cases it is based on.
    pub n: usize,
    /// How many of those are independent: cases, or clusters.
    pub units: usize,
    /// Cases that are not compared, as trials of only one side count.
    pub left_out: usize,
    /// Too few cases to lean on.
    pub unreliable: bool,
    /// Whether a side lacks the data to compute it, so that its report or baseline must be written again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_data: bool,
    /// What may be said of the second side.
    pub verdict: ConclusionV1,
    /// How that came about.
    pub because: String,
}

impl DifferenceV1 {
    /// What is known of a metric's difference; of so many cases trials of only one side count.
    pub fn new(id: &str, compared: &MetricDifference, left_out: usize) -> Self {
        Self {
            metric: id.to_owned(),
            direction: table::find(id).map_or(Direction::Up, |metric| metric.direction),
            a: compared.a,
            b: compared.b,
            difference: compared.difference,
            // Avoids a negative zero.
            ci: compared.interval.ok().map(|interval| [interval.low + 0.0, interval.high + 0.0]),
            method: compared.interval.ok().map(|interval| interval.method.to_owned()),
            p: compared.p,
            p_holm: compared.p_holm,
            effect: compared.effect.map(|effect| effect + 0.0),
            detectable: compared.detectable,
            unseen: compared.unseen,
            n: compared.n,
            units: compared.units,
            left_out,
            unreliable: compared.unreliable,
            lacks_data: false,
            verdict: compared.verdict,
            because: compared.because.to_owned(),
        }
    }
}

/// What became of required goldens; each counts once, as found where it was found in more than half of the trials. On a twisted suite,
/// only what is reported at its place is found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoldensV1 {
    /// Those that only the second side finds.
    pub gained: Vec<GoldenMovedV1>,
    /// Those that only the first side finds.
    pub lost: Vec<GoldenMovedV1>,
    /// How many both find.
    pub both: usize,
    /// How many neither does.
    pub neither: usize,
    /// How many of those that moved were found in some trials only.
    pub flaky: usize,
    /// McNemar's exact p value of gained against lost.
    pub p: f64,
    /// How many times as often one is gained as lost; null where none is lost.
    pub odds_ratio: Option<f64>,
}

/// What a tool found on a suite and not on a variant of it that means the same. Goldens count as in [`GoldensV1`], and as found only
/// where a finding that reports them is at their place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwistedV1 {
    /// How many goldens were found on the original.
    pub found: usize,
    /// How many of those were found on the variant, too.
    pub still_found: usize,
    /// How many of those were not.
    pub lost: usize,
    /// How many were found on the variant alone.
    pub gained: usize,
    /// How many of the lost ones were reported at another place, such as that of the original.
    #[serde(default)]
    pub lost_elsewhere: usize,
    /// How many were reported at another place alone, on the original and on the variant; they do not count as found.
    #[serde(default)]
    pub elsewhere: [usize; 2],
    /// How many of those found on the original are at nearly the same place on the variant, where a recited report counts as found.
    #[serde(default)]
    pub unmoved: usize,
    /// In how many of the cases nothing but functions that nothing calls is different.
    #[serde(default)]
    pub dead_code_alone: usize,
    /// How many were found on neither.
    pub neither: usize,
    /// Lost ones as a share of those found on the original; null where none was.
    pub lost_share: Option<f64>,
    /// Wilson's interval of that share.
    pub lost_ci: Option<[f64; 2]>,
    /// Recall on the variant minus recall on the original.
    pub recall_difference: Option<f64>,
    /// The interval of that difference, paired by case.
    pub recall_ci: Option<[f64; 2]>,
    /// McNemar's exact p value of gained against lost.
    pub p: f64,
    /// The same in a sentence.
    pub statement: String,
}

/// A golden that one side finds and the other does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoldenMovedV1 {
    /// Its case.
    pub case: String,
    /// Its id.
    pub golden: String,
    /// Its title, where it is known.
    pub title: String,
    /// In how many of its trials the first side found it, and of how many.
    pub a: [usize; 2],
    /// The same of the second side.
    pub b: [usize; 2],
}

/// A case and how far it moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseMovedV1 {
    /// The case.
    pub case: String,
    /// The metric.
    pub metric: String,
    /// The first side's value.
    pub a: f64,
    /// The second side's.
    pub b: f64,
    /// Second minus first.
    pub difference: f64,
}

/// Tools in order, with the ranks that each may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RanksV1 {
    /// The metric they are ordered by.
    pub metric: String,
    /// Which way is better.
    pub direction: Direction,
    /// How often the sets of ranks of all tools hold the true ranks at once.
    #[serde(default = "level")]
    pub level: f64,
    /// The tools, best first; those without a value last.
    pub tools: Vec<RankedV1>,
    /// Every two tools with a value, tested against each other.
    #[serde(default)]
    pub pairs: Vec<RankTestV1>,
    /// What is known of the best tools, in a sentence.
    pub statement: String,
}

fn level() -> f64 {
    karat_core::scorecard::Intervals::LEVEL
}

/// A tool and its ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedV1 {
    /// The tool's place by its value, from 1; absent without a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// The best rank it may have: 1 + the tools that are significantly better; absent without a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_low: Option<usize>,
    /// The worst rank it may have: the number of ranked tools − those that are significantly worse; absent without a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_high: Option<usize>,
    /// The tool.
    pub tool: String,
    /// Its value.
    pub value: Option<f64>,
    /// The value's interval.
    pub ci: Option<[f64; 2]>,
    /// The number of cases it is based on.
    pub n: usize,
}

/// The test of two tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankTestV1 {
    /// The tool that stands first.
    pub a: String,
    /// The tool that stands after it.
    pub b: String,
    /// The value of `b` minus that of `a`, on the cases both have a value on; null where it is undefined.
    pub difference: Option<f64>,
    /// How likely a difference so large would be if the two did not differ; null where it could not be tested.
    pub p: Option<f64>,
    /// The same, adjusted by Holm for all pairs.
    pub p_holm: Option<f64>,
    /// How many cases both have a value on.
    pub n: usize,
    /// On how many cases, or clusters of them, they differ.
    pub differing: usize,
    /// Which of the two is significantly better; absent if neither is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<String>,
}
