//! The metric table: id, title, formula, direction and when undefined. Code, help and documentation share it.

use super::sweep::Scale;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// More is better.
    #[default]
    Up,
    /// Less is better.
    Down,
}

/// How single values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    MeanOfCases,
    Pooled,
    /// From verdicts about whole cases, each case weighing 1, shared among its trials.
    OverVerdicts,
    Composite,
    MeanOfRequirements,
}

impl Aggregation {
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
pub enum Track {
    Findings,
    Assessment,
}

/// What a number rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RestsOn {
    Judge,
    Rules,
    /// On rules, and on a judge where there is one.
    Both,
}

impl RestsOn {
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
    Counts,
    /// In which trials of a case each golden was found.
    Trials,
    Matches,
    Audits,
    Twins,
    /// The columns of [`Sums::columns`](super::sums::Sums::columns), added up over cases.
    Sums,
    /// The cases' values of another metric, of which it is the standard deviation.
    Spread(&'static str),
    /// Counts at each level of confidence or severity, added up over cases.
    Levels(Scale),
    /// What a fixer made of the findings; known once one was run.
    Fixes,
    /// Something that no single case of a suite contributes to.
    Whole,
}

/// Which interval a metric gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalRule {
    /// That of its source: a bootstrap or a proportion's, where there is any.
    OfSource,
    /// By leaving out one case at a time, of its square. For estimates that correct a bias: a resample repeats cases, and a
    /// correction by pairs of different cases takes the copies for different ones.
    JackknifeOfSquare,
    /// None, for this reason.
    Without(&'static str),
}

/// What a metric is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metric {
    pub id: &'static str,
    pub title: &'static str,
    pub track: Track,
    /// 0 for the finding level and for assessments, else the tier of the metrics framework.
    pub tier: u8,
    pub direction: Direction,
    pub unit: &'static str,
    pub formula: &'static str,
    pub denominator: &'static str,
    pub undefined_when: &'static str,
    pub aggregation: Aggregation,
    pub rests_on: RestsOn,
    #[serde(skip)]
    pub source: Source,
    #[serde(skip)]
    pub interval: IntervalRule,
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

/// A group: track, tier, aggregation, base, source / denominator unless undefined. A row: id, title, direction, unit = formula,
/// and the interval where its source does not decide it.
macro_rules! metrics {
    (@interval) => { IntervalRule::OfSource };
    (@interval $interval:expr) => { $interval };
    ($([$track:ident $tier:literal $aggregation:ident $rests_on:ident $source:expr]
       / $denominator:literal unless $undefined:literal:
       $($id:ident $title:literal $direction:ident $unit:literal = $formula:literal $(, $interval:expr)?;)*)*) => {
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
            source: $source,
            interval: metrics!(@interval $($interval)?),
        }),*),*]
    };
}

