//! Tables of aligned text columns for terminals of any width.

use anstyle::Style;
use karat_format::diagnostic::harmless;
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A table cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    style: Style,
    right: bool,
    over: bool,
    folds: bool,
    /// The width of what stays on one line though the rest is wrapped.
    whole: usize,
}

impl Cell {
    /// Left-aligned text.
    pub fn left(text: impl AsRef<str>) -> Self {
        let text = harmless(text.as_ref()).into_owned();
        Self { text, ..Self::default() }
    }

    /// Right-aligned text.
    pub fn right(text: impl AsRef<str>) -> Self {
        Self { right: true, ..Self::left(text) }
    }

    /// Text that is wrapped if the table is too wide.
    pub fn folded(text: impl AsRef<str>) -> Self {
        Self { folds: true, ..Self::left(text) }
    }

    /// An id, which is never cut or broken, and text after it that is wrapped if the table is too wide.
    pub fn whole(id: &str, rest: &str) -> Self {
        Self { whole: harmless(id).width(), ..Self::folded(format!("{id} {rest}").trim_end()) }
    }

    /// The last cell of a row, which spans the remaining columns without widening them.
    pub fn over(text: impl AsRef<str>) -> Self {
        Self { over: true, ..Self::left(text) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn width(&self) -> usize {
        self.text.width()
    }

    /// The cell in a style.
    pub fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

/// A header row in dim text: the first cell left-aligned, the others right-aligned.
pub fn header(first: &str, others: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Cell> {
    let dim = Style::new().dimmed();
    std::iter::once(Cell::left(first)).chain(others.into_iter().map(Cell::right)).map(|cell| cell.styled(dim)).collect()
}

/// Wraps text between words; a word wider than a line is cut.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let words = text.split_whitespace().map(|word| fit(word, width.max(1)));
    lines(words, |line, word| line.width() + 1 + word.width() <= width)
}

/// Wraps text between words; a word wider than a line continues on the next.
pub fn fold(text: &str, width: usize) -> Vec<String> {
    let words = text.split_whitespace().flat_map(|word| pieces(word, width.max(2)));
    lines(words, |line, word| line.width() + 1 + word.width() <= width)
}

pub(crate) fn lines(words: impl Iterator<Item = String>, fits: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if fits(line, &word) => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut piece = String::new();
    for c in word.chars() {
        if piece.width() + c.width().unwrap_or(0) > width {
            let sign = piece.rfind(['-', '_', '/', '.', ':']).map(|at| at + 1).filter(|at| 2 * at > piece.len());
            let rest = sign.map(|at| piece.split_off(at)).unwrap_or_default();
            out.push(std::mem::replace(&mut piece, rest));
        }
        piece.push(c);
    }
    out.push(piece);
    out
}

/// Renders rows with two blanks between columns. If they do not fit, foldable text is wrapped, then the names in the first
/// column are shortened, down to 16 characters, and finally the remaining columns are put into a second table below.
pub fn draw(rows: &[Vec<Cell>], width: usize, colour: bool) -> String {
    let widths = fit_columns(rows, width);
    let rows = with_short_names(rows, widths.first().copied().unwrap_or_default());
    let mut used = 0;
    let fitting = widths.iter().take_while(|own| {
        used += **own + 2;
        used <= width
    });
    let fitting = fitting.count();
    // A table of only the first column would be useless.
    if fitting >= widths.len() || fitting < 2 {
        return rows.iter().map(|row| draw_row(row, &widths, colour)).collect();
    }
    let part = |from: usize, to: usize| -> Vec<Vec<Cell>> {
        let cells = |row: &Vec<Cell>| {
            let kept = row.iter().enumerate().filter(|(at, _)| *at == 0 || (from..to).contains(at));
            kept.map(|(_, cell)| cell.clone()).collect()
        };
        rows.iter().map(cells).collect()
    };
    let (mut first, mut rest) = (part(1, fitting), part(fitting, widths.len()));
    for part in [&mut first, &mut rest] {
        part.retain(|row| row.iter().skip(1).any(|cell| !cell.text.is_empty()));
    }
    first.iter().map(|row| draw_row(row, &widths, colour)).collect::<String>() + "\n" + &draw(&rest, width, colour)
}

fn with_short_names(rows: &[Vec<Cell>], width: usize) -> Vec<Vec<Cell>> {
    let mut rows = rows.to_vec();
    let is_name = |cell: &&Cell| !cell.folds && !cell.over;
    let names: Vec<String> =
        rows.iter().filter_map(|row| row.first().filter(is_name)).map(|cell| cell.text.clone()).collect();
    let short = shorten_names(names.iter().map(String::as_str), width);
    for cell in rows.iter_mut().filter_map(|row| row.first_mut()).filter(|cell| is_name(&&**cell)) {
        if let Some(name) = short.get(cell.text.as_str()) {
            cell.text.clone_from(name);
        }
    }
    rows
}

const NARROWEST: usize = 12;

fn fit_columns(rows: &[Vec<Cell>], width: usize) -> Vec<usize> {
    let mut widths = widths(rows);
    let folds: Vec<bool> =
        (0..widths.len()).map(|at| rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.folds))).collect();
    let least = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.whole).max().unwrap_or_default();
    let mut beyond = (widths.iter().sum::<usize>() + 2 * widths.len()).saturating_sub(width);
    while beyond > 0 {
        let widest = (0..widths.len())
            .filter(|&at| folds[at] && widths[at] > least(at).max(NARROWEST))
            .max_by_key(|&at| widths[at]);
        let Some(widest) = widest else { break };
        widths[widest] -= 1;
        beyond -= 1;
    }
    if let Some(first) = widths.first_mut().filter(|_| beyond > 0) {
        *first = (*first).saturating_sub(beyond).max(least(0).max(16.min(*first)));
    }
    widths
}

