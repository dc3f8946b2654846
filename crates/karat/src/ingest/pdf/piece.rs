//! What of a line stands together.

use crate::ingest::clause::Span;

/// Characters of one line that no wide gap divides.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) x: f64,
    pub(super) end: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) spans: Vec<Span>,
}

/// Puts text behind what is there, into the same span where it looks the same.
pub(super) fn add(spans: &mut Vec<Span>, text: &str, marked: bool) {
    let blank = text.trim().is_empty();
    match spans.last_mut() {
        Some(last) if last.marked == marked || blank => last.text.push_str(text),
        _ => spans.push(Span { text: text.to_owned(), marked }),
    }
}
