//! Rankings against judged documents, measured as the program `trec_eval` of the Text REtrieval Conferences does.
//!
//! Judgements ([`Qrels`]) and a [`TrecRun`] become one [`Ranking`] for each topic that both have; [`FAMILIES`] lists its measures.

mod measure;
mod ranking;

pub use measure::{Cutoffs, FAMILIES, Family, Measure, MeasureError, Total, official};
pub use ranking::Ranking;

use std::collections::BTreeMap;

/// What is known of documents: by topic, then by document, how relevant it is. Below 0 nobody has judged it, 0 is not relevant.
pub type Qrels = BTreeMap<String, BTreeMap<String, i64>>;

/// What a system found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrecRun {
    /// The name of the run.
    pub name: String,
    /// By topic the documents with their scores, in any order; none stands twice in a topic.
    pub topics: BTreeMap<String, Vec<(String, f64)>>,
}

/// The evaluation of a run against judgements.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Evaluation {
    pub run: String,
    pub topics: Vec<(String, Ranking)>,
    pub unjudged: Vec<String>,
    pub missing: Vec<String>,
}

impl Evaluation {
    /// Evaluates a run against judgements. Documents are ranked by score; among equal scores the greater name comes first.
    pub fn new(qrels: &Qrels, run: &TrecRun) -> Self {
        let mut evaluation = Self { run: run.name.clone(), ..Self::default() };
        for (topic, found) in &run.topics {
            match qrels.get(topic) {
                Some(judged) => evaluation.topics.push((topic.clone(), ranking(judged, found))),
                None => evaluation.unjudged.push(topic.clone()),
            }
        }
        evaluation.missing = qrels.keys().filter(|topic| !run.topics.contains_key(*topic)).cloned().collect();
        evaluation
    }

    /// A measure over all topics. With `complete`, a judged topic that is missing in the run counts 0; else it is left out.
    pub fn over_all(&self, measure: Measure, complete: bool) -> f64 {
        measure.over(self.topics.iter().map(|(_, ranking)| ranking), if complete { self.missing.len() } else { 0 })
    }
}

fn ranking(judged: &BTreeMap<String, i64>, found: &[(String, f64)]) -> Ranking {
    // Adding 0 makes the two zeros one.
    let mut order: Vec<(&String, f64)> = found.iter().map(|(document, score)| (document, score + 0.0)).collect();
    order.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| b.cmp(a)));
    Ranking::new(order.iter().map(|(document, _)| judged.get(*document).copied()), judged.values().copied())
}

#[cfg(test)]
mod tests;
