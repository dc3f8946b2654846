//! Arranges the characters of a page into lines in reading order.

use super::glyphs::Glyph;
use super::tables::{self, Piece, push_span};
use crate::ingest::clause::{Span, joined};

#[derive(Debug)]
pub(super) struct Line {
    pub(super) page: usize,
    /// From 0; `None` if the line spans all columns.
    pub(super) column: Option<usize>,
    pub(super) x: f64,
    pub(super) end: f64,
    pub(super) edge: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) spans: Vec<Span>,
    pub(super) row: bool,
}

impl Line {
    pub(super) fn text(&self) -> String {
        joined(&self.spans)
    }

    pub(super) fn is_bold(&self) -> bool {
        self.spans.iter().all(|span| span.marked || span.text.trim().is_empty())
    }
}

/// A wider gap, in font sizes, separates columns and table cells.
const WIDE: f64 = 1.4;
const SPACE: f64 = 0.17;
/// In font sizes.
const ONE_LINE: f64 = 0.4;

pub(super) fn lines(page: usize, glyphs: Vec<Glyph>) -> Vec<Line> {
    let rows: Vec<Vec<Piece>> = rows(glyphs).into_iter().map(pieces).filter(|row| !row.is_empty()).collect();
    let mut out = Vec::new();
    let Some(gutter) = gutter(&rows) else {
        flow(rows, page, None, &mut out);
        return out;
    };
    // Lines that span both columns divide the page into bands; in each, the left column comes first.
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
        // A letter drawn twice with a tiny offset is bold.
        if doubled && !glyph.text.trim().is_empty() {
            continue;
        }
        let blank = glyph.text.trim().is_empty();
        match (pieces.last_mut(), gap) {
            (Some(piece), Some(gap)) if gap <= WIDE * glyph.size.min(piece.size) => {
                let spaced = piece.spans.last().is_some_and(|span| span.text.ends_with(' '));
                if (gap > SPACE * glyph.size || blank) && !spaced {
                    push_span(&mut piece.spans, " ", glyph.bold);
                }
                if !blank {
                    push_span(&mut piece.spans, &glyph.text, glyph.bold);
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

const FEWEST_LINES: usize = 4;

/// The middle of the gap between two columns of text, if there are two.
fn gutter(rows: &[Vec<Piece>]) -> Option<f64> {
    let all = || rows.iter().flatten();
    let low = all().map(|piece| piece.x).min_by(f64::total_cmp)?;
    let high = all().map(|piece| piece.end).max_by(f64::total_cmp)?;
    let width = high - low;
    let between = rows.iter().flat_map(|row| row.windows(2).map(|pair| (pair[0].end + pair[1].x) / 2.0));
    // Lines of the two columns need not be aligned; those of the right one share their start.
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
        // Counts the lines on one side and checks that they are text: many fill the column in one piece, unlike table rows.
        // Headings, last lines and tables within the column do not.
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

fn flow(rows: Vec<Vec<Piece>>, page: usize, column: Option<usize>, out: &mut Vec<Line>) {
    let edge = rows.iter().flatten().map(|piece| piece.end).fold(0.0, f64::max);
    for (row, is_row) in tables::group_rows(rows) {
        let first_cell = tables::cells(&row).next().map_or(0.0, |piece| piece.x);
        let mut pieces = row.into_iter();
        let Some(Piece { x, end, y, size, spans }) = pieces.next() else { continue };
        let mut line = Line { page, column, x, end, edge, y, size, spans, row: is_row };
        for piece in pieces {
            let between = if is_row && piece.x > first_cell { " | " } else { " " };
            if let Some(last) = line.spans.last_mut() {
                last.text.truncate(last.text.trim_end().len());
            }
            push_span(&mut line.spans, between, false);
            line.spans.extend(piece.spans);
            line.end = piece.end;
            line.size = line.size.max(piece.size);
        }
        out.push(line);
    }
}
