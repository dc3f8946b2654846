//! From characters on a page to lines in the order in which they are read.

use super::glyphs::Glyph;
use super::piece::{Piece, add};
use super::tables;
use crate::ingest::clause::Span;

/// A line of text.
#[derive(Debug)]
pub(super) struct Line {
    /// The page, from 1.
    pub(super) page: usize,
    /// The column it stands in, from 0, or `None` where it goes over all of them.
    pub(super) column: Option<usize>,
    pub(super) x: f64,
    pub(super) end: f64,
    /// Where the longest line around it ends.
    pub(super) edge: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) spans: Vec<Span>,
    /// Whether it is a row of a table.
    pub(super) row: bool,
}

impl Line {
    pub(super) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    pub(super) fn is_bold(&self) -> bool {
        self.spans.iter().all(|span| span.marked || span.text.trim().is_empty())
    }
}

/// A gap wider than this, in sizes of the font, divides columns, and cells of tables.
const WIDE: f64 = 1.4;
/// A gap wider than this divides words.
const SPACE: f64 = 0.17;
/// Characters this far apart in height still stand on one line.
const ONE_LINE: f64 = 0.4;

/// The lines of a page, in the order in which they are read.
pub(super) fn lines(page: usize, glyphs: Vec<Glyph>) -> Vec<Line> {
    let rows: Vec<Vec<Piece>> = rows(glyphs).into_iter().map(pieces).filter(|row| !row.is_empty()).collect();
    let mut out = Vec::new();
    let Some(gutter) = gutter(&rows) else {
        flow(rows, page, None, &mut out);
        return out;
    };
    // What goes over both columns divides the page into bands; in each the left one is read before the right one.
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for row in rows {
        let (mut here, mut there, mut over) = (Vec::new(), Vec::new(), Vec::new());
        for piece in row {
            if piece.x < gutter && piece.end > gutter {
                over.push(piece);
            } else if piece.end <= gutter {
                here.push(piece);
            } else {
                there.push(piece);
            }
        }
        if !over.is_empty() {
            flow(std::mem::take(&mut left), page, Some(0), &mut out);
            flow(std::mem::take(&mut right), page, Some(1), &mut out);
            here.extend(over);
            here.extend(there);
            flow(vec![here], page, None, &mut out);
            continue;
        }
        left.extend(Some(here).filter(|row| !row.is_empty()));
        right.extend(Some(there).filter(|row| !row.is_empty()));
    }
    flow(left, page, Some(0), &mut out);
    flow(right, page, Some(1), &mut out);
    out
}

fn rows(mut glyphs: Vec<Glyph>) -> Vec<Vec<Glyph>> {
    glyphs.retain(|glyph| !glyph.text.is_empty());
    glyphs.sort_by(|a, b| b.y.total_cmp(&a.y));
    let mut rows: Vec<Vec<Glyph>> = Vec::new();
    for glyph in glyphs {
        match rows.last_mut() {
            Some(row)
                if row.first().is_some_and(|first| first.y - glyph.y <= ONE_LINE * first.size.max(glyph.size)) =>
            {
                row.push(glyph);
            }
            _ => rows.push(vec![glyph]),
        }
    }
    rows
}

fn pieces(mut row: Vec<Glyph>) -> Vec<Piece> {
    row.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut pieces: Vec<Piece> = Vec::new();
    let mut last: Option<Glyph> = None;
    for glyph in row {
        let gap = last.as_ref().map(|last| glyph.x - last.end);
        let doubled = last.as_ref().is_some_and(|last| last.text == glyph.text && glyph.x - last.x < 0.1 * glyph.size);
        // A letter drawn twice, a hair apart, is a letter in bold.
        if doubled && !glyph.text.trim().is_empty() {
            continue;
        }
        let blank = glyph.text.trim().is_empty();
        match (pieces.last_mut(), gap) {
            (Some(piece), Some(gap)) if gap <= WIDE * glyph.size.min(piece.size) => {
                let spaced = piece.spans.last().is_some_and(|span| span.text.ends_with(' '));
                if (gap > SPACE * glyph.size || blank) && !spaced {
                    add(&mut piece.spans, " ", glyph.bold);
                }
                if !blank {
                    add(&mut piece.spans, &glyph.text, glyph.bold);
                    piece.end = piece.end.max(glyph.end);
                    piece.size = piece.size.max(glyph.size);
                }
            }
            _ if blank => continue,
            _ => {
                let spans = vec![Span { text: glyph.text.clone(), marked: glyph.bold }];
                pieces.push(Piece { x: glyph.x, end: glyph.end, y: glyph.y, size: glyph.size, spans });
            }
        }
        last = Some(glyph);
    }
    pieces
}

