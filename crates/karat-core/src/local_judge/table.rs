//! Scores every pair of a case's goldens and a trial's findings, relative to its rivals.

use super::features::{COUNT, FEATURES, Feature, Sign, features};
use super::metadata::PairMetadata;
use super::rarity::ln;
use super::scanner::{self, ScannerTexts};
use super::shared::GoldenLookup;
use super::text_index::{IndexedText, Sizes, TextIndexer, TextParts};
use super::{LocalJudge, PairOpinion, finding_text, golden_text};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::stats::logistic::probability;
use rayon::prelude::*;

const FURTHEST_BEHIND: f64 = 4.0;

const MOST_REASONS: usize = 3;

/// What a pair amounts to that has nothing in common where its golden has only a title: what little else agrees, such as a category,
/// says nothing of another file.
const NOTHING_IN_COMMON: f64 = -12.0;

/// Fewer pairs than this are not worth another thread.
const PAIRS_A_THREAD: usize = 8192;

pub(super) struct Texts {
    goldens: Vec<IndexedText>,
    findings: Vec<IndexedText>,
    sizes: Sizes,
    metadata: PairMetadata,
    scanner: Option<ScannerTexts>,
}

impl Texts {
    pub(super) fn read(judge: &LocalJudge, goldens: &[Golden], findings: &[Finding], wanted: TextParts) -> Self {
        let golden_texts: Vec<String> = goldens.iter().map(golden_text).collect();
        let finding_texts: Vec<String> = findings.iter().map(finding_text).collect();
        let bytes = golden_texts.iter().chain(&finding_texts).map(String::len).sum();
        let mut reader = TextIndexer::new(&judge.words, &judge.concepts, wanted, bytes);
        let mut own: Vec<IndexedText> = golden_texts.iter().map(|text| reader.read(text)).collect();
        let sizes = reader.end_goldens();
        let mut others: Vec<IndexedText> = finding_texts.iter().map(|text| reader.read(text)).collect();
        let rarity = |uses: usize, all: usize| ln((all as f64 + 1.0) / (uses as f64 + 0.5));
        reader.weigh(own.iter_mut().chain(&mut others), rarity);
        let metadata = PairMetadata::new(goldens, findings, &finding_texts);
        Self { goldens: own, findings: others, sizes, metadata, scanner: judge.scanner.read(goldens, findings) }
    }

    /// The features of every pair, all findings of the first golden first.
    pub(super) fn features(&self) -> Vec<[f64; COUNT]> {
        let mut lookup = GoldenLookup::new(self.sizes);
        let mut all = Vec::with_capacity(self.goldens.len() * self.findings.len());
        for golden in &self.goldens {
            lookup.load(golden);
            all.extend(self.findings.iter().map(|finding| features(golden, finding, &lookup.shared(finding))));
            lookup.clear(golden);
        }
        all
    }

    /// The features of every pair of a scanner's finding, whose texts amount to `texts`, with what lies beside them, in the same
    /// order; nothing for other findings.
    pub(super) fn scanner_features(
        &self,
        judge: &LocalJudge,
        texts: &[f64],
    ) -> Vec<Option<([f64; scanner::COUNT], f64)>> {
        let width = self.findings.len();
        let pair = |(at, &own): (usize, &f64)| {
            let (g, f) = (at / width, at % width);
            let features = self.scanner.as_ref()?.features(g, f, own)?;
            let beside = judge.params.reasoned.contributions(&self.metadata, g, f, f64::INFINITY);
            Some((features, beside.iter().flatten().map(|(_, log_odds)| log_odds).sum()))
        };
        texts.iter().enumerate().map(pair).collect()
    }
}

impl LocalJudge {
    /// What the texts of every pair amount to by the weights for prose, all findings of the first golden first.
    pub(super) fn text_log_odds(&self, texts: &Texts) -> Vec<f64> {
        let one = |mut values: [f64; COUNT]| {
            self.scale_features(&mut values);
            self.params.text.base + sum(&values)
        };
        texts.features().into_iter().map(one).collect()
    }

    fn scale_features(&self, values: &mut [f64; COUNT]) {
        for (value, (weight, mean)) in values.iter_mut().zip(&self.scale) {
            *value = weight * (*value - mean);
        }
    }
}

pub(super) struct Table<'a> {
    judge: &'a LocalJudge,
    texts: &'a Texts,
    scores: Vec<f64>,
    best_of_golden: Vec<f64>,
    best_of_finding: Vec<f64>,
}

