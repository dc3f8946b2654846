//! One list of two, by places: scores of words and of vectors cannot be compared, places can.

use std::collections::BTreeMap;

/// Places far down are worth little less than those above them. The number is that of the method's authors, and everybody's.
const SMOOTHING: f64 = 60.0;

/// A place in one of the lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The place, counted from 1.
    pub rank: usize,
    /// The score it was given for.
    pub score: f64,
}

/// A part that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The passage, by its number.
    pub part: usize,
    /// What it was put on its place for: the reranker's score where there is one, and else the weighted sum of reciprocal ranks.
    pub score: f64,
    /// Its place by words.
    pub bm25: Option<Place>,
    /// Its place by vectors.
    pub embedding: Option<Place>,
    /// What the reranker says of it.
    pub rerank: Option<f64>,
}

/// Two lists of parts with scores, best first, as one. Those with equal sums come in the order of parts.
pub(super) fn fuse(words: &[(usize, f64)], vectors: &[(usize, f64)], bm25_weight: f64) -> Vec<Hit> {
    let mut hits: BTreeMap<usize, Hit> = BTreeMap::new();
    let blank = |part| Hit { part, score: 0.0, bm25: None, embedding: None, rerank: None };
    for (list, weight, by_words) in [(words, bm25_weight, true), (vectors, 1.0 - bm25_weight, false)] {
        for (at, (part, score)) in list.iter().enumerate() {
            let hit = hits.entry(*part).or_insert_with(|| blank(*part));
            let place = Some(Place { rank: at + 1, score: *score });
            *(if by_words { &mut hit.bm25 } else { &mut hit.embedding }) = place;
            hit.score += weight / (SMOOTHING + (at + 1) as f64);
        }
    }
    let mut hits: Vec<Hit> = hits.into_values().collect();
    sort(&mut hits);
    hits
}

/// The best first; those with equal scores in the order of parts.
pub(super) fn sort(hits: &mut [Hit]) {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.part.cmp(&b.part)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[usize], vectors: &[usize], bm25_weight: f64, expect: &[usize]) {
        let list = |parts: &[usize]| parts.iter().map(|part| (*part, 1.0)).collect::<Vec<_>>();
        let fused = fuse(&list(words), &list(vectors), bm25_weight);
        assert_eq!(fused.iter().map(|hit| hit.part).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn places_are_added() {
        // Both know 2; 1 and 3 are each known to one, at the same place, and stand in the order of parts.
        check(&[2, 3], &[2, 1], 0.5, &[2, 1, 3]);
        check(&[2, 3], &[1, 2], 0.5, &[2, 1, 3]);
        check(&[1], &[2], 0.6, &[1, 2]);
        check(&[1], &[2], 0.4, &[2, 1]);
        check(&[], &[5, 4], 0.5, &[5, 4]);
        check(&[], &[], 0.5, &[]);
        let hit = &fuse(&[(7, 2.5)], &[(3, 0.1), (7, 0.2)], 0.25)[0];
        let (bm25, embedding) = (Place { rank: 1, score: 2.5 }, Place { rank: 2, score: 0.2 });
        assert_eq!((hit.part, hit.bm25, hit.embedding), (7, Some(bm25), Some(embedding)));
        assert!((hit.score - (0.25 / 61.0 + 0.75 / 62.0)).abs() < 1e-15);
    }
}
