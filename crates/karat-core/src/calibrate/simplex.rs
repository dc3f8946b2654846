//! Gradient descent on the probability simplex.

pub(in crate::calibrate) struct Slope<const N: usize> {
    pub(in crate::calibrate) loss: f64,
    pub(in crate::calibrate) gradient: [f64; N],
}

/// Strictly convex losses of few weights need a few dozen steps; more means that hardly anything changes.
const MOST_STEPS: usize = 500;

/// A loss that falls by less than this share of itself is at its end.
const LEAST_GAIN: f64 = 1e-10;

/// Goes downhill from `start` until no step within the simplex lowers the loss; weights that are not `free` stay 0.
pub(in crate::calibrate) fn descend<const N: usize>(
    start: [f64; N],
    free: [bool; N],
    mut slope: impl FnMut(&[f64; N]) -> Slope<N>,
) -> ([f64; N], f64) {
    let mut at = project(start, free);
    let mut here = slope(&at);
    let mut step = 1.0;
    for _ in 0..MOST_STEPS {
        let Some((next, there, length)) = shorter(&at, &here, free, step, &mut slope) else { break };
        let gain = here.loss - there.loss;
        step = suited(&at, &here, &next, &there).unwrap_or(length * 2.0);
        (at, here) = (next, there);
        if gain <= LEAST_GAIN * here.loss.abs() {
            break;
        }
    }
    (at, here.loss)
}

/// The step that suits how the slope changed on the way (Barzilai and Borwein 1988), which needs far fewer steps than one
/// that is found by halves; none where the slope did not rise.
fn suited<const N: usize>(from: &[f64; N], here: &Slope<N>, to: &[f64; N], there: &Slope<N>) -> Option<f64> {
    let (mut moved, mut rise) = (0.0, 0.0);
    for index in 0..N {
        let way = to[index] - from[index];
        moved += way * way;
        rise += way * (there.gradient[index] - here.gradient[index]);
    }
    (rise > 0.0).then(|| moved / rise).filter(|step| step.is_finite())
}

/// The longest step, from `step` down by halves, that lowers the loss as its slope promises; none where none does.
fn shorter<const N: usize>(
    at: &[f64; N],
    here: &Slope<N>,
    free: [bool; N],
    mut step: f64,
    slope: &mut impl FnMut(&[f64; N]) -> Slope<N>,
) -> Option<([f64; N], Slope<N>, f64)> {
    for _ in 0..60 {
        let mut wanted = *at;
        for (weight, slope) in wanted.iter_mut().zip(&here.gradient) {
            *weight -= step * slope;
        }
        let next = project(wanted, free);
        if next.iter().zip(at).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() < 1e-20 {
            return None;
        }
        let there = slope(&next);
        let promised: f64 = here.gradient.iter().zip(next.iter().zip(at)).map(|(g, (a, b))| g * (a - b)).sum();
        if there.loss <= here.loss + 1e-4 * promised.min(0.0) {
            return Some((next, there, step));
        }
        step /= 2.0;
    }
    None
}

/// The nearest point of the simplex over the free weights.
pub(in crate::calibrate) fn project<const N: usize>(point: [f64; N], free: [bool; N]) -> [f64; N] {
    let mut sorted: Vec<f64> = point.iter().zip(free).filter(|(_, free)| *free).map(|(value, _)| *value).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut above) = (0.0, 0.0);
    for (count, value) in (1..).map(f64::from).zip(&sorted) {
        sum += value;
        let level = (sum - 1.0) / count;
        if *value > level {
            above = level;
        }
    }
    let mut projected = [0.0; N];
    for (to, (value, free)) in projected.iter_mut().zip(point.iter().zip(free)) {
        *to = if free { (value - above).max(0.0) } else { 0.0 };
    }
    projected
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
    fn projections_by_hand() {
        let all = [true; 3];
        assert_eq!(project([0.2, 0.3, 0.5], all), [0.2, 0.3, 0.5]);
        assert_eq!(project([2.0, 0.0, 0.0], all), [1.0, 0.0, 0.0]);
        assert_eq!(project([0.5, 0.5, -1.0], all), [0.5, 0.5, 0.0]);
        assert_eq!(project([1.0, 9.0, 1.0], [true, false, true]), [0.5, 0.0, 0.5]);
        assert_eq!(scaled([1.0, 0.0, 3.0], all), [0.25, 0.0, 0.75]);
        assert_eq!(scaled([0.0, 1.0, 0.0], [true, false, true]), [0.5, 0.0, 0.5]);
        assert_eq!(readable([1.0 / 3.0; 3]), [0.3334, 0.3333, 0.3333]);
    }

    proptest! {
        /// The nearest point of the simplex to a target is where a plain distance is least, and where projection goes at once.
        #[test]
        fn the_way_down_ends_at_the_bottom(target in prop::array::uniform4(-1.0..2.0_f64)) {
            let distance = |at: &[f64; 4]| {
                let gradient = std::array::from_fn(|i| 2.0 * (at[i] - target[i]));
                Slope { loss: at.iter().zip(&target).map(|(a, t)| (a - t) * (a - t)).sum(), gradient }
            };
            let (found, _) = descend([0.25; 4], [true; 4], distance);
            let expect = project(target, [true; 4]);
            prop_assert!((expect.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (found, expect) in found.iter().zip(&expect) {
                prop_assert!(*found >= 0.0 && (found - expect).abs() < 1e-5, "{found} {expect}");
            }
            prop_assert!((readable(found).iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}
