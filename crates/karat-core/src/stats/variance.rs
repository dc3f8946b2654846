//! Variance components of cases, trials and judges, and what would halve an interval.

#![expect(missing_docs, reason = "names of fields and variants say it")]

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    pub case: usize,
    pub trial: usize,
    /// Who judged it; the same number everywhere where one judge did.
    pub judge: usize,
    pub value: f64,
}

/// Variances by where they come from, and how many there are of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    pub cases: f64,
    /// Between trials of a case. Where every trial was judged once, it includes the judge's own noise.
    pub trials: f64,
    pub judges: Option<f64>,
    /// What is left when several judges judge the same trials; none with one judge.
    pub rest: Option<f64>,
    pub case_count: usize,
    pub trials_per_case: f64,
    pub judges_per_trial: f64,
}

/// How many of each would halve the interval of the mean, the others staying as they are; none where no number does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halving {
    pub cases: Option<usize>,
    pub trials: Option<usize>,
    pub judges: Option<usize>,
}

/// Variance components by the method of moments: Henderson's method 1 (1953), balanced or not.
///
/// The sums of squares of totals by case, trial and judge are set equal to what they are expected to be, which
/// gives one linear equation a component; without judges, this is the analysis of variance: `trials = MSW`,
/// `cases = (MSB − MSW)/m₀`. A component that comes out below 0 is 0. None where the scores cannot separate the
/// components: fewer than two cases, no case with two trials, or judges without a common trial.
pub fn components(scores: &[Observation]) -> Option<Components> {
    let case = levels(scores, |o| (o.case, 0));
    let trial = levels(scores, |o| (o.case, o.trial));
    let judge = levels(scores, |o| (o.judge, 0));
    let (case_count, trial_count) = (count(&case), count(&trial));
    if case_count < 2 || trial_count == case_count {
        return None;
    }
    let factors: Vec<&[usize]> = if count(&judge) > 1 {
        vec![&case, &trial, &judge]
    } else if trial_count == scores.len() {
        vec![&case]
    } else {
        // The same judge twice on the same trial: what differs then is the judge's own noise.
        vec![&case, &trial]
    };
    let found = henderson(scores, &factors)?;
    let (cases, rest) = (found[0], found[factors.len()]);
    let (trials, judges, rest) = match factors.len() {
        1 => (rest, None, None),
        2 => (found[1], None, Some(rest)),
        _ => (found[1], Some(found[2]), Some(rest)),
    };
    let trials_per_case = trial_count as f64 / case_count as f64;
    let judges_per_trial = scores.len() as f64 / trial_count as f64;
    Some(Components { cases, trials, judges, rest, case_count, trials_per_case, judges_per_trial })
}

impl Components {
    /// The variance of the mean: `σ²c/C + σ²t/CT + σ²j/J + σ²e/CTJ`.
    pub fn variance_of_mean(&self) -> f64 {
        self.variance_with(self.case_count as f64, self.trials_per_case, self.judges_per_trial)
    }

    /// What would halve the interval of the mean, which is to quarter its variance.
    pub fn halving(&self) -> Halving {
        let (cases, trials, judges) = (self.case_count as f64, self.trials_per_case, self.judges_per_trial);
        let wanted = self.variance_of_mean() / 4.0;
        // The variance is a + b/x in each number x: a is what stays however large x, and b what x divides.
        let needed = |with: &dyn Fn(f64) -> f64| {
            let stays = with(f64::INFINITY);
            let number = (with(1.0) - stays) / (wanted - stays);
            (wanted > stays).then(|| (number - 1e-9).ceil().max(1.0) as usize)
        };
        Halving {
            cases: needed(&|x| self.variance_with(x, trials, judges)),
            trials: needed(&|x| self.variance_with(cases, x, judges)),
            judges: self.judges.and_then(|_| needed(&|x| self.variance_with(cases, trials, x))),
        }
    }

    fn variance_with(&self, cases: f64, trials: f64, judges: f64) -> f64 {
        let (judge, rest) = (self.judges.unwrap_or(0.0), self.rest.unwrap_or(0.0));
        self.cases / cases + self.trials / (cases * trials) + judge / judges + rest / (cases * trials * judges)
    }
}

/// The number of each score's level of a factor.
fn levels(scores: &[Observation], key: impl Fn(&Observation) -> (usize, usize)) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    for score in scores {
        let next = numbers.len();
        numbers.entry(key(score)).or_insert(next);
    }
    scores.iter().filter_map(|score| numbers.get(&key(score)).copied()).collect()
}

fn count(levels: &[usize]) -> usize {
    levels.iter().max().map_or(0, |most| most + 1)
}

/// The variance of every factor, and last of what is left, each at least 0.
fn henderson(scores: &[Observation], factors: &[&[usize]]) -> Option<Vec<f64>> {
    let n = scores.len();
    let centre = scores.iter().map(|o| o.value).sum::<f64>() / n as f64;
    // Totals are taken by everything at once, by each factor, and by each score alone.
    let (one, each): (Vec<usize>, Vec<usize>) = (vec![0; n], (0..n).collect());
    let groupings: Vec<&[usize]> =
        std::iter::once(&one[..]).chain(factors.iter().copied()).chain([&each[..]]).collect();
    let row = |grouping: &[usize]| -> Vec<f64> {
        let mut row: Vec<f64> = factors.iter().map(|factor| coefficient(grouping, factor)).collect();
        row.push(count(grouping) as f64);
        // From the centre, so that large means do not swallow small differences.
        row.push(squares(scores, grouping, centre));
        row
    };
    let rows: Vec<Vec<f64>> = groupings.iter().map(|grouping| row(grouping)).collect();
    // What all have in common, the mean, goes out with the first row.
    let equations = rows[1..].iter().map(|row| row.iter().zip(&rows[0]).map(|(a, b)| a - b).collect()).collect();
    solve(equations).map(|found| found.into_iter().map(|v| v.max(0.0)).collect())
}

/// How often a factor's variance is expected in the sum of squares of a grouping's totals: `Σ_l Σ_k n²_lk / n_l`.
fn coefficient(grouping: &[usize], factor: &[usize]) -> f64 {
    let mut together: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut sizes = vec![0.0; count(grouping)];
    for (l, k) in grouping.iter().zip(factor) {
        *together.entry((*l, *k)).or_insert(0.0) += 1.0;
        sizes[*l] += 1.0;
    }
    together.iter().map(|((l, _), times)| times * times / sizes[*l]).sum()
}

fn squares(scores: &[Observation], grouping: &[usize], centre: f64) -> f64 {
    let mut totals = vec![(0.0, 0.0); count(grouping)];
    for (score, level) in scores.iter().zip(grouping) {
        totals[*level].0 += score.value - centre;
        totals[*level].1 += 1.0;
    }
    totals.iter().map(|(total, size)| total * total / size).sum()
}

/// Gauss' elimination with the largest pivot; none where equations depend on each other.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for at in 0..n {
        let largest = (at..n).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()))?;
        rows.swap(at, largest);
        let pivot = rows[at].clone();
        if pivot[at].abs() < 1e-9 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(number, _)| *number != at) {
            let times = row[at] / pivot[at];
            row.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= times * p);
        }
    }
    Some(rows.iter().enumerate().map(|(at, row)| row[n] / row[at]).collect())
}
