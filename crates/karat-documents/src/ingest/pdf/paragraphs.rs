//! Joins lines into paragraphs, and turns paragraphs into outline blocks.

use super::layout::Line;
use crate::ingest::clause::{self, Number, Span, joined, lead};
use crate::ingest::outline::{Kind, Outline};
use std::collections::BTreeSet;

/// Lines larger than the text by this factor are headings.
const LARGER: f64 = 1.15;

pub(super) fn push(lines: Vec<Line>, outline: &mut Outline<'_>) {
    let body = BodyStyle::from_lines(&lines);
    let compounds = compounds(&lines);
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    for line in lines {
        match paragraphs.last_mut() {
            Some(paragraph) if paragraph.continues(&line, &body) => paragraph.add(line, &compounds),
            _ => paragraphs.push(Paragraph::new(line)),
        }
    }
    let ranks = ranks(&paragraphs, &body);
    for mut paragraph in paragraphs {
        let (first, last) = (paragraph.first, paragraph.last.page);
        if paragraph.last.row {
            outline.push(Kind::Plain(paragraph.text()), first, last);
            continue;
        }
        let place = paragraph.style_key().and_then(|own| ranks.iter().position(|rank| *rank == own));
        let rank = place.and_then(|n| u8::try_from(n + 1).ok());
        let label = paragraph.take_marker();
        let spans = body.spans(&paragraph);
        outline.push(Kind::Text { style: None, label, indent: 0, spans, rank }, first, last);
    }
}

struct BodyStyle {
    size: f64,
    bold: bool,
    /// Line distance in font sizes.
    leading: f64,
}

impl BodyStyle {
    fn from_lines(lines: &[Line]) -> Self {
        let runs = lines.iter().map(|line| (halves(line.size), line.is_bold(), line.text().len()));
        let (size, bold) = clause::prevailing(runs);
        let size = size.map_or(10.0, |size| size as f64 / 2.0);
        let together = |pair: &&[Line]| pair[0].page == pair[1].page && pair[0].column == pair[1].column;
        let steps = lines.windows(2).filter(together).map(|pair| (pair[0].y - pair[1].y) / pair[0].size);
        let mut steps: Vec<f64> = steps.filter(|step| (0.8..2.5).contains(step)).collect();
        steps.sort_by(f64::total_cmp);
        let leading = steps.get(steps.len() / 3).copied().unwrap_or(1.2);
        Self { size, bold, leading }
    }

    fn spans(&self, paragraph: &Paragraph) -> Vec<Span> {
        let large = paragraph.size >= self.size * LARGER;
        // Bold is no emphasis in small print, or where most of the text is bold.
        let bold = !self.bold && paragraph.size >= self.size * 0.95;
        let own = |span: &Span| Span { text: span.text.clone(), marked: large || (span.marked && bold) };
        paragraph.spans.iter().map(own).collect()
    }
}

/// In half points, since files state sizes with many digits.
fn halves(size: f64) -> i64 {
    (size * 2.0).round() as i64
}

/// Words hyphenated within a line somewhere, which keep their hyphen when divided.
fn compounds(lines: &[Line]) -> BTreeSet<String> {
    let texts: Vec<String> = lines.iter().map(Line::text).collect();
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '-'));
    words.filter(|word| word.trim_matches('-').contains('-')).map(str::to_lowercase).collect()
}

/// Styles of emphasised paragraphs, most prominent first.
fn ranks(paragraphs: &[Paragraph], body: &BodyStyle) -> Vec<(i64, bool)> {
    let none = BTreeSet::new();
    let heads = |paragraph: &&Paragraph| {
        !paragraph.last.row && lead("", &body.spans(paragraph), &none).is_some_and(|lead| lead.number.is_none())
    };
    let found: BTreeSet<(i64, bool)> = paragraphs.iter().filter(heads).filter_map(Paragraph::style_key).collect();
    found.into_iter().rev().collect()
}

struct Paragraph {
    first: usize,
    /// The last line, without its text.
    last: Line,
    size: f64,
    bold: bool,
    lines: usize,
    spans: Vec<Span>,
}

impl Paragraph {
    fn new(mut line: Line) -> Self {
        let (first, size, bold) = (line.page, line.size, line.is_bold());
        let spans = std::mem::take(&mut line.spans);
        Self { first, last: line, size, bold, lines: 1, spans }
    }

    fn text(&self) -> String {
        joined(&self.spans)
    }

    /// Looks at the end only, since paragraphs may be very long.
    fn ends_with(&self, signs: &[char]) -> bool {
        let last = self.spans.iter().rev().map(|span| span.text.trim_end()).find(|text| !text.is_empty());
        last.is_some_and(|text| text.ends_with(signs))
    }

    fn style_key(&self) -> Option<(i64, bool)> {
        (!self.spans.is_empty()).then(|| (halves(self.size), self.bold))
    }

