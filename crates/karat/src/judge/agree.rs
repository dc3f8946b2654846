//! How far judges agree: from recorded decisions to figures, a confusion table, and the disagreements worth reading.

mod csv;
mod draw;
mod golden_found;
mod item;
mod opinions;

pub use csv::{Sheets, from_csv, read_csv};
pub use draw::draw;
pub use golden_found::{Trials, read_each};
pub use item::Item;
pub use opinions::{AgreeError, On, Opinion, Opinions, Scale, from_judgements};

use karat_core::metric::estimate::RELIABLE_N;
use karat_core::stats::agreement::{Estimate, Interval, Level, PairEstimate, RESAMPLES, Rating, Ratings, measure};
use serde::Serialize;

/// With more raters than this, none is compared with the others one by one.
const MOST_PAIRED: usize = 40;
/// A confusion table with more values than this tells nobody anything.
const MOST_VALUES: usize = 50;

/// All there is to say about how far raters agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// What the raters decided.
    pub on: &'static str,
    /// The raters, by name.
    pub raters: Vec<String>,
    /// How many items anybody rated.
    pub items: usize,
    /// The values, in their order.
    pub values: Vec<String>,
    /// The share of agreeing pairs of ratings, averaged over items.
    pub percent: Figure,
    /// Each pair of raters.
    pub cohen: Vec<Pair>,
    /// Fleiss' kappa.
    pub fleiss: Figure,
    /// Krippendorff's alpha.
    pub krippendorff: Alpha,
    /// Gwet's AC1.
    pub ac1: Figure,
    /// What the two raters who agree least said.
    pub confusion: Option<Confusion>,
    /// How many items have raters who disagree.
    pub disagreements_total: usize,
    /// Those on which they are most divided.
    pub disagreements: Vec<Disagreement>,
    /// How many samples of the items were drawn for the intervals.
    pub resamples: usize,
    /// Where their random numbers start from.
    pub seed: u64,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A figure with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The figure; null where it is undefined.
    pub value: Option<f64>,
    /// How far to trust it.
    #[serde(flatten)]
    pub sure: Sureness,
}

/// How far a figure can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sureness {
    /// Why there is no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<&'static str>,
    /// The 95 % interval.
    pub ci: Option<[f64; 2]>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_ci: Option<&'static str>,
    /// How the interval was made.
    pub method: Option<&'static str>,
    /// How many items the figure rests on.
    pub n: usize,
    /// Whether those are too few to lean on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreliable: bool,
}

/// Two raters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The first.
    pub a: String,
    /// The second.
    pub b: String,
    /// Cohen's kappa, where all disagreements weigh the same.
    pub kappa: Option<f64>,
    /// How far to trust it.
    #[serde(flatten)]
    pub sure: Sureness,
    /// Where disagreements weigh by distance; only where values have an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<Figure>,
    /// Where they weigh by its square.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quadratic: Option<Figure>,
}

/// Krippendorff's alpha at each level that the values have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alpha {
    /// The level of the figure beside it.
    pub level: &'static str,
    /// Alpha at that level.
    #[serde(flatten)]
    pub figure: Figure,
    /// For values that can only be told apart.
    pub nominal: Figure,
    /// For values with an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<Figure>,
    /// For numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Figure>,
}

/// What two raters said of the items both rated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// The rater whose values go down.
    pub a: String,
    /// The rater whose values go across.
    pub b: String,
    /// The values either used.
    pub values: Vec<String>,
    /// How many items, by the first rater's value, then the second's.
    pub counts: Vec<Vec<usize>>,
}

/// An item on which raters disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// The item.
    #[serde(flatten)]
    pub item: Item,
    /// Who said what, and why.
    pub ratings: Vec<StatedRating>,
}

/// What one rater said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatedRating {
    /// The rater.
    pub rater: String,
    /// The value.
    pub value: String,
    /// The rater's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// Measures how far opinions agree, and picks out at most `most` disagreements.
pub fn agree(opinions: &Opinions, seed: Option<u64>, most: usize) -> Agreement {
    let ratings = ratings(opinions);
    let count = opinions.raters.len();
    let pairs: Vec<(usize, usize)> = match count {
        ..=MOST_PAIRED => (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect(),
        _ => Vec::new(),
    };
    let mut notes = opinions.notes.clone();
    if pairs.is_empty() && count > MOST_PAIRED {
        notes.push(format!("{count} raters are too many to compare in pairs"));
    }
    let seed = seed.unwrap_or_else(|| seed_from(opinions));
    let measured = measure(&ratings, &pairs, seed);
    let (level, headline) = match opinions.scale {
        Scale::Interval(_) if opinions.on != On::Value => (Level::Interval, measured.interval),
        Scale::Ordinal => (Level::Ordinal, measured.ordinal),
        _ => (Level::Nominal, measured.nominal),
    };
    let ordered = opinions.scale != Scale::Nominal;
    let numeric = matches!(opinions.scale, Scale::Interval(_));
    let divided = divided(opinions);
    Agreement {
        on: opinions.on.name(),
        raters: opinions.raters.clone(),
        items: opinions.items.len(),
        values: opinions.values.clone(),
        percent: figure(measured.percent),
        cohen: measured.cohen.iter().map(|pair| self::pair(pair, opinions, ordered)).collect(),
        fleiss: figure(measured.fleiss),
        krippendorff: Alpha {
            level: level_name(level),
            figure: figure(headline),
            nominal: figure(measured.nominal),
            ordinal: ordered.then(|| figure(measured.ordinal)),
            interval: numeric.then(|| figure(measured.interval)),
        },
        ac1: figure(measured.ac1),
        confusion: worst(&measured.cohen).and_then(|(a, b)| confusion(opinions, a, b)),
        disagreements_total: divided.len(),
        disagreements: divided.iter().take(most).map(|at| disagreement(opinions, *at)).collect(),
        resamples: RESAMPLES,
        seed,
        notes,
    }
}

fn ratings(opinions: &Opinions) -> Ratings {
    let rating = |opinion: &Opinion| Rating { rater: opinion.rater, category: opinion.value };
    let ratings = Ratings::new(opinions.items.iter().map(|(_, said)| said.iter().map(rating).collect()));
    match &opinions.scale {
        Scale::Interval(numbers) => ratings.with_scores(numbers.clone()),
        Scale::Nominal | Scale::Ordinal => ratings,
    }
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Nominal => "nominal",
        Level::Ordinal => "ordinal",
        Level::Interval => "interval",
    }
}

