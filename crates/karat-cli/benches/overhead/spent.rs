//! Processor time and time.

use std::time::Instant;

/// What something took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// Seconds of all processors together, of this process and of everything it waited for.
    pub(crate) cpu: f64,
    /// Seconds on the clock.
    pub(crate) wall: f64,
}

impl Spent {
    /// What some work took, and what came of it.
    pub(crate) fn on<T>(work: impl FnOnce() -> T) -> (Self, T) {
        let (cpu, begun) = (cpu_seconds(), Instant::now());
        let result = work();
        (Self { cpu: cpu_seconds() - cpu, wall: begun.elapsed().as_secs_f64() }, result)
    }

    /// The least of several times: on a busy machine others only ever add to it.
    pub(crate) fn least_of(times: usize, mut work: impl FnMut() -> Self) -> Self {
        let all: Vec<Self> = (0..times).map(|_| work()).collect();
        let least = |of: fn(&Self) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
        Self { cpu: least(|spent| spent.cpu), wall: least(|spent| spent.wall) }
    }

    /// Milliseconds of processor time for one of so many.
    pub(crate) fn cpu_ms_each(self, count: usize) -> f64 {
        self.cpu * 1000.0 / count as f64
    }
}

/// Processor time so far, in steps of a hundredth of a second; not a number where Linux does not state it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program comes before the last bracket and may hold anything. 12th to 15th after it come user and system
    // time of this process and of the children it has waited for, which have counted their own children in.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(11).take(4);
    let ticks: Option<Vec<f64>> = fields.map(|field| field.parse().ok()).collect();
    ticks.filter(|ticks| ticks.len() == 4).map_or(f64::NAN, |ticks| ticks.iter().sum::<f64>() / 100.0)
}
