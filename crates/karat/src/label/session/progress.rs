//! The progress of an annotator, and what the labels have achieved.

#![expect(missing_docs, reason = "names of fields say it")]

use super::{AnnotationSession, Item};
use karat_core::scorecard::Intervals;
use karat_core::scorecard::label_priority::{LabelVotes, Narrowing, Uncertainty, narrowing};
use karat_core::stats::agreement::{Level, Rating, Ratings, Weights, cohen, krippendorff, percent};
use karat_store::label::{Annotator, LabelKind};
use serde::Serialize;
use std::collections::BTreeSet;

/// The progress of an annotator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    pub done: usize,
    pub open: usize,
    /// Labels of these items by all annotators.
    pub labels: usize,
    /// How these labels narrowed the metric's interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// The items that matter most, if their order says which these are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstItems>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicted: Option<JudgeErrors>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// Whether the bounds are those of precision.
    #[serde(skip)]
    of_extras: bool,
}

/// The width of a metric's interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bounds {
    pub metric: String,
    /// Half the width of its interval before any label; for extras, the distance between the bounds.
    pub before: f64,
    pub now: f64,
    /// The part that is due to the choice of cases, which no label can narrow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases: Option<f64>,
}

/// The first items of a queue, which make up most of what labels can narrow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FirstItems {
    /// How many they are.
    pub items: usize,
    /// How many of them the annotator has labelled.
    pub done: usize,
    /// Their share of what all items together can narrow: of the variance for pairs, of the width for extras.
    pub share: f64,
}

/// The share of what labels can narrow that makes items the first to label.
const MOST: f64 = 0.8;

/// How often an annotator contradicts the judge. Computed from their own labels, so that it reveals no others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeErrors {
    /// Pairs that the annotator has labelled.
    pub of: usize,
    /// Of these, how many the judge decided differently.
    pub wrong: usize,
    /// How many are expected, by the judge's own probabilities.
    pub expected: f64,
    /// Whether significantly more are wrong than expected.
    pub overconfident: bool,
}

/// Figures of fewer labels would reveal what the judge or another annotator decided about single items.
const FEWEST: usize = 10;

/// How far an annotator agrees with the others, on items that they have labelled themselves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// How many others have labelled one of these items.
    pub others: usize,
    pub items: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub krippendorff: Option<f64>,
    /// With each other annotator who has labelled enough of the same items.
    pub cohen: Vec<AgreementWith>,
}

/// How far an annotator agrees with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgreementWith {
    pub annotator: Annotator,
    /// Cohen's kappa, if it is defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
}

impl Progress {
    pub(super) fn new(session: &AnnotationSession<'_>) -> Self {
        let items = &session.queue.items;
        let open = items.iter().filter(|item| session.is_open(item)).count();
        let voices = |key: &str| session.voices.get(key).map_or(0, |voices| voices.len());
        let (bounds, contradicted) = match session.queue.kind {
            LabelKind::Pair => {
                let Narrowing { before, now, cases, .. } = narrowed(session, &|_| true);
                let bounds = Bounds { metric: session.queue.metric.clone(), before, now, cases };
                let own = narrowed(session, &|name| *name == session.annotator);
                let Narrowing { labelled: of, wrong, expected, overconfident, .. } = own;
                (Some(bounds), (of >= FEWEST).then_some(JudgeErrors { of, wrong, expected, overconfident }))
            }
            LabelKind::Extra => (Some(apart(session)), None),
            LabelKind::Audit => (None, None),
        };
        Self {
            done: items.len() - open,
            open,
            labels: items.iter().map(|item| voices(&item.key)).sum(),
            bounds,
            first: first(session),
            contradicted,
            agreement: agreement(session),
            of_extras: session.queue.kind == LabelKind::Extra,
        }
    }

    /// One line such as `42 labels, F1 ± 0.060 → ± 0.040`; before the first label, what labels can achieve.
    pub fn headline(&self) -> String {
        let labels = karat_core::wording::count(self.labels, "label");
        let Some(Bounds { metric, before, now, cases }) = &self.bounds else { return labels };
        let (figure, sign) = match self.of_extras {
            true => ("precision known within".to_owned(), ""),
            false => (metric.to_uppercase(), "± "),
        };
        if self.labels > 0 {
            return format!("{labels}, {figure} {sign}{before:.3} → {sign}{now:.3}");
        }
        let (width, least) = (format!("{before:.3}"), format!("{:.3}", cases.unwrap_or_default()));
        let gain = if width == least { String::new() } else { format!("; labels can bring it down to {sign}{least}") };
        format!("{figure} {sign}{width}{gain}")
    }

    /// Where to begin: `the first 12 matter most: …`; none if no few items do.
    pub fn advice(&self) -> Option<String> {
        let FirstItems { items, done, share } = self.first?;
        let what = if self.of_extras { "what is unknown about precision" } else { "what labels can narrow" };
        let percent = 100.0 * share;
        Some(match items - done {
            0 if items == 1 => {
                format!("the one that matters most is done: {percent:.0} % of {what}; the others change little")
            }
            0 => format!("the {items} that matter most are done: {percent:.0} % of {what}; the others change little"),
            _ if items == 1 => format!("the first matters most: it makes up {percent:.0} % of {what}"),
            _ => format!("the first {items} matter most: they make up {percent:.0} % of {what}; {done} done"),
        })
    }

