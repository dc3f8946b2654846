//! Measures which golden parts a search retrieved, and at which ranks.

use super::items::{Adds, Item};
use super::part_match::{Category, Matches};
use crate::metric::{Part, Undefined, Value};
use crate::trec::Ranking;

const NO_EVIDENCE: &str = "no golden evidence";

/// What a search found for one requirement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retrieval {
    pub parts: Vec<PartRetrieval>,
    pub retrieved: usize,
}

/// What a search found of one golden part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartRetrieval {
    /// How the best of what was retrieved stands to it.
    pub category: Category,
    /// The place of that best one, the first of several, counted from 1; none where all miss.
    pub rank: Option<usize>,
    /// The place of the first one that counts as a hit, counted from 1.
    pub first_hit: Option<usize>,
}

impl Retrieval {
    /// Of the parts that were retrieved, by their place in the index, the best first. One part may cover several golden ones.
    pub fn new(matches: &Matches, ranked: &[usize]) -> Self {
        let of = |golden: usize| {
            let mut found = PartRetrieval { category: Category::Miss, rank: None, first_hit: None };
            for (at, &part) in ranked.iter().enumerate() {
                let category = matches.category(golden, part);
                if category > found.category {
                    (found.category, found.rank) = (category, Some(at + 1));
                }
                if category.is_hit() {
                    found.first_hit = found.first_hit.or(Some(at + 1));
                }
            }
            found
        };
        Self { parts: (0..matches.goldens()).map(of).collect(), retrieved: ranked.len() }
    }

    /// The share of the golden parts that were found.
    pub fn recall(&self) -> Value {
        Part::count(self.hits(), self.parts.len()).share(NO_EVIDENCE)
    }

    pub fn hits(&self) -> usize {
        self.parts.iter().filter(|found| found.first_hit.is_some()).count()
    }

    /// The ranking of golden and other parts, as ranking measures need it.
    ///
    /// A golden part stands where it is first found. A part that covers several takes as many places, in the order of the record. A
    /// part that covers nothing new takes one place and is worth nothing.
    pub fn places(&self) -> Vec<RankedItem> {
        let mut places = Vec::new();
        for rank in 1..=self.retrieved {
            let before = places.len();
            let first_here = |found: &PartRetrieval| found.first_hit == Some(rank);
            let own = self.parts.iter().enumerate().filter(|(_, found)| first_here(found));
            places.extend(own.map(|(golden, _)| RankedItem::Golden(golden)));
            if places.len() == before {
                places.push(RankedItem::Other(rank));
            }
        }
        places
    }

    /// The same as a ranking, each golden part being relevant.
    pub fn ranking(&self) -> Ranking {
        let relevance = |place: RankedItem| Some(i64::from(matches!(place, RankedItem::Golden(_))));
        Ranking::new(self.places().into_iter().map(relevance), self.parts.iter().map(|_| 1))
    }

    /// What it adds to the metrics of retrieval, in the order of the table; nothing where there is no golden evidence.
    pub fn adds(&self, k: u32) -> Item {
        let (ranking, k) = (self.ranking(), k as usize);
        let of = |value: f64| Adds::Value(if self.parts.is_empty() { Err(Undefined(NO_EVIDENCE)) } else { Ok(value) });
        vec![
            ("retrieval_recall", Adds::Share(Part::count(self.hits(), self.parts.len()))),
            ("recall_at_k", of(ranking.recall(k))),
            ("mrr", of(ranking.reciprocal_rank())),
            ("ndcg_at_k", of(ranking.ndcg(k))),
            ("map", of(ranking.average_precision(usize::MAX))),
        ]
    }
}

/// What stands on a place of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankedItem {
    /// A golden part, by its place among the evidence of the requirement.
    Golden(usize),
    /// What was retrieved on that place, counted from 1, and covers no golden part that was not found before.
    Other(usize),
}

#[cfg(test)]
mod tests;
