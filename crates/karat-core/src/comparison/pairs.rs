//! Per-case contributions of two sides to a metric, and the statistics of their difference.

use super::Rules;
use super::swaps::{self, Row, SAME, Statistic, add, difference, without_residue};
use crate::stats::bootstrap::{self, BootstrapOptions, CaseData, TrialResampling};
use crate::stats::interval::{Interval, NoInterval};
use crate::stats::paired::sign_flip;
use crate::stats::summary::mean;

/// One entry for each case that both sides have: the first side's, then the second's.
#[derive(Clone)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Pairs<'a> {
    /// The metric is the mean of one value a case.
    Values(Vec<[f64; 2]>),
    /// The metric is a figure of columns that are added up over cases: a share of pooled findings, a rate over verdicts.
    Sums { rows: Vec<[Row; 2]>, columns: usize, value: &'a Statistic<'a> },
}

impl Pairs<'_> {
    /// How many pairs there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Sums { rows, .. } => rows.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn sides(&self) -> [Option<f64>; 2] {
        [0, 1].map(|side| match self {
            Self::Values(values) => mean(&values.iter().map(|pair| pair[side]).collect::<Vec<_>>()),
            Self::Sums { rows, columns, value } => {
                let mut total = vec![0.0; *columns];
                rows.iter().for_each(|pair| add(&mut total, &pair[side], 1.0));
                value(&total).filter(|v| v.is_finite())
            }
        })
    }

    /// Whether both sides are the same in every case.
    pub(super) fn all_equal(&self) -> bool {
        match self {
            Self::Values(values) => values.iter().all(|[a, b]| (a - b).abs() <= SAME),
            Self::Sums { rows, .. } => rows.iter().all(|[a, b]| difference(a, b).is_empty()),
        }
    }

    /// How much each case contributes to the difference: its own difference, or what leaving it out changes (the jackknife's
    /// pseudovalues, which are the same where the metric is a mean).
    pub fn contributions(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.iter().map(|[a, b]| b - a).collect(),
            Self::Sums { .. } => self.left_out(|[a, b]| Some(b? - a?)),
        }
    }

    /// The same of the second side's figure alone.
    pub fn of_second(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.iter().map(|[_, b]| *b).collect(),
            Self::Sums { .. } => self.left_out(|[_, b]| b),
        }
    }

    /// What leaving out each case changes of a figure of both sides. Where leaving one out leaves nothing, the figure itself.
    fn left_out(&self, figure: impl Fn([Option<f64>; 2]) -> Option<f64>) -> Vec<f64> {
        let Self::Sums { rows, columns, value } = self else { return Vec::new() };
        let Some(whole) = figure(self.sides()) else { return Vec::new() };
        let mut totals = [vec![0.0; *columns], vec![0.0; *columns]];
        for pair in rows {
            totals.iter_mut().zip(pair).for_each(|(total, row)| add(total, row, 1.0));
        }
        let n = rows.len() as f64;
        let without = |pair: &[Row; 2]| {
            let side = |side: usize| {
                let mut rest = totals[side].clone();
                add(&mut rest, &pair[side], -1.0);
                value(&without_residue(rest)).filter(|v| v.is_finite())
            };
            figure([side(0), side(1)]).map_or(whole, |rest| n * whole - (n - 1.0) * rest)
        };
        rows.iter().map(without).collect()
    }

    /// The interval of the difference: cases are drawn, or clusters, with the trials they have, since a case's mean already
    /// holds the noise of its trials.
    pub(super) fn interval(&self, clusters: Option<&[usize]>, rules: &Rules) -> Result<Interval, NoInterval> {
        let options = BootstrapOptions {
            resamples: rules.resamples,
            seed: rules.seed,
            level: rules.level,
            trials: TrialResampling::Kept,
            ..BootstrapOptions::default()
        };
        let (rows, columns, value) = match self {
            Self::Values(values) => {
                let differences: Vec<f64> = values.iter().map(|[a, b]| b - a).collect();
                return bootstrap::interval_of_mean(&differences, clusters, &options).interval;
            }
            Self::Sums { rows, columns, value } => (rows, *columns, value),
        };
        let wide = |[a, b]: &[Row; 2]| {
            let mut row = vec![0.0; columns * 2];
            add(&mut row[..columns], a, 1.0);
            add(&mut row[columns..], b, 1.0);
            row
        };
        let rows: Vec<Vec<f64>> = rows.iter().map(wide).collect();
        let trials = vec![Vec::new(); rows.len()];
        let figure = |row: &[f64]| {
            let (a, b) = row.split_at(columns);
            vec![value(b).zip(value(a)).map(|(b, a)| b - a)]
        };
        let found = bootstrap::joint_estimates(&CaseData { trials: &trials, rows: &rows, clusters }, &figure, &options);
        found.figures.first().map_or(Err(NoInterval::Undefined), |figure| figure.interval)
    }

    /// The p value of a permutation: signs of differences flip, or the sides of cases are swapped; of clusters, all at once.
    pub(super) fn p(&self, clusters: Option<&[usize]>, permutations: usize, seed: Option<u64>) -> Option<f64> {
        match self {
            Self::Values(values) => {
                let near = |d: f64| if d.abs() <= SAME { 0.0 } else { d };
                let differences: Vec<f64> = values.iter().map(|[a, b]| near(b - a)).collect();
                sign_flip(&differences, clusters, permutations, seed).map(|test| test.p)
            }
            Self::Sums { rows, columns, value } => swaps::p(rows, *columns, *value, clusters, permutations, seed),
        }
    }
}
