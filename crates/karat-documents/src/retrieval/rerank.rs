//! Rerankers: the registry and the built-in reranker.

pub use super::provider::{RerankRequest, Reranked, Reranker, SearchProviderEntry};

use super::cut::windows;
use super::{Analysis, ModelUse, Result, folder, http, provider};
use karat_format::retrieval::RerankProviderV1;
use karat_llm::provider::ProviderEnv;
use std::collections::BTreeSet;

/// All rerankers, in listing order.
pub static RERANKERS: &[SearchProviderEntry<RerankProviderV1, dyn Reranker>] = &[
    SearchProviderEntry { name: "embedded", open: Some(|_, _| Ok(Box::new(CoverageReranker))) },
    SearchProviderEntry { name: "folder", open: Some(folder::open_reranker) },
    SearchProviderEntry { name: "http", open: Some(http::open_reranker) },
    SearchProviderEntry { name: "none", open: None },
];

/// Opens a reranker; `None` if `none` is chosen. Files are read now; no connection is made before the first query.
pub fn open_reranker(config: &RerankProviderV1, env: &ProviderEnv<'_>) -> Result<Option<Box<dyn Reranker>>> {
    provider::open("reranker", RERANKERS, &config.provider, config, env)
}

/// In estimated tokens: a long clause. Whole sections would cover everything.
const WINDOW: usize = 300;

const OVERLAP: usize = 150;

/// The weight of a word that is part of another, as in compounds.
const PART: f64 = 0.5;

/// The shortest word that is searched for in others.
const SHORTEST_PART: usize = 4;

/// The weight of overall similarity against words.
const LIKENESS: f64 = 0.2;

/// BM25 rewards repeated words and short texts. Among the candidates that no longer helps: a clause that has every rare word
/// of the query once is better, however long it is.
struct CoverageReranker;

impl Reranker for CoverageReranker {
    fn id(&self) -> String {
        "embedded/coverage-1".to_owned()
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked> {
        let wanted: BTreeSet<String> = request.bm25.analysis.words(request.query).into_iter().collect();
        let wanted: Vec<(f64, String)> = wanted.into_iter().map(|word| (request.bm25.rarity(&word), word)).collect();
        let likeness = request.likeness.map_or_else(|| vec![0.0; request.texts.len()], spread);
        let score =
            |(text, likeness): (&&str, f64)| covered(&wanted, text, &request.bm25.analysis) + LIKENESS * likeness;
        let scores: Vec<f64> = request.texts.iter().zip(likeness).map(score).collect();
        Ok(Reranked { used: ModelUse { calls: scores.len(), ..ModelUse::default() }, scores })
    }
}

/// The weighted share of the wanted words that the best window of a text has.
fn covered(wanted: &[(f64, String)], text: &str, analysis: &Analysis) -> f64 {
    let all: f64 = wanted.iter().map(|(rarity, _)| rarity).sum();
    if all <= 0.0 {
        return 0.0;
    }
    let (windows, _) = windows(text, WINDOW, OVERLAP, usize::MAX);
    let shares = windows.into_iter().map(|window| {
        let own: BTreeSet<String> = analysis.words(window).into_iter().collect();
        wanted.iter().map(|(rarity, word)| rarity * worth(word, &own)).sum::<f64>() / all
    });
    shares.fold(0.0, f64::max)
}

fn worth(word: &str, own: &BTreeSet<String>) -> f64 {
    if own.contains(word) {
        return 1.0;
    }
    let long = |word: &str| word.chars().nth(SHORTEST_PART - 1).is_some();
    let part = |other: &String| long(word) && other.contains(word) || long(other) && word.contains(other.as_str());
    if own.iter().any(part) { PART } else { 0.0 }
}

/// Scales numbers to 0..1: models differ in the similarity of unrelated texts.
fn spread(numbers: &[f64]) -> Vec<f64> {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = most - least;
    numbers.iter().map(|number| if span > 0.0 { (number - least) / span } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compound_counts_half_for_each_of_its_parts() {
        let check = |wanted: &str, own: &str, expect: f64| {
            let own: BTreeSet<String> = own.split(' ').map(str::to_owned).collect();
            assert_eq!(worth(wanted, &own), expect, "{wanted} in {own:?}");
        };
        check("åtgärd", "säkerhetsåtgärd", 0.5);
        check("säkerhetsåtgärd", "åtgärd", 0.5);
        check("åtgärd", "åtgärd säkerhetsåtgärd", 1.0);
        check("lag", "anslag", 0.0);
        check("avtal", "lag", 0.0);
    }

    #[test]
    fn scores_are_scaled_from_zero_to_one() {
        assert_eq!(spread(&[0.7, 0.9, 0.8])[..2], [0.0, 1.0]);
        assert_eq!(spread(&[0.7, 0.7]), [0.0, 0.0]);
        assert_eq!(spread(&[]), [0.0; 0]);
    }
}
