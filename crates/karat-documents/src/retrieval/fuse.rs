//! Reciprocal rank fusion: BM25 and vector scores are not comparable, ranks are.

use std::collections::BTreeMap;

/// The usual constant of reciprocal rank fusion.
const SMOOTHING: f64 = 60.0;

/// A rank in one of the lists.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ListRank {
    /// From 1.
    pub rank: usize,
    pub score: f64,
}

/// A retrieved part.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Hit {
    pub part: usize,
    /// The reranker's score if there is one, else the weighted sum of reciprocal ranks.
    pub score: f64,
    pub bm25: Option<ListRank>,
    pub embedding: Option<ListRank>,
    pub rerank: Option<f64>,
}

/// Fuses two lists, best first; ties by index.
pub(super) fn fuse(words: &[(usize, f64)], vectors: &[(usize, f64)], bm25_weight: f64) -> Vec<Hit> {
    let mut hits: BTreeMap<usize, Hit> = BTreeMap::new();
    let blank = |part| Hit { part, score: 0.0, bm25: None, embedding: None, rerank: None };
    for (list, weight, by_words) in [(words, bm25_weight, true), (vectors, 1.0 - bm25_weight, false)] {
        for (at, (part, score)) in list.iter().enumerate() {
            let hit = hits.entry(*part).or_insert_with(|| blank(*part));
            let place = Some(ListRank { rank: at + 1, score: *score });
            *(if by_words { &mut hit.bm25 } else { &mut hit.embedding }) = place;
            hit.score += weight / (SMOOTHING + (at + 1) as f64);
        }
    }
    let mut hits: Vec<Hit> = hits.into_values().collect();
    sort(&mut hits);
    hits
}

/// Best first; ties by index.
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
        let (bm25, embedding) = (ListRank { rank: 1, score: 2.5 }, ListRank { rank: 2, score: 0.2 });
        assert_eq!((hit.part, hit.bm25, hit.embedding), (7, Some(bm25), Some(embedding)));
        assert!((hit.score - (0.25 / 61.0 + 0.75 / 62.0)).abs() < 1e-15);
    }
}