    /// Remarks on the widths, one sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(cases) = self.bounds.as_ref().and_then(|bounds| bounds.cases) {
            remarks.push(format!("± {cases:.3} of it is due to the choice of cases, which labels cannot narrow"));
        }
        if let Some(errors) = self.contradicted.as_ref().filter(|errors| errors.overconfident) {
            let JudgeErrors { of, wrong, expected, .. } = errors;
            remarks.push(format!(
                "the judge was wrong in {wrong} of {of}, {expected:.0} expected: the widths are optimistic"
            ));
        }
        if let Some(Agreement { items, percent: Some(percent), krippendorff, .. }) = &self.agreement {
            let alpha = krippendorff.map(|alpha| format!(", Krippendorff's alpha {alpha:.2}")).unwrap_or_default();
            remarks.push(format!("you agree in {:.0} % of {items} labelled by both{alpha}", 100.0 * percent));
        }
        remarks
    }
}

/// The fewest items that make up [`MOST`] of what labels can narrow. None if items come in another order than by that, or if
/// most of them are needed. Labels of others do not change it.
fn first(session: &AnnotationSession<'_>) -> Option<FirstItems> {
    let queue = session.queue;
    if queue.sample.is_some() {
        return None;
    }
    let weights: Vec<f64> = match queue.kind {
        LabelKind::Pair => queue.items.iter().map(|item| item.doubt.variance()).collect(),
        LabelKind::Extra => queue.items.iter().map(|item| item.width).collect(),
        LabelKind::Audit => return None,
    };
    let all: f64 = weights.iter().sum();
    let sums = weights.iter().scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    // A tolerance for sums that differ in their last digit.
    let (at, sum) = sums.enumerate().find(|(_, sum)| *sum >= MOST * all - 1e-12 * all)?;
    let items = at + 1;
    if all <= 0.0 || 2 * items > queue.items.len() {
        return None;
    }
    let done = queue.items.iter().take(items).filter(|item| !session.is_open(item)).count();
    Some(FirstItems { items, done, share: sum / all })
}

/// How the labels of some annotators narrow the interval.
fn narrowed(session: &AnnotationSession<'_>, counts: &dyn Fn(&Annotator) -> bool) -> Narrowing {
    let items = &session.queue.items;
    let doubts: Vec<Uncertainty> = items.iter().map(|item| item.doubt).collect();
    let votes = |item: &Item| {
        let answers = session.voices.get(&item.key).into_iter().flatten().filter(|(name, _)| counts(name));
        let (yes, others): (Vec<_>, Vec<_>) = answers.partition(|(_, answer)| **answer == 2);
        LabelVotes { yes: yes.len(), all: yes.len() + others.len() }
    };
    let votes: Vec<LabelVotes> = items.iter().map(votes).collect();
    narrowing(&doubts, &votes, session.queue.cases, session.queue.threshold, Intervals::LEVEL)
}

/// The distance between the bounds of precision, due to items without labels or with a tie.
fn apart(session: &AnnotationSession<'_>) -> Bounds {
    let undecided =
        |key: &str| session.voices.get(key).is_none_or(|voices| 2 * voices.values().sum::<usize>() == voices.len());
    let items = session.queue.items.iter();
    let now = items.clone().filter(|item| undecided(&item.key)).map(|item| item.width).sum::<f64>();
    let before = items.map(|item| item.width).sum::<f64>();
    // An empty sum of floats is -0.
    Bounds { metric: session.queue.metric.clone(), before: before + 0.0, now: now + 0.0, cases: None }
}

/// Uses only items that the annotator has labelled, and not just a few, so that it does not reveal labels of others.
fn agreement(session: &AnnotationSession<'_>) -> Option<Agreement> {
    let own = |key: &str| session.voices.get(key).filter(|voices| voices.contains_key(&session.annotator));
    let shared: Vec<_> = session.queue.items.iter().filter_map(|item| own(&item.key)).filter(|v| v.len() > 1).collect();
    if shared.len() < FEWEST {
        return None;
    }
    let people: BTreeSet<&Annotator> = shared.iter().flat_map(|voices| voices.keys()).collect();
    let people: Vec<&Annotator> = people.into_iter().collect();
    let number = |name: &Annotator| people.iter().position(|other| *other == name).unwrap_or_default();
    // A partial match of a pair is not a match.
    let category =
        |answer: usize| if session.queue.kind == LabelKind::Pair { usize::from(answer == 2) } else { answer };
    let ratings = Ratings::new(shared.iter().map(|voices| {
        let rating = |(name, answer): (&Annotator, &usize)| Rating { rater: number(name), category: category(*answer) };
        voices.iter().map(rating).collect::<Vec<_>>()
    }));
    let me = number(&session.annotator);
    let knows_enough = |name: &Annotator| shared.iter().filter(|voices| voices.contains_key(name)).count() >= FEWEST;
    let with = |(at, name): (usize, &&Annotator)| AgreementWith {
        annotator: (*name).clone(),
        kappa: cohen(&ratings, me, at, Weights::Equal).ok(),
    };
    let others = people.iter().enumerate().filter(|(at, name)| *at != me && knows_enough(name));
    Some(Agreement {
        others: people.len() - 1,
        items: shared.len(),
        percent: percent(&ratings).ok(),
        krippendorff: krippendorff(&ratings, Level::Nominal).ok(),
        cohen: others.map(with).collect(),
    })
}
