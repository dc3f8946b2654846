//! The rules by which pairs are matched and trials are scored: one named value, fully resolved.

use crate::golden::Severity;
use crate::judgement::Classification;
use crate::metric::table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A heavier weight would drown all others.
const MOST_WEIGHT: f64 = 1_000.0;

/// More bins than anybody reads.
const MOST_BINS: u32 = 1_000;

/// A named set of matching and scoring rules. Every value is stated; nothing is implied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name it is asked for by.
    pub name: String,
    /// What it is for, in one sentence.
    pub description: String,
    /// How pairs come about.
    pub method: Method,
    /// The judge asked when none is named on the command line; `none` asks nobody.
    pub judge: String,
    /// Whether the model that KARAT_JUDGE_MODEL or CRB_JUDGE_MODEL names is asked instead, where one of them is set.
    pub judge_by_variable: bool,
    /// How pairs that count become matches.
    pub assignment: Assignment,
    /// The score from which a pair counts when nobody judged it.
    pub threshold: f64,
    /// The score from which a pair is worth a judge's time.
    pub judge_threshold: f64,
    /// How many candidates of a golden a judge may be asked about.
    pub top_k: u32,
    /// The heuristic's share in the final score of a judged pair; the judge has the rest.
    pub heuristic_share: f64,
    /// What happens to a part of the score that the golden does not state.
    pub unstated: Unstated,
    /// Whether a golden without keywords is compared by its prose.
    pub text_instead_of_keywords: bool,
    /// Whether lines count only where the finding lies in the golden's file, rather than in any file.
    #[serde(default)]
    pub lines_need_same_file: bool,
    /// What can show, beyond the path, that a finding is about a golden. A pair that nobody judged counts only with at least
    /// one of these; empty: it needs none.
    #[serde(default, deserialize_with = "crate::one_or_many::list")]
    #[schemars(schema_with = "crate::one_or_many::list_schema::<Evidence>")]
    pub evidence: Vec<Evidence>,
    /// The text part from which the text is evidence.
    #[serde(default)]
    pub evidence_text_floor: f64,
    /// What paths with other file names and a part in common are worth.
    #[serde(default)]
    pub partial_path: PartialPath,
    /// What must be equal for a pair to exist at all.
    #[serde(deserialize_with = "crate::one_or_many::list")]
    #[schemars(schema_with = "crate::one_or_many::list_schema::<Requirement>")]
    pub require: Vec<Requirement>,
    /// How many lines apart a pair may be at most; absent: any distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_tolerance: Option<u32>,
    /// Whether a second report of a found golden is a false positive.
    pub duplicates_are_false: bool,
    /// Whether a report of an acceptable golden is a false positive.
    pub acceptable_are_false: bool,
    /// Whether an undefined precision or recall counts as 0.
    pub undefined_is_zero: bool,
    /// What a trial that failed or never ran counts as.
    pub failed_trials: FailedTrials,
    /// What the verdict of a trial follows from where neither it nor an audit states one.
    #[serde(default)]
    pub verdict_from: VerdictFrom,
    /// What happens to findings on lines the change did not touch.
    pub outside_change: OutsideChange,
    /// Whether a case that does not pass makes the command fail.
    pub expect_pass: bool,
    /// The weight of recall against precision in `f_beta`.
    pub beta: f64,
    /// The metrics shown first, in this order.
    #[serde(deserialize_with = "crate::one_or_many::list")]
    #[schemars(schema_with = "crate::one_or_many::list_schema::<String>")]
    pub headline: Vec<String>,
    /// The slice whose plain mean is the headline; absent: the whole suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline_macro_by: Option<String>,
    /// The weights of the parts of a score.
    pub weights: Weights,
    /// The steps of the file part.
    pub file: FileSteps,
    /// The slope of the line part.
    pub line: LineSlope,
    /// The rules of identity keys.
    pub identity: IdentityRules,
    /// How much goldens of each severity weigh in the metrics weighted by it.
    pub severity_weights: SeverityWeights,
    /// How much harm an invalid finding of each class does.
    pub harm_weights: HarmWeights,
    /// What near misses and unconfirmed discoveries are worth.
    pub credit: Credit,
    /// How confidence is measured.
    pub calibration: CalibrationRules,
    /// The weights of the parts of `sui`.
    pub sui: SuiWeights,
    /// What `sui` and the true understanding are made of, and how their parts become one number.
    #[serde(default)]
    pub composites: CompositeRules,
    /// Where the numbers of audits follow the metrics framework rather than Karat.
    pub audit_conventions: AuditConventions,
}

