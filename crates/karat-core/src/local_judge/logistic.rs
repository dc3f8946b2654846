//! Logistic regression with a ridge, by Newton's steps, summed in the order of the rows.

use super::arithmetic::probability;

/// Finds `base` and weights that make the outcomes likeliest, weights held back by `ridge`.
///
/// Rows may be of any length, the same for all. Where the outcomes are all alike the weights are 0 for want of contrast.
pub(super) fn fit(rows: &[Vec<f64>], outcomes: &[bool], ridge: f64) -> (f64, Vec<f64>) {
    let width = rows.first().map_or(0, Vec::len);
    let mut solution = vec![0.0; width + 1];
    let hits = outcomes.iter().filter(|hit| **hit).count();
    if hits == 0 || hits == outcomes.len() {
        return (0.0, vec![0.0; width]);
    }
    for _ in 0..MOST_STEPS {
        let (gradient, curvature) = slopes(rows, outcomes, &solution, ridge);
        let step = solve(curvature, gradient);
        for (value, step) in solution.iter_mut().zip(&step) {
            *value += step.clamp(-LONGEST_STEP, LONGEST_STEP);
        }
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    let weights = solution.split_off(1);
    (solution[0], weights)
}

/// Newton's method needs about eight; more means that the outcomes are separable.
const MOST_STEPS: usize = 60;

/// Longer steps overshoot where the outcomes are nearly separable.
const LONGEST_STEP: f64 = 4.0;

/// The gradient of the likelihood and its negative curvature; the base stands first.
fn slopes(rows: &[Vec<f64>], outcomes: &[bool], solution: &[f64], ridge: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = solution.len();
    let mut gradient = vec![0.0; size];
    let mut curvature = vec![vec![0.0; size]; size];
    let mut full = vec![1.0; size];
    for (row, &hit) in rows.iter().zip(outcomes) {
        full[1..].copy_from_slice(row);
        let log_odds: f64 = full.iter().zip(solution).map(|(x, w)| x * w).sum();
        let p = probability(log_odds);
        let weight = (p * (1.0 - p)).max(1e-9);
        let error = f64::from(hit) - p;
        for i in 0..size {
            gradient[i] += error * full[i];
            for (sum, value) in curvature[i].iter_mut().zip(&full) {
                *sum += weight * full[i] * value;
            }
        }
    }
    for i in 1..size {
        gradient[i] -= ridge * solution[i];
        curvature[i][i] += ridge;
    }
    (gradient, curvature)
}

/// Solves a system of equations by elimination with the largest pivot first.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for column in 0..size {
        let pivot = (column..size)
            .fold(column, |best, row| if matrix[row][column].abs() > matrix[best][column].abs() { row } else { best });
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let divisor = matrix[column][column];
        if divisor.abs() < 1e-12 {
            continue;
        }
        let (above, below) = matrix.split_at_mut(column + 1);
        for (offset, row) in below.iter_mut().enumerate() {
            let factor = row[column] / divisor;
            for (value, pivot) in row.iter_mut().zip(&above[column]) {
                *value -= factor * pivot;
            }
            right[column + 1 + offset] -= factor * right[column];
        }
    }
    let mut solution = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|k| matrix[row][k] * solution[k]).sum();
        let divisor = matrix[row][row];
        solution[row] = if divisor.abs() < 1e-12 { 0.0 } else { (right[row] - known) / divisor };
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One feature that is 0 or 1 has a solution by hand: without a ridge, the log-odds of the shares.
    #[test]
    fn shares_become_log_odds() {
        let mut rows = Vec::new();
        let mut outcomes = Vec::new();
        for (value, hits, misses) in [(0.0, 20, 80), (1.0, 75, 25)] {
            rows.extend((0..100).map(|_| vec![value]));
            outcomes.extend((0..hits).map(|_| true).chain((0..misses).map(|_| false)));
        }
        let (base, weights) = fit(&rows, &outcomes, 0.0);
        assert!((base - 0.25_f64.ln()).abs() < 1e-9, "{base}");
        assert!((weights[0] - (3.0_f64.ln() - 0.25_f64.ln())).abs() < 1e-9, "{weights:?}");
        let (_, held_back) = fit(&rows, &outcomes, 20.0);
        assert!(held_back[0] > 0.0 && held_back[0] < weights[0]);
    }

    #[test]
    fn outcomes_that_are_alike_or_told_apart_at_once_stay_finite() {
        let rows = vec![vec![0.0, 1.0], vec![1.0, 1.0]];
        assert_eq!(fit(&rows, &[true, true], 1.0), (0.0, vec![0.0, 0.0]));
        assert_eq!(fit(&[], &[], 1.0), (0.0, Vec::new()));
        let (base, weights) = fit(&rows, &[false, true], 0.0);
        assert!(base.is_finite() && weights.iter().all(|weight| weight.is_finite()));
    }
}
