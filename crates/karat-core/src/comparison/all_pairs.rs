//! Significance tests of all pairs of several tools on the same cases.
//!
//! Under random signs `s` of the cases, the differences between tools `a` and `b` add up to `Σ s(b − a) = Σ s·b − Σ s·a`.
//! So one signed sum for each tool gives the statistic of every pair: k tools cost k sums a draw, not k(k−1)/2. All pairs see
//! the same draws, which makes their p values depend on each other; Holm's adjustment holds whatever the dependence.

use super::Rules;
use super::pairs::{Row, SAME, Statistic, apart, is_as_far, p_of_units, ways};
use crate::metric::table::Direction;
use crate::stats::paired::{EXACT_UNITS, holm_of_tested, is_significant, sign_flip};
use crate::stats::random::{Random, seed_of};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What every case adds to a metric, by tool and then by case. All tools have the same cases in the same order.
#[derive(Clone)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum ToolScores<'a> {
    /// The metric is the mean of one value a case; none where a tool has no value.
    Values(Vec<Vec<Option<f64>>>),
    /// The metric is a figure of columns that are added up over cases.
    Sums { rows: Vec<Vec<Row>>, columns: usize, value: &'a Statistic<'a> },
}

/// The test of one pair of tools.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PairTest {
    pub a: usize,
    pub b: usize,
    /// The second's figure minus the first's, over the cases both have a value on; none where it is undefined.
    pub difference: Option<f64>,
    /// The two-sided p value; none where there is no difference to test.
    pub p: Option<f64>,
    /// The same, adjusted by Holm for all pairs that could be tested.
    pub p_holm: Option<f64>,
    pub n: usize,
    /// On how many of them they differ: cases, or clusters where clusters are named.
    pub differing: usize,
}

impl PairTest {
    /// The better and the worse tool, where they differ significantly.
    pub fn decided(&self, direction: Direction, level: f64) -> Option<(usize, usize)> {
        let difference = self.difference.filter(|difference| *difference != 0.0)?;
        self.p_holm.filter(|p| is_significant(*p, level))?;
        let second_is_better = (difference > 0.0) == (direction == Direction::Up);
        Some(if second_is_better { (self.b, self.a) } else { (self.a, self.b) })
    }
}

/// Tests every two tools, the first against all others first.
///
/// Each test is the two-sided permutation test of [`super::compare`]: signs of cases flip, of clusters all at once, and sides are
/// swapped where the metric is not a mean. Few differing units are counted exactly. A pair that can no longer become significant
/// is drawn no further, so its p value rests on fewer draws. Neither the order of cases nor the number of threads matters.
pub fn test_all_pairs(scores: &ToolScores<'_>, clusters: Option<&[usize]>, rules: &Rules) -> Vec<PairTest> {
    let table = Table::new(scores, clusters);
    let pairs: Vec<(usize, usize)> = (0..table.tools).flat_map(|a| (a + 1..table.tools).map(move |b| (a, b))).collect();
    let permutations = rules.permutations(pairs.len());
    let seed = rules.seed.unwrap_or_else(|| seed_of(table.sums.iter().copied()));
    // All that can be said of a pair without drawing, and what to draw.
    let prepare = |(a, b): (usize, usize)| match table.value {
        None => table.prepare_values(a, b),
        Some(value) => table.prepare_sums(a, b, value, permutations),
    };
    let (mut tests, drawn): (Vec<PairTest>, Vec<Option<Drawn>>) = pairs.into_par_iter().map(prepare).unzip();
    for (test, p) in tests.iter_mut().zip(table.draw(&drawn, seed, permutations, rules.level)) {
        test.p = test.p.or(p);
    }
    let adjusted = holm_of_tested(tests.iter().map(|test| test.p));
    tests.iter_mut().zip(adjusted).for_each(|(test, p_holm)| test.p_holm = p_holm);
    tests
}

/// A pair whose p value is sampled.
struct Drawn {
    a: usize,
    b: usize,
    /// The columns of both, added up, where the metric is not a mean.
    both: Vec<f64>,
    /// What counts as a difference at least as large: a sum so far from 0, or figures so far apart.
    far: f64,
}

/// Draws per round; after each, pairs that can no longer become significant are dropped.
const ROUND: usize = 4096;

/// Scores laid out for drawing. A unit is a case, or a cluster of cases.
struct Table<'a> {
    tools: usize,
    columns: usize,
    value: Option<&'a Statistic<'a>>,
    /// By case: what every tool adds to every column; 0 where it has no value.
    cells: Vec<Vec<f64>>,
    known: Vec<Vec<bool>>,
    unit_of: Vec<usize>,
    units: usize,
    /// Cells added up by unit, one unit after the other.
    sums: Vec<f64>,
    /// Each tool with each case on which it has no value.
    missing: Vec<(usize, usize)>,
}

