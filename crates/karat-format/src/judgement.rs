//! Recorded judgements: one line is one decision of one judge.

use super::ValueFault;
use karat_core::ids::{CaseId, FindingId, GoldenId, JudgeName, ToolName};
use karat_core::judgement::{
    AuditDecision, ClassifiedFinding, Decision, Expressed, ExtraDecision, Grounds, Judgement, PairDecision,
    TargetAssessment, TypeMatch, UnjudgedPair,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// One decision of a judge or a person; `kind` says whether it is about a pair, an extra or a whole response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[schemars(title = "judgement line")]
pub enum JudgementV1 {
    /// Whether a finding reports a golden.
    Pair {
        /// The case.
        case: String,
        /// The tool whose trial was judged.
        tool: String,
        /// The number of the trial.
        trial: u32,
        /// Who decided; a person is `human:<name>`.
        judge: String,
        /// The golden; null: the finding matched some golden, or none at all, and the source does not say which.
        #[serde(default)]
        golden: Option<String>,
        /// The finding.
        finding: String,
        /// The decision.
        r#match: bool,
        /// Near the truth, not the whole of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial: Option<bool>,
        /// How sure the judge was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.0, max = 1.0))]
        confidence: Option<f64>,
        /// The judge's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<String>,
        /// The key of the exchange with the model that it comes from; `karat judge show` prints it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<String>,
        /// The probability with which the pair was picked to be looked at; absent if chance had no part in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.0, max = 1.0))]
        probability: Option<f64>,
        /// What the decision was calculated from, where the judge calculates: its threshold, and what spoke for and against.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grounds: Option<Grounds>,
    },
    /// Nothing: the judge was asked whether a finding reports a golden, and failed to answer.
    Unjudged {
        /// The case.
        case: String,
        /// The tool whose trial was judged.
        tool: String,
        /// The number of the trial.
        trial: u32,
        /// Who was asked.
        judge: String,
        /// The golden.
        golden: String,
        /// The finding.
        finding: String,
        /// What went wrong.
        why: String,
        /// The key of the exchange with the model that it comes from; `karat judge show` prints it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<String>,
    },
    /// Whether a finding that reports no golden is a real problem.
    Extra {
        /// The case.
        case: String,
        /// The tool whose trial was judged.
        tool: String,
        /// The number of the trial.
        trial: u32,
        /// Who decided; a person is `human:<name>`.
        judge: String,
        /// The finding.
        finding: String,
        /// Whether it is a real problem that no golden names.
        valid: bool,
        /// The judge's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<String>,
        /// The key of the exchange with the model that it comes from; `karat judge show` prints it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<String>,
        /// The probability with which the finding was picked to be looked at; absent if chance had no part in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.0, max = 1.0))]
        probability: Option<f64>,
    },
    /// What a whole response is worth. A person may answer any of its questions: what is absent or null was not asked.
    Audit {
        /// The case.
        case: String,
        /// The tool whose trial was judged.
        tool: String,
        /// The number of the trial.
        trial: u32,
        /// Who decided; a person is `human:<name>`.
        judge: String,
        /// Whether the response called the case vulnerable; "none": it gave no verdict. Absent: not asked. So is null of a
        /// person; of any other judge it is the same as "none".
        #[serde(default, deserialize_with = "read_given", skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<StatedVerdictV1>")]
        said_vulnerable: Option<Option<StatedVerdictV1>>,
        /// How sure the response was, from 0 to 1; "none": it does not say. Absent and null are read as in `said_vulnerable`.
        #[serde(default, deserialize_with = "read_given", skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<StatedConfidenceV1>")]
        confidence_expressed: Option<Option<StatedConfidenceV1>>,
        /// What each finding is.
        #[serde(default)]
        findings: Vec<ClassifiedFinding>,
        /// Whether and how well the target was found.
        #[serde(default)]
        target: Option<TargetV1>,
        /// The judge's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<String>,
        /// The key of the exchange with the model that it comes from; `karat judge show` prints it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<String>,
    },
}

/// The verdict that a response states, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected true, false, null or \"none\"")]
pub enum StatedVerdictV1 {
    /// Vulnerable or not.
    Vulnerable(bool),
    /// It states none.
    Nothing(StatesNothingV1),
}

/// The confidence that a response states, or none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number from 0 to 1, null or \"none\"")]
pub enum StatedConfidenceV1 {
    /// From 0 to 1.
    Confidence(#[schemars(range(min = 0.0, max = 1.0))] f64),
    /// It states none.
    Nothing(StatesNothingV1),
}

/// A judge was asked what a response states, and it states nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatesNothingV1 {
    /// Nothing.
    None,
}

impl StatedVerdictV1 {
    fn expressed(self) -> Expressed<bool> {
        match self {
            Self::Vulnerable(vulnerable) => Expressed::Value(vulnerable),
            Self::Nothing(_) => Expressed::Nothing,
        }
    }
}

impl StatedConfidenceV1 {
    fn expressed(self) -> Expressed<f64> {
        match self {
            Self::Confidence(confidence) => Expressed::Value(confidence),
            Self::Nothing(_) => Expressed::Nothing,
        }
    }
}

/// Reads a field that is there, be it null.
fn read_given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// What was asked and answered. A model answers all questions of an audit, so that its null is an answer.
fn read_answer<T, U>(given: Option<Option<T>>, judge: &JudgeName, read: fn(T) -> Expressed<U>) -> Option<Expressed<U>> {
    match given {
        None => None,
        Some(None) => (!judge.is_human()).then_some(Expressed::Nothing),
        Some(Some(stated)) => Some(read(stated)),
    }
}

/// The reverse of [`read_answer`].
fn write_answer<T, U>(
    answer: Option<Expressed<U>>,
    judge: &JudgeName,
    write: fn(U) -> T,
    nothing: fn(StatesNothingV1) -> T,
) -> Option<Option<T>> {
    match answer? {
        Expressed::Value(value) => Some(Some(write(value))),
        Expressed::Nothing => Some(judge.is_human().then(|| nothing(StatesNothingV1::None))),
    }
}

/// Whether and how well the target was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetV1 {
    /// Found or not; null: not asked.
    #[serde(default)]
    pub found: Option<bool>,
    /// By which finding.
    #[serde(default)]
    pub finding: Option<String>,
    /// How well the type fits; this and the scores are null where they were not asked.
    #[serde(default)]
    pub type_match: Option<TypeMatch>,
    /// Root cause identification.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rcir: Option<f64>,
    /// Attack vector validity.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub ava: Option<f64>,
    /// Fix suggestion validity.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fsv: Option<f64>,
}

