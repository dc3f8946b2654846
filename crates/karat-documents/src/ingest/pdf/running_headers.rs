//! Removes running headers and footers: lines repeated at the same height on most pages.

use super::layout::Line;
use std::collections::BTreeMap;

/// Lines examined at the top and bottom of a page.
const EDGE: usize = 3;
/// On fewer pages, repetition may be coincidence.
const FEWEST_PAGES: usize = 3;
/// On two pages, a line must also be this far from all others, in font sizes.
const APART: f64 = 2.0;
/// Tolerance for equal heights, in points.
const SAME: f64 = 3.0;

/// Removes headers and footers; returns the number of lines.
pub(super) fn remove(pages: &mut [Vec<Line>]) -> usize {
    let filled = pages.iter().filter(|page| !page.is_empty()).count();
    if filled < 2 {
        return 0;
    }
    let mut heights_by_key: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for page in pages.iter() {
        for n in edges(page) {
            for key in keys(&page[n], page) {
                heights_by_key.entry(key).or_default().push(page[n].y);
            }
        }
    }
    // Left and right pages may have different headers, so fewer than half of the pages suffice.
    let repeats = |line: &Line, page: &[Line]| {
        keys(line, page).iter().any(|key| {
            let heights = heights_by_key.get(key).map(Vec::as_slice).unwrap_or_default();
            let n = heights.iter().filter(|y| (*y - line.y).abs() <= SAME).count();
            n >= FEWEST_PAGES.min(filled) && n * 5 >= filled * 2
        }) && (filled >= FEWEST_PAGES || stands_apart(line, page))
    };
    let mut cleared = 0;
    for page in pages.iter_mut() {
        let gone: Vec<usize> = edges(page).into_iter().filter(|n| repeats(&page[*n], page)).collect();
        cleared += gone.len();
        let mut n = 0;
        page.retain(|_| {
            n += 1;
            !gone.contains(&(n - 1))
        });
    }
    cleared
}

/// Whether a line is the first or last of its page, far from the text.
fn stands_apart(line: &Line, page: &[Line]) -> bool {
    let gaps = || page.iter().map(|other| other.y - line.y).filter(|gap| gap.abs() > SAME);
    let outermost = gaps().all(|gap| gap > 0.0) || gaps().all(|gap| gap < 0.0);
    outermost && gaps().all(|gap| gap.abs() > APART * line.size)
}

fn edges(page: &[Line]) -> Vec<usize> {
    let mut by_height: Vec<usize> = (0..page.len()).collect();
    by_height.sort_by(|a, b| page[*b].y.total_cmp(&page[*a].y));
    let n = by_height.len();
    if n <= 2 * EDGE {
        return by_height;
    }
    by_height[..EDGE].iter().chain(&by_height[n - EDGE..]).copied().collect()
}

/// What identifies a line on other pages: its words, or its words without a page number. The outermost line is identified by
/// the page number alone, since its words may name the chapter.
fn keys(line: &Line, page: &[Line]) -> Vec<String> {
    let outermost = page.iter().all(|other| other.y <= line.y) || page.iter().all(|other| other.y >= line.y);
    let text: String = line.text().chars().filter(|c| !c.is_whitespace()).collect();
    let mut keys = vec![text.clone()];
    let digits = |c: char| c.is_ascii_digit();
    let numbers: Vec<&str> = text.split(|c| !digits(c)).filter(|part| !part.is_empty()).collect();
    for (shown, at) in [(numbers.first(), text.find(digits)), (numbers.last(), text.rfind(digits))] {
        let (Some(shown), Some(at)) = (shown, at) else { continue };
        let Ok(number) = shown.parse::<i64>() else { continue };
        // Whether the first or the last number was removed.
        let (before, after) = if text[at..].starts_with(shown) {
            (&text[..at], &text[at + shown.len()..])
        } else {
            (&text[..at + 1 - shown.len()], &text[at + 1..])
        };
        let step = number - i64::try_from(line.page).unwrap_or_default();
        keys.push(format!("{before}#{step}#{after}"));
        // A number in the middle counts something else.
        if outermost && (before.is_empty() || after.is_empty()) {
            keys.push(format!("#{step}#"));
        }
    }
    keys
}
