//! How far judges agree: from recorded decisions to figures, a confusion table, and the disagreements worth reading.

mod csv;
mod draw;
mod judgements;
mod opinions;

pub use csv::from_csv;
pub use draw::draw;
pub use opinions::{On, Opinions};

use crate::failure::{Failure, Result};
use crate::submissions::{open_lines, refuse_repeated_stdin};
use crate::suite::load_suite;
use judgements::from_judgements;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::panel::AGREEMENT_SEED;
use karat_core::stats::agreement::{Estimate, Interval, PairEstimate, RESAMPLES, Rating, Ratings, measure};
use karat_format::diagnostic::Faults;
use karat_format::recorded::{NamedLines, read_judgements, read_trials};
use karat_format::report::AuditAgreementV1;
use karat_report::build::audit_agreement;
use opinions::{Item, Opinion, Scale};
use serde::Serialize;
use std::io::{BufRead, Read};
use std::path::PathBuf;

/// With more raters, pairs are not compared.
const MOST_PAIRED: usize = 40;
/// Larger confusion tables are left out.
const MOST_VALUES: usize = 50;

/// How far raters agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    on: &'static str,
    raters: Vec<String>,
    items: usize,
    values: Vec<String>,
    /// The share of agreeing pairs of ratings, averaged over items.
    percent: Figure,
    cohen: Vec<RaterPair>,
    fleiss: Figure,
    krippendorff: Alpha,
    ac1: Figure,
    /// Of the two raters who agree least.
    confusion: Option<Confusion>,
    disagreements_total: usize,
    /// Those on which they are most divided.
    disagreements: Vec<Disagreement>,
    resamples: usize,
    seed: u64,
    /// The agreement on each decision of audits, unless one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    audits: Option<AuditAgreementV1>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Figure {
    value: Option<f64>,
    #[serde(flatten)]
    sure: Sureness,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Sureness {
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined: Option<&'static str>,
    ci: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_ci: Option<&'static str>,
    method: Option<&'static str>,
    n: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreliable: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct RaterPair {
    a: String,
    b: String,
    kappa: Option<f64>,
    #[serde(flatten)]
    sure: Sureness,
    #[serde(skip_serializing_if = "Option::is_none")]
    linear: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quadratic: Option<Figure>,
}

/// Krippendorff's alpha at each level that the values have.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Alpha {
    level: &'static str,
    #[serde(flatten)]
    figure: Figure,
    nominal: Figure,
    #[serde(skip_serializing_if = "Option::is_none")]
    ordinal: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Figure>,
}

/// The values of two raters for the items that both rated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Confusion {
    /// The rater whose values go down.
    a: String,
    /// The rater whose values go across.
    b: String,
    values: Vec<String>,
    /// How many items, by the first rater's value, then the second's.
    counts: Vec<Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Disagreement {
    #[serde(flatten)]
    item: Item,
    ratings: Vec<StatedRating>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct StatedRating {
    rater: String,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
}

/// Whose decisions to compare.
#[expect(missing_docs, reason = "field names say it")]
pub struct AgreeRequest {
    /// Judgements or CSV; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Default: matches if there are pair judgements, else verdicts.
    pub on: Option<On>,
    /// The suite with the goldens, and the submissions that were judged, for [`On::Found`].
    pub suite: Option<String>,
    pub submissions: Vec<PathBuf>,
    pub most_disagreements: usize,
    pub seed: Option<u64>,
}

/// Measures how far the decisions in files agree.
pub fn agree_files(request: &AgreeRequest) -> Result<Agreement> {
    Ok(agree(&opinions(request)?, request.seed, request.most_disagreements))
}

fn opinions(request: &AgreeRequest) -> Result<Opinions> {
    refuse_repeated_stdin(request.files.iter().chain(&request.submissions))?;
    let on = request.on;
    if request.suite.is_some() && on != Some(On::Found) {
        return Err(Failure::usage("--suite and --submission require --on found"));
    }
    let (mut judgements, mut tables) = (Vec::new(), Vec::new());
    for path in &request.files {
        let mut lines = open_lines(path)?;
        let named = path.extension().is_some_and(|extension| extension == "jsonl");
        if named || is_json(&mut lines)? { judgements.push(lines) } else { tables.push(lines) }
    }
    if !tables.is_empty() && !judgements.is_empty() {
        return Err(Failure::usage("judgements and CSV files cannot be combined: their items have different names"));
    }
    if !tables.is_empty() {
        return from_tables(tables, on);
    }
    let Some(place) = &request.suite else {
        return from_judgements(&read_judgements(judgements, None)?, on, None);
    };
    let loaded = load_suite(place)?;
    let submissions = request.submissions.iter().map(|path| open_lines(path)).collect::<Result<Vec<_>>>()?;
    let (mut trials, mut faults) = (Vec::new(), Vec::new());
    // One by one, because the judges of the same trials may have seen different submissions.
    for input in submissions {
        match read_trials(vec![input], Some(&loaded.suite)) {
            Ok(own) => trials.extend(own),
            Err(own) => faults.extend(own.0),
        }
    }
    if !faults.is_empty() {
        return Err(Faults(faults).into());
    }
    let judgements = read_judgements(judgements, Some(&loaded.suite))?;
    from_judgements(&judgements, on, Some((&loaded.suite, &trials)))
}

/// Whether a file starts like JSON. Consumes nothing.
fn is_json(lines: &mut NamedLines<'_>) -> Result<bool> {
    let start = lines.reader.fill_buf().map_err(|error| Failure::io(&lines.file, error))?;
    Ok(start.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| matches!(byte, b'{' | b'[')))
}

