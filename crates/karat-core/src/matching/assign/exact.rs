//! Exact maximum-weight assignment, one connected component at a time.
//!
//! Within a component this is the sparse form of Jonker and Volgenant's method: rows are put in one after another, each along
//! a shortest augmenting path, with a cheaper auction-like pass before. A row may stay free at no cost, so nothing is ever
//! matched that lowers the total, and no matrix is ever built.

use super::graph::{FREE, Graph, Solution, Weight, by_row_and_column, components, number_columns};
use super::{Chosen, Edge, ambiguity};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Assigns so that the weights of the highest tier of rows add up to the most, then, among all such assignments, those of the
/// next tier, and so on. `tier[row]` is higher for rows that are served earlier.
pub fn assign(columns: usize, tier: &[u8], edges: &[Edge]) -> Vec<Chosen> {
    let sorted = by_row_and_column(edges);
    let mut of_row: Vec<&[Edge]> = vec![&[]; tier.len()];
    for row in sorted.chunk_by(|a, b| a.row == b.row) {
        of_row[row[0].row as usize] = row;
    }

    let mut chosen = Vec::new();
    let mut own_number = vec![FREE; columns];
    for component in components(tier.len(), columns, &sorted).chunk_by(|a, b| a.0 == b.0) {
        if let [(_, row)] = component
            && let [edge] = of_row[*row as usize]
        {
            if edge.weight > 0 {
                chosen.push(Chosen { row: edge.row, column: edge.column, ambiguous: false });
            }
            continue;
        }
        let rows: Vec<&[Edge]> = component.iter().map(|(_, row)| of_row[*row as usize]).collect();
        let columns = number_columns(&rows, &mut own_number);
        let tiers: Vec<u8> = component.iter().map(|(_, row)| tier[*row as usize]).collect();
        let graph = Graph { rows, tiers, columns: columns.len(), own_number: &own_number };
        let pairs = if graph.tiers.iter().all(|t| *t == graph.tiers[0]) {
            solve_component::<i64>(&graph)
        } else {
            solve_component::<i128>(&graph)
        };
        chosen.extend(pairs.into_iter().map(|(row, column, ambiguous)| Chosen {
            row: component[row].1,
            column: columns[column as usize],
            ambiguous,
        }));
    }
    chosen.sort_unstable();
    chosen
}

/// The chosen pairs of a component in its own numbering, each with whether it could be done without.
fn solve_component<W: Weight>(graph: &Graph<'_>) -> Vec<(usize, u32, bool)> {
    let solution = solve::<W>(graph);
    let ambiguous = ambiguity::ambiguous_rows(graph, &solution);
    let pairs = solution.column_of.iter().enumerate().filter(|(_, column)| **column != FREE);
    pairs.map(|(row, &column)| (row, column, ambiguous[row])).collect()
}

fn solve<W: Weight>(graph: &Graph<'_>) -> Solution<W> {
    let zero = W::default();
    let mut solution = Solution {
        column_of: vec![FREE; graph.rows.len()],
        row_of: vec![FREE; graph.columns],
        profit: vec![zero; graph.rows.len()],
        price: vec![zero; graph.columns],
    };
    let mut open: Vec<u32> = (0..graph.rows.len() as u32).collect();
    for _ in 0..2 {
        open = bid(graph, &mut solution, open);
    }
    let mut search = Search::new(graph);
    for row in open {
        search.augment(graph, &mut solution, row);
    }
    solution
}

/// Each open row takes the column that leaves it the most, and pays for it what makes its second choice as good.
/// Rows that were pushed out, or could not decide, are returned. Rows that no column pays for drop out for good.
fn bid<W: Weight>(graph: &Graph<'_>, solution: &mut Solution<W>, open: Vec<u32>) -> Vec<u32> {
    let zero = W::default();
    let mut left = Vec::new();
    let mut budget = open.len() * 4;
    let mut queue: std::collections::VecDeque<u32> = open.into();
    while let Some(row) = queue.pop_front() {
        let (mut best, mut best_column, mut second) = (zero, FREE, zero);
        for (column, weight) in graph.edges::<W>(row as usize) {
            let gain = weight - solution.price[column as usize];
            if gain > best {
                second = best;
                (best, best_column) = (gain, column);
            } else if gain == best && best_column != FREE {
                second = gain;
                // Among equals prefer a free column, which displaces no row.
                if solution.row_of[best_column as usize] != FREE && solution.row_of[column as usize] == FREE {
                    best_column = column;
                }
            } else if gain > second {
                second = gain;
            }
        }
        if best_column == FREE {
            solution.profit[row as usize] = zero;
            continue;
        }
        let owner = solution.row_of[best_column as usize];
        if owner != FREE && best == second {
            solution.profit[row as usize] = zero;
            left.push(row);
            continue;
        }
        solution.price[best_column as usize] = solution.price[best_column as usize] + (best - second);
        solution.profit[row as usize] = second;
        solution.row_of[best_column as usize] = row;
        solution.column_of[row as usize] = best_column;
        if owner != FREE {
            solution.column_of[owner as usize] = FREE;
            solution.profit[owner as usize] = zero;
            if budget > 0 {
                budget -= 1;
                queue.push_front(owner);
            } else {
                left.push(owner);
            }
        }
    }
    left.sort_unstable();
    left
}

