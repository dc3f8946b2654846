//! The metric table: id, title, formula, direction and when undefined. Code, help and documentation share it.

use super::sweep::Scale;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// More is better.
    Up,
    /// Less is better.
    Down,
}

/// How single values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Aggregation {
    MeanOfCases,
    Pooled,
    /// From verdicts about whole cases, each case weighing 1, shared among its trials.
    OverVerdicts,
    Composite,
    MeanOfRequirements,
}

impl Aggregation {
    /// The rule in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::MeanOfCases => "mean of cases: trials are averaged within a case, then cases",
            Self::Pooled => "pooled over the items of all trials",
            Self::OverVerdicts => "over verdicts: each case has weight 1, shared among its trials",
            Self::Composite => "from other metrics",
            Self::MeanOfRequirements => "mean of the requirements of all records",
        }
    }
}

/// What is evaluated: tools that report findings, or assessors of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Track {
    Findings,
    Assessment,
}

/// What a number rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "variant names say it")]
pub enum RestsOn {
    Judge,
    Rules,
    /// On rules, and on a judge where there is one.
    Both,
}

impl RestsOn {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Judge => "a judge",
            Self::Rules => "rules",
            Self::Both => "rules, and a judge if one was used",
        }
    }
}

/// What a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The counts of each trial of a case.
    Counts,
    /// In which trials of a case each golden was found.
    Trials,
    /// The matches of each trial of a case.
    Matches,
    /// The audit of each trial of a case.
    Audits,
    /// The trials of a case and of its twin.
    Twins,
    /// The columns of [`Sums::columns`](super::sums::Sums::columns), added up over cases.
    Sums,
    /// The cases' values of another metric, of which it is the standard deviation.
    Spread(&'static str),
    /// Counts at each level of confidence or severity, added up over cases.
    Levels(Scale),
    /// Something that no single case of a suite contributes to.
    Whole,
}

impl Source {
    /// Whether each case has a value, of which the metric is the mean.
    pub fn is_of_cases(self) -> bool {
        matches!(self, Self::Counts | Self::Trials | Self::Matches | Self::Audits | Self::Twins)
    }
}

/// What a metric is.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Metric {
    pub id: &'static str,
    pub title: &'static str,
    pub track: Track,
    /// 0 for the finding level and for assessments, else the tier of the metrics framework.
    pub tier: u8,
    pub direction: Direction,
    /// What a value is counted in.
    pub unit: &'static str,
    pub formula: &'static str,
    pub denominator: &'static str,
    pub undefined_when: &'static str,
    pub aggregation: Aggregation,
    pub rests_on: RestsOn,
    #[serde(skip)]
    pub source: Source,
}

impl Metric {
    /// The least and the most that a value can be.
    pub fn range(&self) -> (f64, f64) {
        match self.unit {
            "share" | "score" => (0.0, 1.0),
            "difference" => (-1.0, 1.0),
            // Counts for each case have no end.
            _ => (0.0, f64::MAX),
        }
    }
}

/// One row: track, tier, id, title, direction, unit = formula / denominator unless undefined; aggregation, what it rests on, source.
macro_rules! metrics {
    ($($track:ident: $($tier:literal $id:ident $title:literal $direction:ident $unit:literal = $formula:literal / $denominator:literal
       unless $undefined:literal; $aggregation:ident, $rests_on:ident, $source:ident $(($of:expr))?;)*)*) => {
        &[$($(Metric {
            id: stringify!($id),
            title: $title,
            track: Track::$track,
            tier: $tier,
            direction: Direction::$direction,
            unit: $unit,
            formula: $formula,
            denominator: $denominator,
            undefined_when: $undefined,
            aggregation: Aggregation::$aggregation,
            rests_on: RestsOn::$rests_on,
            source: Source::$source $(($of))?,
        }),*),*]
    };
}

