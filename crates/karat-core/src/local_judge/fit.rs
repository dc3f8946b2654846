//! Fits parameters to labelled trials, and measures them on groups of cases held out in turn.

use super::evaluate::{Figures, Predictions, predict};
use super::features::{FEATURES, Feature, Sign, VERSION};
use super::labels::LabelledTrial;
use super::params::{Params, Provenance, RivalWeights, SCHEMA, ScannerParams, TextWeights, Weight};
use super::scanner;
use super::table::{Table, Texts};
use super::text_index::TextParts;
use super::{LocalJudge, Rarity, Reasoned, finding_text, golden_text};
use crate::stats::agreement::binary_kappa;
use crate::stats::logistic::{self, Observation};
use crate::suite::Case;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Ridge penalty, worth about ten uninformative pairs.
const RIDGE: f64 = 10.0;

const RIVAL_RIDGE: f64 = 0.1;

/// Steps of a hundredth to both sides that a threshold is averaged over: a peak one step wide is chance.
const SMOOTHED_OVER: usize = 10;

/// How often a pair of a scanner's finding counts that a plain look at CWE numbers and words decides rightly. Such pairs are most
/// of what scanners report, while people label the difficult ones.
const PLAIN_PAIRS_COUNT: usize = 2;

const NO_MATCHES: &str = "no judged pair matches, so there is nothing to learn; give judgements of both kinds";
const NO_MISMATCHES: &str =
    "no judged pair does not match, so there is nothing to learn; give judgements of both kinds";