impl<'a> Table<'a> {
    fn new(scores: &ToolScores<'a>, clusters: Option<&[usize]>) -> Self {
        // By tool and then by case, as rows of a single column where the metric is a mean.
        let (rows, columns, value): (Vec<Vec<Option<Row>>>, _, _) = match scores {
            ToolScores::Values(values) => {
                let row = |value: &Option<f64>| value.filter(|v| v.is_finite()).map(|v| vec![(0, v)]);
                (values.iter().map(|own| own.iter().map(row).collect()).collect(), 1, None)
            }
            ToolScores::Sums { rows, columns, value } => {
                (rows.iter().map(|own| own.iter().cloned().map(Some).collect()).collect(), *columns, Some(*value))
            }
        };
        let (tools, cases) = (rows.len(), rows.iter().map(Vec::len).max().unwrap_or(0));
        let mut cells = vec![vec![0.0; tools * columns]; cases];
        let mut known = vec![vec![false; tools]; cases];
        for (tool, own) in rows.iter().enumerate() {
            for (case, row) in own.iter().enumerate() {
                known[case][tool] = row.is_some();
                for (column, added) in row.iter().flatten().filter(|(column, v)| *column < columns && v.is_finite()) {
                    cells[case][tool * columns + column] += added;
                }
            }
        }
        for (cells, known) in cells.iter_mut().zip(&known) {
            (0..columns).for_each(|column| level_out(cells, known, column, columns));
        }
        let all = (0..tools).flat_map(|tool| (0..cases).map(move |case| (tool, case)));
        let missing = all.filter(|(tool, case)| value.is_none() && !known[*case][*tool]).collect();
        // Cases come in units, in an order that follows from what they hold.
        let clusters = clusters.filter(|names| names.len() == cases);
        let mut by_name: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for case in 0..cases {
            by_name.entry(clusters.map_or(case, |names| names[case])).or_default().push(case);
        }
        let width = tools * columns;
        let mut units: Vec<Unit> = Vec::with_capacity(by_name.len());
        for cases in by_name.into_values() {
            let mut unit = Unit { sums: vec![0.0; width], known: vec![0; tools], cases };
            for case in &unit.cases {
                unit.sums.iter_mut().zip(&cells[*case]).for_each(|(sum, cell)| *sum += cell);
                unit.known.iter_mut().zip(&known[*case]).for_each(|(n, known)| *n += usize::from(*known));
            }
            units.push(unit);
        }
        units.sort_by(|a, b| {
            let differs = a.sums.iter().zip(&b.sums).map(|(x, y)| x.total_cmp(y)).find(|order| order.is_ne());
            differs.unwrap_or_else(|| a.known.cmp(&b.known))
        });
        let mut unit_of = vec![0; cases];
        for (at, unit) in units.iter().enumerate() {
            unit.cases.iter().for_each(|case| unit_of[*case] = at);
        }
        let (units, sums) = (units.len(), units.into_iter().flat_map(|unit| unit.sums).collect());
        Self { tools, columns, value, cells, known, unit_of, units, sums, missing }
    }

    fn of_unit(&self, unit: usize, tool: usize) -> &[f64] {
        let from = (unit * self.tools + tool) * self.columns;
        &self.sums[from..from + self.columns]
    }

    fn prepare_values(&self, a: usize, b: usize) -> (PairTest, Option<Drawn>) {
        let mut by_unit = vec![0.0; self.units];
        let (mut n, mut total) = (0, 0.0);
        for ((cells, known), unit) in self.cells.iter().zip(&self.known).zip(&self.unit_of) {
            let difference = cells[b] - cells[a];
            if known[a] && known[b] {
                by_unit[*unit] += difference;
                total += difference;
                n += 1;
            }
        }
        // Differences of a cluster may add up to 0 but for their last digits.
        by_unit.retain(|v| v.abs() > 1e-12);
        let mut test = PairTest { a, b, difference: None, p: None, p_holm: None, n, differing: by_unit.len() };
        if n == 0 {
            return (test, None);
        }
        test.difference = Some(total / n as f64);
        if by_unit.len() <= EXACT_UNITS {
            test.p = Some(sign_flip(&by_unit, None, 0, None).unwrap_or(1.0));
            return (test, None);
        }
        // Tolerance, so that rounding cannot separate equal sums.
        let size: f64 =
            (0..self.units).map(|unit| self.of_unit(unit, a)[0].abs() + self.of_unit(unit, b)[0].abs()).sum();
        let rounding = (2.0 * f64::EPSILON * self.units as f64).max(1e-12) * size;
        (test, Some(Drawn { a, b, both: Vec::new(), far: by_unit.iter().sum::<f64>().abs() - rounding }))
    }