/// All metrics, in the order in which they are shown.
pub static METRICS: &[Metric] = metrics! {
    Findings:
    0 precision "precision" Up "share"
        = "TP / (TP + FP)"
        / "countable findings" unless "no countable findings";
        MeanOfCases, Both, Counts;
    0 recall "recall" Up "share"
        = "TP / required goldens"
        / "required goldens" unless "no required golden";
        MeanOfCases, Both, Counts;
    0 f1 "F1" Up "share"
        = "2·TP / (2·TP + FP + FN)"
        / "goldens and findings" unless "no required golden";
        MeanOfCases, Both, Counts;
    0 f2 "F2" Up "share"
        = "5·TP / (5·TP + 4·FN + FP)"
        / "goldens and findings" unless "no required golden";
        MeanOfCases, Both, Counts;
    0 f_beta "Fβ" Up "share"
        = "(1+β²)·TP / ((1+β²)·TP + β²·FN + FP)"
        / "goldens and findings" unless "no required golden";
        MeanOfCases, Both, Counts;
    0 clean_pass "clean" Up "share"
        = "clean cases without extras / clean cases"
        / "clean cases" unless "no clean case";
        MeanOfCases, Both, Counts;
    0 found_any "found any" Up "share"
        = "goldens found in some trial / required goldens"
        / "required goldens" unless "no required golden";
        MeanOfCases, Both, Trials;
    0 found_all "found all" Up "share"
        = "goldens found in every trial / required goldens"
        / "required goldens" unless "no required golden";
        MeanOfCases, Both, Trials;
    0 consistency "consistency" Up "share"
        = "goldens found in all trials or in none / required goldens"
        / "required goldens" unless "no required golden, or fewer than two trials";
        MeanOfCases, Both, Trials;
    0 severity_weighted_recall "weighted recall" Up "share"
        = "Σ severity weight of goldens found / Σ severity weight of required goldens"
        / "weights of required goldens" unless "no required golden states a severity";
        MeanOfCases, Both, Matches;
    0 precision_lower "precision, at least" Up "share"
        = "TP / (TP + FP), unlabelled extras being false"
        / "countable findings" unless "no countable findings";
        MeanOfCases, Both, Matches;
    0 precision_upper "precision, at most" Up "share"
        = "(TP + unlabelled extras) / (TP + FP)"
        / "countable findings" unless "no countable findings";
        MeanOfCases, Both, Matches;
    0 location_iou "location IoU" Up "share"
        = "lines in common / lines of either"
        / "matches with lines on both sides" unless "no match has lines on both sides";
        Pooled, Both, Sums;
    0 location_exact "location exact" Up "share"
        = "matches on the same lines / matches"
        / "matches with lines on both sides" unless "no match has lines on both sides";
        Pooled, Both, Sums;
    0 location_within_5 "location within 5" Up "share"
        = "matches at most 5 lines apart / matches"
        / "matches with lines on both sides" unless "no match has lines on both sides";
        Pooled, Both, Sums;
    0 average_precision "average precision" Up "share"
        = "Σ (recall gained) · precision, as the threshold on confidence falls"
        / "required goldens" unless "no required golden, or no finding states a confidence";
        Pooled, Both, Levels(Scale::Confidence);
    0 best_f1 "best F1" Up "share"
        = "the highest F1 over thresholds on confidence"
        / "goldens and findings" unless "no required golden, or no finding states a confidence";
        Pooled, Both, Levels(Scale::Confidence);
    0 severity_average_precision "average precision by severity" Up "share"
        = "Σ (recall gained) · precision, as the threshold on severity falls"
        / "required goldens" unless "no required golden, or no finding states a severity";
        Pooled, Both, Levels(Scale::Severity);
    0 severity_best_f1 "best F1 by severity" Up "share"
        = "the highest F1 over thresholds on severity"
        / "goldens and findings" unless "no required golden, or no finding states a severity";
        Pooled, Both, Levels(Scale::Severity);

    1 accuracy "accuracy" Up "share"
        = "(TP + TN) / cases"
        / "cases" unless "no verdicts";
        OverVerdicts, Both, Sums;
    1 verdict_precision "verdict precision" Up "share"
        = "TP / (TP + FP)"
        / "cases called vulnerable" unless "nothing was called vulnerable";
        OverVerdicts, Both, Sums;
    1 verdict_recall "verdict recall" Up "share"
        = "TP / (TP + FN)"
        / "vulnerable cases" unless "no vulnerable case";
        OverVerdicts, Both, Sums;
    1 verdict_f1 "verdict F1" Up "share"
        = "2·TP / (2·TP + FP + FN)"
        / "vulnerable cases and alarms" unless "no vulnerable case and no alarm";
        OverVerdicts, Both, Sums;
    1 verdict_f2 "verdict F2" Up "share"
        = "5·TP / (5·TP + 4·FN + FP)"
        / "vulnerable cases and alarms" unless "no vulnerable case and no alarm";
        OverVerdicts, Both, Sums;
    1 tpr "TPR" Up "share"
        = "TP / (TP + FN)"
        / "vulnerable cases" unless "no vulnerable case";
        OverVerdicts, Both, Sums;
    1 fpr "FPR" Down "share"
        = "FP / (FP + TN)"
        / "safe cases" unless "no safe case";
        OverVerdicts, Both, Sums;
    1 fnr "FNR" Down "share"
        = "FN / (FN + TP)"
        / "vulnerable cases" unless "no vulnerable case";
        OverVerdicts, Both, Sums;
    1 specificity "specificity" Up "share"
        = "TN / (TN + FP)"
        / "safe cases" unless "no safe case";
        OverVerdicts, Both, Sums;
    1 youden "Youden J" Up "difference"
        = "TPR − FPR"
        / "vulnerable and safe cases" unless "no vulnerable or no safe case";
        OverVerdicts, Both, Sums;

    2 target_detection_rate "target detection" Up "share"
        = "cases whose target was found / vulnerable cases"
        / "vulnerable cases" unless "no vulnerable case has a target";
        MeanOfCases, Both, Matches;
    2 severity_weighted_detection "weighted detection" Up "share"
        = "Σ severity weight of targets found / Σ severity weight of targets"
        / "weights of targets" unless "no vulnerable case has a target that states a severity";
        MeanOfCases, Both, Sums;
    2 partial_credit_detection "detection with partial credit" Up "share"
        = "(targets found + partial credit · targets nearly found) / vulnerable cases"
        / "vulnerable cases" unless "no vulnerable case has a target";
        MeanOfCases, Both, Matches;
    2 lucky_guess_rate "lucky guesses" Down "share"
        = "vulnerable cases called vulnerable without their target / verdict TP"
        / "verdict TP" unless "no vulnerable case with a target was called vulnerable";
        OverVerdicts, Both, Sums;
    2 bonus_discovery_rate "bonus discovery" Up "share"
        = "audited cases with a BONUS_VALID finding / audited cases"
        / "audited cases" unless "no audit";
        MeanOfCases, Judge, Audits;
    2 twin_recall "twin recall" Up "share"
        = "pairs that fire on the bug and are silent on its fix / pairs"
        / "vulnerable cases with a safe twin" unless "no vulnerable case has a safe twin";
        MeanOfCases, Both, Twins;

    3 finding_precision "finding precision" Up "share"
        = "valid findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 finding_precision_macro "finding precision, by case" Up "share"
        = "valid findings / audited findings, by trial"
        / "audited findings of a trial" unless "no audited finding";
        MeanOfCases, Judge, Audits;
    3 finding_precision_confirmed "finding precision, confirmed" Up "share"
        = "(valid findings, with a discount for a bonus that no person confirmed) / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 invalid_rate "invalid" Down "share"
        = "invalid findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 hallucination_rate "hallucination" Down "share"
        = "HALLUCINATED findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 mischaracterized_rate "mischaracterized" Down "share"
        = "MISCHARACTERIZED findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 design_choice_rate "design choice" Down "share"
        = "DESIGN_CHOICE findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 out_of_scope_rate "out of scope" Down "share"
        = "OUT_OF_SCOPE findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 security_theater_rate "security theater" Down "share"
        = "SECURITY_THEATER findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 informational_rate "informational" Down "share"
        = "INFORMATIONAL findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 harm_weighted_invalid_rate "harm-weighted invalid" Down "share"
        = "Σ harm weight of invalid findings / audited findings"
        / "audited findings" unless "no audited finding";
        Pooled, Judge, Sums;
    3 over_flagging_score "over-flagging" Down "findings per case"
        = "invalid findings / audited cases"
        / "audited cases" unless "no audit";
        MeanOfCases, Judge, Audits;

    4 mean_rcir "RCIR" Up "score"
        = "mean root cause identification"
        / "cases whose target was found" unless "no target was found and rated";
        MeanOfCases, Judge, Audits;
    4 mean_ava "AVA" Up "score"
        = "mean attack vector validity"
        / "cases whose target was found" unless "no target was found and rated";
        MeanOfCases, Judge, Audits;
    4 mean_fsv "FSV" Up "score"
        = "mean fix suggestion validity"
        / "cases whose target was found" unless "no target was found and rated";
        MeanOfCases, Judge, Audits;
    4 std_rcir "RCIR spread" Down "score"
        = "standard deviation of root cause identification over cases"
        / "cases whose target was found, less 1" unless "fewer than two targets were found and rated";
        MeanOfCases, Judge, Spread("mean_rcir");
    4 std_ava "AVA spread" Down "score"
        = "standard deviation of attack vector validity over cases"
        / "cases whose target was found, less 1" unless "fewer than two targets were found and rated";
        MeanOfCases, Judge, Spread("mean_ava");
    4 std_fsv "FSV spread" Down "score"
        = "standard deviation of fix suggestion validity over cases"
        / "cases whose target was found, less 1" unless "fewer than two targets were found and rated";
        MeanOfCases, Judge, Spread("mean_fsv");
    4 reasoning "reasoning" Up "score"
        = "mean of those of mean_rcir, mean_ava and mean_fsv that are defined"
        / "those defined" unless "no target was found and rated";
        Composite, Judge, Sums;

    5 exact_match_rate "type exact" Up "share"
        = "targets named exactly / targets found"
        / "vulnerable cases whose target was found" unless "no target was found with its type judged";
        MeanOfCases, Judge, Audits;
    5 semantic_match_rate "type semantic" Up "share"
        = "targets named exactly or in other words / targets found"
        / "vulnerable cases whose target was found" unless "no target was found with its type judged";
        MeanOfCases, Judge, Audits;
    5 partial_match_rate "type partial" Up "share"
        = "targets named as something related / targets found"
        / "vulnerable cases whose target was found" unless "no target was found with its type judged";
        MeanOfCases, Judge, Audits;

    6 ece "ECE" Down "share"
        = "Σ share of bin · |accuracy − mean confidence|, equal bins"
        / "verdicts with a confidence" unless "no verdict states a confidence";
        OverVerdicts, Both, Sums;
    6 ece_adaptive "ECE, equal mass" Down "share"
        = "Σ share of bin · |accuracy − mean confidence|, bins of equal mass"
        / "verdicts with a confidence" unless "no verdict states a confidence";
        OverVerdicts, Both, Levels(Scale::Verdict);
    6 mce "MCE" Down "share"
        = "max over bins of |accuracy − mean confidence|"
        / "bins that contain a verdict" unless "no verdict states a confidence";
        OverVerdicts, Both, Sums;
    6 brier "Brier" Down "score"
        = "mean of (confidence − correct)²"
        / "verdicts with a confidence" unless "no verdict states a confidence";
        OverVerdicts, Both, Sums;
    6 overconfidence_rate "overconfidence" Down "share"
        = "wrong verdicts / verdicts more confident than 0.8"
        / "confident verdicts" unless "no verdict is confident enough";
        OverVerdicts, Both, Sums;
    6 underconfidence_rate "underconfidence" Down "share"
        = "correct verdicts / verdicts less confident than 0.5"
        / "doubtful verdicts" unless "no verdict is doubtful enough";
        OverVerdicts, Both, Sums;
    6 finding_ece "finding ECE" Down "share"
        = "Σ share of bin · |share correct − mean confidence|, equal bins"
        / "countable findings with a confidence" unless "no countable finding states a confidence";
        Pooled, Both, Sums;
    6 finding_brier "finding Brier" Down "score"
        = "mean of (confidence − correct)²"
        / "countable findings with a confidence" unless "no countable finding states a confidence";
        Pooled, Both, Sums;

    7 sui "SUI" Up "score"
        = ".25 verdict_f2 + .25 target_detection_rate + .15 finding_precision + .25 reasoning + .10 (1 − ece)"
        / "the sum of the profile's weights" unless "no audit, or one of its parts is undefined";
        Composite, Judge, Sums;
    7 true_understanding_score "true understanding" Up "score"
        = "target_detection_rate · reasoning · (1 − invalid_rate)"
        / "none" unless "no audit, or one of its parts is undefined";
        Composite, Judge, Sums;
    7 true_understanding_geometric "true understanding, geometric" Up "score"
        = "(target_detection_rate · reasoning · (1 − invalid_rate))^⅓"
        / "none" unless "no audit, or one of its parts is undefined";
        Composite, Judge, Sums;
    7 lucky_guess_indicator "lucky guess indicator" Down "difference"
        = "accuracy − target_detection_rate"
        / "none" unless "no verdicts, or no vulnerable case has a target";
        Composite, Both, Sums;
    7 sui_rank_stability "SUI rank stability" Up "share"
        = "weightings (each weight halved, kept or raised by half) that keep the tool's rank / 243"
        / "perturbed weightings" unless "fewer than two tools have an SUI";
        Composite, Judge, Whole;

    Assessment:
    0 mean_combined_score "combined" Up "score"
        = "mean of .5 compliance + .5 evidence, or of compliance alone without golden evidence"
        / "requirements" unless "no requirement";
        MeanOfRequirements, Rules, Whole;
    0 mean_compliance_score "compliance" Up "score"
        = "mean of 1 − |steps between the verdicts| / 2; 0 if only one of them is not_applicable"
        / "requirements" unless "no requirement";
        MeanOfRequirements, Rules, Whole;
    0 mean_evidence_score "evidence" Up "score"
        = "mean of Σ weight · credit of golden parts / Σ weight; primary 2, supporting 1"
        / "requirements with golden evidence" unless "no golden evidence";
        MeanOfRequirements, Rules, Whole;
    0 assessment_accuracy "verdict accuracy" Up "share"
        = "requirements with the correct verdict / requirements"
        / "requirements" unless "no requirement";
        MeanOfRequirements, Rules, Whole;
    0 citation_precision "citation precision" Up "share"
        = "citations that contain a golden part / citations"
        / "citations" unless "nothing was cited";
        Pooled, Rules, Whole;
    0 retrieval_recall "retrieval recall" Up "share"
        = "golden parts retrieved, exact or broad / golden parts"
        / "golden parts" unless "no golden evidence";
        Pooled, Rules, Whole;
    0 recall_at_k "recall at k" Up "share"
        = "golden parts in the first k ranks / golden parts"
        / "requirements with golden evidence" unless "no golden evidence";
        MeanOfRequirements, Rules, Whole;
    0 mrr "MRR" Up "share"
        = "1 / rank of the first golden part"
        / "requirements with golden evidence" unless "no golden evidence";
        MeanOfRequirements, Rules, Whole;
    0 ndcg_at_k "nDCG at k" Up "share"
        = "Σ 1 / log₂(rank + 1) of golden parts in the first k ranks / its maximum"
        / "requirements with golden evidence" unless "no golden evidence";
        MeanOfRequirements, Rules, Whole;
    0 map "MAP" Up "share"
        = "Σ precision at the ranks of golden parts / golden parts"
        / "requirements with golden evidence" unless "no golden evidence";
        MeanOfRequirements, Rules, Whole;
};