/// All metrics, in the order in which they are shown.
pub static METRICS: &[Metric] = {
    use IntervalRule::{JackknifeOfSquare, Without};
    use Scale::{Confidence, Severity, Verdict};
    use Source::{Audits, Counts, Fixes, Levels, Matches, Spread, Sums, Trials, Twins, Whole};
    metrics! {
        [Findings 0 MeanOfCases Both Counts] / "countable findings" unless "no countable findings":
            precision "precision" Up "share" = "TP / (TP + FP)";
        [Findings 0 MeanOfCases Both Counts] / "required goldens" unless "no required golden":
            recall "recall" Up "share" = "TP / required goldens";
        [Findings 0 MeanOfCases Both Counts] / "goldens and findings" unless "no required golden":
            f1 "F1" Up "share" = "2·TP / (2·TP + FP + FN)";
            f2 "F2" Up "share" = "5·TP / (5·TP + 4·FN + FP)";
            f_beta "Fβ" Up "share" = "(1+β²)·TP / ((1+β²)·TP + β²·FN + FP)";
        [Findings 0 MeanOfCases Both Counts] / "clean cases" unless "no clean case":
            clean_pass "clean" Up "share" = "clean cases without extras that are not allowed / clean cases";
        [Findings 0 MeanOfCases Both Trials] / "required goldens" unless "no required golden":
            found_any "found any" Up "share" = "goldens found in some trial / required goldens";
            found_all "found all" Up "share" = "goldens found in every trial / required goldens";
        [Findings 0 MeanOfCases Both Trials] / "required goldens" unless "no required golden, or fewer than two trials":
            consistency "consistency" Up "share" = "goldens found in all trials or in none / required goldens";
        [Findings 0 MeanOfCases Both Matches]
          / "weights of required goldens" unless "no required golden states a severity":
            severity_weighted_recall "weighted recall" Up "share"
                = "Σ severity weight of goldens found / Σ severity weight of required goldens";
        [Findings 0 MeanOfCases Both Matches] / "countable findings" unless "no countable findings":
            precision_lower "precision, at least" Up "share" = "TP / (TP + FP), unlabelled extras being false";
            precision_upper "precision, at most" Up "share" = "(TP + unlabelled extras) / (TP + FP)";
        [Findings 0 Pooled Both Sums] / "matches with lines on both sides" unless "no match has lines on both sides":
            location_iou "location IoU" Up "share" = "lines in common / lines of either";
            location_exact "location exact" Up "share" = "matches on the same lines / matches";
            location_within_5 "location within 5" Up "share" = "matches at most 5 lines apart / matches";
        [Findings 0 Pooled Both Levels(Confidence)]
          / "required goldens" unless "no required golden, or no finding states a confidence":
            average_precision "average precision" Up "share"
                = "Σ (recall gained) · precision, as the threshold on confidence falls";
        [Findings 0 Pooled Both Levels(Confidence)]
          / "goldens and findings" unless "no required golden, or no finding states a confidence":
            best_f1 "best F1" Up "share" = "the highest F1 over thresholds on confidence";
        [Findings 0 Pooled Both Levels(Severity)]
          / "required goldens" unless "no required golden, or no finding states a severity":
            severity_average_precision "average precision by severity" Up "share"
                = "Σ (recall gained) · precision, as the threshold on severity falls";
        [Findings 0 Pooled Both Levels(Severity)]
          / "goldens and findings" unless "no required golden, or no finding states a severity":
            severity_best_f1 "best F1 by severity" Up "share" = "the highest F1 over thresholds on severity";

        [Findings 1 OverVerdicts Both Sums] / "cases" unless "no verdict was given":
            accuracy "accuracy" Up "share" = "(TP + TN) / cases";
        [Findings 1 OverVerdicts Both Sums] / "cases called vulnerable" unless "nothing was called vulnerable":
            verdict_precision "verdict precision" Up "share" = "TP / (TP + FP)";
        [Findings 1 OverVerdicts Both Sums] / "vulnerable cases" unless "no vulnerable case with a verdict":
            verdict_recall "verdict recall" Up "share" = "TP / (TP + FN)";
        [Findings 1 OverVerdicts Both Sums] / "vulnerable cases and alarms" unless "no vulnerable case with a verdict, and no alarm":
            verdict_f1 "verdict F1" Up "share" = "2·TP / (2·TP + FP + FN)";
            verdict_f2 "verdict F2" Up "share" = "5·TP / (5·TP + 4·FN + FP)";
        [Findings 1 OverVerdicts Both Sums] / "vulnerable cases" unless "no vulnerable case with a verdict":
            tpr "TPR" Up "share" = "TP / (TP + FN)";
        [Findings 1 OverVerdicts Both Sums] / "safe cases" unless "no safe case with a verdict":
            fpr "FPR" Down "share" = "FP / (FP + TN)";
        [Findings 1 OverVerdicts Both Sums] / "vulnerable cases" unless "no vulnerable case with a verdict":
            fnr "FNR" Down "share" = "FN / (FN + TP)";
        [Findings 1 OverVerdicts Both Sums] / "safe cases" unless "no safe case with a verdict":
            specificity "specificity" Up "share" = "TN / (TN + FP)";
        [Findings 1 OverVerdicts Both Sums] / "vulnerable and safe cases" unless "no vulnerable or no safe case with a verdict":
            youden "Youden J" Up "difference" = "TPR − FPR";

        [Findings 2 MeanOfCases Both Matches] / "vulnerable cases" unless "no vulnerable case has a judged target":
            target_detection_rate "target detection" Up "share" = "cases whose target was found / vulnerable cases";
        [Findings 2 MeanOfCases Both Sums]
          / "weights of targets" unless "no vulnerable case has a judged target that states a severity":
            severity_weighted_detection "weighted detection" Up "share"
                = "Σ severity weight of targets found / Σ severity weight of targets";
        [Findings 2 MeanOfCases Both Matches] / "vulnerable cases" unless "no vulnerable case has a judged target":
            partial_credit_detection "detection with partial credit" Up "share"
                = "(targets found + partial credit · targets nearly found) / vulnerable cases";
        [Findings 2 OverVerdicts Both Sums]
          / "verdict TP" unless "no vulnerable case with a judged target was called vulnerable":
            lucky_guess_rate "lucky guesses" Down "share"
                = "vulnerable cases called vulnerable without their target / verdict TP";
        [Findings 2 MeanOfCases Judge Audits] / "audited cases" unless "no audit":
            bonus_discovery_rate "bonus discovery" Up "share"
                = "audited cases with a BONUS_VALID finding / audited cases";
        [Findings 2 MeanOfCases Both Twins]
          / "vulnerable cases with a safe twin" unless "no vulnerable case has a safe twin":
            twin_recall "twin recall" Up "share"
                = "pairs with the target found on the bug and not reported on its fix / pairs";
            twin_recall_silent "twin recall, silent" Up "share"
                = "pairs with the target found on the bug and nothing reported on its fix / pairs";
        [Findings 2 Pooled Both Fixes] / "goldens whose proof holds" unless "no fixer was run":
            fix_through "fix-through" Up "share"
                = "goldens whose proof passes after a fixer that saw only the finding / goldens whose proof holds";
        [Findings 2 Pooled Both Fixes] / "goldens found whose proof holds" unless "no fixer was run":
            fix_through_found "fix-through of found" Up "share"
                = "goldens whose proof passes after a fixer that saw only the finding / goldens found whose proof holds";

        [Findings 3 Pooled Judge Sums] / "audited findings" unless "no audited finding":
            finding_precision "finding precision" Up "share" = "valid findings / audited findings";
        [Findings 3 MeanOfCases Judge Audits] / "audited findings of a trial" unless "no audited finding":
            finding_precision_macro "finding precision, by case" Up "share"
                = "valid findings / audited findings, by trial";
        [Findings 3 Pooled Judge Sums] / "audited findings" unless "no audited finding":
            finding_precision_confirmed "finding precision, confirmed" Up "share"
                = "(valid findings, with a discount for a bonus that no person confirmed) / audited findings";
            invalid_rate "invalid" Down "share" = "invalid findings / audited findings";
            hallucination_rate "hallucination" Down "share" = "HALLUCINATED findings / audited findings";
            mischaracterized_rate "mischaracterized" Down "share" = "MISCHARACTERIZED findings / audited findings";
            design_choice_rate "design choice" Down "share" = "DESIGN_CHOICE findings / audited findings";
            out_of_scope_rate "out of scope" Down "share" = "OUT_OF_SCOPE findings / audited findings";
            security_theater_rate "security theater" Down "share" = "SECURITY_THEATER findings / audited findings";
            informational_rate "informational" Down "share" = "INFORMATIONAL findings / audited findings";
            harm_weighted_invalid_rate "harm-weighted invalid" Down "share"
                = "Σ harm weight of invalid findings / audited findings";
        [Findings 3 MeanOfCases Judge Audits] / "audited cases" unless "no audit":
            over_flagging_score "over-flagging" Down "findings per case" = "invalid findings / audited cases";

        [Findings 4 MeanOfCases Judge Audits] / "cases whose target was found" unless "no target was found and rated":
            mean_rcir "RCIR" Up "score" = "mean root cause identification";
            mean_ava "AVA" Up "score" = "mean attack vector validity";
            mean_fsv "FSV" Up "score" = "mean fix suggestion validity";
        [Findings 4 MeanOfCases Judge Spread("mean_rcir")]
          / "cases whose target was found, less 1" unless "fewer than two targets were found and rated":
            std_rcir "RCIR spread" Down "score" = "standard deviation of root cause identification over cases";
        [Findings 4 MeanOfCases Judge Spread("mean_ava")]
          / "cases whose target was found, less 1" unless "fewer than two targets were found and rated":
            std_ava "AVA spread" Down "score" = "standard deviation of attack vector validity over cases";
        [Findings 4 MeanOfCases Judge Spread("mean_fsv")]
          / "cases whose target was found, less 1" unless "fewer than two targets were found and rated":
            std_fsv "FSV spread" Down "score" = "standard deviation of fix suggestion validity over cases";
        [Findings 4 Composite Judge Sums] / "those defined" unless "no target was found and rated":
            reasoning "reasoning" Up "score" = "mean of those of mean_rcir, mean_ava and mean_fsv that are defined";

        [Findings 5 MeanOfCases Judge Audits]
          / "vulnerable cases whose target was found" unless "no target was found with its type judged":
            exact_match_rate "type exact" Up "share" = "targets named exactly / targets found";
            semantic_match_rate "type semantic" Up "share" = "targets named exactly or in other words / targets found";
            partial_match_rate "type partial" Up "share" = "targets named as something related / targets found";

        [Findings 6 OverVerdicts Both Sums] / "verdicts with a confidence" unless "no verdict states a confidence":
            ece "ECE" Down "share" = "Σ share of bin · |accuracy − mean confidence|, equal bins";
        [Findings 6 OverVerdicts Both Sums]
          / "verdicts with a confidence"
          unless "no verdict states a confidence, or no two cases state one in the same bin":
            ece_debiased "ECE, debiased" Down "difference"
                = "√ of Σ share of bin · mean of (correct − confidence) of one case times that of another; negative of a negative sum",
                JackknifeOfSquare;
        [Findings 6 OverVerdicts Both Levels(Verdict)]
          / "verdicts with a confidence" unless "no verdict states a confidence":
            ece_adaptive "ECE, equal mass" Down "share"
                = "Σ share of bin · |accuracy − mean confidence|, bins of equal mass";
        [Findings 6 OverVerdicts Both Sums] / "bins that contain a verdict" unless "no verdict states a confidence":
            mce "MCE" Down "share" = "max over bins of |accuracy − mean confidence|",
                Without("the largest gap of several bins is biased upwards, and resampling increases the bias");
        [Findings 6 OverVerdicts Both Sums] / "verdicts with a confidence" unless "no verdict states a confidence":
            brier "Brier" Down "score" = "mean of (confidence − correct)²";
        [Findings 6 OverVerdicts Both Sums] / "confident verdicts" unless "no verdict is confident enough":
            overconfidence_rate "overconfidence" Down "share" = "wrong verdicts / verdicts more confident than 0.8";
        [Findings 6 OverVerdicts Both Sums] / "doubtful verdicts" unless "no verdict is doubtful enough":
            underconfidence_rate "underconfidence" Down "share" = "correct verdicts / verdicts less confident than 0.5";
        [Findings 6 Pooled Both Sums]
          / "countable findings with a confidence" unless "no countable finding states a confidence":
            finding_ece "finding ECE" Down "share" = "Σ share of bin · |share correct − mean confidence|, equal bins";
        [Findings 6 Pooled Both Sums]
          / "countable findings with a confidence"
          unless "no countable finding states a confidence, or no two cases have one in the same bin":
            finding_ece_debiased "finding ECE, debiased" Down "difference"
                = "√ of Σ share of bin · mean of (correct − confidence) of a finding times that of one of another case; negative of a negative sum",
                JackknifeOfSquare;
        [Findings 6 Pooled Both Sums]
          / "countable findings with a confidence" unless "no countable finding states a confidence":
            finding_brier "finding Brier" Down "score" = "mean of (confidence − correct)²";

        [Findings 7 Composite Judge Sums]
          / "the sum of the profile's weights" unless "no audit, or one of its parts is undefined":
            sui "SUI" Up "score"
                = ".25 verdict_f2 + .25 target_detection_rate + .15 finding_precision + .25 reasoning + .10 (1 − ece)";
        [Findings 7 Composite Judge Sums] / "none" unless "no audit, or one of its parts is undefined":
            true_understanding_score "true understanding" Up "score"
                = "target_detection_rate · reasoning · (1 − invalid_rate)";
            true_understanding_geometric "true understanding, geometric" Up "score"
                = "(target_detection_rate · reasoning · (1 − invalid_rate))^⅓";
        [Findings 7 Composite Both Sums] / "none" unless "no verdict was given, or no vulnerable case has a judged target":
            lucky_guess_indicator "lucky guess indicator" Down "difference" = "accuracy − target_detection_rate";
        [Findings 7 Composite Judge Whole] / "perturbed weightings" unless "fewer than two tools have an SUI":
            sui_rank_stability "SUI rank stability" Up "share"
                = "weightings (each weight halved, kept or raised by half) that keep the tool's rank / 243";

        [Assessment 0 MeanOfRequirements Rules Whole] / "requirements" unless "no requirement":
            mean_combined_score "combined" Up "score"
                = "mean of .5 compliance + .5 evidence, or of compliance alone without golden evidence";
            mean_compliance_score "compliance" Up "score"
                = "mean of 1 − |steps between the verdicts| / 2; 0 if only one of them is not_applicable";
        [Assessment 0 MeanOfRequirements Rules Whole] / "requirements with golden evidence" unless "no golden evidence":
            mean_evidence_score "evidence" Up "score"
                = "mean of Σ weight · credit of golden parts / Σ weight; primary 2, supporting 1";
        [Assessment 0 MeanOfRequirements Rules Whole] / "requirements" unless "no requirement":
            assessment_accuracy "verdict accuracy" Up "share" = "requirements with the correct verdict / requirements";
        [Assessment 0 Pooled Rules Whole] / "citations" unless "nothing was cited":
            citation_precision "citation precision" Up "share" = "citations that contain a golden part / citations";
        [Assessment 0 Pooled Rules Whole] / "golden parts" unless "no golden evidence":
            retrieval_recall "retrieval recall" Up "share" = "golden parts retrieved, exact or broad / golden parts";
        [Assessment 0 MeanOfRequirements Rules Whole] / "requirements with golden evidence" unless "no golden evidence":
            recall_at_k "recall at k" Up "share" = "golden parts in the first k ranks / golden parts";
            mrr "MRR" Up "share" = "1 / rank of the first golden part";
            ndcg_at_k "nDCG at k" Up "share"
                = "Σ 1 / log₂(rank + 1) of golden parts in the first k ranks / its maximum";
            map "MAP" Up "share" = "Σ precision at the ranks of golden parts / golden parts";
    }
};

