//! Rankings and judgements in the text formats of the Text REtrieval Conferences, with results in the layout of `trec_eval`, so that
//! the two can be compared line by line, and as JSON.

mod read;

pub use read::{ReadRun, read_qrels, read_run};

use karat_core::trec::{Evaluation, Measure};
use karat_format::diagnostic::harmless;
use serde::Serialize;
use std::collections::BTreeMap;

const ALL: &str = "all";

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Evaluated {
    pub run: String,
    pub topics: usize,
    /// Topics of the run without judgements, which are left out.
    pub unjudged_topics: Vec<String>,
    /// Judged topics that are missing in the run: left out, or counted as 0 if `complete`.
    pub missing_topics: Vec<String>,
    /// Whether those count as 0.
    pub complete: bool,
    pub all: Values,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_topic: Option<BTreeMap<String, Values>>,
    /// The names of the measures, in the order in which they are shown, and which of them are counts.
    #[serde(skip)]
    columns: Vec<(String, bool)>,
}

/// Values by the names of their measures.
pub type Values = BTreeMap<String, f64>;

impl Evaluated {
    /// The values of the measures, by topic with `per_query`.
    pub fn new(evaluation: &Evaluation, measures: &[Measure], per_query: bool, complete: bool) -> Self {
        let over_all = |measure: &Measure| (measure.name(), evaluation.over_all(*measure, complete));
        let topic = |(topic, ranking): &(String, _)| {
            let values = measures.iter().filter_map(|measure| Some((measure.name(), measure.value_for(ranking)?)));
            (topic.clone(), values.collect())
        };
        Self {
            run: evaluation.run.clone(),
            topics: evaluation.topics.len(),
            unjudged_topics: evaluation.unjudged.clone(),
            missing_topics: evaluation.missing.clone(),
            complete,
            all: measures.iter().map(over_all).collect(),
            by_topic: per_query.then(|| evaluation.topics.iter().map(topic).collect()),
            columns: measures.iter().map(|measure| (measure.name(), measure.family.is_count())).collect(),
        }
    }
}

/// Renders one line per value: topics first, then all together. With `run_name`, the run's name comes before the latter.
pub fn draw(evaluated: &Evaluated, run_name: bool) -> String {
    let mut lines = String::new();
    for (topic, values) in evaluated.by_topic.iter().flatten() {
        draw_values(&mut lines, &harmless(topic), values, &evaluated.columns);
    }
    if run_name {
        lines.push_str(&line("runid", ALL, &harmless(&evaluated.run)));
    }
    draw_values(&mut lines, ALL, &evaluated.all, &evaluated.columns);
    lines
}

fn draw_values(lines: &mut String, topic: &str, values: &Values, columns: &[(String, bool)]) {
    for (name, is_count) in columns {
        if let Some(value) = values.get(name) {
            let value = if *is_count { format!("{value:.0}") } else { format!("{value:.4}") };
            lines.push_str(&line(name, topic, &value));
        }
    }
}

fn line(name: &str, topic: &str, value: &str) -> String {
    format!("{name:<22}\t{topic}\t{value}\n")
}