/// The metrics of one source, in the order in which they are shown.
pub(crate) fn from_source(source: Source) -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(move |metric| metric.source == source)
}

/// The metric of that id.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.id == id)
}

/// What is added up, or averaged, over cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The cases' own values of the metric, of which it is the mean.
    Values,
    /// The columns of [`Sums::columns`](super::sums::Sums::columns).
    Sums,
    /// The cases' own values of another metric, of which it is the standard deviation.
    Spread(&'static str),
    /// Counts at each level of confidence or severity.
    Levels(Scale),
    /// No sum over cases has it, for this reason.
    Whole(&'static str),
}

/// What the metric of that id is computed from; none where there is no such metric of findings.
pub fn basis(id: &str) -> Option<Basis> {
    let metric = find(id).filter(|metric| metric.track == Track::Findings)?;
    Some(match metric.source {
        source if source.is_of_cases() => Basis::Values,
        Source::Sums => Basis::Sums,
        Source::Spread(other) => Basis::Spread(other),
        Source::Levels(scale) => Basis::Levels(scale),
        _ => Basis::Whole("it covers all tools of a report together, so no single case contributes to it"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_says_what_it_is() {
        for (i, metric) in METRICS.iter().enumerate() {
            let said = [metric.formula, metric.denominator, metric.undefined_when, metric.unit, metric.title];
            assert!(said.iter().all(|text| !text.is_empty()), "{}", metric.id);
            let bounded = ["share", "score", "difference", "findings per case"];
            assert!(bounded.contains(&metric.unit), "{}: what range has {}?", metric.id, metric.unit);
            assert!(METRICS[..i].iter().all(|other| other.id != metric.id), "{} stands twice", metric.id);
            let place = |metric: &Metric| (metric.track, metric.tier);
            assert!(i == 0 || place(&METRICS[i - 1]) <= place(metric), "{} stands out of its tier", metric.id);
        }
    }
}
