//! Who said what of which item, whatever it came from.

use super::golden_found::{Trials, found};
use super::item::{Item, Rated, RatingValue};
use karat_core::judgement::{AuditDecision, Classification, Decision, Judgement, PairDecision, TypeMatch};
use serde::Serialize;
use std::collections::BTreeMap;

/// What raters decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Whether a finding reports a golden.
    Match,
    /// Whether any finding of a trial reports a golden.
    Found,
    /// The class of a finding.
    Classification,
    /// What a response said of its case.
    Verdict,
    /// How well the claimed type fits the target.
    TypeMatch,
    /// Root cause identification.
    Rcir,
    /// Attack vector validity.
    Ava,
    /// Fix suggestion validity.
    Fsv,
    /// Whatever the column of a CSV file holds.
    Value,
}

impl On {
    /// All that judgements can be asked for.
    pub const ALL: [Self; 8] = [
        Self::Match,
        Self::Found,
        Self::Classification,
        Self::Verdict,
        Self::TypeMatch,
        Self::Rcir,
        Self::Ava,
        Self::Fsv,
    ];

    /// The word it is asked for by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Found => "found",
            Self::Classification => "classification",
            Self::Verdict => "verdict",
            Self::TypeMatch => "type_match",
            Self::Rcir => "rcir",
            Self::Ava => "ava",
            Self::Fsv => "fsv",
            Self::Value => "value",
        }
    }

    /// What that word asks for.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|on| on.name() == name)
    }

    /// What judgements are about where nobody says: pairs where there are any, else verdicts.
    fn new(judgements: &[Judgement]) -> Self {
        let pairs = judgements.iter().any(|judgement| matches!(judgement.decision, Decision::Pair(_)));
        if pairs { Self::Match } else { Self::Verdict }
    }
}

/// One rater's word on an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// The rater, as a place among the raters.
    pub rater: usize,
    /// The value, as a place among the values.
    pub value: usize,
    /// Why.
    pub explanation: Option<String>,
}

/// What can be said of two different values.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// That they differ.
    Nominal,
    /// Which is more.
    Ordinal,
    /// How far apart they are: the number of each value.
    Interval(Vec<f64>),
}

/// All opinions on all items.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinions {
    /// What was decided.
    pub on: On,
    /// The raters, sorted by name.
    pub raters: Vec<String>,
    /// The values, rising where they have an order.
    pub values: Vec<String>,
    /// What the values are.
    pub scale: Scale,
    /// The items, sorted, with opinions in the order of raters.
    pub items: Vec<(Item, Vec<Opinion>)>,
    /// What was left out or taken for something.
    pub notes: Vec<String>,
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgreeError {
    /// No rating at all.
    #[error("nobody decided `{on}`: {there}")]
    Nothing {
        /// What was asked for.
        on: &'static str,
        /// What there is instead, and what to do.
        there: String,
    },
    /// One rater only.
    #[error("all ratings are by {rater}; agreement needs two raters, so give the files of the others too")]
    Alone {
        /// The rater.
        rater: String,
    },
}

/// The opinions that judgements hold. `trials` say which goldens there are to be found, for [`On::Found`].
pub fn from_judgements(
    judgements: &[Judgement],
    on: Option<On>,
    trials: Option<&Trials<'_>>,
) -> Result<Opinions, AgreeError> {
    let on = on.unwrap_or_else(|| On::new(judgements));
    let mut notes = Vec::new();
    let rated = match on {
        On::Found => found(judgements, trials, &mut notes),
        _ => judgements.iter().flat_map(|judgement| decided(judgement, on)).collect(),
    };
    if rated.is_empty() {
        return Err(AgreeError::Nothing { on: on.name(), there: instead(judgements, on) });
    }
    let listed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (values, scale) = match on {
        On::Match | On::Found => (listed(&["false", "true"]), Scale::Nominal),
        On::Verdict => (listed(&["none", "safe", "vulnerable"]), Scale::Nominal),
        On::Classification => (CLASSES.iter().map(word).collect(), Scale::Nominal),
        On::TypeMatch => (TYPES.iter().map(word).collect(), Scale::Ordinal),
        On::Rcir | On::Ava | On::Fsv | On::Value => return gathered(on, rated, None, notes),
    };
    gathered(on, rated, Some((values, scale)), notes)
}

