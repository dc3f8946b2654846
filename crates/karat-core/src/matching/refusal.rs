//! What speaks for and against a candidate that its score refused, on the scale of the local judge: log-odds of a match.
//!
//! The score is read as a probability. How far its log-odds lie from those of the threshold is divided among the parts, each in
//! proportion to its weight times how far it lies above or below what all parts would need.

use super::assign::quantum;
use super::outcome::{Candidate, Parts};
use crate::judgement::Reason;
use crate::profile::{Profile, Unstated};
use std::cmp::Reverse;

/// How many refused candidates of a golden or a finding are kept.
pub(super) const MOST_REFUSED: usize = 3;

/// What is less is not worth a word.
const LEAST: f64 = 0.05;

/// Refused candidates rank by place, then by score; of equals the earlier comes first.
pub(super) fn place_rank(candidate: &Candidate, profile: &Profile) -> (i64, i64, Reverse<usize>) {
    let (parts, weights) = (&candidate.parts, &profile.weights);
    let place = weights.file * parts.file.unwrap_or(0.0) + weights.line * parts.line.unwrap_or(0.0);
    (quantum(place), quantum(candidate.heuristic), Reverse(candidate.index))
}

/// The parts of a score as log-odds relative to a threshold: those that speak for a match first, each side the strongest first.
pub fn score_reasons(parts: &Parts, profile: &Profile, threshold: f64) -> Vec<Reason> {
    let named = ["file", "line", "keyword", "text"].into_iter().zip(parts.list()).zip(profile.weights.list());
    let stated: Vec<(&str, f64, f64)> =
        named.filter_map(|((name, part), weight)| Some((name, part?, weight))).filter(|own| own.2 > 0.0).collect();
    let total: f64 = stated.iter().map(|(_, _, weight)| weight).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let scale = if profile.unstated == Unstated::LeaveOut { 1.0 / total } else { 1.0 };
    let score: f64 = stated.iter().map(|(_, part, weight)| scale * weight * part).sum();
    // Parts of this size would reach the threshold exactly.
    let needed = threshold / (scale * total);
    let slope = slope(score, threshold);
    let mut reasons: Vec<Reason> = stated
        .iter()
        .map(|(name, part, weight)| Reason::new(name, slope * scale * weight * (part - needed)))
        .filter(|reason| reason.log_odds.abs() >= LEAST)
        .collect();
    reasons.sort_by(|a, b| {
        (b.log_odds > 0.0).cmp(&(a.log_odds > 0.0)).then(b.log_odds.abs().total_cmp(&a.log_odds.abs()))
    });
    reasons
}

/// Log-odds for each unit of score between the threshold and the score.
fn slope(score: f64, threshold: f64) -> f64 {
    // Log-odds of 0 and 1 are infinite.
    let [score, threshold] = [score, threshold].map(|share| share.clamp(0.01, 0.99));
    if (score - threshold).abs() < 1e-9 {
        return 1.0 / (threshold * (1.0 - threshold));
    }
    (log_odds(score) - log_odds(threshold)) / (score - threshold)
}

fn log_odds(probability: f64) -> f64 {
    libm::log(probability / (1.0 - probability))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::logistic::probability;

    fn rules(unstated: &str) -> Profile {
        let text = include_str!("../../../karat/profiles/karat.toml");
        toml::from_str(&text.replacen("unstated = \"leave_out\"", &format!("unstated = \"{unstated}\""), 1)).unwrap()
    }

    #[test]
    fn reasons_add_up_to_the_distance_from_the_threshold() {
        let parts = Parts { file: Some(1.0), line: Some(0.0), keyword: Some(0.25), ..Parts::default() };
        for unstated in ["leave_out", "zero"] {
            let reasons = score_reasons(&parts, &rules(unstated), 0.575);
            let names: Vec<&str> = reasons.iter().map(|reason| reason.name.as_str()).collect();
            assert_eq!(names, ["file", "keyword", "line"], "{unstated}");
            let sum: f64 = reasons.iter().map(|reason| reason.log_odds).sum();
            // 0.4·1 + 0.2·0 + 0.4·0.25
            assert!((probability(log_odds(0.575) + sum) - 0.5).abs() < 1e-3, "{unstated}: {reasons:?}");
        }
    }

    #[test]
    fn parts_that_are_not_stated_are_no_reasons() {
        let reasons = score_reasons(&Parts { text: Some(0.2), ..Parts::default() }, &rules("leave_out"), 0.575);
        assert_eq!(reasons.len(), 1);
        assert!(reasons[0].name == "text" && reasons[0].log_odds < 0.0, "{reasons:?}");
        assert_eq!(score_reasons(&Parts::default(), &rules("leave_out"), 0.575), []);
    }
}