/// Fits what the labels are about, or says why it cannot: comments without a place, located findings, or both. The rest stays as in `start`. The
/// caller adds the figures of held-out groups to the provenance.
pub fn fit(trials: &[LabelledTrial<'_>], provenance: Provenance, start: &Params) -> Result<Params, &'static str> {
    let is_located = |own: &LabelledTrial<'_>| scanner::has_located_pair(&own.case.goldens, &own.trial.findings);
    let (scanner, prose): (Vec<LabelledTrial<'_>>, Vec<LabelledTrial<'_>>) =
        trials.iter().cloned().partition(|own| is_located(own));
    let fitted = if prose.is_empty() { Err(NO_MATCHES) } else { fit_texts(&prose, provenance.clone(), start) };
    match (fitted, scanner.is_empty()) {
        (fitted, true) => fitted,
        (Ok(params), false) => fit_scanner(&scanner, provenance, &params),
        (Err(_), false) => fit_scanner(&scanner, provenance, start),
    }
}

/// Fits everything but what is about located findings.
fn fit_texts(trials: &[LabelledTrial<'_>], provenance: Provenance, start: &Params) -> Result<Params, &'static str> {
    let known: Vec<Vec<Option<bool>>> = trials.iter().map(LabelledTrial::known).collect();
    let outcomes: Vec<bool> = known.iter().flatten().flatten().copied().collect();
    let goldens = trials.iter().flat_map(|own| own.case.goldens.iter().map(golden_text));
    let texts: Vec<String> =
        goldens.chain(trials.iter().flat_map(|own| own.trial.findings.iter().map(finding_text))).collect();
    let mut params = Params {
        schema: SCHEMA.to_owned(),
        features: VERSION,
        threshold: 0.5,
        provenance: counted(provenance, trials, &outcomes)?,
        text: TextWeights { base: 0.0, weights: blank(&FEATURES) },
        rivals: RivalWeights { base: 0.0, score: 1.0, behind_golden: 0.0, behind_finding: 0.0 },
        reasoned: Reasoned::default(),
        rarity: Rarity::learn(texts.iter().map(String::as_str)),
        scanner: start.scanner.clone(),
    };

    // What is read depends on how rare words are, and on nothing that is fitted after that.
    let judge = ready(&params)?;
    let texts = read_all(&judge, trials);
    let rows = per_pair(&texts, &known, |texts| texts.features().iter().map(|values| values.to_vec()).collect());
    let (base, weights) = feature_weights(observations(rows, &outcomes), &FEATURES);
    params.text = TextWeights { base, weights };

    let judge = ready(&params)?;
    let scored = tables(&judge, &texts);
    let rows = per_pair(&scored, &known, |table| table.ranked().map(|row| row.to_vec()).collect());
    params.rivals = rival_weights(&observations(rows, &outcomes));

    let judge = ready(&params)?;
    params.threshold = threshold(trials, tables(&judge, &texts));
    Ok(params)
}

/// Fits what is about located findings; all else is that of `start`.
fn fit_scanner(trials: &[LabelledTrial<'_>], provenance: Provenance, start: &Params) -> Result<Params, &'static str> {
    let known: Vec<Vec<Option<bool>>> = trials.iter().map(LabelledTrial::known).collect();
    let goldens = trials.iter().flat_map(|own| own.case.goldens.iter().map(scanner::golden_words));
    let findings = trials.iter().flat_map(|own| own.trial.findings.iter().map(scanner::finding_words));
    let words: BTreeSet<Vec<String>> = goldens.chain(findings).collect();
    let mut params = start.clone();
    params.scanner = ScannerParams {
        base: 0.0,
        provenance: Provenance::default(),
        weights: blank(&scanner::FEATURES),
        rarity: Rarity::count(words.into_iter()),
    };
    let judge = ready(&params)?;
    let texts = read_all(&judge, trials);
    let rivals = params.rivals.clone();
    let of_trial = |(texts, known): (&Texts, &Vec<Option<bool>>)| -> Vec<Observation> {
        let features = texts.scanner_features(&judge, &judge.text_log_odds(texts));
        let pairs = features.into_iter().zip(known);
        let observed = |(features, known): (Option<([f64; scanner::COUNT], f64)>, &Option<bool>)| {
            let ((row, beside), outcome) = (features?, (*known)?);
            Some(Observation { row: row.to_vec(), known: rivals.base + rivals.score * beside, outcome })
        };
        pairs.filter_map(observed).collect()
    };
    let observed: Vec<Observation> =
        texts.par_iter().zip(&known).map(of_trial).collect::<Vec<_>>().into_iter().flatten().collect();
    let outcomes: Vec<bool> = observed.iter().map(|own| own.outcome).collect();
    params.scanner.provenance = counted(provenance, trials, &outcomes)?;
    let repeated = observed.into_iter().flat_map(|own| {
        let is_plain = scanner::shares_cwe_or_word(&own.row) == own.outcome;
        std::iter::repeat_n(own, if is_plain { PLAIN_PAIRS_COUNT } else { 1 })
    });
    let (base, mut weights) = feature_weights(repeated.collect(), &scanner::FEATURES);
    // Among rivals a score is stretched by its weight there, which has to give what was fitted.
    let stretch = if rivals.score > 0.0 { rivals.score } else { 1.0 };
    weights.values_mut().for_each(|weight| weight.weight = rounded(weight.weight / stretch));
    params.scanner.base = rounded(base / stretch);
    params.scanner.weights = weights;
    Ok(params)
}

/// The provenance with how much was learned from; there must be something.
fn counted(own: Provenance, trials: &[LabelledTrial<'_>], outcomes: &[bool]) -> Result<Provenance, &'static str> {
    let matches = outcomes.iter().filter(|hit| **hit).count();
    if matches == 0 {
        return Err(NO_MATCHES);
    }
    if matches == outcomes.len() {
        return Err(NO_MISMATCHES);
    }
    Ok(Provenance { trials: trials.len(), pairs: outcomes.len(), matches, ..own })
}

fn blank(features: &[Feature]) -> BTreeMap<String, Weight> {
    let blank = Weight { weight: 0.0, mean: 0.0, spread: 1.0 };
    features.iter().map(|feature| (feature.name.to_owned(), blank)).collect()
}

fn read_all(judge: &LocalJudge, trials: &[LabelledTrial<'_>]) -> Vec<Texts> {
    let all = TextParts { phrases: true, grams: true };
    trials.par_iter().map(|own| Texts::read(judge, &own.case.goldens, &own.trial.findings, all)).collect()
}

fn observations(rows: Vec<Vec<f64>>, outcomes: &[bool]) -> Vec<Observation> {
    rows.into_iter().zip(outcomes).map(|(row, &outcome)| Observation { row, known: 0.0, outcome }).collect()
}

fn tables<'a>(judge: &'a LocalJudge, texts: &'a [Texts]) -> Vec<Table<'a>> {
    texts.par_iter().map(|texts| Table::new(judge, texts)).collect()
}

fn ready(params: &Params) -> Result<LocalJudge, &'static str> {
    // What was fitted is finite by construction; should it not be, there was nothing to learn from.
    LocalJudge::new(params.clone()).map_err(|_| NO_MATCHES)
}

/// The rows of all pairs that something is known of, in the order of trials and pairs.
fn per_pair<T: Sync>(
    trials: &[T],
    known: &[Vec<Option<bool>>],
    rows: impl Fn(&T) -> Vec<Vec<f64>> + Sync,
) -> Vec<Vec<f64>> {
    let kept = |(own, known): (&T, &Vec<Option<bool>>)| -> Vec<Vec<f64>> {
        rows(own).into_iter().zip(known).filter(|(_, known)| known.is_some()).map(|(row, _)| row).collect()
    };
    trials.par_iter().zip(known).map(kept).collect::<Vec<_>>().into_iter().flatten().collect()
}

/// The base and a weight for each feature, whose sign is the one it may have.
fn feature_weights(mut observed: Vec<Observation>, features: &[Feature]) -> (f64, BTreeMap<String, Weight>) {
    let total = observed.len() as f64;
    let mut scales = Vec::with_capacity(features.len());
    for column in 0..features.len() {
        let mean = rounded(observed.iter().map(|own| own.row[column]).sum::<f64>() / total);
        let variance =
            observed.iter().map(|own| (own.row[column] - mean) * (own.row[column] - mean)).sum::<f64>() / total;
        let spread = rounded(variance.sqrt());
        scales.push((mean, if spread > 0.0 { spread } else { 1.0 }));
    }
    for own in &mut observed {
        for (value, (mean, spread)) in own.row.iter_mut().zip(&scales) {
            *value = (*value - mean) / spread;
        }
    }
    let allowed = |column: usize, weight: f64| match features[column].sign {
        Sign::For => weight >= 0.0,
        Sign::Against => weight <= 0.0,
        Sign::Either => true,
    };
    let (base, weights) = constrained(&observed, RIDGE, allowed);
    let entry = |((feature, weight), (mean, spread)): ((&Feature, f64), (f64, f64))| {
        (feature.name.to_owned(), Weight { weight: rounded(weight), mean, spread })
    };
    (rounded(base), features.iter().zip(weights).zip(scales).map(entry).collect())
}

fn rival_weights(observed: &[Observation]) -> RivalWeights {
    let (base, weights) = constrained(observed, RIVAL_RIDGE, |_, weight| weight >= 0.0);
    let weight = |at: usize| weights.get(at).copied().map_or(0.0, rounded);
    RivalWeights { base: rounded(base), score: weight(0), behind_golden: weight(1), behind_finding: weight(2) }
}

/// A fit in which a column whose weight goes against reason has none, and the others are fitted without it.
fn constrained(observed: &[Observation], ridge: f64, allowed: impl Fn(usize, f64) -> bool) -> (f64, Vec<f64>) {
    let width = observed.first().map_or(0, |own| own.row.len());
    let mut columns: Vec<usize> = (0..width).collect();
    loop {
        let narrow = |own: &Observation| Observation {
            row: columns.iter().map(|&column| own.row[column]).collect(),
            ..own.clone()
        };
        let (base, weights) = logistic::fit(&observed.iter().map(narrow).collect::<Vec<_>>(), ridge);
        let sound = columns.iter().zip(&weights).filter(|(column, weight)| allowed(**column, **weight));
        let kept: Vec<usize> = sound.map(|(column, _)| *column).collect();
        if kept.len() == columns.len() {
            let mut full = vec![0.0; width];
            for (column, weight) in columns.into_iter().zip(weights) {
                full[column] = weight;
            }
            return (base, full);
        }
        columns = kept;
    }
}

/// Six decimals, so that parameters can be read and written without loss.
fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// The threshold at which the judge agrees best on goldens found.
fn threshold(trials: &[LabelledTrial<'_>], tables: Vec<Table<'_>>) -> f64 {
    let mut predictions = Predictions::default();
    for (own, table) in trials.iter().zip(tables) {
        predictions.add(own, &table.into_probabilities(), 0.5);
    }
    let agreement = |hundredths: usize| {
        let threshold = hundredths as f64 / 100.0;
        binary_kappa(predictions.goldens.iter().map(|golden| (golden.found, golden.best >= threshold))).unwrap_or(0.0)
    };
    let all: Vec<f64> = (0..=100).map(agreement).collect();
    let smooth = |at: usize| {
        let around = &all[at - SMOOTHED_OVER..=at + SMOOTHED_OVER];
        around.iter().sum::<f64>() / around.len() as f64
    };
    // Of equally good ones the first.
    let (mut chosen, mut most) = (50, f64::NEG_INFINITY);
    for at in SMOOTHED_OVER..=100 - SMOOTHED_OVER {
        if smooth(at) > most {
            (chosen, most) = (at, smooth(at));
        }
    }
    chosen as f64 / 100.0
}

/// How groups did that were each judged by parameters fitted on all others.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// By the name of the group: its figures and the threshold that the others gave.
    pub groups: BTreeMap<String, (Figures, f64)>,
    /// All groups' decisions taken together.
    pub pooled: Figures,
}

/// Judges each group by parameters that were fitted on all others; `group` names the group of each trial. What the labels are
/// not about is that of `start`.
pub fn hold_out(
    trials: &[LabelledTrial<'_>],
    group: impl Fn(&Case) -> String,
    start: &Params,
) -> Result<HeldOut, &'static str> {
    let folds = folds(trials, |own| group(own.case));
    let judged = folds.into_par_iter().map(|Fold { name, others, own }| {
        let params = fit(&others, Provenance::default(), start)?;
        Ok((name, predict(&ready(&params)?, &own), params.threshold))
    });
    let judged = judged.collect::<Result<Vec<(String, Predictions, f64)>, &'static str>>()?;
    let mut all = Predictions::default();
    let mut groups = BTreeMap::new();
    for (name, predictions, threshold) in judged {
        groups.insert(name, (predictions.figures(), threshold));
        all.append(predictions);
    }
    Ok(HeldOut { groups, pooled: all.figures() })
}

pub(crate) struct Fold<T> {
    pub(crate) name: String,
    pub(crate) others: Vec<T>,
    pub(crate) own: Vec<T>,
}

/// Every group in turn, in the order of their names; what is in a group keeps its order.
pub(crate) fn folds<T: Clone>(items: &[T], group: impl Fn(&T) -> String) -> Vec<Fold<T>> {
    let of_item: Vec<String> = items.iter().map(group).collect();
    let mut names = of_item.clone();
    names.sort();
    names.dedup();
    let part = |name: &String, inside: bool| -> Vec<T> {
        let wanted = |(_, own): &(&T, &String)| (*own == name) == inside;
        items.iter().zip(&of_item).filter(wanted).map(|(item, _)| item.clone()).collect()
    };
    names.into_iter().map(|name| Fold { others: part(&name, false), own: part(&name, true), name }).collect()
}
