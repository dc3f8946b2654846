//! Newton's method on the probability simplex.

use crate::stats::logistic::solve;

/// A loss, and its parabola there.
pub(in crate::calibrate) struct Slope<const N: usize> {
    pub(in crate::calibrate) loss: f64,
    pub(in crate::calibrate) gradient: [f64; N],
    /// Positive definite over the free weights.
    pub(in crate::calibrate) curvature: [[f64; N]; N],
}

/// Newton's method needs about eight; more means that hardly anything changes.
const MOST_STEPS: usize = 100;

/// A loss that would fall by less than this share of itself is at its end.
const LEAST_GAIN: f64 = 1e-10;

/// Goes downhill from `start` until no step within the simplex lowers the loss; weights that are not `free` stay 0.
///
/// Each step goes to the lowest point of the parabola within the simplex, or part of the way where the loss does not fall as promised.
pub(in crate::calibrate) fn descend<const N: usize>(
    start: [f64; N],
    free: [bool; N],
    mut slope: impl FnMut(&[f64; N]) -> Slope<N>,
) -> ([f64; N], f64) {
    let mut at = start;
    let mut here = slope(&at);
    for _ in 0..MOST_STEPS {
        let way = difference(&lowest(&at, &here, free), &at);
        let promised = -dot(&here.gradient, &way);
        if promised <= LEAST_GAIN * here.loss.abs() {
            break;
        }
        let mut shares = std::iter::successors(Some(1.0), |share| Some(share / 2.0)).take(40);
        let part = |share: f64| {
            let next: [f64; N] = std::array::from_fn(|index| at[index] + share * way[index]);
            let there = slope(&next);
            (there.loss <= here.loss - 1e-4 * share * promised).then_some((next, there))
        };
        let Some((next, there)) = shares.find_map(part) else { break };
        (at, here) = (next, there);
    }
    (at, here.loss)
}

/// The lowest point of the parabola within the simplex over the free weights.
///
/// It is the lowest one of all points that have the same positive weights and whatever signs. There are so few weights that
/// all choices of positive ones are tried.
fn lowest<const N: usize>(at: &[f64; N], here: &Slope<N>, free: [bool; N]) -> [f64; N] {
    let mut best = (f64::INFINITY, *at);
    for choice in 1_u32..1 << N {
        let positive: Vec<usize> = (0..N).filter(|index| choice >> index & 1 == 1).collect();
        if !positive.iter().all(|index| free[*index]) {
            continue;
        }
        let Some(point) = lowest_of(at, here, &positive) else { continue };
        let way = difference(&point, at);
        let bend: f64 = here.curvature.iter().zip(&way).map(|(row, along)| along * dot(row, &way)).sum();
        let height = dot(&here.gradient, &way) + 0.5 * bend;
        if height < best.0 {
            best = (height, point);
        }
    }
    best.1
}

/// The lowest point whose other weights are 0 and that sums to 1; none where a weight is negative there.
fn lowest_of<const N: usize>(at: &[f64; N], here: &Slope<N>, positive: &[usize]) -> Option<[f64; N]> {
    let size = positive.len();
    let mut matrix = vec![vec![1.0; size + 1]; size + 1];
    let mut right = vec![1.0; size + 1];
    for (row, &index) in positive.iter().enumerate() {
        for (column, &other) in positive.iter().enumerate() {
            matrix[row][column] = here.curvature[index][other];
        }
        right[row] = dot(&here.curvature[index], at) - here.gradient[index];
    }
    matrix[size][size] = 0.0;
    let found = solve(matrix, right);
    let mut point = [0.0; N];
    for (&index, weight) in positive.iter().zip(found) {
        if weight < 0.0 || !weight.is_finite() {
            return None;
        }
        point[index] = weight;
    }
    // What cannot be solved sums to something else.
    ((point.iter().sum::<f64>() - 1.0).abs() < 1e-6).then_some(point)
}

