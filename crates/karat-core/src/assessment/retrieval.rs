//! What a search found of the golden parts, and on which places.

use super::items::{Adds, Item};
use super::part_match::{Category, Matches};
use crate::metric::{Undefined, Value, ratio};
use crate::trec::Ranking;

const NO_EVIDENCE: &str = "no golden evidence";

/// What a search found for one requirement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retrieval {
    /// What became of each golden part.
    pub parts: Vec<Found>,
    /// How many parts were retrieved.
    pub retrieved: usize,
}

/// What a search found of one golden part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
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
            let mut found = Found { category: Category::Miss, rank: None, first_hit: None };
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
        ratio(self.hits() as f64, self.parts.len() as f64, NO_EVIDENCE)
    }

    /// The place of the first part that covers a golden one.
    pub fn first_hit(&self) -> Option<usize> {
        self.parts.iter().filter_map(|found| found.first_hit).min()
    }

    /// How many golden parts were found.
    pub fn hits(&self) -> usize {
        self.parts.iter().filter(|found| found.first_hit.is_some()).count()
    }

    /// What stands on each place of a list of golden parts and others, which is what measures of rankings look at.
    ///
    /// A golden part stands where it is first found. A part that covers several takes as many places, in the order of the record. A
    /// part that covers nothing new takes one place and is worth nothing.
    pub fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for rank in 1..=self.retrieved {
            let before = places.len();
            let first_here = |found: &Found| found.first_hit == Some(rank);
            let own = self.parts.iter().enumerate().filter(|(_, found)| first_here(found));
            places.extend(own.map(|(golden, _)| Place::Golden(golden)));
            if places.len() == before {
                places.push(Place::Other(rank));
            }
        }
        places
    }

    /// The same as a ranking, each golden part being relevant.
    pub fn ranking(&self) -> Ranking {
        let relevance = |place: Place| Some(i64::from(matches!(place, Place::Golden(_))));
        Ranking::new(self.places().into_iter().map(relevance), self.parts.iter().map(|_| 1))
    }

    /// What it adds to the metrics of retrieval, in the order of the table; nothing where there is no golden evidence.
    pub fn adds(&self, k: u32) -> Item {
        let (ranking, k) = (self.ranking(), k as usize);
        let of = |value: f64| Adds::Value(if self.parts.is_empty() { Err(Undefined(NO_EVIDENCE)) } else { Ok(value) });
        vec![
            ("retrieval_recall", Adds::Share { part: self.hits() as f64, whole: self.parts.len() as f64 }),
            ("recall_at_k", of(ranking.recall(k))),
            ("mrr", of(ranking.reciprocal_rank())),
            ("ndcg_at_k", of(ranking.ndcg(k))),
            ("map", of(ranking.average_precision(usize::MAX))),
        ]
    }
}

/// What stands on a place of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A golden part, by its place among the evidence of the requirement.
    Golden(usize),
    /// What was retrieved on that place, counted from 1, and covers no golden part that was not found before.
    Other(usize),
}

#[cfg(test)]
mod tests {
    use super::super::items::estimates;
    use super::super::part_match::PartIndex;
    use super::super::rules::Thresholds;
    use super::super::text::Tokens;
    use super::*;

    fn tokens(from: u32, to: u32) -> Tokens {
        Tokens::new((from..to).collect())
    }

    /// Golden parts of ten words each, from 0, 10, 20 and 30.
    fn matches() -> Matches {
        let parts = vec![
            tokens(100, 120), // 0: nothing
            tokens(0, 5),     // 1: a piece of the first
            tokens(0, 30),    // 2: the first three, whole
            tokens(10, 20),   // 3: the second, exactly
            tokens(25, 40),   // 4: half of the third, the fourth whole
        ];
        let goldens: Vec<Tokens> = (0..4).map(|g| tokens(10 * g, 10 * g + 10)).collect();
        PartIndex::new(parts).matches(&goldens, &Thresholds::default())
    }