pub(crate) fn from_source(source: Source) -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(move |metric| metric.source == source)
}

pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.id == id)
}

/// Which values of a metric are better; an unknown metric counts as one where more is better.
pub fn direction(id: &str) -> Direction {
    find(id).map_or(Direction::Up, |metric| metric.direction)
}

/// What is added up, or averaged, over cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The cases' own values of the metric, of which it is the mean.
    Values,
    Sums,
    /// The share of the parts of all requirements in their wholes.
    Share,
    Spread(&'static str),
    Levels(Scale),
    /// No sum over cases has it, for this reason.
    Whole(&'static str),
}

/// What the metric of that id is computed from; none where there is no such metric.
pub fn basis(id: &str) -> Option<Basis> {
    let metric = find(id)?;
    if metric.track == Track::Assessment {
        return Some(if metric.aggregation == Aggregation::Pooled { Basis::Share } else { Basis::Values });
    }
    Some(match metric.source {
        Source::Counts | Source::Trials | Source::Matches | Source::Audits | Source::Twins => Basis::Values,
        Source::Sums => Basis::Sums,
        Source::Spread(other) => Basis::Spread(other),
        Source::Levels(scale) => Basis::Levels(scale),
        Source::Fixes => Basis::Whole("a fixer measures it after scoring, and cases do not keep it"),
        Source::Whole => Basis::Whole("it covers all tools of a report together, so no single case contributes to it"),
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
