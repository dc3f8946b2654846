//! The bipartite graph of pairs that count, split into connected components.

use super::Edge;
use std::borrow::Cow;
use std::ops::{Add, Sub};

/// Stands for "no column" and "no row".
pub(super) const FREE: u32 = u32::MAX;

/// A component with its own numbering of rows and columns, drawn over the edges as they are.
pub(super) struct Graph<'e> {
    pub(super) rows: Vec<&'e [Edge]>,
    pub(super) tiers: Vec<u8>,
    pub(super) own_number: &'e [u32],
    pub(super) columns: usize,
}

impl Graph<'_> {
    /// The edges of a row: column and weight, by rising column.
    pub(super) fn edges<W: Weight>(&self, row: usize) -> impl Iterator<Item = (u32, W)> {
        let tier = self.tiers[row];
        let edge = move |edge: &Edge| (self.own_number[edge.column as usize], W::from_weight(edge.weight, tier));
        self.rows[row].iter().map(edge)
    }
}

/// Whole numbers an assignment can be computed in.
pub(super) trait Weight: Copy + Ord + Default + Add<Output = Self> + Sub<Output = Self> {
    fn from_weight(weight: i64, tier: u8) -> Self;
}

/// Enough where all rows are of one tier.
impl Weight for i64 {
    fn from_weight(weight: i64, _: u8) -> Self {
        weight
    }
}

/// A single pair of a higher tier outweighs all pairs of the lower ones together, up to 65,000 of them.
impl Weight for i128 {
    fn from_weight(weight: i64, tier: u8) -> Self {
        Self::from(weight) << (46 * u32::from(tier.min(2)))
    }
}

/// An optimum with its certificate: for every edge `profit[row] + price[column] >= weight`, with equality on chosen edges;
/// profits and prices are never negative and are 0 where free.
pub(super) struct Solution<W> {
    pub(super) column_of: Vec<u32>,
    pub(super) row_of: Vec<u32>,
    pub(super) profit: Vec<W>,
    pub(super) price: Vec<W>,
}

/// Edges mostly come in order, and there may be millions: they are copied only where they do not.
pub(super) fn by_row_and_column(edges: &[Edge]) -> Cow<'_, [Edge]> {
    let place = |edge: &Edge| (edge.row, edge.column);
    if edges.is_sorted_by_key(place) {
        return Cow::Borrowed(edges);
    }
    let mut sorted = edges.to_vec();
    sorted.sort_unstable_by_key(place);
    Cow::Owned(sorted)
}

/// Every row that has edges, behind the first row of its component; sorted.
pub(super) fn components(rows: usize, columns: usize, edges: &[Edge]) -> Vec<(u32, u32)> {
    let mut parent: Vec<u32> = (0..u32::try_from(rows + columns).unwrap_or(u32::MAX)).collect();
    fn root(parent: &mut [u32], mut node: u32) -> u32 {
        while parent[node as usize] != node {
            let up = parent[parent[node as usize] as usize];
            parent[node as usize] = up;
            node = up;
        }
        node
    }
    let offset = rows as u32;
    for edge in edges {
        let a = root(&mut parent, edge.row);
        let b = root(&mut parent, offset + edge.column);
        // The smaller index becomes the root, so that the root of a component is its first row.
        parent[a.max(b) as usize] = a.min(b);
    }
    let with_edges = edges.chunk_by(|a, b| a.row == b.row).map(|of_row| of_row[0].row);
    let mut members: Vec<(u32, u32)> = with_edges.map(|row| (root(&mut parent, row), row)).collect();
    members.sort_unstable();
    members
}

/// Numbers the columns of a component from 0 in their order, and returns them. No other component has any of them.
pub(super) fn number_columns(rows: &[&[Edge]], own_number: &mut [u32]) -> Vec<u32> {
    let mut columns = Vec::new();
    for edge in rows.iter().copied().flatten() {
        let number = &mut own_number[edge.column as usize];
        if *number == FREE {
            *number = 0;
            columns.push(edge.column);
        }
    }
    columns.sort_unstable();
    for (number, &column) in columns.iter().enumerate() {
        own_number[column as usize] = number as u32;
    }
    columns
}