enum End {
    Free(u32),
    /// At a row that gives its column up and stays free.
    GivenUpBy(u32),
}

/// How a column was reached in a round: the least loss, and from which row.
#[derive(Clone, Copy, Default)]
struct Reached<W> {
    loss: W,
    from: u32,
    round: u32,
    settled: bool,
}

/// Scratch space of the shortest-path search, kept between rows.
struct Search<W> {
    columns: Vec<Reached<W>>,
    round: u32,
    heap: BinaryHeap<Reverse<(W, u32)>>,
}

impl<W: Weight> Search<W> {
    fn new(graph: &Graph<'_>) -> Self {
        Self { columns: vec![Reached::default(); graph.columns], round: 0, heap: BinaryHeap::new() }
    }

    /// Puts one more row in along the cheapest alternating path, to a free column or a row that gives its column up.
    fn augment(&mut self, graph: &Graph<'_>, solution: &mut Solution<W>, start: u32) {
        let zero = W::default();
        self.round += 1;
        self.heap.clear();
        // The start row's profit is what its best column leaves it, which keeps every reduced loss at or above 0.
        let best = graph.edges::<W>(start as usize).map(|(c, w)| w - solution.price[c as usize]).max();
        let Some(best) = best.filter(|&b| b > zero) else {
            solution.profit[start as usize] = zero;
            return;
        };
        solution.profit[start as usize] = best;

        let mut settled_columns: Vec<u32> = Vec::new();
        let mut row = start;
        let mut at = zero;
        // The cheapest end found so far, and what it costs. Paths that cost as much are not explored.
        let mut end = End::GivenUpBy(start);
        let mut total = best;
        loop {
            let profit = solution.profit[row as usize];
            if at + profit < total {
                (total, end) = (at + profit, End::GivenUpBy(row));
            }
            for (column, weight) in graph.edges::<W>(row as usize) {
                let c = column as usize;
                let loss = at + (profit + solution.price[c] - weight);
                if loss >= total {
                    continue;
                }
                let reached = &mut self.columns[c];
                if reached.round == self.round && (reached.settled || loss >= reached.loss) {
                    continue;
                }
                *reached = Reached { loss, from: row, round: self.round, settled: false };
                if solution.row_of[c] == FREE {
                    (total, end) = (loss, End::Free(column));
                    if loss == at {
                        break;
                    }
                } else {
                    self.heap.push(Reverse((loss, column)));
                }
            }
            // An entry that a shorter path has replaced is passed over.
            let is_current = |reached: &Reached<W>, loss: W| !reached.settled && loss == reached.loss;
            let next = std::iter::from_fn(|| self.heap.pop())
                .find(|Reverse((loss, c))| *loss >= total || is_current(&self.columns[*c as usize], *loss));
            let Some(Reverse((loss, column))) = next.filter(|Reverse((loss, _))| *loss < total) else { break };
            self.columns[column as usize].settled = true;
            at = loss;
            settled_columns.push(column);
            row = solution.row_of[column as usize];
        }

        // Profits fall and prices rise along the searched tree by what the path cost beyond each node.
        solution.profit[start as usize] = solution.profit[start as usize] - total;
        for &column in &settled_columns {
            let slack = total - self.columns[column as usize].loss;
            solution.price[column as usize] = solution.price[column as usize] + slack;
            let owner = solution.row_of[column as usize] as usize;
            solution.profit[owner] = solution.profit[owner] - slack;
        }
        let mut column = match end {
            End::Free(column) => column,
            End::GivenUpBy(row) if row == start => return,
            End::GivenUpBy(row) => {
                let column = solution.column_of[row as usize];
                solution.column_of[row as usize] = FREE;
                solution.row_of[column as usize] = FREE;
                column
            }
        };
        loop {
            let row = self.columns[column as usize].from;
            let previous = solution.column_of[row as usize];
            solution.column_of[row as usize] = column;
            solution.row_of[column as usize] = row;
            if row == start {
                return;
            }
            column = previous;
        }
    }
}

#[cfg(test)]
mod tests;
