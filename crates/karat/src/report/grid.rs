//! Aligned columns of text for a terminal of any width.

use crate::diagnostic::harmless;
use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One field.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    style: Style,
    right: bool,
    over: bool,
}

impl Cell {
    /// Text, to the left.
    pub fn left(text: impl AsRef<str>) -> Self {
        Self { text: harmless(text.as_ref()).into_owned(), style: Style::new(), right: false, over: false }
    }

    /// A number, to the right.
    pub fn right(text: impl AsRef<str>) -> Self {
        Self { right: true, ..Self::left(text) }
    }

    /// The last of its row: it runs on over the columns that the row does not have, and makes none wider.
    pub fn over(text: impl AsRef<str>) -> Self {
        Self { over: true, ..Self::left(text) }
    }

    /// The same in a style.
    pub fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

/// The text in lines of this width, broken between words; a word that is wider than a line is cut.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = fit(word, width.max(1));
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Draws rows with two blanks between columns. Where they do not fit, the first column is cut, down to 16 characters.
pub fn draw(rows: &[Vec<Cell>], width: usize, colour: bool) -> String {
    let mut widths = widths(rows);
    let total = widths.iter().sum::<usize>() + 2 * widths.len();
    if let Some(first) = widths.first_mut()
        && total > width
    {
        *first = (*first).saturating_sub(total - width).max(16.min(*first));
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, &width) in row.iter().zip(&widths) {
            let width = if cell.over { usize::MAX } else { width };
            let text = fit(&cell.text, width);
            let pad = if cell.over { String::new() } else { " ".repeat(width.saturating_sub(text.width())) };
            let plain = cell.style == Style::new() || !colour;
            let painted =
                if plain { text } else { format!("{}{text}{}", cell.style.render(), cell.style.render_reset()) };
            line.push_str("  ");
            if cell.right {
                line.push_str(&pad);
                line.push_str(&painted);
            } else {
                line.push_str(&painted);
                line.push_str(&pad);
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// How wide the first so many columns are where nothing is cut.
pub fn width(rows: &[Vec<Cell>], columns: usize) -> usize {
    widths(rows).iter().take(columns).map(|width| width + 2).sum()
}

fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.over);
        cells.map(|cell| cell.text.width()).max().unwrap_or(0)
    };
    (0..columns).map(of).collect()
}

/// Cuts a text to a width, with an ellipsis where something is lost.
pub fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}
