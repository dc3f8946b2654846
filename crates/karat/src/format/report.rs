//! The report: the one source of truth that every other format is drawn from.

use super::comparison::RanksV1;
mod extras;

pub use extras::{PooledExtraV1, PooledMemberV1};

use super::probe::ProbeV1;
use karat_core::golden::{Acceptance, Severity};
use karat_core::matching::outcome::Flag;
use karat_core::metric::table::Direction;
use karat_core::profile::Method;
use karat_core::scorecard::{Intervals, Proportions};
use karat_core::stats::bootstrap::Kind;
use karat_core::suite::Verdict;
use karat_core::trial::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.report/1";

/// Metrics by id.
pub type MetricsV1 = BTreeMap<String, EstimateV1>;

/// A whole report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "report")]
pub struct ReportV1 {
    /// Always `karat.report/1`.
    pub schema: String,
    /// What was scored against.
    pub suite: SuiteV1,
    /// The rules, fully resolved.
    pub profile: ProfileV1,
    /// Where random numbers start from.
    pub seed: u64,
    /// How intervals were made.
    #[serde(default)]
    pub intervals: IntervalsV1,
    /// The goldens of every case.
    pub cases: Vec<CaseInfoV1>,
    /// The tools, in the order in which they first appear.
    pub tools: Vec<ToolV1>,
    /// The tools from best to worst, and which neighbours the data cannot tell apart; absent with one tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<RanksV1>,
    /// What several tools report, no golden names and nobody has labelled, what most tools report first; the first 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled_extras: Vec<PooledExtraV1>,
    /// Who decided pairs, and how often.
    pub judges: Vec<JudgeV1>,
    /// What can differ between two executions of the same work.
    pub measured: MeasuredV1,
    /// What a reader must know before believing a number.
    pub warnings: Vec<String>,
}

/// The rules, fully resolved. What drawings need is named; the other values are kept as they were, so that a report stays
/// readable when profiles gain values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileV1 {
    /// The profile's name.
    pub name: String,
    /// How pairs come about.
    pub method: Method,
    /// Whether a case that does not pass makes the command fail.
    pub expect_pass: bool,
    /// The metrics shown first, in this order.
    pub headline: Vec<String>,
    /// The slice whose plain mean is the headline; absent: the whole suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline_macro_by: Option<String>,
    /// All other values.
    #[serde(flatten)]
    pub others: BTreeMap<String, serde_json::Value>,
}

/// How intervals were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalsV1 {
    /// How often they hold the truth.
    pub level: f64,
    /// How many samples were drawn.
    pub resamples: usize,
    /// How the ends come from the samples: `bca` or `percentile`.
    pub bootstrap: String,
    /// Which interval a plain proportion has: `wilson` or `clopper-pearson`.
    pub proportions: String,
    /// The field whose values are clusters of cases that are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}

impl Default for IntervalsV1 {
    fn default() -> Self {
        Self::from(&Intervals::default())
    }
}

impl From<&Intervals> for IntervalsV1 {
    fn from(intervals: &Intervals) -> Self {
        let bootstrap = match intervals.kind {
            Kind::Bca => "bca",
            Kind::Percentile => "percentile",
        };
        let proportions = match intervals.proportions {
            Proportions::Wilson => "wilson",
            Proportions::ClopperPearson => "clopper-pearson",
        };
        Self {
            level: Intervals::LEVEL,
            resamples: intervals.resamples,
            bootstrap: bootstrap.to_owned(),
            proportions: proportions.to_owned(),
            cluster: intervals.cluster.clone(),
        }
    }
}

/// What was scored against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteV1 {
    /// What people call it.
    pub name: String,
    /// A hash of everything the cases say and hold.
    pub digest: String,
    /// How many cases it has.
    pub cases: usize,
    /// How many goldens they have.
    pub issues: usize,
}

/// A case and its goldens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseInfoV1 {
    /// The case.
    pub case: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The truth about it as a whole.
    pub verdict: Verdict,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// What it says of itself: `language`, `difficulty`, `repo`, `meta.NAME`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// What a good tool reports.
    pub issues: Vec<IssueInfoV1>,
}

/// A golden, as far as a reader needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IssueInfoV1 {
    /// The golden.
    pub id: String,
    /// Its title or description.
    pub title: String,
    /// How bad it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What kind of issue it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
    /// What a match with it means.
    pub acceptance: Acceptance,
}

