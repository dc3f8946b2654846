//! Estimates text widths before rendering, and cuts text to a width.

use crate::grid;
use unicode_width::UnicodeWidthChar;

/// Estimated for a rather wide font.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

pub(super) fn widest<'a>(texts: impl Iterator<Item = &'a str>, size: f64) -> f64 {
    texts.map(|text| width(text, size)).fold(0.0, f64::max)
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | ' ' => 0.28,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | 'I' => 0.38,
        'm' | 'M' | 'W' | '@' | '%' => 0.93,
        'w' => 0.79,
        'A'..='Z' | '&' | '#' | '…' | '–' => 0.69,
        c if c.width() == Some(2) => 1.0,
        c if c.width() == Some(0) => 0.0,
        _ => 0.59,
    }
}

pub(super) fn fit(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut used = em('…') * size;
    let kept = text.chars().take_while(|c| {
        used += em(*c) * size;
        used <= room
    });
    let mut kept: String = kept.collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Keeps the end after an ellipsis: numbered names differ at the end.
pub(super) fn fit_end(text: &str, room: f64, size: f64) -> String {
    let turned: String = text.chars().rev().collect();
    fit(&turned, room, size).chars().rev().collect()
}

/// Keeps both ends around an ellipsis, so that names with the same start stay distinct.
pub(super) fn fit_middle(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let half = (room - em('…') * size) / 2.0;
    let taken = |chars: &mut dyn Iterator<Item = char>| {
        let mut used = 0.0;
        let fits = |c: &char| {
            used += em(*c) * size;
            used <= half
        };
        chars.take_while(fits).collect::<String>()
    };
    let start = taken(&mut text.chars());
    let end: String = taken(&mut text.chars().rev()).chars().rev().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

pub(super) fn wrap(text: &str, room: f64, size: f64) -> Vec<String> {
    let words = text.split_whitespace().map(|word| fit(word, room, size));
    grid::lines(words, |line, word| width(line, size) + width(word, size) + em(' ') * size <= room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        assert_eq!(fit("short", 100.0, 13.0), "short");
        let cut = fit("a-reviewer-with-quite-a-long-name", 100.0, 13.0);
        assert!(cut.ends_with('…') && cut.starts_with("a-rev") && width(&cut, 13.0) <= 100.0, "{cut}");
        assert_eq!(fit("審査員の名前", 40.0, 13.0), "審査…");
        assert_eq!(fit_end("nightly-2026-11-05", 60.0, 11.0), "…26-11-05");
        let middle = fit_middle("a-reviewer-with-quite-a-long-name", 100.0, 13.0);
        assert!(middle.starts_with("a-rev") && middle.ends_with("-name") && width(&middle, 13.0) <= 100.0, "{middle}");
        assert_eq!(fit_middle("short", 100.0, 13.0), "short");
        assert_eq!(wrap("one two three", 50.0, 13.0), ["one two", "three"]);
    }
}
