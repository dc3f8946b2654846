//! The local judge: a small model that decides whether a finding reports a golden, with no network and no chance in it.
//!
//! A pair is scored in three steps. Its texts are compared by twenty [features](features::FEATURES) whose weights are
//! fitted on labelled pairs; what lies beside the texts, such as places, adds log-odds that are set by reason; and a pair
//! that lies behind a better golden for its finding, or a better finding for its golden, loses some of them. The same
//! values in give the same bits out, on every machine.

mod agreement;
mod arithmetic;
mod concepts;
pub mod evaluate;
pub mod features;
pub mod fit;
pub mod labels;
mod logistic;
pub mod params;
mod rarity;
mod reading;
pub mod rotation;
mod words;

use crate::finding::Finding;
use crate::golden::Golden;
pub use agreement::Reasoned;
use arithmetic::{ln, probability};
use concepts::Concepts;
use features::{COUNT, FEATURES, features};
use params::Params;
pub use rarity::Rarity;
use rarity::Weights;
use reading::{Reading, weigh_here};

/// The name by which the judge signs.
pub const NAME: &str = "local";

/// How far behind a rival counts, in log-odds.
const FURTHEST_BEHIND: f64 = 4.0;

/// So many reasons for and so many against are given.
const MOST_REASONS: usize = 3;

/// What the judge says of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairOpinion {
    /// Index of the golden in its case.
    pub golden: usize,
    /// Index of the finding in its trial.
    pub finding: usize,
    /// How likely a match is, from 0 to 1.
    pub probability: f64,
    /// Whether that is enough.
    pub matched: bool,
    /// The strongest reasons for a match, the strongest first, then the strongest against.
    pub reasons: Vec<Reason>,
}

impl PairOpinion {
    /// The reasons in one line, for a judgement's explanation.
    pub fn explanation(&self) -> String {
        let side = |word: &str, wanted: fn(&Reason) -> bool| {
            let said: Vec<String> =
                self.reasons.iter().filter(|r| wanted(r)).map(|r| format!("{} {:+.1}", r.name, r.log_odds)).collect();
            if said.is_empty() { format!("nothing {word}") } else { format!("{word}: {}", said.join(", ")) }
        };
        format!("{}; {}", side("for", |r| r.log_odds > 0.0), side("against", |r| r.log_odds < 0.0))
    }
}

/// One thing that speaks for or against a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// A feature, a weight set by reason, or a rival.
    pub name: &'static str,
    /// How strongly, against a pair that is average in it.
    pub log_odds: f64,
}

/// The judge, ready to decide.
pub struct LocalJudge {
    params: Params,
    /// Weights over spread and means, in the order of the features.
    scale: [(f64, f64); COUNT],
    words: Weights,
    concepts: Concepts,
}

impl LocalJudge {
    /// A judge with these parameters, or everything that is wrong with them.
    pub fn new(params: Params) -> Result<Self, Vec<String>> {
        let faults = params.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut scale = [(0.0, 0.0); COUNT];
        for (own, feature) in scale.iter_mut().zip(&FEATURES) {
            if let Some(weight) = params.text.weights.get(feature.name) {
                *own = (weight.weight / weight.spread, weight.mean);
            }
        }
        let words = params.rarity.weights();
        Ok(Self { params, scale, words, concepts: Concepts::new() })
    }

    /// The parameters it decides by.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// What it says of the wanted pairs, given by golden and finding. Pairs that are not wanted are rivals all the same, so
    /// that an opinion does not depend on what else is asked; a pair that is not there gets none.
    pub fn judge(&self, goldens: &[Golden], findings: &[Finding], wanted: &[(usize, usize)]) -> Vec<PairOpinion> {
        let texts = self.read(goldens, findings);
        let table = Table::new(self, goldens, findings, &texts);
        wanted.iter().filter_map(|&(golden, finding)| table.opinion(golden, finding)).collect()
    }

    /// How likely each pair matches, all findings of the first golden first.
    pub fn probabilities(&self, goldens: &[Golden], findings: &[Finding]) -> Vec<f64> {
        let texts = self.read(goldens, findings);
        Table::new(self, goldens, findings, &texts).probabilities()
    }

    /// The texts of a case's goldens and a trial's findings, weighed against each other.
    fn read(&self, goldens: &[Golden], findings: &[Finding]) -> Texts {
        let read = |text: &str| Reading::of(text, &self.words, &self.concepts);
        let said: Vec<String> = findings.iter().map(finding_text).collect();
        let mut texts = Texts {
            goldens: goldens.iter().map(|golden| read(&golden_text(golden))).collect(),
            findings: said.iter().map(|text| read(text)).collect(),
            lowered: said.iter().map(|text| words::bounded(text).to_lowercase()).collect(),
        };
        let mut all: Vec<&mut Reading> = texts.goldens.iter_mut().chain(&mut texts.findings).collect();
        weigh_here(&mut all, |uses, all| ln((all as f64 + 1.0) / (uses as f64 + 0.5)));
        texts
    }
}

/// The texts of a case and a trial, read.
struct Texts {
    goldens: Vec<Reading>,
    findings: Vec<Reading>,
    /// The findings' texts in lowercase.
    lowered: Vec<String>,
}

/// What a golden says.
fn golden_text(golden: &Golden) -> String {
    joined([golden.title.as_deref(), golden.description.as_deref()])
}

/// What a finding says; the rule alone where there is nothing else.
fn finding_text(finding: &Finding) -> String {
    let text = joined([finding.title.as_deref(), finding.message.as_deref()]);
    if text.is_empty() { finding.rule_id.clone().unwrap_or_default() } else { text }
}