    fn prepare_sums(
        &self,
        a: usize,
        b: usize,
        value: &Statistic<'_>,
        permutations: usize,
    ) -> (PairTest, Option<Drawn>) {
        let total = |tool: usize| {
            let mut total = vec![0.0; self.columns];
            for unit in 0..self.units {
                total.iter_mut().zip(self.of_unit(unit, tool)).for_each(|(total, own)| *total += own);
            }
            total
        };
        let (first, second) = (total(a), total(b));
        let both: Vec<f64> = first.iter().zip(&second).map(|(x, y)| x + y).collect();
        let differing = |unit: usize| -> Row {
            let columns = self.of_unit(unit, a).iter().zip(self.of_unit(unit, b)).map(|(x, y)| y - x).enumerate();
            columns.filter(|(_, v)| v.abs() > SAME).collect()
        };
        let units: Vec<Row> = (0..self.units).map(differing).filter(|row| !row.is_empty()).collect();
        let adds = |cells: &&Vec<f64>| {
            let of = |tool: usize| &cells[tool * self.columns..(tool + 1) * self.columns];
            of(a).iter().chain(of(b)).any(|v| *v != 0.0)
        };
        let n = self.cells.iter().filter(adds).count();
        let figure = |total: &[f64]| value(total).filter(|v| v.is_finite());
        let difference = figure(&first).zip(figure(&second)).map(|(first, second)| second - first);
        let mut test = PairTest { a, b, difference, p: None, p_holm: None, n, differing: units.len() };
        let Some(far) = difference.map(f64::abs).filter(|_| n > 0) else { return (test, None) };
        if ways(units.len(), permutations).is_some() {
            test.p = p_of_units(&both, &units, value, permutations, None);
            return (test, None);
        }
        (test, Some(Drawn { a, b, both, far }))
    }

    /// The p values of pairs that are to be drawn.
    fn draw(&self, pairs: &[Option<Drawn>], seed: u64, permutations: usize, level: f64) -> Vec<Option<f64>> {
        let (mut hits, mut made) = (vec![0usize; pairs.len()], vec![0usize; pairs.len()]);
        let mut open: Vec<usize> = (0..pairs.len()).filter(|pair| pairs[*pair].is_some()).collect();
        // More hits than this, and p is above 1 − level however few follow.
        let most = (1.0 - level) * (permutations + 1) as f64;
        // What is added up at a time stays in a processor's nearest cache.
        let size = (4096 / (self.tools * self.columns).max(1)).clamp(16, 256);
        let mut done = 0;
        while done < permutations && !open.is_empty() {
            let round = ROUND.min(permutations - done);
            let found = (0..round.div_ceil(size))
                .into_par_iter()
                .map(|block| self.hits(pairs, &open, seed, done + block * size, size.min(round - block * size)))
                .reduce(
                    || vec![0; open.len()],
                    |mut all, some| {
                        all.iter_mut().zip(some).for_each(|(all, some)| *all += some);
                        all
                    },
                );
            for (pair, found) in open.iter().zip(found) {
                hits[*pair] += found;
                made[*pair] += round;
            }
            done += round;
            open.retain(|pair| (hits[*pair] + 1) as f64 <= most + 1e-9);
        }
        let p = |at: usize| pairs[at].as_ref().map(|_| (hits[at] + 1) as f64 / (made[at] + 1) as f64);
        (0..pairs.len()).map(p).collect()
    }

    /// In how many of these draws the statistic of each open pair is at least as large as observed.
    fn hits(&self, pairs: &[Option<Drawn>], open: &[usize], seed: u64, first: usize, count: usize) -> Vec<usize> {
        let words = self.units.div_ceil(64);
        let width = self.tools * self.columns;
        let mut signs = Vec::with_capacity(words * count);
        for draw in first..first + count {
            // Each draw has a stream of its own, whichever thread makes it.
            let mut random = Random::new(seed, draw as u64);
            signs.extend((0..words).map(|_| random.bits()));
        }
        let sums = signed_sums(&self.sums, width, &signs, words, count);
        let mut hits = vec![0; open.len()];
        let mut moved = vec![0.0; self.columns];
        let mut unshared = vec![0.0; if self.missing.is_empty() { 0 } else { self.tools * self.tools }];
        for draw in 0..count {
            let sums = &sums[draw * width..(draw + 1) * width];
            self.sum_unshared(&signs[draw * words..(draw + 1) * words], &mut unshared);
            for (hits, pair) in hits.iter_mut().zip(open) {
                let Some(Drawn { a, b, both, far }) = &pairs[*pair] else { continue };
                let is_hit = match self.value {
                    None => {
                        // Cases on which only one of the two has a value do not count.
                        let (of_b, of_a) = match unshared.is_empty() {
                            true => (0.0, 0.0),
                            false => (unshared[a * self.tools + b], unshared[b * self.tools + a]),
                        };
                        ((sums[*b] - of_b) - (sums[*a] - of_a)).abs() >= *far
                    }
                    Some(value) => {
                        let of = |tool: usize| &sums[tool * self.columns..(tool + 1) * self.columns];
                        moved.iter_mut().zip(of(*a).iter().zip(of(*b))).for_each(|(moved, (x, y))| *moved = y - x);
                        is_as_far(apart(both, &moved, value), *far)
                    }
                };
                *hits += usize::from(is_hit);
            }
        }
        hits
    }

