//! The report, from which every other output format is generated.

mod case_columns;
mod detail;
mod figures;
mod measured;
mod reason;
mod sensitivity;
mod trial;

pub use detail::DetailV1;
pub use figures::FiguresV1;
pub use measured::{
    AgreementLevelV1, AgreementV1, AnswerFormatV1, AuditAgreementV1, CorrectedMetricV1, CorrectedToolV1, CorrectedV1,
    CostV1, FieldAgreementV1, FindingKindV1, JudgeIdentityV1, JudgeSpentV1, JudgeV1, LatencyV1, MeasuredAgreementV1,
    MeasuredV1, SamplingV1,
};
pub use reason::{ExtraReasonV1, MissReasonV1};
pub use sensitivity::{ChangeV1, SensitivityV1};
pub use trial::{
    AuditInfoV1, CandidateV1, DuplicateV1, ExtraV1, FindingInfoV1, JudgementInfoV1, MatchV1, MissV1, PooledExtraV1,
    PooledMemberV1, RefusedV1, TrialResultV1, VoteV1,
};

pub use karat_core::judgement::Reason as ReasonV1;
pub use karat_core::metric::calibration::Bin as BinV1;
pub use karat_core::metric::counts::{Confusion as ConfusionV1, Counts as CountsV1};
pub use karat_core::metric::findings_quality::AuditedFindings as AuditedFindingsV1;
pub use karat_core::metric::sweep::OperatingPoint as OperatingV1;
pub use karat_core::scorecard::{FlakyGolden as FlakyV1, LuckyGuess as LuckyV1};

use super::comparison::RanksV1;
use karat_core::clusters::ClusterBy;
use karat_core::golden::{Acceptance, Severity, count_by_kind};
use karat_core::metric::estimate::Estimate;
use karat_core::metric::table::Direction;
use karat_core::profile::Method;
use karat_core::scorecard::{Intervals, Proportions};
use karat_core::stats::bootstrap::BootstrapKind;
use karat_core::suite::Verdict;
use karat_core::trial::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.report/1";

/// Metrics by id.
pub type MetricsV1 = BTreeMap<String, EstimateV1>;

/// What `karat score` and `karat run` say: every tool's metrics with intervals, and every case with its matches and misses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "report")]
pub struct ReportV1 {
    /// Always `karat.report/1`.
    pub schema: String,
    /// Whether any trial came to a report; without one, no tool has scores or a rank.
    #[serde(default)]
    pub status: StatusV1,
    /// What it holds of single trials; absent if everything.
    #[serde(default, skip_serializing_if = "DetailV1::is_all")]
    pub detail: DetailV1,
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
    /// The tools from best to worst, with the ranks that each may have; absent with one tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<RanksV1>,
    /// What several tools report, no golden names and nobody has labelled, what most tools report first; the first 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled_extras: Vec<PooledExtraV1>,
    /// Who decided pairs, and how often.
    pub judges: Vec<JudgeV1>,
    /// How far the judges agree on each decision of their audits; absent unless two of them audited the same trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_agreement: Option<AuditAgreementV1>,
    /// What rests on the judge: absent if neither the ranking nor a verdict would change without it or with other answers to the
    /// pairs it is unsure of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<SensitivityV1>,
    /// What can differ between two executions of the same work.
    pub measured: MeasuredV1,
    /// What a reader must know before believing a number.
    pub warnings: Vec<String>,
}

/// Whether a report says anything about its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusV1 {
    /// At least one trial came to a report.
    #[default]
    Ok,
    /// No trial of any tool came to a report.
    Failed,
}

impl StatusV1 {
    /// The status of what these tools did.
    pub fn of_tools<'t>(tools: impl IntoIterator<Item = &'t ToolV1>) -> Self {
        let mut tools = tools.into_iter().peekable();
        if tools.peek().is_some() && !tools.any(ToolV1::has_reported) { Self::Failed } else { Self::Ok }
    }
}

impl ReportV1 {
    /// How many goldens its cases have, by kind, in words.
    pub fn goldens(&self) -> String {
        count_by_kind(self.cases.iter().flat_map(|case| &case.issues).map(|golden| golden.acceptance))
    }

    /// Whether no trial of any tool came to a report. Reports of earlier versions state no status.
    pub fn is_failed(&self) -> bool {
        StatusV1::of_tools(&self.tools) == StatusV1::Failed
    }
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

impl ProfileV1 {
    /// Whether findings that repeat a golden count against the tool.
    pub fn duplicates_are_false(&self) -> bool {
        self.is_set("duplicates_are_false")
    }