fn draw_row(row: &[Cell], widths: &[usize], colour: bool) -> String {
    let shown = |(cell, &width): (&Cell, &usize)| match (cell.over, cell.folds) {
        (true, _) => vec![cell.text.clone()],
        (false, true) => fold(&cell.text, width),
        (false, false) => vec![shorten(&cell.text, width)],
    };
    let cells: Vec<Vec<String>> = row.iter().zip(widths).map(shown).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let mut out = String::new();
    for nth in 0..height {
        let mut line = String::new();
        for (at, ((cell, texts), &width)) in row.iter().zip(&cells).zip(widths).enumerate() {
            let mut text = texts.get(nth).cloned().unwrap_or_default();
            let pad = if cell.over { String::new() } else { " ".repeat(width.saturating_sub(text.width())) };
            // Blanks inside of a style would not be trimmed below.
            if at + 1 == row.len() {
                text.truncate(text.trim_end().len());
            }
            let plain = text.is_empty() || cell.style == Style::new() || !colour;
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

/// The uncut width of the first columns.
pub fn width(rows: &[Vec<Cell>], columns: usize) -> usize {
    widths(rows).iter().take(columns).map(|width| width + 2).sum()
}

fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let column_width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.over);
        cells.map(|cell| cell.text.width()).max().unwrap_or(0)
    };
    (0..columns).map(column_width).collect()
}

/// Shortens a name in the middle, because many names differ only at their ends.
pub fn shorten(name: &str, width: usize) -> String {
    cut_middle(name, width, usual_head(width))
}

/// Shortens names so that different names stay different, each by its name.
pub fn shorten_names<'n>(names: impl IntoIterator<Item = &'n str>, width: usize) -> BTreeMap<&'n str, String> {
    let names: BTreeSet<&str> = names.into_iter().collect();
    let mut heads: Vec<usize> = (0..width.max(1)).collect();
    heads.sort_by_key(|head| head.abs_diff(usual_head(width)));
    let all = |head: usize| -> Vec<String> { names.iter().map(|name| cut_middle(name, width, head)).collect() };
    let differ = |short: &Vec<String>| short.iter().collect::<BTreeSet<_>>().len() == names.len();
    let short = heads.into_iter().map(all).find(differ).unwrap_or_else(|| number_equal(all(usual_head(width)), width));
    names.iter().copied().zip(short).collect()
}

/// Two thirds of what is kept.
fn usual_head(width: usize) -> usize {
    (2 * width.saturating_sub(1)).div_ceil(3)
}

/// Keeps the beginning, of at most this width, and as much of the end as fits.
fn cut_middle(name: &str, width: usize, head: usize) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let room = width.saturating_sub(1);
    let start = take_width(name.chars(), head.min(room));
    let start: String = name.chars().take(start).collect();
    let end = take_width(name.chars().rev(), room - start.width());
    let end: String = name.chars().skip(name.chars().count() - end).collect();
    format!("{start}…{end}")
}