impl<'a> Table<'a> {
    pub(super) fn new(judge: &'a LocalJudge, texts: &'a Texts) -> Self {
        let (goldens, findings) = (texts.goldens.len(), texts.findings.len());
        let mut table = Self {
            judge,
            texts,
            scores: Vec::new(),
            best_of_golden: vec![f64::NEG_INFINITY; goldens],
            best_of_finding: vec![f64::NEG_INFINITY; findings],
        };
        let mut scores = vec![0.0; goldens * findings];
        let rows = PAIRS_A_THREAD.div_ceil(findings.max(1));
        each_part(&mut scores, rows * findings, |part, scores| {
            let mut lookup = GoldenLookup::new(texts.sizes);
            for (row, scores) in scores.chunks_mut(findings).enumerate() {
                table.score_row(part * rows + row, &mut lookup, scores);
            }
        });
        for (scores, best) in scores.chunks(findings.max(1)).zip(&mut table.best_of_golden) {
            for (&score, best_of_finding) in scores.iter().zip(&mut table.best_of_finding) {
                *best = best.max(score);
                *best_of_finding = best_of_finding.max(score);
            }
        }
        table.scores = scores;
        table
    }

    /// The score of each pair with how far it lies behind rivals, all findings of the first golden first.
    pub(super) fn ranked(&self) -> impl Iterator<Item = [f64; 3]> {
        let width = self.texts.findings.len();
        self.scores.iter().enumerate().map(move |(at, &score)| {
            let (golden, finding) = self.behind(at / width, at % width, score);
            [score, golden, finding]
        })
    }

    /// How likely each pair matches, all findings of the first golden first.
    pub(super) fn into_probabilities(mut self) -> Vec<f64> {
        let width = self.texts.findings.len();
        let mut scores = std::mem::take(&mut self.scores);
        let rows = PAIRS_A_THREAD.div_ceil(width.max(1));
        each_part(&mut scores, rows * width, |part, scores| {
            for (row, scores) in scores.chunks_mut(width).enumerate() {
                for (f, score) in scores.iter_mut().enumerate() {
                    *score = probability(self.log_odds(part * rows + row, f, *score));
                }
            }
        });
        scores
    }

    /// Opinions on the wanted pairs that are there, in their order.
    pub(super) fn opinions(&self, wanted: &[(usize, usize)]) -> Vec<PairOpinion> {
        let is_there = |&&(g, f): &&(usize, usize)| g < self.texts.goldens.len() && f < self.texts.findings.len();
        let of_part = |wanted: &[(usize, usize)]| -> Vec<PairOpinion> {
            let mut lookup = GoldenLookup::new(self.texts.sizes);
            let mut marked: Option<&IndexedText> = None;
            let mut opinions = Vec::with_capacity(wanted.len());
            for &(g, f) in wanted.iter().filter(is_there) {
                let golden = &self.texts.goldens[g];
                if !marked.is_some_and(|marked| std::ptr::eq(marked, golden)) {
                    marked.iter().for_each(|marked| lookup.clear(marked));
                    lookup.load(golden);
                    marked = Some(golden);
                }
                let score = self.scores[g * self.texts.findings.len() + f];
                let probability = probability(self.log_odds(g, f, score));
                let matched = probability >= self.judge.params.threshold;
                let reasons = self.reasons(g, f, score, &lookup);
                opinions.push(PairOpinion { golden: g, finding: f, probability, matched, reasons });
            }
            opinions
        };
        if wanted.len() <= PAIRS_A_THREAD {
            return of_part(wanted);
        }
        wanted.par_chunks(PAIRS_A_THREAD).map(of_part).collect::<Vec<_>>().concat()
    }

    fn score_row(&self, g: usize, lookup: &mut GoldenLookup, scores: &mut [f64]) {
        lookup.load(&self.texts.goldens[g]);
        for (f, score) in scores.iter_mut().enumerate() {
            let texts = self.judge.params.text.base + sum(&self.scaled(g, f, lookup));
            let texts = self.of_scanner(g, f, texts).map_or(texts, |scaled| self.judge.scanner.base() + sum(&scaled));
            let beside = self.judge.params.reasoned.contributions(&self.texts.metadata, g, f, texts);
            *score = texts + beside.iter().flatten().map(|(_, log_odds)| log_odds).sum::<f64>();
            *score += self.nothing_in_common(g, f, *score, lookup).unwrap_or_default();
        }
        lookup.clear(&self.texts.goldens[g]);
    }

