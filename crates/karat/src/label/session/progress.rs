//! How far somebody has come, and what all labels have brought.

use super::AnnotationSession;
use karat_core::scorecard::Intervals;
use karat_core::scorecard::label_priority::{LabelVotes, Narrowing, Uncertainty, narrowing};
use karat_core::stats::agreement::{Level, Rating, Ratings, Weights, cohen, krippendorff, percent};
use karat_store::label::{Annotator, LabelKind};
use serde::Serialize;
use std::collections::BTreeSet;

/// How far somebody has come.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// What the annotator has labelled.
    pub done: usize,
    /// What they have not.
    pub open: usize,
    /// Labels of everybody, of what is here.
    pub labels: usize,
    /// What that did to the interval of the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// How far the annotator contradicts the judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicted: Option<JudgeErrors>,
    /// How far the annotator agrees with the others, on what they have labelled themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// Whether the bounds are those of precision, as extras leave them.
    #[serde(skip)]
    of_extras: bool,
}

/// How far apart the bounds of a figure are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// Which figure.
    pub metric: String,
    /// Half the width of its interval before any label; of extras, how far apart the bounds were.
    pub before: f64,
    /// The same now.
    pub now: f64,
    /// What of it the choice of cases makes, which no label can narrow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases: Option<f64>,
}

/// How often somebody contradicts the judge. It rests on what they said themselves, so that it tells nothing of the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeErrors {
    /// Pairs that they have labelled.
    pub of: usize,
    /// In how many of them the judge says something else.
    pub wrong: usize,
    /// In how many it should, by its own probabilities.
    pub expected: f64,
    /// Whether that is more than chance would have it, and rests on more than a few.
    pub overconfident: bool,
}

/// Of fewer labels it would tell what the judge thinks of single pairs, or what another said of single things.
const FEWEST: usize = 10;

/// How far one person agrees with the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// How many others have labelled something that the annotator has labelled.
    pub others: usize,
    /// How many things both have.
    pub items: usize,
    /// The share of agreeing pairs of answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Krippendorff's alpha.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub krippendorff: Option<f64>,
    /// Cohen's kappa with each of them who has labelled enough of the same.
    pub cohen: Vec<With>,
}

/// How far one person agrees with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct With {
    /// The other.
    pub annotator: Annotator,
    /// Cohen's kappa; none where there is nothing that chance would not explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
}

impl Progress {
    pub(super) fn new(session: &AnnotationSession<'_>) -> Self {
        let items = session.queue.items();
        let open = items.iter().filter(|item| session.is_open(item)).count();
        let voices = |key: &str| session.voices.get(key).map_or(0, |voices| voices.len());
        let of_pairs = session.queue.kind() == LabelKind::Pair;
        let narrowed_by = |heard: &dyn Fn(&Annotator) -> bool| of_pairs.then(|| narrowed(session, heard));
        let (narrowed, own) = (narrowed_by(&|_| true), narrowed_by(&|name| *name == session.annotator));
        Self {
            done: items.len() - open,
            open,
            labels: items.iter().map(|item| voices(&item.key)).sum(),
            bounds: match session.queue.kind() {
                LabelKind::Pair => narrowed.map(|narrowed| Bounds {
                    metric: session.queue.metric.clone(),
                    before: narrowed.before,
                    now: narrowed.now,
                    cases: narrowed.cases,
                }),
                LabelKind::Extra => Some(apart(session)),
                LabelKind::Audit => None,
            },
            contradicted: own.filter(|own| own.labelled >= FEWEST).map(|own| JudgeErrors {
                of: own.labelled,
                wrong: own.wrong,
                expected: own.expected,
                overconfident: own.overconfident,
            }),
            agreement: agreement(session),
            of_extras: session.queue.kind() == LabelKind::Extra,
        }
    }

    /// The same in a line: `42 labels, F1 ± 0.060 → ± 0.040`; before the first label, what there is to gain.
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
}

impl Progress {
    /// What to know of the widths, a sentence each: what of them no label can narrow, and whether the judge erred more often than
    /// it says.
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

/// What the labels of these people do to the interval.
fn narrowed(session: &AnnotationSession<'_>, heard: &dyn Fn(&Annotator) -> bool) -> Narrowing {
    let items = session.queue.items();
    let doubts: Vec<Uncertainty> = items.iter().map(|item| item.doubt).collect();
    let of = |key: &str| match session.voices.get(key) {
        None => LabelVotes::default(),
        Some(voices) => {
            let answers = voices.iter().filter(|(name, _)| heard(name)).map(|(_, answer)| *answer);
            let answers: Vec<usize> = answers.collect();
            LabelVotes { yes: answers.iter().filter(|answer| **answer == 2).count(), all: answers.len() }
        }
    };
    let voices: Vec<LabelVotes> = items.iter().map(|item| of(&item.key)).collect();
    narrowing(&doubts, &voices, session.queue.cases, session.queue.threshold, Intervals::LEVEL)
}

/// How far apart the bounds of precision are: by all that nobody has looked at, or on which people are evenly divided.
fn apart(session: &AnnotationSession<'_>) -> Bounds {
    let undecided = |key: &str| {
        let voices =
            session.voices.get(key).map(|voices| voices.values().copied().collect::<Vec<_>>()).unwrap_or_default();
        2 * voices.iter().sum::<usize>() == voices.len()
    };
    let items = session.queue.items().iter();
    let now = items.clone().filter(|item| undecided(&item.key)).map(|item| item.width).sum::<f64>();
    let before = items.map(|item| item.width).sum::<f64>();
    // An empty sum of numbers is a negative nothing.
    Bounds { metric: session.queue.metric.clone(), before: before.max(0.0), now: now.max(0.0), cases: None }
}

/// Only what the annotator has labelled themselves is looked at, so that nobody learns what others say of what they have not;
/// and nothing is told of a few, as it would tell what others say of each.
fn agreement(session: &AnnotationSession<'_>) -> Option<Agreement> {
    let own = |key: &str| session.voices.get(key).filter(|voices| voices.contains_key(&session.annotator));
    let shared: Vec<_> =
        session.queue.items().iter().filter_map(|item| own(&item.key)).filter(|v| v.len() > 1).collect();
    if shared.len() < FEWEST {
        return None;
    }
    let people: BTreeSet<&Annotator> = shared.iter().flat_map(|voices| voices.keys()).collect();
    let people: Vec<&Annotator> = people.into_iter().collect();
    let number = |name: &Annotator| people.iter().position(|other| *other == name).unwrap_or_default();
    // Of pairs they are asked whether it is a match, and a part of one is none.
    let category =
        |answer: usize| if session.queue.kind() == LabelKind::Pair { usize::from(answer == 2) } else { answer };
    let ratings = Ratings::new(shared.iter().map(|voices| {
        let rating = |(name, answer): (&Annotator, &usize)| Rating { rater: number(name), category: category(*answer) };
        voices.iter().map(rating).collect::<Vec<_>>()
    }));
    let me = number(&session.annotator);
    let knows_enough = |name: &Annotator| shared.iter().filter(|voices| voices.contains_key(name)).count() >= FEWEST;
    let with = |(at, name): (usize, &&Annotator)| With {
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