/// Puts ratings together by item; without a fixed list, the values are the numbers or the words there are.
pub(super) fn gathered(
    on: On,
    rated: Vec<Rated>,
    listed: Option<(Vec<String>, Scale)>,
    notes: Vec<String>,
) -> Result<Opinions, AgreeError> {
    let mut raters: Vec<String> = rated.iter().map(|rated| rated.rater.clone()).collect();
    raters.sort_unstable();
    raters.dedup();
    if let [rater] = raters.as_slice() {
        return Err(AgreeError::Alone { rater: rater.clone() });
    }
    let mut numbers: Vec<f64> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for rated in &rated {
        match &rated.value {
            RatingValue::Listed(_) => {}
            RatingValue::Number(number) => numbers.push(*number),
            RatingValue::Word(word) => words.push(word.clone()),
        }
    }
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    words.sort_unstable();
    words.dedup();
    let mut items: BTreeMap<Item, Vec<Opinion>> = BTreeMap::new();
    for Rated { item, rater, value, explanation } in rated {
        let value = match value {
            RatingValue::Listed(at) => at,
            RatingValue::Number(number) => numbers.partition_point(|known| *known < number),
            RatingValue::Word(word) => words.partition_point(|known| *known < word),
        };
        let rater = raters.partition_point(|known| *known < rater);
        items.entry(item).or_default().push(Opinion { rater, value, explanation });
    }
    let (values, scale) = listed.unwrap_or_else(|| match numbers.is_empty() {
        true => (words, Scale::Nominal),
        false => (numbers.iter().map(f64::to_string).collect(), Scale::Interval(numbers)),
    });
    let mut items: Vec<(Item, Vec<Opinion>)> = items.into_iter().collect();
    for (_, said) in &mut items {
        said.sort_by_key(|opinion| opinion.rater);
        // An audit may name a finding twice; its first word counts.
        said.dedup_by_key(|opinion| opinion.rater);
    }
    Ok(Opinions { on, raters, values, scale, items, notes })
}

/// The classes, in the order in which they are shown.
const CLASSES: [Classification; 9] = [
    Classification::TargetMatch,
    Classification::PartialMatch,
    Classification::BonusValid,
    Classification::Hallucinated,
    Classification::Mischaracterized,
    Classification::DesignChoice,
    Classification::OutOfScope,
    Classification::SecurityTheater,
    Classification::Informational,
];

/// How well a type fits, from not at all to exactly.
const TYPES: [TypeMatch; 5] =
    [TypeMatch::NotMentioned, TypeMatch::Wrong, TypeMatch::Partial, TypeMatch::Semantic, TypeMatch::Exact];

/// The word that files use.
fn word(value: &impl Serialize) -> String {
    let written = serde_json::to_value(value).ok();
    written.and_then(|json| json.as_str().map(str::to_owned)).unwrap_or_default()
}

/// What a judgement says of one thing.
fn decided(judgement: &Judgement, on: On) -> Vec<Rated> {
    let own = Item::new(judgement);
    let rated = |item: Item, value: RatingValue, explanation: &Option<String>| Rated {
        item,
        rater: judgement.judge.to_string(),
        value,
        explanation: explanation.clone(),
    };
    match (&judgement.decision, on) {
        (Decision::Pair(pair), On::Match) => {
            let PairDecision { golden, finding, matched, explanation, .. } = pair;
            let (golden, finding) = (golden.as_ref().map(ToString::to_string), Some(finding.to_string()));
            vec![rated(Item { golden, finding, ..own }, RatingValue::Listed(usize::from(*matched)), explanation)]
        }
        (Decision::Audit(audit), On::Classification) => {
            let one = |found: &karat_core::judgement::ClassifiedFinding| {
                let at = CLASSES.iter().position(|class| *class == found.classification)?;
                let item = Item { finding: Some(found.finding.to_string()), ..own.clone() };
                Some(rated(item, RatingValue::Listed(at), &audit.explanation))
            };
            audit.findings.iter().filter_map(one).collect()
        }
        (Decision::Audit(audit), _) => {
            audited(audit, on).map(|value| rated(own, value, &audit.explanation)).into_iter().collect()
        }
        (Decision::Pair(_) | Decision::Unjudged(_) | Decision::Extra(_), _) => Vec::new(),
    }
}

/// What an audit says of a response as a whole.
fn audited(audit: &AuditDecision, on: On) -> Option<RatingValue> {
    let target = audit.target.as_ref();
    match on {
        On::Verdict => Some(RatingValue::Listed(audit.said_vulnerable.map_or(0, |said| 1 + usize::from(said)))),
        On::TypeMatch => {
            TYPES.iter().position(|fit| Some(*fit) == target.and_then(|t| t.type_match)).map(RatingValue::Listed)
        }
        On::Rcir => target.and_then(|t| t.rcir).map(RatingValue::Number),
        On::Ava => target.and_then(|t| t.ava).map(RatingValue::Number),
        On::Fsv => target.and_then(|t| t.fsv).map(RatingValue::Number),
        On::Match | On::Found | On::Classification | On::Value => None,
    }
}

/// What could be asked for instead.
fn instead(judgements: &[Judgement], on: On) -> String {
    if judgements.is_empty() {
        return "the files contain no judgement".to_owned();
    }
    let others = On::ALL.into_iter().filter(|other| *other != on);
    let there = others.filter(|other| match other {
        On::Found => !found(judgements, None, &mut Vec::new()).is_empty(),
        other => judgements.iter().any(|judgement| !decided(judgement, *other).is_empty()),
    });
    let there: Vec<String> = there.map(|other| format!("--on {}", other.name())).collect();
    format!("the judgements contain other decisions; try {}", there.join(" or "))
}
