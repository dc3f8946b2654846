//! Running heads and feet: what stands at the same height on most pages, and says nothing of its own.

use super::layout::Line;
use std::collections::BTreeMap;

/// How many lines from the top and the bottom of a page are looked at.
const EDGE: usize = 3;
/// Fewer pages than this repeat nothing.
const FEWEST_PAGES: usize = 3;
/// Heights this far apart, in points, are the same.
const SAME: f64 = 3.0;

/// Takes running heads and feet away, and says how many lines that were.
pub(super) fn clear(pages: &mut [Vec<Line>]) -> usize {
    let filled = pages.iter().filter(|page| !page.is_empty()).count();
    if filled < FEWEST_PAGES {
        return 0;
    }
    let mut seen: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for page in pages.iter() {
        for n in edges(page) {
            seen.entry(words(&page[n])).or_default().push(page[n].y);
        }
    }
    // Heads of left and right pages may differ, so less than every second page is enough.
    let repeats = |line: &Line| {
        let heights = seen.get(&words(line)).map(Vec::as_slice).unwrap_or_default();
        let n = heights.iter().filter(|y| (*y - line.y).abs() <= SAME).count();
        n >= FEWEST_PAGES.min(filled) && n * 5 >= filled * 2
    };
    let mut cleared = 0;
    for page in pages.iter_mut() {
        let gone: Vec<usize> = edges(page).into_iter().filter(|n| repeats(&page[*n])).collect();
        cleared += gone.len();
        let mut n = 0;
        page.retain(|_| {
            n += 1;
            !gone.contains(&(n - 1))
        });
    }
    cleared
}

/// The lines at the top and the bottom of a page.
fn edges(page: &[Line]) -> Vec<usize> {
    let mut by_height: Vec<usize> = (0..page.len()).collect();
    by_height.sort_by(|a, b| page[*b].y.total_cmp(&page[*a].y));
    let n = by_height.len();
    if n <= 2 * EDGE {
        return by_height;
    }
    by_height[..EDGE].iter().chain(&by_height[n - EDGE..]).copied().collect()
}

/// The words of a line, with all numbers alike, as pages are counted.
fn words(line: &Line) -> String {
    let mut out = String::new();
    for c in line.text().chars().filter(|c| !c.is_whitespace()) {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}