impl JudgementV1 {
    /// The judgement, and every fault that the schema cannot see.
    pub fn into_judgement(self) -> (Judgement, Vec<ValueFault>) {
        let mut faults = Vec::new();
        let mut share = |path: &[&str], value: Option<f64>| {
            if value.is_some_and(|v| !(0.0..=1.0).contains(&v)) {
                faults.push(ValueFault::new(path, "out-of-range", "expected a number from 0 to 1"));
            }
        };
        let (Self::Pair { case, tool, trial, judge, exchange, .. }
        | Self::Unjudged { case, tool, trial, judge, exchange, .. }
        | Self::Extra { case, tool, trial, judge, exchange, .. }
        | Self::Audit { case, tool, trial, judge, exchange, .. }) = &self;
        let (case, tool, judge) = (CaseId::new(case), ToolName::new(tool), JudgeName::new(judge));
        let (trial, exchange) = (*trial, exchange.clone());
        let decision = match self {
            Self::Pair { golden, finding, r#match, partial, confidence, explanation, probability, grounds, .. } => {
                share(&["confidence"], confidence);
                share(&["probability"], probability);
                share(&["grounds", "threshold"], grounds.as_ref().map(|grounds| grounds.threshold));
                Decision::Pair(PairDecision {
                    golden: golden.map(GoldenId::new),
                    finding: FindingId::new(finding),
                    matched: r#match,
                    partial,
                    confidence,
                    explanation,
                    probability,
                    grounds,
                })
            }
            Self::Unjudged { golden, finding, why, .. } => {
                let (golden, finding) = (GoldenId::new(golden), FindingId::new(finding));
                Decision::Unjudged(UnjudgedPair { golden, finding, why })
            }
            Self::Extra { finding, valid, explanation, probability, .. } => {
                share(&["probability"], probability);
                Decision::Extra(ExtraDecision { finding: FindingId::new(finding), valid, explanation, probability })
            }
            Self::Audit { said_vulnerable, confidence_expressed, findings, target, explanation, .. } => {
                let said_vulnerable = read_answer(said_vulnerable, &judge, StatedVerdictV1::expressed);
                let confidence_expressed = read_answer(confidence_expressed, &judge, StatedConfidenceV1::expressed);
                share(&["confidence_expressed"], confidence_expressed.and_then(Expressed::value));
                if let Some(target) = &target {
                    share(&["target", "rcir"], target.rcir);
                    share(&["target", "ava"], target.ava);
                    share(&["target", "fsv"], target.fsv);
                }
                let target = target.map(TargetAssessment::from);
                Decision::Audit(AuditDecision { said_vulnerable, confidence_expressed, findings, target, explanation })
            }
        };
        let judgement = Judgement { case, tool, trial, judge, exchange, decision };
        (judgement, faults)
    }
}

