//! What Karat has inside: how much of what is searched for a text covers, with a little of how like the two are as a whole.
//!
//! Search by words counts how often a word stands in a text and how short the text is. Among the candidates that is of no help
//! any more: a clause that has every rare word of the query once is the better one, however long it is.

use super::super::RetrievalError;
use super::super::cut::windows;
use super::{Asked, Reranked, Reranker};
use crate::format::retrieval::RerankProviderV1;
use crate::judge::provider::Surroundings;
use std::collections::BTreeSet;

/// The longest window, by estimated tokens: that of a long clause. Whole sections would cover everything by being long.
const WINDOW: usize = 300;

/// How much of a window is in the one before.
const OVERLAP: usize = 150;

/// What a word is worth that is part of another, as in compounds, against one that is the same.
const PART: f64 = 0.5;

/// The fewest letters of a word that is looked for in others.
const SHORTEST_PART: usize = 4;

/// The weight of how like query and text are as a whole, against that of the words.
const LIKENESS: f64 = 0.2;

struct Inside;

/// Opens it; there is nothing to set.
pub(super) fn open(_: &RerankProviderV1, _: &Surroundings<'_>) -> Result<Box<dyn Reranker>, RetrievalError> {
    Ok(Box::new(Inside))
}

impl Reranker for Inside {
    fn id(&self) -> String {
        "embedded/coverage-1".to_owned()
    }

    fn rerank(&self, asked: &Asked<'_>) -> Result<Reranked, RetrievalError> {
        let wanted: BTreeSet<String> = asked.words(asked.query).into_iter().collect();
        let wanted = wanted.into_iter().map(|word| Ok((asked.rarity(&word)?, word)));
        let wanted: Vec<(f64, String)> = wanted.collect::<Result<_, RetrievalError>>()?;
        let likeness = asked.likeness.map_or_else(|| vec![0.0; asked.texts.len()], spread);
        let score = |(text, likeness): (&&str, f64)| covered(&wanted, text, asked) + LIKENESS * likeness;
        let scores: Vec<f64> = asked.texts.iter().zip(likeness).map(score).collect();
        Ok(Reranked { calls: scores.len(), scores, ..Reranked::default() })
    }
}

/// The share of the wanted words, by what each of them tells, that the best window of a text has.
fn covered(wanted: &[(f64, String)], text: &str, asked: &Asked<'_>) -> f64 {
    let all: f64 = wanted.iter().map(|(rarity, _)| rarity).sum();
    if all <= 0.0 {
        return 0.0;
    }
    let (windows, _) = windows(text, WINDOW, OVERLAP, usize::MAX);
    let shares = windows.into_iter().map(|window| {
        let own: BTreeSet<String> = asked.words(window).into_iter().collect();
        wanted.iter().map(|(rarity, word)| rarity * worth(word, &own)).sum::<f64>() / all
    });
    shares.fold(0.0, f64::max)
}

/// What words are worth to somebody who wants this one.
fn worth(word: &str, own: &BTreeSet<String>) -> f64 {
    if own.contains(word) {
        return 1.0;
    }
    let long = |word: &str| word.chars().nth(SHORTEST_PART - 1).is_some();
    let part = |other: &String| long(word) && other.contains(word) || long(other) && word.contains(other.as_str());
    if own.iter().any(part) { PART } else { 0.0 }
}

/// Numbers as they lie between the least, which becomes 0, and the most, which becomes 1: models differ in how like they find
/// texts that have nothing in common.
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
    fn a_compound_is_worth_half_of_each_of_its_parts() {
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
    fn numbers_are_spread() {
        assert_eq!(spread(&[0.7, 0.9, 0.8])[..2], [0.0, 1.0]);
        assert_eq!(spread(&[0.7, 0.7]), [0.0, 0.0]);
        assert_eq!(spread(&[]), [0.0; 0]);
    }
}