    #[track_caller]
    fn check(ranked: &[usize], expect: &str) {
        let retrieval = Retrieval::new(&matches(), ranked);
        let place = |rank: Option<usize>| rank.map_or("-".to_owned(), |rank| rank.to_string());
        let told: Vec<String> = retrieval
            .parts
            .iter()
            .map(|found| format!("{:?} {} {}", found.category, place(found.rank), place(found.first_hit)))
            .collect();
        assert_eq!(told.join(", "), expect);
    }

    #[test]
    fn each_golden_has_its_best_category_and_place() {
        check(&[0, 1, 2, 3], "Broad 3 3, Exact 4 3, Broad 3 3, Miss - -");
        check(&[3, 2], "Broad 2 2, Exact 1 1, Broad 2 2, Miss - -");
        check(&[1, 4], "Narrow 1 -, Miss - -, Weak 2 -, Broad 2 2");
        check(&[], "Miss - -, Miss - -, Miss - -, Miss - -");
    }

    #[test]
    fn recall_counts_exact_and_broad() {
        let recall = |ranked: &[usize]| Retrieval::new(&matches(), ranked).recall();
        assert_eq!(recall(&[0, 1, 2]), Ok(0.75));
        assert_eq!(recall(&[1, 4]), Ok(0.25));
        assert_eq!(recall(&[]), Ok(0.0));
        assert_eq!(Retrieval::new(&Matches::default(), &[0]).recall(), Err(Undefined("no golden evidence")));
        assert_eq!(Retrieval::new(&matches(), &[0, 2, 3]).first_hit(), Some(2));
        assert_eq!(Retrieval::new(&matches(), &[0]).first_hit(), None);
    }

    #[test]
    fn a_part_that_covers_several_takes_as_many_places() {
        use Place::{Golden, Other};
        let retrieval = Retrieval::new(&matches(), &[0, 3, 2, 3]);
        assert_eq!(retrieval.places(), [Other(1), Golden(1), Golden(0), Golden(2), Other(4)]);
        let ranking = retrieval.ranking();
        assert_eq!((ranking.relevant(), ranking.relevant_retrieved(), ranking.retrieved()), (4, 3, 5));
    }

    #[test]
    fn metrics_by_hand() {
        let retrievals = [
            Retrieval::new(&matches(), &[0, 3, 2]),
            Retrieval::new(&matches(), &[4, 0]),
            Retrieval::new(&Matches::default(), &[0]),
        ];
        // Hits on places 2, 3 and 4 of four golden parts; a hit on place 1 of four.
        let ideal = 1.0 + 1.0 / 3_f64.log2() + 0.5;
        let expect = [
            ("retrieval_recall", 4.0 / 8.0, 8),
            ("recall_at_k", (2.0 / 4.0 + 1.0 / 4.0) / 2.0, 2),
            ("mrr", (1.0 / 2.0 + 1.0) / 2.0, 2),
            ("ndcg_at_k", ((1.0 / 3_f64.log2() + 0.5) / ideal + 1.0 / ideal) / 2.0, 2),
            ("map", ((1.0 / 2.0 + 2.0 / 3.0 + 3.0 / 4.0) / 4.0 + 1.0 / 4.0) / 2.0, 2),
        ];
        let items: Vec<Item> = retrievals.iter().map(|retrieval| retrieval.adds(3)).collect();
        let found = estimates(&items);
        assert_eq!(found.len(), expect.len());
        for ((id, estimate), (name, value, n)) in found.iter().zip(expect) {
            let left_out = if name == "retrieval_recall" { 0 } else { 1 };
            assert_eq!((*id, estimate.n, estimate.left_out), (name, n, left_out));
            assert!((estimate.value.unwrap() - value).abs() < 1e-12, "{id}: {estimate:?}, expected {value}");
        }
        let none = estimates(&items[2..]);
        assert!(none.iter().all(|(_, e)| e.value.is_none() && e.undefined == Some("no golden evidence") && e.n == 0));
    }
}