    /// Whether findings that report an acceptable golden count against the tool.
    pub fn acceptable_are_false(&self) -> bool {
        self.is_set("acceptable_are_false")
    }

    fn is_set(&self, name: &str) -> bool {
        self.others.get(name).and_then(serde_json::Value::as_bool) == Some(true)
    }
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
    /// The field whose values are clusters of cases that are alike, where cases were drawn together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// What is known of cases that are alike; absent if no two cases share a repository and no clusters were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClustersV1>,
}

/// Cases that are alike, because they share the value of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClustersV1 {
    /// The field: `repo` unless another was asked for.
    pub field: String,
    /// Whether cases with the same value are drawn together.
    pub used: bool,
    /// Whether that was asked for with `--cluster`, either way.
    pub asked: bool,
    /// How many values of the field there are.
    pub groups: usize,
    /// How many cases share their value with another case.
    pub shared_cases: usize,
    /// The metric that tools are ranked by, whose variance is meant below.
    pub metric: String,
    /// By tool: how many times as large the variance is as if cases were independent; absent if it cannot be computed.
    pub design_effect: BTreeMap<String, f64>,
}

impl IntervalsV1 {
    /// How intervals were made, and the field whose values are clusters of cases that are alike.
    pub fn new(intervals: &Intervals, cluster: Option<&str>) -> Self {
        let bootstrap = match intervals.kind {
            BootstrapKind::Bca => "bca",
            BootstrapKind::Percentile => "percentile",
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
            cluster: cluster.map(str::to_owned),
            clusters: None,
        }
    }

    /// What was asked for about cases that are alike, for everything else that is made of the same report. A report that does not
    /// say so had the default.
    pub fn cluster_by(&self) -> ClusterBy {
        match (&self.cluster, &self.clusters) {
            (_, Some(clusters)) if !clusters.asked => ClusterBy::Default,
            (Some(field), _) => ClusterBy::Field(field.clone()),
            (None, Some(_)) => ClusterBy::Nothing,
            (None, None) => ClusterBy::Default,
        }
    }
}

impl Default for IntervalsV1 {
    fn default() -> Self {
        Self::new(&Intervals::default(), None)
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
    /// The hash of the suite that its cases are variants of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twisted_from: Option<String>,
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
    /// Whether extras are allowed, so that they are no false alarms.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_unexpected: bool,
    /// Whether it is a variant of a case of another suite.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub twisted: bool,
    /// What was done to its code where it is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// What a good tool reports.
    #[serde(serialize_with = "serialize_goldens")]
    pub issues: Vec<IssueInfoV1>,
}

impl CaseInfoV1 {
    /// How many of so many extras are false alarms: none where extras are allowed.
    pub fn false_alarms(&self, extras: usize) -> usize {
        if self.allow_unexpected { 0 } else { extras }
    }
}

/// Where only figures are kept, nearly all that is left of a golden is that it is required, so that is left out.
fn serialize_goldens<S: Serializer>(goldens: &[IssueInfoV1], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum GoldenV1<'a> {
        Required {
            id: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            severity: Option<Severity>,
        },
        Other(&'a IssueInfoV1),
    }
    serializer.collect_seq(goldens.iter().map(|golden| match golden {
        IssueInfoV1 { id, severity, acceptance: Acceptance::Required, compared: true, title, .. }
            if title.is_empty() =>
        {
            GoldenV1::Required { id, severity: *severity }
        }
        other => GoldenV1::Other(other),
    }))
}

/// A golden, as far as a reader needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IssueInfoV1 {
    /// The golden.
    pub id: String,
    /// Its title or description; empty where only figures are kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
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
    /// What a match with it means; required where it is left out.
    #[serde(default)]
    pub acceptance: Acceptance,
    /// Whether the profile compares it with findings; an audit looks for one golden of a case only.
    #[serde(default = "crate::yes", skip_serializing_if = "crate::is_yes")]
    pub compared: bool,
}

impl IssueInfoV1 {
    /// Whether it is missed where it is not found.
    pub fn counts(&self) -> bool {
        self.acceptance == Acceptance::Required && self.compared
    }
}

/// A number with all that is known about how far to trust it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The number of cases it is based on; of a pooled one, how many items.
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

