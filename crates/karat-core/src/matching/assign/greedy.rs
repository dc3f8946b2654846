//! The best pair first, then the best of what is left.

use super::{Chosen, Edge};

/// Assigns by falling weight; ties go to the earlier golden, then to the earlier finding.
pub fn assign(rows: usize, columns: usize, edges: &[Edge]) -> Vec<Chosen> {
    let mut sorted: Vec<Edge> = edges.to_vec();
    sorted.sort_unstable_by_key(|e| (std::cmp::Reverse(e.weight), e.row, e.column));
    let mut row_taken = vec![false; rows];
    let mut column_taken = vec![false; columns];
    let mut chosen = Vec::new();
    for (i, edge) in sorted.iter().enumerate() {
        let (row, column) = (edge.row as usize, edge.column as usize);
        if row_taken[row] || column_taken[column] {
            continue;
        }
        let ambiguous = sorted[i + 1..]
            .iter()
            .take_while(|other| other.weight == edge.weight)
            .filter(|other| !row_taken[other.row as usize] && !column_taken[other.column as usize])
            .any(|other| other.row == edge.row || other.column == edge.column);
        row_taken[row] = true;
        column_taken[column] = true;
        chosen.push(Chosen { row: edge.row, column: edge.column, ambiguous });
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

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