/// A number with all that is known about how far to trust it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimateV1 {
    /// The value; null where it is undefined.
    pub value: Option<f64>,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// The interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci: Option<[f64; 2]>,
    /// How often such intervals hold the truth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// How the value or its interval came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Why there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_ci: Option<String>,
    /// The standard error of a mean of cases, clustered where clusters are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub se: Option<f64>,
    /// How many cases it rests on; of a pooled one, how many items.
    pub n: usize,
    /// Cases left out because the metric is undefined on them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Spread of the suite's mean over trials, dividing by n − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub std_trials: Option<f64>,
    /// Spread over cases, dividing by n − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub std_cases: Option<f64>,
    /// Which way is better.
    pub direction: Direction,
    /// Too few cases to lean on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreliable: bool,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// All metrics of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolV1 {
    /// The tool.
    pub tool: String,
    /// How many trials were planned.
    pub trials: usize,
    /// How they ended.
    pub outcomes: BTreeMap<Outcome, usize>,
    /// Trials that reported, and said that they could not do all of their work, such as read every file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub incomplete: usize,
    /// Whether every case passed.
    pub pass: bool,
    /// Pooled counts.
    pub counts: CountsV1,
    /// Extras that count and that nobody has labelled; until somebody does, precision lies between `precision_lower` and
    /// `precision_upper`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlabelled_extras: usize,
    /// What one-to-one assignment would make of recorded matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_to_one: Option<CountsV1>,
    /// Verdicts about whole cases, each weighing 1.
    pub verdicts: ConfusionV1,
    /// Means over cases.
    pub metrics: MetricsV1,
    /// The same from pooled counts.
    pub micro: MetricsV1,
    /// Parts of the suite: dimension, then value.
    pub by: BTreeMap<String, BTreeMap<String, SliceV1>>,
    /// The plain mean over the values of each dimension.
    pub macro_by: BTreeMap<String, MetricsV1>,
    /// What pooled figures would be without the judge's errors, where people labelled pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<CorrectedToolV1>,
    /// Goldens found in some trials and not in others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<FlakyV1>,
    /// Vulnerable cases that were called so without their target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lucky: Vec<LuckyV1>,
    /// The points of the reliability diagram of its verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<BinV1>,
    /// What thresholds on its findings would leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<SweepV1>,
    /// Every case of the suite.
    pub cases: Vec<CaseResultV1>,
}

/// What pooled figures would be without the judge's errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectedToolV1 {
    /// Countable findings with a label.
    pub labelled_findings: usize,
    /// Required goldens of trials with a label.
    pub labelled_goldens: usize,
    /// Pooled precision.
    pub precision: CorrectedMetricV1,
    /// Pooled recall.
    pub recall: CorrectedMetricV1,
    /// Pooled F1.
    pub f1: CorrectedMetricV1,
}

/// A pooled figure as the judge has it, and as it would be without errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectedMetricV1 {
    /// As the judge has it.
    pub raw: Option<f64>,
    /// By the judge's sensitivity and specificity (Rogan and Gladen).
    pub rogan_gladen: CorrectedV1,
    /// By what labels add to what the judge says of all items (PPI++).
    pub ppi: CorrectedV1,
}

/// A corrected figure, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CorrectedV1 {
    /// The figure.
    Value {
        /// The figure.
        value: f64,
        /// Its interval.
        ci: [f64; 2],
        /// How often such intervals hold the truth.
        level: f64,
        /// How it came about.
        method: String,
        /// How many labels it rests on.
        n: usize,
    },
    /// There is none.
    Refused {
        /// Why.
        refused: String,
    },
}

/// True positives, false positives and misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountsV1 {
    /// Required goldens found.
    pub tp: usize,
    /// Findings that report nothing true.
    pub fp: usize,
    /// Required goldens missed.
    pub r#fn: usize,
}

/// Verdicts against the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfusionV1 {
    /// Vulnerable, and said so.
    pub tp: f64,
    /// Safe, and called vulnerable.
    pub fp: f64,
    /// Safe, and said so.
    pub tn: f64,
    /// Vulnerable, and called safe.
    pub r#fn: f64,
}

/// One part of the suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceV1 {
    /// The metrics over it.
    pub metrics: MetricsV1,
    /// How many cases contribute to it.
    pub cases: usize,
}