fn figure(estimate: Estimate) -> Figure {
    Figure { value: estimate.value.ok(), sure: sureness(estimate) }
}

fn sureness(estimate: Estimate) -> Sureness {
    let interval = estimate.interval.ok();
    Sureness {
        undefined: estimate.value.err().map(|undefined| undefined.reason()),
        ci: interval.map(|Interval { low, high, .. }| [low, high]),
        no_ci: estimate.interval.err().filter(|_| estimate.value.is_ok()).map(|none| none.reason()),
        method: interval.map(|interval| interval.method),
        n: estimate.n,
        unreliable: estimate.n < RELIABLE_N,
    }
}

fn pair(pair: &PairEstimate, opinions: &Opinions, ordered: bool) -> Pair {
    Pair {
        a: opinions.raters[pair.a].clone(),
        b: opinions.raters[pair.b].clone(),
        kappa: pair.plain.value.ok(),
        sure: sureness(pair.plain),
        linear: ordered.then(|| figure(pair.linear)),
        quadratic: ordered.then(|| figure(pair.quadratic)),
    }
}

/// The pair with the lowest kappa, the first of equals; any that share items where kappa is undefined.
fn worst(pairs: &[PairEstimate]) -> Option<(usize, usize)> {
    let kappa = |pair: &&PairEstimate| pair.plain.value.unwrap_or(f64::INFINITY);
    let worst = pairs.iter().filter(|pair| pair.plain.n > 0).min_by(|a, b| kappa(a).total_cmp(&kappa(b)))?;
    Some((worst.a, worst.b))
}

fn confusion(opinions: &Opinions, a: usize, b: usize) -> Option<Confusion> {
    let both: Vec<(usize, usize)> =
        opinions.items.iter().filter_map(|(_, said)| Some((category_of(said, a)?, category_of(said, b)?))).collect();
    let mut used: Vec<usize> = both.iter().flat_map(|(a, b)| [*a, *b]).collect();
    used.sort_unstable();
    used.dedup();
    if used.len() > MOST_VALUES {
        return None;
    }
    let place = |value: usize| used.partition_point(|known| *known < value);
    let mut counts = vec![vec![0; used.len()]; used.len()];
    for (first, second) in both {
        counts[place(first)][place(second)] += 1;
    }
    let name = |value: &usize| opinions.values[*value].clone();
    let (a, b) = (opinions.raters[a].clone(), opinions.raters[b].clone());
    Some(Confusion { a, b, values: used.iter().map(name).collect(), counts })
}

/// What a rater said of an item.
fn category_of(said: &[Opinion], rater: usize) -> Option<usize> {
    said.iter().find(|opinion| opinion.rater == rater).map(|opinion| opinion.value)
}

/// Items with different values, the most divided first; among equals those with words to read, then the order of items.
fn divided(opinions: &Opinions) -> Vec<usize> {
    let mut found: Vec<(f64, bool, usize)> = Vec::new();
    for (at, (_, said)) in opinions.items.iter().enumerate() {
        let distance = distance(opinions, said);
        if distance > 0.0 {
            found.push((distance, said.iter().any(|opinion| opinion.explanation.is_some()), at));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
    found.into_iter().map(|(.., at)| at).collect()
}

/// The mean distance of two ratings of an item: whether they differ, or by how much where the values are measured.
fn distance(opinions: &Opinions, said: &[Opinion]) -> f64 {
    let apart = |a: &Opinion, b: &Opinion| match &opinions.scale {
        Scale::Interval(numbers) if opinions.on != On::Value => (numbers[a.value] - numbers[b.value]).abs(),
        _ => f64::from(u8::from(a.value != b.value)),
    };
    let mut sum = 0.0;
    for (at, a) in said.iter().enumerate() {
        sum += said[at + 1..].iter().map(|b| apart(a, b)).sum::<f64>();
    }
    let pairs = said.len() * said.len().saturating_sub(1) / 2;
    if pairs == 0 { 0.0 } else { sum / pairs as f64 }
}

fn disagreement(opinions: &Opinions, at: usize) -> Disagreement {
    let (item, said) = &opinions.items[at];
    let said = said.iter().map(|opinion| StatedRating {
        rater: opinions.raters[opinion.rater].clone(),
        value: opinions.values[opinion.value].clone(),
        explanation: opinion.explanation.clone(),
    });
    Disagreement { item: item.clone(), ratings: said.collect() }
}

/// Where random numbers start from when nobody says: the ratings themselves.
fn seed_from(opinions: &Opinions) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for name in opinions.raters.iter().chain(&opinions.values) {
        hasher.update(name.as_bytes()).update(&[0]);
    }
    for (_, said) in &opinions.items {
        for opinion in said {
            hasher.update(&(opinion.rater as u64).to_le_bytes()).update(&(opinion.value as u64).to_le_bytes());
        }
        hasher.update(&[1]);
    }
    hasher.finalize().as_bytes().iter().take(4).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