/// How many characters fit.
fn take_width(chars: impl Iterator<Item = char>, room: usize) -> usize {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    chars.take_while(fits).count()
}

/// Names that no cut keeps apart are numbered: `abc…xyz`, `abc…~2`.
fn number_equal(short: Vec<String>, width: usize) -> Vec<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut number = |name: String| {
        let nth = times.entry(name.clone()).or_default();
        *nth += 1;
        match *nth {
            1 => name,
            nth => {
                let mark = format!("…~{nth}");
                let kept = take_width(name.chars(), width.saturating_sub(mark.width()));
                name.chars().take(kept).collect::<String>() + &mark
            }
        }
    };
    short.into_iter().map(&mut number).collect()
}

/// Cuts text to a width, with an ellipsis if something is lost.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_words_loses_nothing() {
        assert_eq!(fold("one two three", 7), ["one two", "three"]);
        assert_eq!(fold("nightly-2026-11-05", 12), ["nightly-", "2026-11-05"]);
        assert_eq!(fold("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("abcdefghij", 4), ["abc…"]);
    }

    #[test]
    fn wide_table_wraps_its_text_column() {
        let rows = [
            vec![Cell::left("id"), Cell::right("n"), Cell::folded("meaning")],
            vec![Cell::left("recall"), Cell::right("3"), Cell::folded("what was found of what there was")],
        ];
        let wide = "  id      n  meaning\n  recall  3  what was found of what there was\n";
        assert_eq!(draw(&rows, 80, false), wide);
        let narrow =
            "  id      n  meaning\n  recall  3  what was found\n             of what there\n             was\n";
        assert_eq!(draw(&rows, 28, false), narrow);
    }

    #[test]
    fn ids_stay_whole_at_any_width() {
        let id = "0192f3a4-5b6c-7d8e";
        let rows = [
            vec![Cell::left("run"), Cell::folded("suite"), Cell::right("trials")],
            vec![Cell::whole(id, "nightly-2026-11-05"), Cell::folded("a suite with a long name"), Cell::right("12/12")],
        ];
        for width in 1..100 {
            let drawn = draw(&rows, width, false);
            assert!(drawn.lines().any(|line| line.trim_start().starts_with(id)), "{width}:\n{drawn}");
        }
        assert!(draw(&rows, 40, false).contains("nightly-"));
    }

    #[test]
    fn names_are_shortened_in_the_middle_and_stay_different() {
        assert_eq!(shorten("careful-code-reviewer", 16), "careful-co…iewer");
        assert_eq!(shorten("short", 16), "short");
        let check = |names: &[&str], width: usize, expect: &[&str]| {
            let short = shorten_names(names.iter().copied(), width);
            assert_eq!(names.iter().map(|name| short[name].as_str()).collect::<Vec<_>>(), expect);
            assert!(short.values().all(|name| name.width() <= width), "{short:?}");
        };
        check(
            &["sol-staking-vault-reentrancy", "sol-staking-vault-reentrancy-fixed"],
            16,
            &["sol-stakin…rancy", "sol-stakin…fixed"],
        );
        // The usual cut would make these equal; a later or an earlier one does not.
        check(&["reviewer-a-with-all-tools", "reviewer-b-with-all-tools"], 12, &["reviewer-a…s", "reviewer-b…s"]);
        check(&["a-reviewer-1-of-team", "a-reviewer-2-of-team"], 12, &["a-…1-of-team", "a-…2-of-team"]);
        // No cut keeps these apart.
        check(&["abcdefgh-1-abcdefgh", "abcdefgh-2-abcdefgh"], 8, &["abcde…gh", "abcde…~2"]);
    }

    #[test]
    fn columns_without_room_form_a_second_table() {
        let row = |cells: [&str; 4]| cells.map(Cell::left).to_vec();
        let rows =
            [row(["tool", "precision", "recall", "accuracy"]), row(["a", "0.5", "0.6", "0.7"]), vec![Cell::left("b")]];
        let drawn = draw(&rows, 26, false);
        assert_eq!(drawn, "  tool  precision  recall\n  a     0.5        0.6\n\n  tool  accuracy\n  a     0.7\n");
    }
}
