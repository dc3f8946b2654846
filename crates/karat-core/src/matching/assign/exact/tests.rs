use super::*;
use pathfinding::matrix::Matrix;
use pathfinding::prelude::kuhn_munkres;
use proptest::prelude::*;

fn total(edges: &[Edge], chosen: &[Chosen]) -> i64 {
    chosen.iter().map(|c| weight_of(edges, c)).sum()
}

fn weight_of(edges: &[Edge], chosen: &Chosen) -> i64 {
    edges.iter().find(|e| (e.row, e.column) == (chosen.row, chosen.column)).map_or(0, |e| e.weight)
}

/// The optimum by another hand: a dense matrix in which a missing edge weighs 0.
fn oracle(rows: usize, columns: usize, edges: &[Edge]) -> i64 {
    let size = rows.max(columns).max(1);
    let mut matrix = Matrix::new(size, size, 0_i64);
    for edge in edges {
        matrix[(edge.row as usize, edge.column as usize)] = edge.weight;
    }
    kuhn_munkres(&matrix).0
}

fn problems() -> impl Strategy<Value = (usize, usize, Vec<Edge>)> {
    (1_usize..9, 1_usize..9, 1_i64..12).prop_flat_map(|(rows, columns, top)| {
        let edge = proptest::option::weighted(0.5, 1..=top);
        proptest::collection::vec(edge, rows * columns).prop_map(move |weights| {
            let edges = weights.iter().enumerate().filter_map(|(i, w)| {
                w.map(|weight| Edge { row: (i / columns) as u32, column: (i % columns) as u32, weight })
            });
            (rows, columns, edges.collect())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_total_is_the_greatest((rows, columns, edges) in problems()) {
        let chosen = assign(columns, &vec![0; rows], &edges);
        prop_assert_eq!(total(&edges, &chosen), oracle(rows, columns, &edges));
        let mut used_rows: Vec<u32> = chosen.iter().map(|c| c.row).collect();
        let mut used_columns: Vec<u32> = chosen.iter().map(|c| c.column).collect();
        used_rows.dedup();
        used_columns.sort_unstable();
        used_columns.dedup();
        prop_assert_eq!(used_rows.len(), chosen.len());
        prop_assert_eq!(used_columns.len(), chosen.len());
    }

    #[test]
    fn a_pair_is_ambiguous_exactly_when_the_total_survives_its_ban((rows, columns, edges) in problems()) {
        let best = oracle(rows, columns, &edges);
        for pair in assign(columns, &vec![0; rows], &edges) {
            let without: Vec<Edge> =
                edges.iter().copied().filter(|e| (e.row, e.column) != (pair.row, pair.column)).collect();
            prop_assert_eq!(pair.ambiguous, oracle(rows, columns, &without) == best, "{:?}", pair);
        }
    }

    #[test]
    fn higher_tiers_are_served_first((rows, columns, edges) in problems(), seed in 0_usize..8) {
        let tier: Vec<u8> = (0..rows).map(|r| ((r * 7 + seed) % 3) as u8).collect();
        let chosen = assign(columns, &tier, &edges);
        let upper: Vec<Edge> = edges.iter().copied().filter(|e| tier[e.row as usize] == 2).collect();
        let got: i64 = chosen.iter().filter(|c| tier[c.row as usize] == 2).map(|c| weight_of(&edges, c)).sum();
        prop_assert_eq!(got, oracle(rows, columns, &upper));
        let two: Vec<Edge> = edges.iter().copied().filter(|e| tier[e.row as usize] >= 1)
            .map(|e| Edge { weight: e.weight << if tier[e.row as usize] == 2 { 20 } else { 0 }, ..e }).collect();
        let got: i64 = chosen.iter().filter(|c| tier[c.row as usize] >= 1).map(|c| weight_of(&two, c)).sum();
        prop_assert_eq!(got, oracle(rows, columns, &two));
    }
}

#[test]
fn a_weaker_pair_is_given_up_for_a_better_total() {
    let edges = [
        Edge { row: 0, column: 0, weight: 90 },
        Edge { row: 0, column: 1, weight: 80 },
        Edge { row: 1, column: 0, weight: 85 },
    ];
    let chosen = assign(2, &[0, 0], &edges);
    assert_eq!(chosen.iter().map(|c| (c.row, c.column)).collect::<Vec<_>>(), [(0, 1), (1, 0)]);
}
