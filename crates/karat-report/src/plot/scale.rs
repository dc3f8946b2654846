//! Scales from values to coordinates, and axis ticks.

#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    values: (f64, f64),
    places: (f64, f64),
    log: bool,
}

impl Scale {
    pub(super) fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        Self { values, places, log: false }
    }

    /// Logarithmic; both ends must be positive.
    pub(super) fn log(values: (f64, f64), places: (f64, f64)) -> Self {
        Self { values, places, log: true }
    }

    /// The coordinate of a value, clamped to the scale.
    pub(super) fn at(&self, value: f64) -> f64 {
        let turn = |v: f64| if self.log { v.max(f64::MIN_POSITIVE).ln() } else { v };
        let (from, to) = (turn(self.values.0), turn(self.values.1));
        let share = ((turn(value) - from) / (to - from)).clamp(0.0, 1.0);
        let share = if share.is_finite() { share } else { 0.5 };
        self.places.0 + share * (self.places.1 - self.places.0)
    }
}

/// The ends of an axis: 0 and 1 if all values lie between them, else round numbers around them.
pub(crate) fn domain(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let ends = values.into_iter().filter(|v| v.is_finite()).map(|v| (v, v));
    let Some((low, high)) = ends.reduce(|(low, high), (a, b)| (low.min(a), high.max(b))) else { return (0.0, 1.0) };
    if low >= 0.0 && high <= 1.0 {
        return (0.0, 1.0);
    }
    let (low, high) =
        if low < high { (low, high) } else { (low - low.abs().max(1.0) / 2.0, low + low.abs().max(1.0) / 2.0) };
    let step = step(low, high, 5);
    ((low / step).floor() * step, (high / step).ceil() * step)
}

/// About `about` round numbers between the ends.
pub(super) fn ticks((low, high): (f64, f64), about: usize) -> Vec<(f64, String)> {
    let step = step(low, high, about);
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    let first = (low / step - 1e-9).ceil();
    let all = (0..=about * 3).map(|n| (first + n as f64) * step).take_while(|v| *v <= high + step * 1e-9);
    all.map(|v| (v, format!("{:.digits$}", if v.abs() < step * 1e-9 { 0.0 } else { v }).replacen('-', "−", 1)))
        .collect()
}

fn step(low: f64, high: f64, about: usize) -> f64 {
    let rough = ((high - low) / about as f64).clamp(1e-9, 1e12);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

/// The ends of a logarithmic axis around positive values, with some room.
pub(super) fn factors(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let ends = values.into_iter().map(|v| (v, v)).reduce(|(low, high), (a, b)| (low.min(a), high.max(b)));
    let (low, high) = ends.unwrap_or((0.1, 1.0));
    (low / 2.0, high * 2.0)
}

/// Powers of ten, with 2 and 5 in between if there is room.
pub(super) fn log_ticks((low, high): (f64, f64)) -> Vec<(f64, String)> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let span = high.log10() - low.log10();
    let factors: &[f64] = if span <= 2.2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (span / 8.0).ceil().max(1.0) as i32;
    let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
    let all = powers.flat_map(|power| factors.iter().map(move |factor| (factor * 10f64.powi(power), power)));
    let label = |v: f64, power: i32| match power {
        -4..6 => format!("{v:.*}", (-power).max(0) as usize),
        _ => format!("{v:.0e}"),
    };
    all.filter(|(v, _)| (low..=high).contains(v)).map(|(v, power)| (v, label(v, power))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick_labels(values: (f64, f64)) -> String {
        let labels: Vec<String> = ticks(values, 5).into_iter().map(|(_, label)| label).collect();
        labels.join(" ")
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(tick_labels((0.0, 1.0)), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(tick_labels((-1.0, 1.0)), "−1.0 −0.5 0.0 0.5 1.0");
        assert_eq!(tick_labels((0.0, 4000.0)), "0 1000 2000 3000 4000");
        let log_labels = |ends| log_ticks(ends).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ");
        assert_eq!(log_labels((0.0011, 0.09)), "0.002 0.005 0.01 0.02 0.05");
        assert_eq!(log_labels((0.00005, 4.2)), "0.0001 0.001 0.01 0.1 1");
        assert_eq!(log_labels((3.0, 12.0)), "5 10");
    }

    #[test]
    fn axis_has_two_ends_for_any_values() {
        assert_eq!(domain([]), (0.0, 1.0));
        assert_eq!(domain([0.3, 0.3]), (0.0, 1.0));
        assert_eq!(domain([7.0]), (2.0, 12.0));
        assert_eq!(domain([-0.2, 0.9]), (-0.5, 1.0));
        assert_eq!(factors([0.01]), (0.005, 0.02));
    }

    #[test]
    fn positions_are_between_the_ends() {
        for scale in [Scale::linear((0.0, 1.0), (10.0, 20.0)), Scale::log((0.01, 1.0), (10.0, 20.0))] {
            for value in [f64::NAN, f64::INFINITY, -5.0, 0.0, 0.5, 9e300] {
                assert!((10.0..=20.0).contains(&scale.at(value)), "{scale:?} {value}");
            }
        }
        assert_eq!(Scale::linear((2.0, 2.0), (0.0, 10.0)).at(2.0), 5.0);
    }
}