fn difference<const N: usize>(to: &[f64; N], from: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|index| to[index] - from[index])
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Scaled to a sum of 1; alike where all are 0.
pub(in crate::calibrate) fn scaled<const N: usize>(weights: [f64; N], free: [bool; N]) -> [f64; N] {
    let sum: f64 = (0..N).map(|index| if free[index] { weights[index] } else { 0.0 }).sum();
    let count = free.iter().filter(|free| **free).count().max(1) as f64;
    std::array::from_fn(|index| match free[index] {
        false => 0.0,
        true if sum > 0.0 => weights[index] / sum,
        true => 1.0 / count,
    })
}

/// Weights in ten-thousandths that still sum to 1: what is over goes to the largest, which feels it least.
pub(in crate::calibrate) fn readable<const N: usize>(weights: [f64; N]) -> [f64; N] {
    const PARTS: f64 = 10_000.0;
    let mut whole = weights.map(|weight| (weight * PARTS).round());
    let over: f64 = PARTS - whole.iter().sum::<f64>();
    let largest = (0..N).fold(0, |best, index| if whole[index] > whole[best] { index } else { best });
    if let Some(weight) = whole.get_mut(largest) {
        *weight += over;
    }
    whole.map(|weight| weight / PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weights_are_scaled_and_rounded_to_a_sum_of_one() {
        assert_eq!(scaled([1.0, 0.0, 3.0], [true; 3]), [0.25, 0.0, 0.75]);
        assert_eq!(scaled([0.0, 1.0, 0.0], [true, false, true]), [0.5, 0.0, 0.5]);
        assert_eq!(readable([1.0 / 3.0; 3]), [0.3334, 0.3333, 0.3333]);
    }

    fn bowl(scales: [f64; 3], target: [f64; 3]) -> impl Fn(&[f64; 3]) -> Slope<3> {
        move |at| {
            let way = difference(at, &target);
            let mut curvature = [[0.0; 3]; 3];
            (0..3).for_each(|index| curvature[index][index] = 2.0 * scales[index]);
            Slope {
                loss: (0..3).map(|index| scales[index] * way[index] * way[index]).sum(),
                gradient: std::array::from_fn(|index| 2.0 * scales[index] * way[index]),
                curvature,
            }
        }
    }

    /// Points nearest to a target, by hand, and by `scipy.optimize.minimize(method="SLSQP")` of SciPy 1.17.1.
    #[test]
    fn the_lowest_points_of_bowls() {
        let check = |scales: [f64; 3], target: [f64; 3], free: [bool; 3], expect: [f64; 3]| {
            let found = descend(scaled([0.0; 3], free), free, bowl(scales, target)).0;
            let far = difference(&found, &expect).into_iter().any(|way| way.abs() > 1e-6);
            assert!(!far, "{target:?}: {found:?} {expect:?}");
        };
        let (even, all) = ([1.0; 3], [true; 3]);
        check(even, [0.2, 0.3, 0.5], all, [0.2, 0.3, 0.5]);
        check(even, [2.0, 0.0, 0.0], all, [1.0, 0.0, 0.0]);
        check(even, [0.5, 0.5, -1.0], all, [0.5, 0.5, 0.0]);
        check(even, [1.0, 9.0, 1.0], [true, false, true], [0.5, 0.0, 0.5]);
        check([1.0, 10.0, 100.0], [0.9, 0.4, 0.3], all, [0.359459459, 0.345945946, 0.294594595]);
        check([1.0, 10.0, 100.0], [-0.9, 0.8, 0.6], all, [0.0, 0.436363636, 0.563636364]);
    }

    proptest! {
        /// From wherever one starts, no step to a corner leads further down.
        #[test]
        fn the_way_down_ends_at_the_bottom(
            start in prop::array::uniform3(0.01..1.0_f64),
            scales in prop::array::uniform3(0.1..50.0_f64),
            target in prop::array::uniform3(-1.0..2.0_f64),
        ) {
            let slope = bowl(scales, target);
            let (found, loss) = descend(scaled(start, [true; 3]), [true; 3], &slope);
            prop_assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9 && found.iter().all(|own| *own >= 0.0));
            let here = slope(&found);
            for corner in 0..3 {
                let to = std::array::from_fn(|index| f64::from(u8::from(index == corner)));
                prop_assert!(dot(&here.gradient, &difference(&to, &found)) > -1e-6 * (1.0 + loss), "{found:?}");
            }
            prop_assert!((readable(found).iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}