/// A golden found in some trials and not in others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlakyV1 {
    /// Its case.
    pub case: String,
    /// The golden.
    pub golden: String,
    /// In how many trials it was found.
    pub found: usize,
    /// Of how many.
    pub trials: usize,
}

/// A trial that called a vulnerable case so, and did not find its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LuckyV1 {
    /// The case.
    pub case: String,
    /// The number of the trial.
    pub trial: u32,
}

/// A point of a reliability diagram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BinV1 {
    /// Where the bin starts.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The mean confidence in it.
    pub confidence: f64,
    /// The share that was right.
    pub accuracy: f64,
    /// How much it weighs: so many cases.
    pub weight: f64,
}

/// All thresholds on one thing findings state, from the strictest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepV1 {
    /// What the threshold is laid on: `confidence` or `severity` (info 1, low 2, medium 3, high 4, critical 5).
    pub by: String,
    /// Σ (recall gained) · precision.
    pub average_precision: Option<f64>,
    /// The strictest threshold with the highest F1.
    pub best: Option<OperatingV1>,
    /// Points to draw; of very many, some at equal steps.
    pub points: Vec<OperatingV1>,
}

/// What is left at one threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperatingV1 {
    /// Findings from here on are shown; null: all of them.
    pub threshold: Option<f64>,
    /// The precision of those shown.
    pub precision: f64,
    /// The share of required goldens they find.
    pub recall: f64,
    /// Of the two.
    pub f1: f64,
}

/// One tool on one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseResultV1 {
    /// The case.
    pub case: String,
    /// Whether every trial passed.
    pub pass: bool,
    /// Means over trials.
    pub metrics: MetricsV1,
    /// What it adds to metrics that are ratios of sums, by name; what is 0 is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sums: BTreeMap<String, f64>,
    /// The trials, by number.
    pub trials: Vec<TrialResultV1>,
}

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialResultV1 {
    /// Which of the repetitions it is.
    pub trial: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// What the tool said of its own work; a trial that reported and has such notes is incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What it said of the case as a whole.
    pub verdict: Option<Verdict>,
    /// Whether that is the truth.
    pub verdict_correct: bool,
    /// Said vulnerable, rightly, without finding the target.
    pub lucky_guess: Option<bool>,
    /// How sure it was.
    pub confidence: Option<f64>,
    /// Required goldens found.
    pub tp: usize,
    /// Findings that report nothing true.
    pub fp: usize,
    /// Required goldens missed.
    pub r#fn: usize,
    /// The findings, as far as a reader needs them.
    pub findings: Vec<FindingInfoV1>,
    /// Required goldens that were found.
    pub matches: Vec<MatchV1>,
    /// Required goldens that were not.
    pub misses: Vec<MissV1>,
    /// Findings that matched nothing, traps among them.
    pub extras: Vec<ExtraV1>,
    /// Further reports of found goldens.
    pub duplicates: Vec<DuplicateV1>,
    /// Findings that report acceptable goldens.
    pub acceptable: Vec<MatchV1>,
}

/// A finding, as far as a reader needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingInfoV1 {
    /// The finding.
    pub id: String,
    /// Its title, message or rule, cut to one readable line.
    pub title: String,
    /// The rule that fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// How bad the tool finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Where it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
}

/// The parts of a pair's score; one that does not apply to the golden is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartsV1 {
    /// How near the paths are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<f64>,
    /// How near the lines are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<f64>,
    /// The share of the golden's keywords that the finding uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<f64>,
    /// The share of the golden's prose that the finding covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<f64>,
    /// The judge's confidence if it matched, else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<f64>,
}

/// A pair that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateV1 {
    /// The golden, where the pair is a finding's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<String>,
    /// The finding, where the pair is a golden's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The score.
    pub score: f64,
    /// What it is made of.
    pub parts: PartsV1,
    /// What a judge said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<bool>,
}

/// A judge's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgementInfoV1 {
    /// Who decided.
    pub judge: String,
    /// How sure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The key of the exchange it comes from, where a model was asked; `karat judge show` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<String>,
}