/// Fewer lines than this make no column.
const FEWEST_LINES: usize = 4;

/// The middle of the gap between two columns of text, where there are two.
fn gutter(rows: &[Vec<Piece>]) -> Option<f64> {
    let all = || rows.iter().flatten();
    let low = all().map(|piece| piece.x).min_by(f64::total_cmp)?;
    let high = all().map(|piece| piece.end).max_by(f64::total_cmp)?;
    let width = high - low;
    let between = rows.iter().flat_map(|row| row.windows(2).map(|pair| (pair[0].end + pair[1].x) / 2.0));
    // Lines of two columns need not stand beside each other; those of the right one begin below each other.
    let mut starts: Vec<f64> = all().map(|piece| piece.x).collect();
    starts.sort_by(f64::total_cmp);
    let columns = starts.chunk_by(|a, b| b - a < 1.0).filter(|same| same.len() >= FEWEST_LINES);
    let before = columns.map(|same| same[0] - 1.0);
    let within = |middle: &f64| (0.3..0.7).contains(&((middle - low) / width));
    let mut middles: Vec<f64> = between.chain(before).filter(within).collect();
    middles.sort_by(f64::total_cmp);
    middles.dedup_by(|a, b| (*a - *b).abs() < 2.0);
    let fits = |middle: f64| {
        let over = rows.iter().filter(|row| row.iter().any(|piece| piece.x < middle && piece.end > middle)).count();
        // How many lines there are on one side, and whether they are text: many of them go over the column in one piece, as
        // rows of a table do not. Headings, last lines and a table within the column do not either.
        let side = |from: f64, to: f64| {
            let within = |piece: &&Piece| piece.x >= from && piece.end <= to;
            let (mut lines, mut whole) = (0, 0);
            for row in rows {
                let mut pieces = row.iter().filter(within);
                let Some(first) = pieces.next() else { continue };
                lines += 1;
                whole += usize::from(pieces.next().is_none() && first.end - first.x > 0.5 * (to - from));
            }
            (lines, whole * 5 >= lines * 2)
        };
        let ((n, left), (m, right)) = (side(low, middle), side(middle, high));
        (n >= FEWEST_LINES && m >= FEWEST_LINES && over * 3 <= n + m && left && right).then_some((over, middle))
    };
    let found = middles.into_iter().take(100).filter_map(fits);
    found.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(_, middle)| middle)
}

/// Puts rows that stand below each other into lines.
fn flow(rows: Vec<Vec<Piece>>, page: usize, column: Option<usize>, out: &mut Vec<Line>) {
    let edge = rows.iter().flatten().map(|piece| piece.end).fold(0.0, f64::max);
    for (row, is_row) in tables::gather(rows) {
        let first_cell = tables::cells(&row).next().map_or(0.0, |piece| piece.x);
        let mut line: Option<Line> = None;
        for piece in row {
            match &mut line {
                None => {
                    let Piece { x, end, y, size, spans } = piece;
                    line = Some(Line { page, column, x, end, edge, y, size, spans, row: is_row });
                }
                Some(line) => {
                    let between = if is_row && piece.x > first_cell { " | " } else { " " };
                    if let Some(last) = line.spans.last_mut() {
                        last.text.truncate(last.text.trim_end().len());
                    }
                    add(&mut line.spans, between, false);
                    line.spans.extend(piece.spans);
                    line.end = piece.end;
                    line.size = line.size.max(piece.size);
                }
            }
        }
        out.extend(line);
    }
}
