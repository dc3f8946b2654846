use crate::Sample;
use std::collections::{HashMap, VecDeque};

/// How many values of a series are looked at.
const WINDOW: usize = 120;

/// The latest values of a series.
#[derive(Default)]
pub struct Window {
    values: VecDeque<f64>,
}

impl Window {
    fn add(&mut self, value: f64) {
        if self.values.len() == WINDOW {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    /// The value in the middle, or the lower one of two.
    pub fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.values.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len().saturating_sub(1) / 2).copied()
    }
}

/// The latest values of each series.
#[derive(Default)]
pub struct Store {
    series: HashMap<&'static str, Window>,
}

impl Store {
    pub fn add(&mut self, samples: &[Sample]) {
        for sample in samples {
            self.series.entry(sample.name).or_default().add(sample.value);
        }
    }

    /// The median of each series by its name, in alphabetical order.
    pub fn report(&self) -> Vec<(&'static str, f64)> {
        let mut rows: Vec<(&'static str, f64)> =
            self.series.iter().filter_map(|(name, window)| Some((*name, window.median()?))).collect();
        rows.sort_by_key(|row| row.0);
        rows
    }
}