    /// For each tool, what every other tool's signed sum holds of the cases on which the first has no value.
    fn sum_unshared(&self, signs: &[u64], unshared: &mut [f64]) {
        unshared.fill(0.0);
        for &(tool, case) in &self.missing {
            let unit = self.unit_of[case];
            let sign = if signs[unit / 64] >> (unit % 64) & 1 == 1 { -1.0 } else { 1.0 };
            let others = &mut unshared[tool * self.tools..(tool + 1) * self.tools];
            others.iter_mut().zip(&self.cells[case]).for_each(|(sum, cell)| *sum += sign * cell);
        }
    }
}

struct Unit {
    sums: Vec<f64>,
    known: Vec<usize>,
    cases: Vec<usize>,
}

/// The sums of all rows for every draw of signs, one bit a row. The sixteen signed sums of four rows are made once for all draws.
fn signed_sums(rows: &[f64], width: usize, signs: &[u64], words: usize, count: usize) -> Vec<f64> {
    let mut sums = vec![0.0; count * width];
    if width == 0 {
        return sums;
    }
    let mut table = vec![0.0; 16 * width];
    for (group, four) in rows.chunks(4 * width).enumerate() {
        table[..width].fill(0.0);
        for row in four.chunks(width) {
            table[..width].iter_mut().zip(row).for_each(|(sum, v)| *sum += v);
        }
        for way in 1..16_usize {
            let (lowest, rest) = (way.trailing_zeros() as usize, way & (way - 1));
            let (known, own) = table.split_at_mut(way * width);
            let own = &mut own[..width];
            own.copy_from_slice(&known[rest * width..(rest + 1) * width]);
            if let Some(row) = four.get(lowest * width..(lowest + 1) * width) {
                own.iter_mut().zip(row).for_each(|(sum, v)| *sum -= 2.0 * v);
            }
        }
        let (word, shift) = (group / 16, 4 * (group % 16));
        for draw in 0..count {
            let way = (signs[draw * words + word] >> shift & 15) as usize;
            let own = &mut sums[draw * width..(draw + 1) * width];
            own.iter_mut().zip(&table[way * width..(way + 1) * width]).for_each(|(sum, v)| *sum += v);
        }
    }
    sums
}

/// Makes values of a case that are the same but for their last digits the same.
fn level_out(cells: &mut [f64], known: &[bool], column: usize, columns: usize) {
    let mut order: Vec<usize> =
        (0..known.len()).filter(|tool| known[*tool]).map(|tool| tool * columns + column).collect();
    order.sort_by(|x, y| cells[*x].total_cmp(&cells[*y]));
    let mut first = f64::NEG_INFINITY;
    for at in order {
        if cells[at] - first <= SAME {
            cells[at] = first;
        } else {
            first = cells[at];
        }
    }
}

/// Ranks, from 1, that hold a tool's true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankSet {
    /// The best of them: 1 + the tools that are significantly better.
    pub low: usize,
    /// The worst of them: the number of tools − those that are significantly worse.
    pub high: usize,
}

/// The set of ranks of every tool, from the tests of all pairs (after Mogstad, Romano, Shaikh and Wilhelm 2024).
///
/// Holm keeps the chance of any wrong statement "this tool is better than that one" below 1 − level. Where none is wrong, every
/// set holds its tool's true rank; of tools that are equal in truth, all they share. So all hold at once with the level's chance.
pub fn rank_sets(tools: usize, tests: &[PairTest], direction: Direction, level: f64) -> Vec<RankSet> {
    let mut sets = vec![RankSet { low: 1, high: tools }; tools];
    for (better, worse) in tests.iter().filter_map(|test| test.decided(direction, level)) {
        sets[better].high -= 1;
        sets[worse].low += 1;
    }
    sets
}

#[cfg(test)]
mod tests;