impl From<TargetV1> for TargetAssessment {
    fn from(TargetV1 { found, finding, type_match, rcir, ava, fsv }: TargetV1) -> Self {
        Self { found, finding: finding.map(FindingId::new), type_match, rcir, ava, fsv }
    }
}

impl From<TargetAssessment> for TargetV1 {
    fn from(TargetAssessment { found, finding, type_match, rcir, ava, fsv }: TargetAssessment) -> Self {
        Self { found, finding: finding.map(|finding| finding.to_string()), type_match, rcir, ava, fsv }
    }
}

impl From<&Judgement> for JudgementV1 {
    fn from(judgement: &Judgement) -> Self {
        let (case, tool) = (judgement.case.to_string(), judgement.tool.to_string());
        let (trial, judge) = (judgement.trial, judgement.judge.to_string());
        let exchange = judgement.exchange.clone();
        match &judgement.decision {
            Decision::Pair(pair) => Self::Pair {
                case,
                tool,
                trial,
                judge,
                golden: pair.golden.as_ref().map(ToString::to_string),
                finding: pair.finding.to_string(),
                r#match: pair.matched,
                partial: pair.partial,
                confidence: pair.confidence,
                explanation: pair.explanation.clone(),
                exchange,
                probability: pair.probability,
                grounds: pair.grounds.clone(),
            },
            Decision::Unjudged(pair) => {
                let (golden, finding, why) = (pair.golden.to_string(), pair.finding.to_string(), pair.why.clone());
                Self::Unjudged { case, tool, trial, judge, golden, finding, why, exchange }
            }
            Decision::Extra(ExtraDecision { finding, valid, explanation, probability }) => {
                let (finding, explanation) = (finding.to_string(), explanation.clone());
                let (valid, probability) = (*valid, *probability);
                Self::Extra { case, tool, trial, judge, finding, valid, explanation, exchange, probability }
            }
            Decision::Audit(audit) => Self::Audit {
                case,
                tool,
                trial,
                judge,
                said_vulnerable: write_answer(
                    audit.said_vulnerable,
                    &judgement.judge,
                    StatedVerdictV1::Vulnerable,
                    StatedVerdictV1::Nothing,
                ),
                confidence_expressed: write_answer(
                    audit.confidence_expressed,
                    &judgement.judge,
                    StatedConfidenceV1::Confidence,
                    StatedConfidenceV1::Nothing,
                ),
                findings: audit.findings.clone(),
                target: audit.target.clone().map(TargetV1::from),
                explanation: audit.explanation.clone(),
                exchange,
            },
        }
    }
}