    fn continues(&self, line: &Line, body: &BodyStyle) -> bool {
        let last = &self.last;
        if last.row || line.row {
            return last.row && line.row && last.page == line.page;
        }
        if (self.size / line.size - 1.0).abs() > 0.1 || self.bold != line.is_bold() {
            return self.bold && !line.is_bold() && self.runs_in(line, body);
        }
        let ended = self.ends_with(&['.', ':', ';', '!', '?']);
        let short = last.end < last.edge - 0.15 * (last.edge - last.x).max(1.0);
        let together = last.page == line.page && last.column == line.column && line.y < last.y;
        if !together {
            let grows = line.text().trim_start().starts_with(|c: char| c.is_lowercase() || c.is_numeric());
            return !ended && (grows || !short);
        }
        let step = (last.y - line.y) / self.size;
        if step > body.leading * 1.3 {
            return false;
        }
        if (ended || short || self.bold) && marker(&line.text()).is_some() {
            return false;
        }
        if ended && line.x - last.x > 0.8 * self.size {
            return false;
        }
        // A short line with a number and the words of a heading is one, even directly above its text.
        let plain = || [Span { text: self.text(), marked: false }];
        let is_clause = || lead("", &plain(), &BTreeSet::new()).is_some_and(|lead| lead.rest.is_empty());
        !(self.lines == 1 && short && is_clause())
    }

    /// Whether a bold line continues as plain text, as run-in titles do.
    fn runs_in(&self, line: &Line, body: &BodyStyle) -> bool {
        let last = &self.last;
        let near = last.page == line.page && last.y > line.y && (last.y - line.y) / self.size <= body.leading * 1.15;
        near && last.end > last.edge - 0.1 * (last.edge - last.x) && !self.ends_with(&['.', ':'])
    }

    fn add(&mut self, mut line: Line, compounds: &BTreeSet<String>) {
        self.bold &= line.is_bold();
        let spans = std::mem::take(&mut line.spans);
        if line.row {
            self.spans.push(Span { text: "\n".to_owned(), marked: false });
        } else if let Some(last) = self.spans.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !join_word(&mut last.text, &joined(&spans), compounds) {
                last.text.push(' ');
            }
        }
        self.spans.extend(spans);
        self.lines += 1;
        self.last = line;
    }

    /// Removes a bullet or item letter from the start.
    fn take_marker(&mut self) -> String {
        let text = self.text();
        let Some(found) = marker(&text) else { return String::new() };
        if found.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return String::new();
        }
        let mut left = text.len() - text.trim_start().len() + found.len();
        for span in &mut self.spans {
            let n = left.min(span.text.len());
            span.text.drain(..span.text.floor_char_boundary(n));
            left -= n;
        }
        if let Some(first) = self.spans.iter_mut().find(|span| !span.text.is_empty()) {
            first.text = first.text.trim_start().to_owned();
        }
        if found.starts_with(|c: char| BULLETS.contains(c)) { "-".to_owned() } else { found.to_owned() }
    }
}

const BULLETS: &str = "•●▪■◦‣∙·–*\u{f0b7}\u{2212}-";

/// The marker of a list item or clause: a bullet, `(a)`, `1.`, `2.3`.
fn marker(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let (word, rest) = text.split_once(char::is_whitespace)?;
    if rest.trim().is_empty() {
        return None;
    }
    let inner = word.strip_prefix('(').unwrap_or(word).strip_suffix(')');
    let lettered =
        inner.is_some_and(|inner| (1..=4).contains(&inner.len()) && inner.bytes().all(|b| b.is_ascii_alphanumeric()));
    let bullet = word.chars().count() == 1 && word.chars().all(|c| BULLETS.contains(c));
    let numbered = matches!(clause::number(text), Some((Number::Decimal(_), _))) && word.contains('.');
    (lettered || bullet || numbered).then_some(word)
}

/// Joins a word divided at the end of a line; returns whether it did.
fn join_word(text: &mut String, next: &str, compounds: &BTreeSet<String>) -> bool {
    let soft = text.ends_with('\u{ad}');
    let hyphen = text.ends_with(['-', '\u{2010}']);
    let starts = next.trim_start().starts_with(char::is_lowercase);
    let before = text.trim_end_matches(['-', '\u{2010}', '\u{ad}']);
    if !(soft || hyphen) || !starts || !before.ends_with(char::is_alphabetic) {
        return false;
    }
    let stem = before.rsplit(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default();
    let rest: String = next.trim_start().chars().take_while(|c| c.is_alphanumeric()).collect();
    let kept = hyphen && compounds.contains(&format!("{stem}-{rest}").to_lowercase());
    text.truncate(before.len());
    if kept {
        text.push('-');
    }
    true
}
