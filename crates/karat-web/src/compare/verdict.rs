//! The verdict on the second run of a comparison, in words.

use karat_core::wording::count;
use karat_format::comparison::{ConclusionV1, DifferenceV1, PairV1};
use maud::{Markup, html};

/// A conclusion as the page shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairVerdict {
    Better,
    Worse,
    Tied,
    Unclear,
    /// The same values in every case, which says nothing about other cases.
    Identical,
}

impl PairVerdict {
    const ALL: [Self; 5] = [Self::Better, Self::Worse, Self::Tied, Self::Unclear, Self::Identical];

    pub(super) fn of_metric(one: &DifferenceV1) -> Self {
        Self::of_conclusion(one.verdict)
    }

    fn of_conclusion(conclusion: ConclusionV1) -> Self {
        match conclusion {
            ConclusionV1::Better => Self::Better,
            ConclusionV1::Worse => Self::Worse,
            ConclusionV1::Equivalent => Self::Tied,
            ConclusionV1::Identical => Self::Identical,
            ConclusionV1::Inconclusive => Self::Unclear,
        }
    }

    /// The conclusion about a tool: that of the ranking metric, unless nothing at all differs.
    pub(super) fn of_pair(pair: &PairV1) -> Self {
        // A metric that no case has is undefined on both sides.
        let is_equal =
            |one: &DifferenceV1| one.verdict == ConclusionV1::Identical || one.a.is_none() && one.b.is_none();
        let is_same = pair.metrics.iter().all(is_equal)
            && pair.goldens.gained.is_empty()
            && pair.goldens.lost.is_empty()
            && pair.moved.is_empty();
        let of_metric = || ranking_metric(pair).map_or(Self::Unclear, |one| Self::of_conclusion(one.verdict));
        if is_same { Self::Identical } else { of_metric() }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Tied => "tied",
            Self::Unclear => "unclear",
            Self::Identical => "identical",
        }
    }

    pub(super) fn badge(self) -> Markup {
        html! { span class={ "conclusion " (self.word()) } { (self.word()) } }
    }
}

/// The metric that decides about a tool: F1 if it was compared, else the first.
pub(super) fn ranking_metric(pair: &PairV1) -> Option<&DifferenceV1> {
    pair.metrics.iter().find(|one| one.metric == "f1").or(pair.metrics.first())
}

/// The verdict on the second run in a word and as a sentence.
pub(super) fn overall(pairs: &[PairV1]) -> (&'static str, String) {
    let verdicts: Vec<PairVerdict> = pairs.iter().map(PairVerdict::of_pair).collect();
    let has = |verdict: PairVerdict| verdicts.contains(&verdict);
    let word = match (has(PairVerdict::Better), has(PairVerdict::Worse)) {
        (true, true) => "mixed",
        (true, false) => "better",
        (false, true) => "worse",
        (false, false) if has(PairVerdict::Unclear) => "unclear",
        (false, false) if has(PairVerdict::Tied) => "tied",
        (false, false) => "identical",
    };
    if word == "identical" {
        return (word, "Identical results".to_owned());
    }
    if let ([pair], [verdict]) = (pairs, verdicts.as_slice()) {
        let other = if pair.a.tool == pair.b.tool { "" } else { pair.a.tool.as_str() };
        let sentence = match (verdict, other) {
            (PairVerdict::Unclear, "") => format!("It is unclear whether {} is better or worse", pair.b.tool),
            (PairVerdict::Unclear, other) => {
                format!("It is unclear whether {} is better or worse than {other}", pair.b.tool)
            }
            (verdict, "") => format!("{} is {}", pair.b.tool, verdict.word()),
            (PairVerdict::Tied, other) => format!("{} is tied with {other}", pair.b.tool),
            (verdict, other) => format!("{} is {} than {other}", pair.b.tool, verdict.word()),
        };
        return (word, sentence);
    }
    let part = |verdict: PairVerdict| {
        let own = pairs.iter().zip(&verdicts).filter(|(_, other)| **other == verdict);
        let names: Vec<&str> = own.map(|(pair, _)| pair.b.tool.as_str()).collect();
        let (subject, verb) = match names.as_slice() {
            [] => return None,
            [one] => ((*one).to_owned(), "is"),
            [one, two] => (format!("{one} and {two}"), "are"),
            many => (count(many.len(), "tool"), "are"),
        };
        Some(match verdict {
            PairVerdict::Unclear => format!("{subject} may be better or worse"),
            _ => format!("{subject} {verb} {}", verdict.word()),
        })
    };
    (word, PairVerdict::ALL.into_iter().filter_map(part).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pair(tool: &str, verdict: &str, change: f64) -> PairV1 {
        let metric = json!({
            "metric": "f1", "direction": "up", "a": 0.5, "b": 0.5 + change, "difference": change,
            "ci": [change, change], "p": 0.01, "p_holm": 0.01, "effect": null, "detectable": null, "n": 40, "units": 40,
            "left_out": 0, "unreliable": false, "verdict": verdict, "because": "",
        });
        let side = json!({ "label": tool, "tool": tool, "suite_digest": "d", "judges": [] });
        let goldens =
            json!({ "gained": [], "lost": [], "both": 1, "neither": 0, "flaky": 0, "p": 1.0, "odds_ratio": null });
        let pair = json!({
            "a": side, "b": side, "cases": 40, "left_out": [], "metrics": [metric], "goldens": goldens, "moved": [],
        });
        serde_json::from_value(pair).unwrap()
    }

    #[test]
    fn verdict_is_stated_in_a_word_and_a_sentence() {
        let check = |tools: &[(&str, &str, f64)], word: &str, sentence: &str| {
            let pairs: Vec<PairV1> = tools.iter().map(|(tool, verdict, change)| pair(tool, verdict, *change)).collect();
            assert_eq!(overall(&pairs), (word, sentence.to_owned()), "{tools:?}");
        };
        check(&[("x", "better", 0.1)], "better", "x is better");
        check(&[("x", "equivalent", 0.01)], "tied", "x is tied");
        check(&[("x", "inconclusive", 0.01)], "unclear", "It is unclear whether x is better or worse");
        check(&[("x", "identical", 0.0), ("y", "identical", 0.0)], "identical", "Identical results");
        let mixed = [("x", "better", 0.1), ("y", "worse", -0.1), ("z", "equivalent", 0.01), ("w", "identical", 0.0)];
        check(&mixed, "mixed", "x is better, y is worse, z is tied, w is identical");
        check(&[("x", "worse", -0.1), ("y", "worse", -0.2)], "worse", "x and y are worse");
        let open = [("x", "inconclusive", 0.1), ("y", "inconclusive", 0.1), ("z", "inconclusive", 0.1)];
        check(&open, "unclear", "3 tools may be better or worse");
    }
}
