//! Groups lines into table rows: lines with aligned cells, and cells that continue on the next line.

use crate::ingest::clause::Span;

/// A run of text on a line without wide gaps.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) x: f64,
    pub(super) end: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) spans: Vec<Span>,
}

/// Appends text, extending the last span if the emphasis is the same.
pub(super) fn push_span(spans: &mut Vec<Span>, text: &str, marked: bool) {
    let blank = text.trim().is_empty();
    match spans.last_mut() {
        Some(last) if last.marked == marked || blank => last.text.push_str(text),
        _ => spans.push(Span { text: text.to_owned(), marked }),
    }
}

/// Lines closer than others of the table by this factor belong to one row.
const NEARER: f64 = 1.2;
/// A line further below, in font sizes, is no continuation.
const FURTHEST: f64 = 1.5;
/// More columns are an attack.
const MOST_COLUMNS: usize = 64;
/// Lines searched backwards for the cell that continues.
const BACK: usize = 8;

/// Lines, each with whether it is a table row. Continuation lines are merged into their row.
pub(super) fn group_rows(mut lines: Vec<Vec<Piece>>) -> Vec<(Vec<Piece>, bool)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let end = reach(&lines[at..]);
        let table = lines[at..at + end.max(1)].iter_mut().map(std::mem::take);
        if end == 0 {
            out.extend(table.map(|line| (line, false)));
        } else {
            fold(table.collect(), &mut out);
        }
        at += end.max(1);
    }
    out
}

/// The length of the table that starts with the first line; 0 if none does.
fn reach(lines: &[Vec<Piece>]) -> usize {
    let starts = |line: &[Piece]| -> Vec<f64> { cells(line).map(|piece| piece.x).collect() };
    let mut columns: Vec<f64> = lines.first().map(|line| starts(line)).unwrap_or_default();
    if columns.len() < 2 {
        return 0;
    }
    // Where cells other than the first begin.
    columns.remove(0);
    columns.truncate(MOST_COLUMNS);
    let (mut rows, mut end, mut upto) = (1, 1, 1);
    for n in 1..lines.len() {
        let own = starts(&lines[n]);
        let size = lines[n].first().map_or(10.0, |piece| piece.size);
        if own.len() > 1 && own.iter().skip(1).any(|x| columns.iter().any(|y| (x - y).abs() < size)) {
            for x in own.into_iter().skip(1) {
                if columns.len() < MOST_COLUMNS && columns.iter().all(|y| (x - y).abs() >= 0.5 * size) {
                    columns.push(x);
                }
            }
            (rows, end, upto) = (rows + 1, n + 1, n + 1);
        } else if continues(&lines[n.saturating_sub(BACK)..n], &lines[n], &columns) {
            upto = n + 1;
        } else {
            break;
        }
    }
    if rows < 2 {
        return 0;
    }
    // A continuation of the last row belongs to it if the table distinguishes lines and rows.
    let tight = tight_step(&lines[..end]);
    let below = (end..upto).take_while(|n| tight.is_some_and(|tight| step(&lines[n - 1], &lines[*n]) <= tight));
    end + below.count()
}

/// Whether each piece of a line is right below a cell of the same style, and not wider than it could be.
fn continues(above: &[Vec<Piece>], line: &[Piece], columns: &[f64]) -> bool {
    let Some(last) = above.last() else { return false };
    let fits = |piece: &Piece| {
        let begins = |other: &&Piece| (other.x - piece.x).abs() < 0.5 * piece.size;
        let Some(cell) = above.iter().rev().find_map(|line| line.iter().find(begins)) else { return false };
        let next = columns.iter().copied().filter(|x| *x > piece.x + piece.size);
        let alike = (cell.size / piece.size - 1.0).abs() < 0.1 && is_bold(cell) == is_bold(piece);
        alike && next.fold(f64::INFINITY, f64::min) > piece.end
    };
    let size = line.first().map_or(10.0, |piece| piece.size);
    line.len() <= MOST_COLUMNS && step(last, line) <= FURTHEST * size && line.iter().all(fits)
}

fn is_bold(piece: &Piece) -> bool {
    piece.spans.first().is_some_and(|span| span.marked)
}

fn step(above: &[Piece], below: &[Piece]) -> f64 {
    let y = |line: &[Piece]| line.first().map_or(0.0, |piece| piece.y);
    y(above) - y(below)
}

/// The largest distance of lines within a row; `None` if every line is a row.
fn tight_step(lines: &[Vec<Piece>]) -> Option<f64> {
    let steps: Vec<f64> = lines.windows(2).map(|pair| step(&pair[0], &pair[1])).collect();
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let most = lines.iter().map(Vec::len).max().unwrap_or_default();
    let near = |step: f64| step <= least * NEARER;
    let rows = steps.iter().filter(|step| !near(**step)).count();
    // If most complete rows are that close, the wide step is the exception, such as below a header.
    let whole = steps.iter().zip(&lines[1..]).filter(|(step, line)| near(**step) && line.len() == most).count();
    (rows > 0 && whole <= rows).then_some(least * NEARER)
}

fn fold(lines: Vec<Vec<Piece>>, out: &mut Vec<(Vec<Piece>, bool)>) {
    let tight = tight_step(&lines);
    let mut y = f64::INFINITY;
    for line in lines {
        let own = line.first().map_or(0.0, |piece| piece.y);
        match out.last_mut() {
            Some((row, true)) if tight.is_some_and(|tight| y - own <= tight) => {
                line.into_iter().for_each(|p| append_to_cell(row, p))
            }
            _ => {
                let is_row = tight.is_some() || cells(&line).count() > 1;
                out.push((line, is_row));
            }
        }
        y = own;
    }
}

fn append_to_cell(row: &mut Vec<Piece>, piece: Piece) {
    match row.iter_mut().find(|cell| (cell.x - piece.x).abs() < 0.5 * piece.size) {
        Some(cell) => {
            push_span(&mut cell.spans, " ", false);
            cell.spans.extend(piece.spans);
            cell.end = cell.end.max(piece.end);
        }
        None => {
            let at = row.iter().position(|cell| cell.x > piece.x).unwrap_or(row.len());
            row.insert(at, piece);
        }
    }
}

/// The pieces that could be cells: a number or bullet belongs to what follows it.
pub(super) fn cells(row: &[Piece]) -> impl Iterator<Item = &Piece> {
    let marker = row.first().is_some_and(|first| {
        let text: String = first.spans.iter().map(|span| span.text.trim()).collect();
        let bare = text.trim_matches(['(', ')', '.']);
        let counted = bare.chars().all(|c| c.is_ascii_digit() || c == '.');
        let lettered = bare.len() < text.len() && bare.len() <= 4 && bare.bytes().all(|b| b.is_ascii_alphanumeric());
        let bullet = text.chars().count() == 1 && !text.chars().any(char::is_alphanumeric);
        counted || lettered || bullet
    });
    row.iter().skip(usize::from(marker && row.len() > 1))
}