    /// What a pair loses whose golden, which is marked, has only a title, and whose finding has none of its words and lies in another
    /// file: it cannot score more than [`NOTHING_IN_COMMON`].
    fn nothing_in_common(&self, g: usize, f: usize, score: f64, lookup: &GoldenLookup) -> Option<f64> {
        let applies =
            self.texts.metadata.is_title_elsewhere(g, f) && lookup.shared(&self.texts.findings[f]).word_weight <= 0.0;
        (applies && score > NOTHING_IN_COMMON).then_some(NOTHING_IN_COMMON - score)
    }

    /// What each feature of a pair's texts adds, the golden being marked.
    fn scaled(&self, g: usize, f: usize, lookup: &GoldenLookup) -> [f64; COUNT] {
        let (golden, finding) = (&self.texts.goldens[g], &self.texts.findings[f]);
        let mut values = features(golden, finding, &lookup.shared(finding));
        self.judge.scale_features(&mut values);
        values
    }

    /// What each feature of a pair adds whose finding comes from a scanner; its texts amount to `texts`.
    fn of_scanner(&self, g: usize, f: usize, texts: f64) -> Option<[f64; scanner::COUNT]> {
        let features = self.texts.scanner.as_ref()?.features(g, f, texts)?;
        Some(self.judge.scanner.scaled(features))
    }

    /// How far a pair with this score lies behind the best golden for its finding, and behind the best finding for its golden.
    fn behind(&self, g: usize, f: usize, score: f64) -> (f64, f64) {
        let behind = |best: f64| (score - best).max(-FURTHEST_BEHIND);
        (behind(self.best_of_finding[f]), behind(self.best_of_golden[g]))
    }

    fn log_odds(&self, g: usize, f: usize, score: f64) -> f64 {
        let rivals = &self.judge.params.rivals;
        let (golden, finding) = self.behind(g, f, score);
        rivals.base + rivals.score * score + rivals.behind_golden * golden + rivals.behind_finding * finding
    }

    fn reasons(&self, g: usize, f: usize, score: f64, lookup: &GoldenLookup) -> Vec<(&'static str, f64)> {
        let rivals = &self.judge.params.rivals;
        let scaled = self.scaled(g, f, lookup);
        let texts = self.judge.params.text.base + sum(&scaled);
        let (texts, own): (f64, Vec<(&str, f64)>) = match self.of_scanner(g, f, texts) {
            None => (texts, named(&FEATURES, &scaled)),
            Some(scaled) => (self.judge.scanner.base() + sum(&scaled), named(&scanner::FEATURES, &scaled)),
        };
        let beside = self.judge.params.reasoned.contributions(&self.texts.metadata, g, f, texts);
        let added: f64 = beside.iter().flatten().map(|(_, log_odds)| log_odds).sum();
        let alone = self.nothing_in_common(g, f, texts + added, lookup).map(|lost| ("nothing_in_common", lost));
        let own = own.into_iter().chain(beside.into_iter().flatten()).chain(alone);
        let (golden, finding) = self.behind(g, f, score);
        let all = own.map(|(name, log_odds)| (name, log_odds * rivals.score)).chain([
            ("another_golden", rivals.behind_golden * golden),
            ("another_finding", rivals.behind_finding * finding),
        ]);
        let mut notable: Vec<(&str, f64)> = all.filter(|(_, log_odds)| log_odds.abs() >= 0.05).collect();
        notable.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        let (mut speaks_for, mut against): (Vec<_>, Vec<_>) =
            notable.into_iter().partition(|(_, log_odds)| *log_odds > 0.0);
        speaks_for.truncate(MOST_REASONS);
        against.truncate(MOST_REASONS);
        speaks_for.extend(against);
        speaks_for
    }
}

/// Does something to each part of so many values, given with its number, on several threads where there are several parts.
fn each_part(values: &mut [f64], part: usize, act: impl Fn(usize, &mut [f64]) + Sync) {
    if values.is_empty() {
    } else if values.len() <= part {
        act(0, values);
    } else {
        values.par_chunks_mut(part).enumerate().for_each(|(number, values)| act(number, values));
    }
}

fn sum(log_odds: &[f64]) -> f64 {
    log_odds.iter().sum()
}

/// Features with what they add. That something which speaks against a match is absent does not speak for one.
fn named(features: &'static [Feature], scaled: &[f64]) -> Vec<(&'static str, f64)> {
    let stated = features.iter().zip(scaled).filter(|(feature, value)| feature.sign != Sign::Against || **value < 0.0);
    stated.map(|(feature, value)| (feature.name, *value)).collect()
}
