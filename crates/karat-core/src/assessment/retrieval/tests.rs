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
    let actual: Vec<String> = retrieval
        .parts
        .iter()
        .map(|found| format!("{:?} {} {}", found.category, place(found.rank), place(found.first_hit)))
        .collect();
    assert_eq!(actual.join(", "), expect);
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
}

#[test]
fn a_part_that_covers_several_takes_as_many_places() {
    use RankedItem::{Golden, Other};
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
