//! Sparse rows: what cases add to the columns of a metric.

use std::cmp::Ordering;

/// What a case adds to the columns of a metric: the numbers of columns, upward, and what is added; all others are 0.
pub type Row = Vec<(usize, f64)>;

/// A figure from the columns of all cases, added up; none where it is undefined.
pub type Statistic<'a> = dyn Fn(&[f64]) -> Option<f64> + Sync + 'a;

/// Values no further apart are the same: means of the same trials in another order may differ in their last digits, and what was
/// kept may have been rounded to six.
pub(super) const SAME: f64 = 1e-6;

/// Less than this is what rounding leaves of a sum when all that it was made of is taken away.
const RESIDUE: f64 = 1e-9;

/// The same columns, with 0 where rounding left less than anything that was added.
pub(super) fn without_residue(mut columns: Vec<f64>) -> Vec<f64> {
    columns.iter_mut().filter(|column| column.abs() < RESIDUE).for_each(|column| *column = 0.0);
    columns
}

/// Adds a row to columns, that many times.
pub(super) fn add(columns: &mut [f64], row: &Row, times: f64) {
    for (column, added) in row {
        columns[*column] += times * added;
    }
}

/// The second row minus the first, without what is 0.
pub(super) fn difference(a: &Row, b: &Row) -> Row {
    let mut columns = std::collections::BTreeMap::new();
    for (row, sign) in [(a, -1.0), (b, 1.0)] {
        for (column, added) in row {
            *columns.entry(*column).or_insert(0.0) += sign * added;
        }
    }
    columns.into_iter().filter(|(_, v): &(usize, f64)| v.abs() > SAME).collect()
}

/// An order of rows that follows from what they hold.
pub(super) fn by_row(a: &Row, b: &Row) -> Ordering {
    let differs = a.iter().zip(b).map(|((i, x), (j, y))| i.cmp(j).then_with(|| x.total_cmp(y)));
    differs.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
}