/// How pairs come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// By a score made of file, lines and words, and by judgements where there are any.
    Score,
    /// By deterministic keys alone.
    Identity,
    /// By what recorded judgements state, as it stands.
    Recorded,
    /// By what an audit of the whole response says of the target.
    Audit,
    /// Not at all: only the verdict about the whole case counts.
    Verdict,
}

/// How pairs that count become matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assignment {
    /// The greatest total score.
    Exact,
    /// The best pair first, then the best of the rest.
    Greedy,
}

/// What happens to a part of the score that the golden does not state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unstated {
    /// It is 0.
    Zero,
    /// It is left out, and the other weights are scaled up to 1.
    LeaveOut,
}

/// Something that must be equal for a pair to exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// The category, ignoring case and the choice of `-`, `_` or blank.
    Category,
    /// One weakness number at least.
    Cwe,
    /// The rule, by any of its names.
    Rule,
    /// The path.
    File,
}

/// What can show, beyond the path, that a finding is about a golden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// A line part above 0.
    Line,
    /// At least one keyword.
    Keyword,
    /// A text part above 0 that reaches `evidence_text_floor`.
    Text,
    /// An equal rule, by any of its names.
    Rule,
    /// An equal weakness number.
    Cwe,
    /// An equal category, ignoring case and the choice of `-`, `_` or blank.
    Category,
}

/// What paths with other file names and a part in common are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialPath {
    /// `file.shared_directory` where they have a directory name in common.
    #[default]
    Fixed,
    /// `file.shared_directory` × distinct parts in common ÷ parts of the longer path, the file name being a part.
    Scaled,
}

/// What a trial that failed or never ran counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailedTrials {
    /// All goldens missed, the verdict wrong.
    Miss,
    /// Nothing; it is shown and left out.
    Exclude,
}

/// What the verdict of a trial follows from where neither it nor an audit states one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictFrom {
    /// Vulnerable with a finding that names a weakness number of the case; a tool that names no number in any trial gives no
    /// verdict. For a case without a number, vulnerable with any finding.
    Cwe,
    /// Vulnerable with any finding.
    Any,
    /// Nothing: the trial gives no verdict.
    #[default]
    None,
}

/// What happens to findings on lines the change did not touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutsideChange {
    /// They count as all others, and carry a flag. May also be written `count`.
    #[serde(alias = "count")]
    Keep,
    /// They may match, and where they match nothing they are counted apart and are no false positives.
    LeaveOut,
}

/// The weights of the parts of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Of the file part.
    pub file: f64,
    /// Of the line part.
    pub line: f64,
    /// Of the keyword part.
    pub keyword: f64,
    /// Of the text part, which stands in for missing keywords.
    pub text: f64,
}

impl Weights {
    pub(crate) fn list(&self) -> [f64; 4] {
        [self.file, self.line, self.keyword, self.text]
    }
}

impl From<[f64; 4]> for Weights {
    fn from([file, line, keyword, text]: [f64; 4]) -> Self {
        Self { file, line, keyword, text }
    }
}

/// The steps of the file part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSteps {
    /// The same path.
    pub same_path: f64,
    /// The same file name elsewhere.
    pub same_name: f64,
    /// Another file name, and a directory name in common.
    pub shared_directory: f64,
}

/// The slope of the line part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineSlope {
    /// The widest gap that still counts.
    pub reach: u32,
    /// What each line of the gap costs.
    pub step: f64,
}

/// The rules of identity keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityRules {
    /// Whether chunk anchors match; they are only as stable as the chunking.
    pub chunk_anchors: bool,
    /// Whether nothing but `anchor:` matches.
    pub require_anchor: bool,
    /// Whether a golden that no key can be built for matches by file and rule.
    pub rule_fallback: bool,
    /// Whether the part of the tool that found it belongs to the key.
    pub include_source: bool,
}