/// A golden and the finding that reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatchV1 {
    /// The golden.
    pub golden: String,
    /// The finding.
    pub finding: String,
    /// The final score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What it is made of.
    pub parts: PartsV1,
    /// `score`, `judge`, `key`, `glob_key` or `file_and_rule`.
    pub decided_by: String,
    /// The deciding judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgementInfoV1>,
    /// The golden's best other candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<CandidateV1>,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// A golden nobody found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissV1 {
    /// The golden.
    pub golden: String,
    /// Why it was missed.
    pub why: String,
    /// Its best candidate.
    pub best: Option<CandidateV1>,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// A finding that matched nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtraV1 {
    /// The finding.
    pub finding: String,
    /// Why it matched nothing.
    pub why: String,
    /// Its best golden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<CandidateV1>,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// A further report of a found golden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DuplicateV1 {
    /// The finding.
    pub finding: String,
    /// The golden, where it is known.
    pub golden: Option<String>,
    /// The score of the pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// Who decided pairs, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeV1 {
    /// The judge.
    pub judge: String,
    /// Questions that were put to it, whether it was asked now or the ledger knew.
    pub asked: usize,
    /// Decisions for which nobody had to be asked at any time: judgements that were given, and the answers to questions that
    /// equal another one of this report.
    pub cached: usize,
    /// Questions whose answer could not change anything.
    pub saved: usize,
    /// Questions that got no answer.
    pub unjudged: usize,
    /// Those among them that the model or a filter did not want to answer.
    #[serde(default)]
    pub refused: usize,
    /// Matches of its that file, lines and words alone would not have made.
    #[serde(default)]
    pub beyond: usize,
    /// Tokens of the replies that the answers were read from, and of what those reply to. What failed on the way is not among
    /// them; all that was spent this time is measured.
    pub tokens: u64,
    /// What these tokens cost at the judge's prices, in USD; null where prices are not known.
    pub usd: Option<f64>,
    /// How far the members of a panel agree.
    #[serde(default)]
    pub agreement: Option<AgreementV1>,
    /// How it did the last time it was probed; absent where it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeV1>,
}

/// How far judges of the same pairs agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementV1 {
    /// The judges.
    pub judges: Vec<String>,
    /// How many pairs at least two of them decided.
    pub n: usize,
    /// The share of agreeing votes.
    pub percent: Option<f64>,
    /// Fleiss' kappa.
    pub fleiss: Option<f64>,
    /// Krippendorff's alpha.
    pub krippendorff: Option<f64>,
    /// Its 95 % interval.
    pub krippendorff_ci: Option<[f64; 2]>,
    /// Gwet's AC1.
    pub ac1: Option<f64>,
}

/// What a judge cost this time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeSpentV1 {
    /// Different questions that the ledger answered.
    pub from_ledger: u64,
    /// Requests that were made, those made again included.
    pub requests: u64,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens received.
    pub tokens_out: u64,
    /// In USD; null where prices are not known.
    pub usd: Option<f64>,
}

/// What can differ between two executions of the same work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredV1 {
    /// By tool.
    pub latency: BTreeMap<String, LatencyV1>,
    /// By tool.
    pub cost: BTreeMap<String, CostV1>,
    /// By tool: the isolation that was in force.
    #[serde(default)]
    pub isolation: BTreeMap<String, String>,
    /// By judge that is a model.
    #[serde(default)]
    pub judges: BTreeMap<String, JudgeSpentV1>,
    /// Seconds by stage.
    #[serde(default)]
    pub times: BTreeMap<String, f64>,
}

/// How long trials took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyV1 {
    /// The mean over trials that say so: the time of one case.
    pub mean_ms: f64,
    /// All trials together for each required golden found; null where none was.
    #[serde(default)]
    pub ms_per_tp: Option<f64>,
    /// How many say so.
    pub n: usize,
}

/// What trials cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostV1 {
    /// All trials together.
    pub usd: f64,
    /// For one trial of one case, of those that say what they cost.
    #[serde(default)]
    pub usd_per_case: f64,
    /// For each required golden found; null where none was.
    pub usd_per_tp: Option<f64>,
    /// Tokens, sent and received, for one trial of one case.
    #[serde(default)]
    pub tokens_per_case: f64,
    /// The same for each required golden found; null where none was.
    #[serde(default)]
    pub tokens_per_tp: Option<f64>,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens received.
    pub tokens_out: u64,
    /// How many trials say what they cost.
    pub n: usize,
}
