//! Greedy assignment: the best pair first, then the best of the rest.

use super::{Chosen, Edge};

/// Assigns by falling weight; ties go to the earlier golden, then to the earlier finding.
pub fn assign(rows: usize, columns: usize, edges: &[Edge]) -> Vec<Chosen> {
    let mut sorted: Vec<Edge> = edges.to_vec();
    sorted.sort_unstable_by_key(|e| (std::cmp::Reverse(e.weight), e.row, e.column));
    let mut row_taken = vec![false; rows];
    let mut column_taken = vec![false; columns];
    let mut chosen = Vec::new();
    // Edges of equal weight by column, so that looking for rivals never walks over all of them.
    let mut by_column: Vec<&Edge> = Vec::new();
    for group in sorted.chunk_by(|a, b| a.weight == b.weight) {
        by_column.clear();
        by_column.extend(group);
        by_column.sort_unstable_by_key(|e| (e.column, e.row));
        for (i, edge) in group.iter().enumerate() {
            let (row, column) = (edge.row as usize, edge.column as usize);
            if row_taken[row] || column_taken[column] {
                continue;
            }
            // A rival is as good, wants the same golden or finding, and could have been taken instead.
            let rest_of_row = group[i + 1..].iter().take_while(|other| other.row == edge.row);
            let rivals_of_row = rest_of_row.map(|other| column_taken[other.column as usize]);
            let below = by_column.partition_point(|other| (other.column, other.row) <= (edge.column, edge.row));
            let rest_of_column = by_column[below..].iter().take_while(|other| other.column == edge.column);
            let rivals_of_column = rest_of_column.map(|other| row_taken[other.row as usize]);
            let ambiguous = rivals_of_row.chain(rivals_of_column).any(|taken| !taken);
            row_taken[row] = true;
            column_taken[column] = true;
            chosen.push(Chosen { row: edge.row, column: edge.column, ambiguous });
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_pair_is_ambiguous_exactly_when_an_equal_one_could_have_been_taken(
            weights in proptest::collection::vec(0_i64..4, 36)
        ) {
            let present = weights.iter().enumerate().filter(|(_, weight)| **weight > 0);
            let edges: Vec<Edge> =
                present.map(|(i, &weight)| Edge { row: i as u32 / 6, column: i as u32 % 6, weight }).collect();
            let mut free = edges.clone();
            let mut expect = Vec::new();
            while let Some(&best) = free.iter().max_by_key(|e| (e.weight, std::cmp::Reverse((e.row, e.column)))) {
                let touches = |e: &Edge| e.row == best.row || e.column == best.column;
                let ambiguous = free.iter().any(|e| *e != best && e.weight == best.weight && touches(e));
                expect.push(Chosen { row: best.row, column: best.column, ambiguous });
                free.retain(|e| !touches(e));
            }
            expect.sort_unstable();
            prop_assert_eq!(assign(6, 6, &edges), expect);
        }
    }

    #[test]
    fn the_best_pair_comes_first_even_when_the_total_suffers() {
        let edges = [
            Edge { row: 0, column: 0, weight: 90 },
            Edge { row: 0, column: 1, weight: 80 },
            Edge { row: 1, column: 0, weight: 85 },
        ];
        assert_eq!(assign(2, 2, &edges), [Chosen { row: 0, column: 0, ambiguous: false }]);
    }

    #[test]
    fn ties_go_to_the_earlier_and_are_marked() {
        let edges = [Edge { row: 0, column: 1, weight: 50 }, Edge { row: 0, column: 0, weight: 50 }];
        assert_eq!(assign(1, 2, &edges), [Chosen { row: 0, column: 0, ambiguous: true }]);
    }
}