/// How much goldens of each severity weigh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeverityWeights {
    /// Of critical ones.
    pub critical: f64,
    /// Of high ones.
    pub high: f64,
    /// Of medium ones.
    pub medium: f64,
    /// Of low ones.
    pub low: f64,
    /// Of remarks.
    pub info: f64,
}

impl SeverityWeights {
    /// The weight of a severity.
    pub fn weight(&self, severity: Severity) -> f64 {
        match severity {
            Severity::Critical => self.critical,
            Severity::High => self.high,
            Severity::Medium => self.medium,
            Severity::Low => self.low,
            Severity::Info => self.info,
        }
    }
}

/// How much harm an invalid finding of each class does, from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarmWeights {
    /// Made up.
    pub hallucinated: f64,
    /// Real code, wrongly understood.
    pub mischaracterized: f64,
    /// Sounds grave, is not.
    pub security_theater: f64,
    /// True, and not asked for.
    pub out_of_scope: f64,
    /// Meant to be so.
    pub design_choice: f64,
    /// A remark.
    pub informational: f64,
}

impl HarmWeights {
    /// The harm of a finding of that class; a valid one does none.
    pub fn weight(&self, class: Classification) -> f64 {
        match class {
            Classification::TargetMatch | Classification::PartialMatch | Classification::BonusValid => 0.0,
            Classification::Hallucinated => self.hallucinated,
            Classification::Mischaracterized => self.mischaracterized,
            Classification::SecurityTheater => self.security_theater,
            Classification::OutOfScope => self.out_of_scope,
            Classification::DesignChoice => self.design_choice,
            Classification::Informational => self.informational,
        }
    }
}

/// What near misses and unconfirmed discoveries are worth, from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credit {
    /// A target found in part.
    pub partial: f64,
    /// A true problem beyond the target that no person confirmed.
    pub unconfirmed_bonus: f64,
}

/// How confidence is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationRules {
    /// How many bins confidences are put in.
    pub bins: u32,
    /// A wrong verdict above this confidence is overconfident.
    pub overconfident_above: f64,
    /// A right verdict below this confidence is underconfident.
    pub underconfident_below: f64,
}

/// The weights of the parts of `sui`; they are scaled to a sum of 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiWeights {
    /// Of the verdicts' F2.
    pub verdict_f2: f64,
    /// Of the share of targets found.
    pub target_detection_rate: f64,
    /// Of the share of valid findings.
    pub finding_precision: f64,
    /// Of how well found targets were understood.
    pub reasoning: f64,
    /// Of 1 less the expected calibration error.
    pub calibration: f64,
}

impl SuiWeights {
    /// In the order of the fields.
    pub fn list(&self) -> [f64; 5] {
        [self.verdict_f2, self.target_detection_rate, self.finding_precision, self.reasoning, self.calibration]
    }
}

/// What `sui`, `true_understanding_score` and `true_understanding_geometric` are made of, and how the parts of the first two
/// become one number. By default as the metrics framework publishes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompositeRules {
    /// The part that says how many targets were found.
    pub detection: DetectionPart,
    /// The part that says how many findings are valid.
    pub precision: PrecisionPart,
    /// How the parts become one number.
    pub mean: CompositeMean,
}

/// The metric that says in a composite how many targets were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DetectionPart {
    /// A target counts as found or not.
    #[default]
    TargetDetectionRate,
    /// A target found in part has `credit.partial`.
    PartialCreditDetection,
}

impl DetectionPart {
    /// The id of the metric.
    pub fn id(self) -> &'static str {
        match self {
            Self::TargetDetectionRate => "target_detection_rate",
            Self::PartialCreditDetection => "partial_credit_detection",
        }
    }
}

/// The metric that says in a composite how many findings are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrecisionPart {
    /// All that the audit calls valid.
    #[default]
    FindingPrecision,
    /// A bonus that no person confirmed counts `credit.unconfirmed_bonus`.
    FindingPrecisionConfirmed,
}

impl PrecisionPart {
    /// The id of the metric.
    pub fn id(self) -> &'static str {
        match self {
            Self::FindingPrecision => "finding_precision",
            Self::FindingPrecisionConfirmed => "finding_precision_confirmed",
        }
    }
}