fn from_tables(tables: Vec<NamedLines<'_>>, on: Option<On>) -> Result<Opinions> {
    if on.is_some() {
        return Err(Failure::usage("--on applies to judgements; a CSV file has only one value for each rating"));
    }
    let mut texts = Vec::new();
    for mut table in tables {
        let mut text = String::new();
        table.reader.read_to_string(&mut text).map_err(|error| Failure::io(&table.file, error))?;
        texts.push((table.file, text));
    }
    from_csv(&texts)
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
    let seed = seed.unwrap_or(AGREEMENT_SEED);
    let measured = measure(&ratings, &pairs, seed);
    let (level, headline) = match opinions.scale {
        Scale::Interval(_) if opinions.on != On::Value => ("interval", measured.interval),
        Scale::Ordinal => ("ordinal", measured.ordinal),
        _ => ("nominal", measured.nominal),
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
            level,
            figure: figure(headline),
            nominal: figure(measured.nominal),
            ordinal: ordered.then(|| figure(measured.ordinal)),
            interval: numeric.then(|| figure(measured.interval)),
        },
        ac1: figure(measured.ac1),
        confusion: confusion(opinions, &measured.cohen),
        disagreements_total: divided.len(),
        disagreements: divided.iter().take(most).map(|(item, own)| disagreement(opinions, item, own)).collect(),
        resamples: RESAMPLES,
        seed,
        audits: opinions.audits.as_ref().and_then(|audits| audit_agreement(audits, seed)),
        notes,
    }
}

fn ratings(opinions: &Opinions) -> Ratings {
    let rating = |opinion: &Opinion| Rating { rater: opinion.rater, category: opinion.value };
    let ratings = Ratings::new(opinions.items.iter().map(|(_, own)| own.iter().map(rating).collect()));
    match &opinions.scale {
        Scale::Interval(numbers) => ratings.with_scores(numbers.clone()),
        Scale::Nominal | Scale::Ordinal => ratings,
    }
}

fn figure(estimate: Estimate) -> Figure {
    Figure { value: estimate.value.ok(), sure: sureness(estimate) }
}

fn sureness(estimate: Estimate) -> Sureness {
    let interval = estimate.interval.ok();
    Sureness {
        undefined: estimate.value.err(),
        ci: interval.map(|Interval { low, high, .. }| [low, high]),
        no_ci: estimate.interval.err().filter(|_| estimate.value.is_ok()).map(|none| none.reason()),
        method: interval.map(|interval| interval.method),
        n: estimate.n,
        unreliable: estimate.n < RELIABLE_N,
    }
}

fn pair(pair: &PairEstimate, opinions: &Opinions, ordered: bool) -> RaterPair {
    let [a, b] = [pair.a, pair.b].map(|rater| opinions.raters[rater].clone());
    let [linear, quadratic] = [pair.linear, pair.quadratic].map(|estimate| ordered.then(|| figure(estimate)));
    RaterPair { a, b, kappa: pair.plain.value.ok(), sure: sureness(pair.plain), linear, quadratic }
}

/// Of the first pair with the lowest kappa among those that share items.
fn confusion(opinions: &Opinions, pairs: &[PairEstimate]) -> Option<Confusion> {
    let kappa = |pair: &&PairEstimate| pair.plain.value.unwrap_or(f64::INFINITY);
    let worst = pairs.iter().filter(|pair| pair.plain.n > 0).min_by(|a, b| kappa(a).total_cmp(&kappa(b)))?;
    let (a, b) = (worst.a, worst.b);
    let both: Vec<(usize, usize)> =
        opinions.items.iter().filter_map(|(_, own)| Some((value_of(own, a)?, value_of(own, b)?))).collect();
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

fn value_of(opinions: &[Opinion], rater: usize) -> Option<usize> {
    opinions.iter().find(|opinion| opinion.rater == rater).map(|opinion| opinion.value)
}

/// Items with different values, the most divided first; ties go to those with explanations, then to the first.
fn divided(opinions: &Opinions) -> Vec<&(Item, Vec<Opinion>)> {
    let explained = |own: &[Opinion]| own.iter().any(|opinion| opinion.explanation.is_some());
    let rank = |both: &(Item, Vec<Opinion>)| (distance(opinions, &both.1), explained(&both.1));
    let mut found: Vec<_> = opinions.items.iter().map(|both| (rank(both), both)).collect();
    found.retain(|((distance, _), _)| *distance > 0.0);
    found.sort_by(|(a, _), (b, _)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    found.into_iter().map(|(_, both)| both).collect()
}

/// The mean distance of two ratings of an item: whether they differ, or by how much if the values are numbers.
fn distance(opinions: &Opinions, own: &[Opinion]) -> f64 {
    let apart = |a: &Opinion, b: &Opinion| match &opinions.scale {
        Scale::Interval(numbers) if opinions.on != On::Value => (numbers[a.value] - numbers[b.value]).abs(),
        _ => f64::from(u8::from(a.value != b.value)),
    };
    let mut sum = 0.0;
    for (at, a) in own.iter().enumerate() {
        sum += own[at + 1..].iter().map(|b| apart(a, b)).sum::<f64>();
    }
    let pairs = own.len() * own.len().saturating_sub(1) / 2;
    if pairs == 0 { 0.0 } else { sum / pairs as f64 }
}

fn disagreement(opinions: &Opinions, item: &Item, own: &[Opinion]) -> Disagreement {
    let ratings = own.iter().map(|opinion| StatedRating {
        rater: opinions.raters[opinion.rater].clone(),
        value: opinions.values[opinion.value].clone(),
        explanation: opinion.explanation.clone(),
    });
    Disagreement { item: item.clone(), ratings: ratings.collect() }
}
