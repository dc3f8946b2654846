//! The formula of a metric as a profile applies it: with the profile's weights, thresholds and conventions.

use super::composite::SuiParts;
use super::table::{Metric, Source};
use crate::profile::{CompositeMean, HarmWeights, Method, PrecisionPart, Profile, SeverityWeights};

/// The formula of a metric under a profile. Where two profiles compute it differently, it differs, or a metric it names does.
pub fn applied_formula(metric: &Metric, profile: &Profile) -> String {
    let mut parts = conditions(metric, profile);
    parts.insert(0, base(metric, profile));
    parts.join("; ")
}

fn base(metric: &Metric, profile: &Profile) -> String {
    match metric.id {
        "bonus_discovery_rate" if profile.audit_conventions.bonus_is_any_valid_beyond_target => {
            "audited cases with more valid findings than the target accounts for / audited cases".to_owned()
        }
        "sui" => sui(profile),
        "true_understanding_score" => understanding(profile, profile.composites.mean),
        "true_understanding_geometric" => understanding(profile, CompositeMean::Geometric),
        "overconfidence_rate" => {
            format!("wrong verdicts / verdicts more confident than {}", profile.calibration.overconfident_above)
        }
        "underconfidence_rate" => {
            format!("correct verdicts / verdicts less confident than {}", profile.calibration.underconfident_below)
        }
        _ => metric.formula.to_owned(),
    }
}

/// The weights scaled to a sum of 1, as they are applied.
fn sui(profile: &Profile) -> String {
    let sum: f64 = profile.sui.list().iter().sum();
    let parts = SuiParts::ids(profile).map(|id| if id == "ece" { "(1 − ece)" } else { id });
    let terms = profile.sui.list().into_iter().zip(parts).filter(|(weight, _)| *weight > 0.0);
    let terms = terms.map(|(weight, part)| (number(weight / sum), part));
    match profile.composites.mean {
        CompositeMean::AsPublished => {
            terms.map(|(weight, part)| format!("{weight} {part}")).collect::<Vec<_>>().join(" + ")
        }
        CompositeMean::Geometric => {
            terms.map(|(weight, part)| format!("{part}^{weight}")).collect::<Vec<_>>().join(" · ")
        }
    }
}

fn understanding(profile: &Profile, mean: CompositeMean) -> String {
    let precision = match profile.composites.precision {
        PrecisionPart::FindingPrecision => "(1 − invalid_rate)",
        confirmed @ PrecisionPart::FindingPrecisionConfirmed => confirmed.id(),
    };
    let product = format!("{} · reasoning · {precision}", profile.composites.detection.id());
    match mean {
        CompositeMean::AsPublished => product,
        CompositeMean::Geometric => format!("({product})^⅓"),
    }
}

fn conditions(metric: &Metric, profile: &Profile) -> Vec<String> {
    let id = metric.id;
    let conventions = &profile.audit_conventions;
    let mut conditions = Vec::new();
    let mut add = |applies: bool, condition: String| {
        if applies {
            conditions.push(condition);
        }
    };
    let counts_false = matches!(id, "precision" | "f1" | "f2" | "f_beta" | "precision_lower" | "precision_upper");
    if profile.method == Method::Score {
        add(counts_false && profile.duplicates_are_false, "duplicates are FP".to_owned());
        add(counts_false && profile.acceptable_are_false, "acceptable findings are FP".to_owned());
    }
    add((counts_false || id == "recall") && profile.undefined_is_zero, "0 if undefined".to_owned());
    add(id == "f_beta", format!("β = {}", profile.beta));
    let severe = matches!(id, "severity_weighted_recall" | "severity_weighted_detection");
    let SeverityWeights { critical, high, medium, low, info } = &profile.severity_weights;
    add(severe, format!("critical {critical}, high {high}, medium {medium}, low {low}, info {info}"));
    add(id == "partial_credit_detection", format!("partial credit {}", profile.credit.partial));
    add(id == "finding_precision_confirmed", format!("discount {}", profile.credit.unconfirmed_bonus));
    let HarmWeights { hallucinated, mischaracterized, security_theater, out_of_scope, design_choice, informational } =
        &profile.harm_weights;
    add(
        id == "harm_weighted_invalid_rate",
        format!(
            "HALLUCINATED {hallucinated}, MISCHARACTERIZED {mischaracterized}, SECURITY_THEATER {security_theater}, \
             OUT_OF_SCOPE {out_of_scope}, DESIGN_CHOICE {design_choice}, INFORMATIONAL {informational}"
        ),
    );
    let without_findings = if id.starts_with("finding_precision") { 1 } else { 0 };
    let precise = metric.tier == 3 && metric.unit == "share" && conventions.no_findings_is_precise;
    add(precise, format!("{without_findings} if an audit has no finding"));
    let is_binned = matches!(id, "ece" | "ece_debiased" | "mce" | "finding_ece" | "finding_ece_debiased");
    add(is_binned || id == "ece_adaptive", format!("{} bins", profile.calibration.bins));
    let no_bin = is_binned && conventions.zero_confidence_in_no_bin;
    add(no_bin, "a confidence of 0 is in no bin".to_owned());
    let divisor = if conventions.population_std { "divided by n" } else { "divided by n − 1" };
    add(matches!(metric.source, Source::Spread(_)), divisor.to_owned());
    let fills = matches!(id, "sui" | "sui_rank_stability") && conventions.sui_fills_missing;
    add(fills, "a missing ece counts as 0.5, any other missing part as 0".to_owned());
    conditions
}

/// A weight without the noise of floating point.
fn number(value: f64) -> String {
    format!("{}", (value * 1e4).round() / 1e4)
}

#[cfg(test)]
mod tests;