/// How the parts of `sui` and `true_understanding_score` become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompositeMean {
    /// `sui` is the weighted mean of its parts, `true_understanding_score` their product.
    #[default]
    AsPublished,
    /// Both are geometric means, `sui` with its weights.
    Geometric,
}

/// Where the numbers of audits follow the metrics framework rather than Karat. (In both, no verdict is a wrong verdict.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own that a profile states by name")]
pub struct AuditConventions {
    /// Whether no finding at all means a finding precision of 1 and invalid rates of 0, rather than none.
    pub no_findings_is_precise: bool,
    /// Whether the spread of reasoning scores is that of a population, rather than of a sample.
    pub population_std: bool,
    /// Whether a confidence of exactly 0 falls in no bin, and yet counts in the total.
    pub zero_confidence_in_no_bin: bool,
    /// Whether what `sui` lacks is filled in, calibration with 0.5 and all else with 0, rather than leaving it undefined.
    pub sui_fills_missing: bool,
    /// Whether a bonus is any valid finding beyond the one the target accounts for, rather than a BONUS_VALID one.
    pub bonus_is_any_valid_beyond_target: bool,
}

/// Fields with their names, which are their paths.
macro_rules! named_numbers {
    ($profile:ident: $($($part:ident).+),*) => {
        [$(([$(stringify!($part)),+].join("."), $profile$(.$part)+)),*]
    };
}

impl Profile {
    /// Whether some pairs are forbidden, however similar they are.
    pub(crate) fn forbids_pairs(&self) -> bool {
        !self.require.is_empty() || self.line_tolerance.is_some()
    }

    /// Whether a judge is asked. If so, a pair without a decision never counts.
    pub fn uses_judge(&self) -> bool {
        self.judge != "none"
    }

    /// All invalid values, as messages.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let shares = named_numbers! {
            self: threshold, judge_threshold, heuristic_share, evidence_text_floor, weights.file, weights.line,
            weights.keyword, weights.text, file.same_path, file.same_name, file.shared_directory, line.step,
            harm_weights.hallucinated, harm_weights.mischaracterized, harm_weights.security_theater,
            harm_weights.out_of_scope, harm_weights.design_choice, harm_weights.informational, credit.partial,
            credit.unconfirmed_bonus, calibration.overconfident_above, calibration.underconfident_below
        };
        let weights = named_numbers! {
            self: severity_weights.critical, severity_weights.high, severity_weights.medium, severity_weights.low,
            severity_weights.info, sui.verdict_f2, sui.target_detection_rate, sui.finding_precision, sui.reasoning,
            sui.calibration
        };
        let bounded = shares.map(|share| (share, 1.0)).into_iter().chain(weights.map(|weight| (weight, MOST_WEIGHT)));
        for ((name, value), most) in bounded {
            if !(0.0..=most).contains(&value) {
                faults.push(format!("{name} = {value}: expected a number from 0 to {most}"));
            }
        }
        if self.sui.list().iter().sum::<f64>() <= 0.0 {
            faults.push("sui: at least one weight must be above 0".to_owned());
        }
        if !(1..=MOST_BINS).contains(&self.calibration.bins) {
            let bins = self.calibration.bins;
            faults.push(format!("calibration.bins = {bins}: expected a number from 1 to {MOST_BINS}"));
        }
        if !(self.beta.is_finite() && self.beta > 0.0) {
            faults.push(format!("beta = {}: expected a number above 0", self.beta));
        }
        let is_known = |id: &&String| table::find(id).is_some_and(|metric| metric.track == table::Track::Findings);
        for id in self.headline.iter().filter(|id| !is_known(id)) {
            faults.push(format!("headline: unknown metric {id:?} for findings"));
        }
        if let Some(dimension) = &self.headline_macro_by {
            let known = ["severity", "category", "language", "difficulty", "repo"];
            let free = dimension.strip_prefix("meta.").is_some_and(|field| !field.is_empty());
            if !free && !known.contains(&dimension.as_str()) {
                let known = known.join(", ");
                faults.push(format!("headline_macro_by: invalid dimension {dimension:?}: expected {known} or meta.*"));
            }
        }
        if self.weights.file + self.weights.line + self.weights.keyword <= 0.0 {
            faults.push("weights: at least one of file, line and keyword must be above 0".to_owned());
        }
        faults
    }
}
