//! Finds chosen pairs that another assignment of equal weight avoids.
//!
//! Only edges that are tight in the certificate can be in an optimum. Every matched column is a node; one more
//! node stands for everything free. An edge from `a` to `b` means that the row on `a` may move to `b` at no
//! loss. A chosen pair can be avoided exactly when its column lies on a cycle of such moves.

use super::graph::{FREE, Graph, Solution, Weight};

/// For each row, whether its pair can be avoided at no loss.
pub(super) fn ambiguous_rows<W: Weight>(graph: &Graph<'_>, solution: &Solution<W>) -> Vec<bool> {
    let zero = W::default();
    let outside = graph.columns;
    let mut arrows: Vec<Vec<u32>> = vec![Vec::new(); graph.columns + 1];
    for row in 0..graph.rows.len() {
        let own = solution.column_of[row];
        let from = if own == FREE { outside } else { own as usize };
        if own != FREE && solution.profit[row] == zero {
            arrows[from].push(outside as u32);
        }
        for (column, weight) in graph.edges::<W>(row) {
            let tight = solution.profit[row] + solution.price[column as usize] == weight;
            if column != own && tight {
                let to = if solution.row_of[column as usize] == FREE { outside as u32 } else { column };
                arrows[from].push(to);
            }
        }
    }
    for (column, &row) in solution.row_of.iter().enumerate() {
        if row != FREE && solution.price[column] == zero {
            arrows[outside].push(column as u32);
        }
    }
    let on_cycle = on_a_cycle(&arrows);
    solution.column_of.iter().map(|&column| column != FREE && on_cycle[column as usize]).collect()
}

/// Nodes in a strongly connected component of two or more, by Tarjan's method without recursion.
fn on_a_cycle(arrows: &[Vec<u32>]) -> Vec<bool> {
    const UNSEEN: u32 = u32::MAX;
    let mut order = vec![UNSEEN; arrows.len()];
    let mut low = vec![0_u32; arrows.len()];
    let mut on_stack = vec![false; arrows.len()];
    let mut result = vec![false; arrows.len()];
    let mut stack: Vec<u32> = Vec::new();
    let mut counter = 0;
    for start in 0..arrows.len() {
        if order[start] != UNSEEN {
            continue;
        }
        let mut work: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some(&mut (node, ref mut next)) = work.last_mut() {
            if *next == 0 && order[node] == UNSEEN {
                order[node] = counter;
                low[node] = counter;
                counter += 1;
                stack.push(node as u32);
                on_stack[node] = true;
            }
            if let Some(&to) = arrows[node].get(*next) {
                *next += 1;
                let to = to as usize;
                if order[to] == UNSEEN {
                    work.push((to, 0));
                } else if on_stack[to] {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            work.pop();
            if let Some(&(parent, _)) = work.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                let size_before = stack.len();
                let first = stack.iter().rposition(|&n| n as usize == node).unwrap_or(0);
                let several = size_before - first > 1;
                for member in stack.drain(first..) {
                    on_stack[member as usize] = false;
                    result[member as usize] = several;
                }
            }
        }
    }
    result
}