fn joined(parts: [Option<&str>; 2]) -> String {
    match parts {
        [Some(title), Some(text)] if !text.contains(title) => format!("{title}. {text}"),
        [_, Some(text)] => text.to_owned(),
        [title, None] => title.unwrap_or_default().to_owned(),
    }
}

/// A case's goldens held against a trial's findings.
struct Table<'a> {
    judge: &'a LocalJudge,
    goldens: &'a [Golden],
    findings: &'a [Finding],
    texts: &'a Texts,
    /// All findings of the first golden first.
    scores: Vec<f64>,
    best_of_golden: Vec<f64>,
    best_of_finding: Vec<f64>,
}

impl<'a> Table<'a> {
    fn new(judge: &'a LocalJudge, goldens: &'a [Golden], findings: &'a [Finding], texts: &'a Texts) -> Self {
        let mut table = Self {
            judge,
            goldens,
            findings,
            texts,
            scores: Vec::with_capacity(goldens.len() * findings.len()),
            best_of_golden: vec![f64::NEG_INFINITY; goldens.len()],
            best_of_finding: vec![f64::NEG_INFINITY; findings.len()],
        };
        for g in 0..goldens.len() {
            for f in 0..findings.len() {
                let score = table.score(g, f);
                table.scores.push(score);
                table.best_of_golden[g] = table.best_of_golden[g].max(score);
                table.best_of_finding[f] = table.best_of_finding[f].max(score);
            }
        }
        table
    }

    /// How likely each pair matches, all findings of the first golden first.
    fn probabilities(&self) -> Vec<f64> {
        let pairs = (0..self.goldens.len()).flat_map(|g| (0..self.findings.len()).map(move |f| (g, f)));
        pairs.map(|(g, f)| probability(self.log_odds(g, f))).collect()
    }

    /// The log-odds of a pair by itself.
    fn score(&self, g: usize, f: usize) -> f64 {
        let values = features(&self.texts.goldens[g], &self.texts.findings[f]);
        let text: f64 =
            values.iter().zip(&self.judge.scale).map(|(value, (weight, mean))| weight * (value - mean)).sum();
        let text = self.judge.params.text.base + text;
        let beside: f64 = self.beside(g, f, text).iter().map(|(_, log_odds)| log_odds).sum();
        text + beside
    }

    /// What lies beside the texts, which amount to `text`.
    fn beside(&self, g: usize, f: usize, text: f64) -> Vec<(&'static str, f64)> {
        let (golden, finding, reasoned) = (&self.goldens[g], &self.findings[f], &self.judge.params.reasoned);
        let mut beside = reasoned.of(golden, finding, &self.texts.lowered[f]);
        beside.extend(reasoned.terse(golden, finding, &self.texts.lowered[f], text));
        beside
    }

    /// How far a pair lies behind the best golden for its finding, and behind the best finding for its golden.
    fn behind(&self, g: usize, f: usize) -> (f64, f64) {
        let score = self.scores[g * self.findings.len() + f];
        let behind = |best: f64| (score - best).max(-FURTHEST_BEHIND);
        (behind(self.best_of_finding[f]), behind(self.best_of_golden[g]))
    }

    /// The log-odds of a pair among its rivals.
    fn log_odds(&self, g: usize, f: usize) -> f64 {
        let rivals = &self.judge.params.rivals;
        let (golden, finding) = self.behind(g, f);
        let score = self.scores[g * self.findings.len() + f];
        rivals.base + rivals.score * score + rivals.behind_golden * golden + rivals.behind_finding * finding
    }

    fn opinion(&self, g: usize, f: usize) -> Option<PairOpinion> {
        if g >= self.goldens.len() || f >= self.findings.len() {
            return None;
        }
        let probability = probability(self.log_odds(g, f));
        let matched = probability >= self.judge.params.threshold;
        Some(PairOpinion { golden: g, finding: f, probability, matched, reasons: self.reasons(g, f) })
    }

    fn reasons(&self, g: usize, f: usize) -> Vec<Reason> {
        let rivals = &self.judge.params.rivals;
        let values = features(&self.texts.goldens[g], &self.texts.findings[f]);
        let scaled: Vec<f64> =
            values.iter().zip(&self.judge.scale).map(|(value, (weight, mean))| weight * (value - mean)).collect();
        let text = self.judge.params.text.base + scaled.iter().sum::<f64>();
        let own = FEATURES.iter().map(|feature| feature.name).zip(scaled).chain(self.beside(g, f, text));
        let (golden, finding) = self.behind(g, f);
        let all = own.map(|(name, log_odds)| (name, log_odds * rivals.score)).chain([
            ("another_golden", rivals.behind_golden * golden),
            ("another_finding", rivals.behind_finding * finding),
        ]);
        let mut all: Vec<Reason> = all
            .filter(|(_, log_odds)| log_odds.abs() >= 0.05)
            .map(|(name, log_odds)| Reason { name, log_odds })
            .collect();
        all.sort_by(|a, b| b.log_odds.abs().total_cmp(&a.log_odds.abs()));
        let (mut speaks_for, mut against): (Vec<Reason>, Vec<Reason>) = all.into_iter().partition(|r| r.log_odds > 0.0);
        speaks_for.truncate(MOST_REASONS);
        against.truncate(MOST_REASONS);
        speaks_for.extend(against);
        speaks_for
    }
}

#[cfg(test)]
mod tests;
