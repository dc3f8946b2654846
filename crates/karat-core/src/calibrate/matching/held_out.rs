//! Rules that are fitted and measured on groups held out in turn, and what they gain over the present ones.

use super::{CurvePoint, Decided, Figures, LabelledPair, Row, Rules, curve, figures};
use crate::calibrate::gain::{Gain, MOST_FOLDS, Units};
use crate::local_judge::fit::{Fold, folds};
use crate::profile::Profile;
use crate::stats::agreement::{binary_kappa, kappa_of_table};
use crate::stats::permutation::sequential_p;
use crate::stats::random::{Random, seed_of};
use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldOut {
    pub groups: usize,
    #[serde(flatten)]
    pub figures: Figures,
    /// The same with the present weights, and a threshold that was fitted on the other groups.
    pub threshold_alone: Figures,
    #[serde(skip)]
    pub gains: Gains,
    /// By thresholds from 0 to 1, the same for all groups: with the weights that the other groups gave.
    pub curve: Vec<CurvePoint>,
    pub present_curve: Vec<CurvePoint>,
}

/// What fitted rules gain in kappa on groups that they were not fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Gains {
    /// A fitted threshold with the present weights over the present rules.
    pub threshold: Gain,
    /// Fitted weights and threshold over the present rules.
    pub all: Gain,
    /// Fitted weights and threshold over a fitted threshold with the present weights.
    pub weights: Gain,
}

/// Of four groups that could as well have lost, all gain once in sixteen times, which is too often; of five, once in thirty-two.
const LEAST_GROUPS: usize = 5;

pub(super) const ONE_GROUP: &str = "all labels belong to one group";
pub(super) const ONE_KIND: &str = "without one of the groups, all labels are of one kind";

/// `present` are the decisions of the present rules about the rows of the pairs.
pub(super) fn hold_out(
    pairs: &[LabelledPair],
    rows: &[Row<'_>],
    present: &[Decided],
    profile: &Profile,
) -> Result<HeldOut, &'static str> {
    let mut names: Vec<&str> = pairs.iter().map(|pair| pair.group.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return Err(ONE_GROUP);
    }
    let groups: Vec<usize> =
        pairs.iter().map(|pair| names.partition_point(|name| *name < pair.group.as_str())).collect();
    let folds = folds(&(0..pairs.len()).collect::<Vec<_>>(), |&at| format!("{:02}", groups[at] % MOST_FOLDS));
    let decided = Decisions::make(rows, &folds, profile)?;
    let sample = Sample { rows, groups: &groups, present, folds: &folds, profile };
    Ok(HeldOut {
        groups: names.len(),
        figures: figures(&decided.fitted),
        threshold_alone: figures(&decided.alone),
        gains: sample.gains(names.len(), &decided),
        curve: curve(&decided.fitted),
        present_curve: curve(&decided.alone),
    })
}

/// Each pair decided by rules that were fitted without its group.
struct Decisions {
    fitted: Vec<Decided>,
    /// By the present weights, only the threshold being fitted.
    alone: Vec<Decided>,
}

impl Decisions {
    fn make(rows: &[Row<'_>], folds: &[Fold<usize>], profile: &Profile) -> Result<Self, &'static str> {
        let of_fold = |fold: &Fold<usize>| {
            let [others, own] = [&fold.others, &fold.own].map(|at| at.iter().map(|&at| rows[at]).collect::<Vec<_>>());
            let rules = Rules::learn(&others, profile).ok_or(ONE_KIND)?;
            let alone = Rules::learn_threshold(&others, profile.weights.clone(), profile).ok_or(ONE_KIND)?;
            Ok((rules.decide(&own, profile), alone.decide(&own, profile)))
        };
        let by_fold = folds.par_iter().map(of_fold).collect::<Result<Vec<_>, &'static str>>()?;
        let mut all =
            Self { fitted: vec![Decided::default(); rows.len()], alone: vec![Decided::default(); rows.len()] };
        for (fold, (fitted, alone)) in folds.iter().zip(by_fold) {
            for ((&at, fitted), alone) in fold.own.iter().zip(fitted).zip(alone) {
                (all.fitted[at], all.alone[at]) = (fitted, alone);
            }
        }
        Ok(all)
    }
}

/// Labelled pairs with the decisions of the present rules, and how they are held out.
struct Sample<'a> {
    rows: &'a [Row<'a>],
    /// The group of each pair.
    groups: &'a [usize],
    present: &'a [Decided],
    folds: &'a [Fold<usize>],
    profile: &'a Profile,
}

