use super::*;

/// Places as digits, `-` for what nobody judged, and relevant documents that were not found.
fn ranking(found: &str, others: &[i64]) -> Ranking {
    let found: Vec<Option<i64>> = found.chars().map(|c| c.to_digit(10).map(i64::from)).collect();
    let judged: Vec<i64> = found.iter().flatten().copied().chain(others.iter().copied()).collect();
    Ranking::new(found.into_iter(), judged.into_iter())
}

#[track_caller]
fn near(found: f64, expect: f64) {
    assert!((found - expect).abs() < 1e-12, "{found}, expected {expect}");
}

/// Four relevant documents, three of them on places 1, 4 and 6.
#[test]
fn by_hand() {
    let ranking = ranking("10-101-0", &[1, 0, -1]);
    assert_eq!((ranking.retrieved(), ranking.relevant(), ranking.relevant_retrieved()), (8, 4, 3));
    assert_eq!(ranking.judged_not_relevant(), 3);
    near(ranking.average_precision(8), (1.0 + 2.0 / 4.0 + 3.0 / 6.0) / 4.0);
    near(ranking.average_precision(4), (1.0 + 2.0 / 4.0) / 4.0);
    near(ranking.precision(5), 2.0 / 5.0);
    near(ranking.precision(100), 3.0 / 100.0);
    near(ranking.recall(4), 2.0 / 4.0);
    near(ranking.relative_precision(2), 1.0 / 2.0);
    near(ranking.relative_precision(100), 3.0 / 4.0);
    near(ranking.reciprocal_rank(), 1.0);
    near(ranking.success(1), 1.0);
    near(ranking.unjudged_within(5), 1.0 / 5.0);
    // Not relevant above: none, one, two; of four there are in all.
    near(ranking.binary_preference(), (1.0 + 3.0 / 4.0 + 2.0 / 4.0) / 4.0);
    near(ranking.interpolated_precision(0.0), 1.0);
    near(ranking.interpolated_precision(0.5), 0.5);
    near(ranking.interpolated_precision(0.62), 0.5);
    near(ranking.interpolated_precision(0.75), 0.5);
    near(ranking.interpolated_precision(1.0), 0.0);
    near(ranking.precision_at_multiple(1.0), 2.0 / 4.0);
    near(ranking.precision_at_multiple(1.5), 3.0 / 6.0);
    near(ranking.precision_at_multiple(0.3), 1.0 / 2.0);
    near(ranking.set_f(), 2.0 * 3.0 / (8.0 + 4.0));
    let ideal = 1.0 + 1.0 / 3_f64.log2() + 0.5 + 1.0 / 5_f64.log2();
    near(ranking.ndcg(8), (1.0 + 1.0 / 5_f64.log2() + 1.0 / 7_f64.log2()) / ideal);
    near(ranking.ndcg(2), 1.0 / (1.0 + 1.0 / 3_f64.log2()));
}

#[test]
fn more_relevance_gains_more() {
    let ranking = ranking("102", &[3]);
    let ideal = 3.0 + 2.0 / 3_f64.log2() + 1.0 / 2.0;
    near(ranking.ndcg(1000), (1.0 + 2.0 / 2.0) / ideal);
    near(ranking.average_precision(1000), (1.0 + 2.0 / 3.0) / 3.0);
}

#[test]
fn more_not_relevant_than_relevant_is_no_worse_than_none() {
    near(ranking("0001", &[]).binary_preference(), 0.0);
    near(ranking("01", &[1, 1]).binary_preference(), 0.0);
    near(ranking("011", &[0]).binary_preference(), (0.5 + 0.5) / 2.0);
}

#[test]
fn nothing_to_find_and_nothing_found_is_0() {
    for ranking in [ranking("000", &[]), ranking("--", &[1]), Ranking::new([].into_iter(), [1].into_iter())] {
        let values = [
            ranking.average_precision(10),
            ranking.reciprocal_rank(),
            ranking.binary_preference(),
            ranking.interpolated_precision(0.0),
            ranking.precision_at_multiple(1.0),
            ranking.recall(5),
            ranking.relative_precision(5),
            ranking.ndcg(5),
            ranking.set_f(),
            ranking.success(5),
        ];
        assert_eq!(values.map(f64::to_bits), [0; 10], "{ranking:?}: {values:?}");
    }
}