impl From<&Estimate> for EstimateV1 {
    fn from(e: &Estimate) -> Self {
        Self {
            value: e.value,
            undefined: e.undefined.map(str::to_owned),
            ci: e.ci,
            level: e.ci.map(|_| Intervals::LEVEL),
            method: e.method.as_deref().map(str::to_owned),
            no_ci: e.no_ci.map(str::to_owned),
            se: e.se,
            n: e.n,
            left_out: e.left_out,
            std_trials: e.std_trials,
            std_cases: e.std_cases,
            direction: e.direction,
            unreliable: e.unreliable(),
        }
    }
}

pub(crate) fn is_zero(n: &usize) -> bool {
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
    /// Set where its trials were not executed but repeated from a recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedV1>,
    /// Trials that reported, and said that they could not do all of their work, such as read every file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub incomplete: usize,
    /// Whether every case passed.
    pub pass: bool,
    /// Pooled counts.
    pub counts: CountsV1,
    /// Findings that matched nothing, traps among them, whether they count or not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub extras: usize,
    /// Extras that are no false positives because they are on lines the change did not touch; 0 if the profile counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untouched_extras: usize,
    /// Extras that are not left out and that nobody has labelled; until somebody does, precision lies between `precision_lower` and
    /// `precision_upper`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlabelled_extras: usize,
    /// What one-to-one assignment would make of recorded matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_to_one: Option<CountsV1>,
    /// Verdicts about whole cases, each weighing 1.
    pub verdicts: ConfusionV1,
    /// Trials whose verdict follows from their findings, as the profile's `verdict_from` says how.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub verdicts_derived: usize,
    /// How many of its findings audits judged, over all trials that count, and as what; absent without an audit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audited_findings: Option<AuditedFindingsV1>,
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
    #[serde(with = "case_columns")]
    #[schemars(with = "case_columns::CasesV1")]
    pub cases: Vec<CaseResultV1>,
}

/// A recording whose trials were repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedV1 {
    /// The day on which it was made, where that is known.
    #[serde(default)]
    pub on: Option<String>,
}

impl RecordedV1 {
    /// Such as `recorded 2026-11-05`.
    pub fn words(&self) -> String {
        self.on.as_ref().map_or_else(|| "recorded".to_owned(), |day| format!("recorded {day}"))
    }
}

impl ToolV1 {
    /// Whether any of its trials came to a report.
    pub fn has_reported(&self) -> bool {
        self.outcomes.get(&Outcome::Reported).is_some_and(|n| *n > 0)
    }

    /// Trials that met an outage, which count neither for nor against it.
    pub fn unavailable(&self) -> usize {
        self.outcomes.get(&Outcome::Unavailable).copied().unwrap_or_default()
    }
}

/// One part of the suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceV1 {
    /// The metrics over it.
    pub metrics: MetricsV1,
    /// How many cases contribute to it.
    pub cases: usize,
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

/// One tool on one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseResultV1 {
    /// The case.
    pub case: String,
    /// Whether every trial passed.
    pub pass: bool,
    /// Means over trials; empty in a report without details, which has `values` instead.
    pub metrics: MetricsV1,
    /// The defined values of the same metrics, in a report without details.
    #[serde(default, skip_serializing_if = "FiguresV1::is_empty")]
    pub values: FiguresV1,
    /// What it adds to metrics that are sums over cases, by name; what is 0 is left out. `confidence@0.9.right` counts findings of
    /// that confidence that are right, `severity@4.wrong` those of that severity that are not, and `verdict@0.9.right` verdicts.
    #[serde(default, skip_serializing_if = "FiguresV1::is_empty")]
    pub sums: FiguresV1,
    /// Extras of the trials that count which are no false positives because they are on lines the change did not touch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untouched_extras: usize,
    /// The trials, by number.
    pub trials: Vec<TrialResultV1>,
}

impl CaseResultV1 {
    /// Whether all of its trials met an outage, so that nothing is known of the case.
    pub fn is_unavailable(&self) -> bool {
        !self.trials.is_empty() && self.trials.iter().all(|trial| trial.outcome == Outcome::Unavailable)
    }

    /// The value of one of its metrics, if it has one.
    pub fn value(&self, id: &str) -> Option<f64> {
        self.metrics.get(id).and_then(|estimate| estimate.value).or_else(|| self.values.get(id))
    }

    /// The metrics that have a value.
    pub fn defined_values(&self) -> impl Iterator<Item = (&str, f64)> {
        let stated = self.metrics.iter().filter_map(|(id, estimate)| Some((id.as_str(), estimate.value?)));
        stated.chain(self.values.iter())
    }

    /// The trials that enter the metrics.
    pub fn counted(&self) -> impl Iterator<Item = &TrialResultV1> {
        self.trials.iter().filter(|trial| trial.counted)
    }
}
