//! Rankings against judged documents, measured as the program `trec_eval` of the Text REtrieval Conferences does.
//!
//! Judgements ([`Qrels`]) and a [`Run`] become one [`Ranking`] for each topic that both have; [`FAMILIES`] lists what can be measured
//! of it.

mod measure;
mod ranking;

pub use measure::{Cutoffs, FAMILIES, Family, Measure, NotAMeasure, Total, official};
pub use ranking::Ranking;

use std::collections::BTreeMap;

/// What is known of documents: by topic, then by document, how relevant it is. Below 0 nobody has judged it, 0 is not relevant.
pub type Qrels = BTreeMap<String, BTreeMap<String, i64>>;

/// What a system found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The name of the run.
    pub name: String,
    /// By topic the documents with their scores, in any order; none stands twice in a topic.
    pub topics: BTreeMap<String, Vec<Scored>>,
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The document.
    pub document: String,
    /// More comes first.
    pub score: f64,
}

/// A run held against judgements.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The name of the run.
    pub run: String,
    /// The topics that both have, with their rankings.
    pub topics: Vec<(String, Ranking)>,
    /// Topics of the run that nobody judged.
    pub unjudged: Vec<String>,
    /// Judged topics for which the run has nothing.
    pub missing: Vec<String>,
}

impl Evaluation {
    /// Holds a run against judgements. Documents are ranked by score; among equal scores the greater name comes first.
    pub fn new(qrels: &Qrels, run: &Run) -> Self {
        let mut evaluation =
            Self { run: run.name.clone(), topics: Vec::new(), unjudged: Vec::new(), missing: Vec::new() };
        for (topic, found) in &run.topics {
            match qrels.get(topic) {
                Some(judged) => evaluation.topics.push((topic.clone(), ranking(judged, found))),
                None => evaluation.unjudged.push(topic.clone()),
            }
        }
        evaluation.missing = qrels.keys().filter(|topic| !run.topics.contains_key(*topic)).cloned().collect();
        evaluation
    }

    /// A measure over all topics. With `complete`, a judged topic that the run lacks counts 0; else it is left out.
    pub fn over_all(&self, measure: Measure, complete: bool) -> f64 {
        let missing = if complete { self.missing.len() } else { 0 };
        measure.over(self.topics.iter().map(|(_, ranking)| ranking), missing)
    }
}

fn ranking(judged: &BTreeMap<String, i64>, found: &[Scored]) -> Ranking {
    let mut order: Vec<&Scored> = found.iter().collect();
    // Adding 0 makes the two zeros one.
    let key = |scored: &Scored| scored.score + 0.0;
    order.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| b.document.cmp(&a.document)));
    let relevance = |scored: &&Scored| judged.get(&scored.document).copied();
    Ranking::new(order.iter().map(relevance), judged.values().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Topics of `topic: document=relevance…`.
    fn qrels(text: &str) -> Qrels {
        let topic = |line: &str| {
            let (topic, rest) = line.split_once(':').unwrap();
            let judged = rest.split_whitespace().map(|pair| pair.split_once('=').unwrap());
            (topic.to_owned(), judged.map(|(document, level)| (document.to_owned(), level.parse().unwrap())).collect())
        };
        text.split(';').map(str::trim).map(topic).collect()
    }

    fn run(text: &str) -> Run {
        let topic = |line: &str| {
            let (topic, rest) = line.split_once(':').unwrap();
            let found = rest.split_whitespace().map(|pair| pair.split_once('=').unwrap());
            let found = found.map(|(d, score)| Scored { document: d.to_owned(), score: score.parse().unwrap() });
            (topic.to_owned(), found.collect())
        };
        Run { name: "r".to_owned(), topics: text.split(';').map(str::trim).map(topic).collect() }
    }

    #[track_caller]
    fn check(evaluation: &Evaluation, measure: &str, complete: bool, expect: f64) {
        let measures = Measure::parse(measure).unwrap();
        let found = evaluation.over_all(measures[0], complete);
        assert!((found - expect).abs() < 1e-12, "{measure}: {found}, expected {expect}");
    }

    #[test]
    fn ties_are_broken_by_the_greater_name() {
        let judged = qrels("1: a=1 b=0 c=0");
        for (found, reciprocal) in [
            ("1: a=2 b=2 c=2", 1.0 / 3.0),
            ("1: c=2 b=2 a=2", 1.0 / 3.0),
            ("1: a=3 b=2 c=2", 1.0),
            ("1: a=0 b=-0 c=-1", 1.0 / 2.0),
        ] {
            check(&Evaluation::new(&judged, &run(found)), "recip_rank", false, reciprocal);
        }
    }

    #[test]
    fn topics_that_only_one_side_has_are_named() {
        let evaluation = Evaluation::new(&qrels("1: a=1; 2: a=1; 3: b=1"), &run("1: a=1; 9: a=1; 3: a=2 b=1"));
        assert_eq!((evaluation.unjudged.join(" "), evaluation.missing.join(" ")), ("9".to_owned(), "2".to_owned()));
        check(&evaluation, "num_q", false, 2.0);
        check(&evaluation, "num_q", true, 3.0);
        check(&evaluation, "map", false, 0.75);
        check(&evaluation, "map", true, 0.5);
        check(&evaluation, "num_rel", true, 2.0);
        check(&evaluation, "gm_map", false, 0.5_f64.sqrt());
        check(&evaluation, "gm_map", true, (0.5 * 1e-5_f64).cbrt());
    }
}