impl Sample<'_> {
    fn gains(&self, groups: usize, decided: &Decisions) -> Gains {
        let order = self.order();
        let seed =
            seed_of(order.iter().flat_map(|&at| numbers(self.rows[at]).into_iter().chain([self.groups[at] as f64])));
        let [present, alone, fitted] =
            [self.present, &decided.alone, &decided.fitted].map(|decided| self.by_group(groups, decided));
        let units = Units { name: "group", n: groups, least: LEAST_GROUPS };
        let gain = |from: &[Table], to: &[Table]| {
            Gain::estimate(units, |times| Some(kappa(to, times)? - kappa(from, times)?), seed)
        };
        let mut gains =
            Gains { threshold: gain(&present, &alone), all: gain(&present, &fitted), weights: gain(&alone, &fitted) };
        if [&gains.threshold, &gains.all, &gains.weights].iter().all(|gain| gain.is_testable()) {
            self.test(&mut gains, &order, seed);
        }
        gains
    }

    /// Tests all gains by the same permutations. A threshold or new rules that know nothing have two chances to look better than
    /// the present ones, so either is compared with the larger gain of each permutation (Westfall and Young 1993).
    fn test(&self, gains: &mut Gains, order: &[usize], seed: u64) {
        // Labels change places where the present rules decide alike: what these know about the labels stays known.
        let mut alike: BTreeMap<(bool, bool), Vec<usize>> = BTreeMap::new();
        for &at in order {
            alike.entry((self.present[at].score.is_some(), self.present[at].taken)).or_default().push(at);
        }
        let now = kappa_of(self.present);
        let permuted = |number: u64| -> Option<[f64; 3]> {
            let mut random = Random::new(seed, number);
            let mut rows = self.rows.to_vec();
            for places in alike.values() {
                let mut labels: Vec<bool> = places.iter().map(|&at| self.rows[at].1).collect();
                random.shuffle(&mut labels);
                places.iter().zip(labels).for_each(|(&at, label)| rows[at].1 = label);
            }
            let decided = Decisions::make(&rows, self.folds, self.profile).ok()?;
            let (alone, fitted) = (kappa_of(&decided.alone)?, kappa_of(&decided.fitted)?);
            let larger = alone.max(fitted) - now?;
            Some([larger, larger, fitted - alone])
        };
        let tested = [&mut gains.threshold, &mut gains.all, &mut gains.weights];
        let observed = tested.each_ref().map(|gain| gain.estimate.value.unwrap_or(f64::NEG_INFINITY));
        let p = sequential_p(observed, |number| permuted(number).map_or([None; 3], |gains| gains.map(Some)));
        tested.into_iter().zip(p).for_each(|(gain, p)| gain.p = Some(p));
    }

    /// The pairs in an order that follows from them alone, since permutations go by places.
    fn order(&self) -> Vec<usize> {
        let by_numbers = |a: &usize, b: &usize| {
            let pairs = numbers(self.rows[*a]).into_iter().zip(numbers(self.rows[*b]));
            let by_row = pairs.map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
            self.groups[*a].cmp(&self.groups[*b]).then(by_row)
        };
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(by_numbers);
        order
    }

    fn by_group(&self, groups: usize, decided: &[Decided]) -> Vec<Table> {
        let mut tables = vec![Table::default(); groups];
        for (&group, pair) in self.groups.iter().zip(decided) {
            tables[group][usize::from(pair.matched)][usize::from(pair.taken)] += 1.0;
        }
        tables
    }
}

/// Parts and label as numbers; a part that is absent is below all others.
fn numbers((parts, matched): Row<'_>) -> [f64; 5] {
    let [file, line, keyword, text] =
        parts.map_or([Some(-2.0); 4], |parts| parts.list()).map(|part| part.unwrap_or(-1.0));
    [file, line, keyword, text, f64::from(matched)]
}

/// How many pairs match or do not, by how they were decided.
type Table = [[f64; 2]; 2];

pub(super) fn kappa_of(decided: &[Decided]) -> Option<f64> {
    binary_kappa(decided.iter().map(|pair| (pair.matched, pair.taken)))
}

/// The kappa of all groups together, each so many times.
fn kappa(groups: &[Table], times: &[u32]) -> Option<f64> {
    let mut table = Table::default();
    for (group, times) in groups.iter().zip(times).filter(|(_, times)| **times > 0) {
        for (sum, count) in table.as_flattened_mut().iter_mut().zip(group.as_flattened()) {
            *sum += f64::from(*times) * count;
        }
    }
    kappa_of_table(&table)
}
