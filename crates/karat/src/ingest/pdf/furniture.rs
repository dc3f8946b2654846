//! Running heads and feet: what stands at the same height on most pages, and says nothing of its own.

use super::layout::Line;
use std::collections::BTreeMap;

/// How many lines from the top and the bottom of a page are looked at.
const EDGE: usize = 3;
/// On fewer pages than this, what repeats may be chance.
const FEWEST_PAGES: usize = 3;
/// On two pages a line must also stand this far from all others, in sizes of its font.
const APART: f64 = 2.0;
/// Heights this far apart, in points, are the same.
const SAME: f64 = 3.0;

/// Takes running heads and feet away, and says how many lines that were.
pub(super) fn clear(pages: &mut [Vec<Line>]) -> usize {
    let filled = pages.iter().filter(|page| !page.is_empty()).count();
    if filled < 2 {
        return 0;
    }
    let mut seen: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for page in pages.iter() {
        for n in edges(page) {
            for key in keys(&page[n], page) {
                seen.entry(key).or_default().push(page[n].y);
            }
        }
    }
    // Heads of left and right pages may differ, so less than every second page is enough.
    let repeats = |line: &Line, page: &[Line]| {
        keys(line, page).iter().any(|key| {
            let heights = seen.get(key).map(Vec::as_slice).unwrap_or_default();
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

/// Whether a line is the first or the last of its page, far from the text.
fn stands_apart(line: &Line, page: &[Line]) -> bool {
    let gaps = || page.iter().map(|other| other.y - line.y).filter(|gap| gap.abs() > SAME);
    let outermost = gaps().all(|gap| gap > 0.0) || gaps().all(|gap| gap < 0.0);
    outermost && gaps().all(|gap| gap.abs() > APART * line.size)
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

/// What a line is known by on other pages: its words, or its words with a number that grows as pages do. The outermost
/// line of a page is known by that number alone, as its words may name the chapter.
fn keys(line: &Line, page: &[Line]) -> Vec<String> {
    let outermost = page.iter().all(|other| other.y <= line.y) || page.iter().all(|other| other.y >= line.y);
    let text: String = line.text().chars().filter(|c| !c.is_whitespace()).collect();
    let mut keys = vec![text.clone()];
    let digits = |c: char| c.is_ascii_digit();
    let numbers: Vec<&str> = text.split(|c| !digits(c)).filter(|part| !part.is_empty()).collect();
    for (shown, at) in [(numbers.first(), text.find(digits)), (numbers.last(), text.rfind(digits))] {
        let (Some(shown), Some(at)) = (shown, at) else { continue };
        let Ok(number) = shown.parse::<i64>() else { continue };
        // The place of the first or the last digit tells which number was taken out.
        let (before, after) = if text[at..].starts_with(shown) {
            (&text[..at], &text[at + shown.len()..])
        } else {
            (&text[..at + 1 - shown.len()], &text[at + 1..])
        };
        let step = number - i64::try_from(line.page).unwrap_or_default();
        keys.push(format!("{before}#{step}#{after}"));
        // A number in the middle of words counts something else.
        if outermost && (before.is_empty() || after.is_empty()) {
            keys.push(format!("#{step}#"));
        }
    }
    keys
}
