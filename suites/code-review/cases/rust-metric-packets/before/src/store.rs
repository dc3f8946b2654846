use crate::Sample;
use std::collections::HashMap;

/// The latest value of each series.
#[derive(Default)]
pub struct Store {
    series: HashMap<String, f64>,
}

impl Store {
    pub fn add(&mut self, sample: Sample) {
        self.series.insert(sample.name, sample.value);
    }

    /// All series by their names, in alphabetical order.
    pub fn report(&self) -> Vec<(&str, f64)> {
        let mut rows: Vec<(&str, f64)> = self.series.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        rows.sort_by_key(|row| row.0);
        rows
    }
}
