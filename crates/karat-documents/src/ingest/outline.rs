//! Builds sections from blocks: detects headings and their nesting.

use super::clause::{self, Lead, Number, Span, joined, lead};
use super::{Result, Section, SectionId, SectionPlace, Source, size};
use karat_format::session::UnitV1;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// In the format's unit.
    pub(super) first: usize,
    pub(super) last: usize,
    /// Mark and text of each.
    pub(super) footnotes: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Heading {
        /// From 1.
        level: u8,
        /// Including its number.
        text: String,
    },
    /// A paragraph or list item, which may be or start with a heading.
    Text {
        /// The level of its heading style, from 1. Many documents use such styles for whole clauses to number them.
        style: Option<u8>,
        /// The marker or automatic number shown before it.
        label: String,
        indent: usize,
        spans: Vec<Span>,
        /// Prominence among emphasised blocks, from 1, if known.
        rank: Option<u8>,
    },
    /// Never a heading, whatever it looks like.
    Plain(String),
}

const DEEPEST: u8 = 20;

pub(super) struct Outline<'s> {
    source: &'s Source<'s>,
    unit: UnitV1,
    blocks: Vec<Block>,
    notes: Vec<String>,
    counts: BTreeMap<&'static str, usize>,
}

impl<'s> Outline<'s> {
    pub(super) fn new(source: &'s Source<'s>, unit: UnitV1) -> Self {
        Self { source, unit, blocks: Vec::new(), notes: Vec::new(), counts: BTreeMap::new() }
    }

    pub(super) fn push(&mut self, kind: Kind, first: usize, last: usize) {
        self.blocks.push(Block { kind, first, last, footnotes: Vec::new() });
    }

    pub(super) fn footnote(&mut self, mark: &str, text: String) {
        if let Some(block) = self.blocks.last_mut() {
            block.footnotes.push((mark.to_owned(), text));
        }
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(super) fn finish(self) -> Result<(Vec<Section>, Vec<String>)> {
        let parents = parents(&self.blocks);
        // If headings are marked up, sizes say nothing about levels.
        let stated = self
            .blocks
            .iter()
            .any(|block| matches!(block.kind, Kind::Heading { .. } | Kind::Text { style: Some(_), .. }));
        let mut building = Building {
            source: self.source,
            unit: self.unit,
            open: Vec::new(),
            current: Current::default(),
            done: Vec::new(),
            seen: BTreeMap::new(),
            margin: 0,
            copied: 0,
        };
        for block in self.blocks {
            building.take(block, &parents, stated)?;
        }
        building.close();
        let mut notes = self.notes;
        notes.extend(self.counts.into_iter().map(|(what, n)| format!("{what} ({n})")));
        Ok((building.done, notes))
    }
}

fn parents(blocks: &[Block]) -> BTreeSet<String> {
    let nobody = BTreeSet::new();
    let mut found = BTreeSet::new();
    for block in blocks {
        let Kind::Text { label, spans, .. } = &block.kind else { continue };
        if let Some(Lead { number: Some(Number::Decimal(number)), .. }) = unstyled(label, spans, &nobody) {
            found.extend(clause::above(&number).map(str::to_owned));
        }
    }
    found
}

/// The heading that a paragraph or its first line is or starts with.
fn unstyled(label: &str, spans: &[Span], parents: &BTreeSet<String>) -> Option<Lead> {
    lead(label, spans, parents).or_else(|| {
        let (line, rest) = first_line(spans)?;
        let lead = lead(label, &line, parents)?;
        Some(Lead { rest: format!("{}\n{rest}", lead.rest).trim().to_owned(), ..lead })
    })
}

/// The heading that a paragraph in a heading style is or starts with; `None` if it is a sentence.
fn styled(label: &str, spans: &[Span], parents: &BTreeSet<String>) -> Option<Lead> {
    const SHORT: usize = 6;
    let text = joined(spans);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = text.trim_end_matches(['.', ':']);
    // A quoted term with its definition is a sentence, not a title.
    let defined = text.starts_with(['"', '“', '”', '„', '«', '»']);
    let few = bare.len() == text.len() || (text.split(' ').count() <= SHORT && !defined);
    // Bullets are not part of a heading.
    let shown = if label.is_empty() || label == "-" { text.clone() } else { format!("{label} {text}") };
    let number = || clause::number(&shown).map(|(number, _)| number);
    let title = bare.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
    if few && clause::is_brief(title) {
        return Some(Lead { number: number(), heading: shown.clone(), rest: String::new() });
    }
    lead(label, spans, parents).or_else(|| {
        let (title, rest) = clause::title_sentence(&text)?;
        let gap = if label.is_empty() || label == "-" { String::new() } else { format!("{label} ") };
        Some(Lead { number: number(), heading: format!("{gap}{title}"), rest: rest.to_owned() })
    })
}

fn first_line(spans: &[Span]) -> Option<(Vec<Span>, String)> {
    let at = spans.iter().position(|span| span.text.contains('\n'))?;
    let (end, rest) = spans[at].text.split_once('\n')?;
    let mut line = spans[..at].to_vec();
    line.push(Span { text: end.to_owned(), marked: spans[at].marked });
    let others = spans[at + 1..].iter().map(|span| span.text.as_str());
    Some((line, [rest].into_iter().chain(others).collect()))
}

/// An open heading; what follows is below it.
#[derive(Debug)]
struct Open {
    level: u8,
    heading: String,
    number: Option<Number>,
    stated: bool,
}

#[derive(Debug, Default)]
struct Current {
    heading: String,
    path: Vec<String>,
    level: u8,
    number: Option<String>,
    body: String,
    /// Whether the body ends with a list item, so that the next one follows without an empty line.
    listing: bool,
    footnotes: Vec<(String, String)>,
    span: Option<(usize, usize)>,
}

struct Building<'s> {
    source: &'s Source<'s>,
    unit: UnitV1,
    open: Vec<Open>,
    current: Current,
    done: Vec<Section>,
    seen: BTreeMap<SectionId, usize>,
    /// List depth of the heading, subtracted from the depth of items below it.
    margin: usize,
    /// Bytes of headings that sections repeat.
    copied: usize,
}

impl Building<'_> {
    fn take(&mut self, block: Block, parents: &BTreeSet<String>, stated: bool) -> Result<()> {
        let Block { kind, first, last, footnotes } = block;
        match kind {
            Kind::Heading { level, text } => {
                let number = clause::number(&text).map(|(number, _)| number);
                self.margin = 0;
                let lead = Lead { heading: text, number, rest: String::new() };
                self.open(level.clamp(1, DEEPEST), lead, true, first, last)?;
            }
            Kind::Plain(text) => self.add(&text, false, first, last),
            Kind::Text { style, label, indent, spans, rank } => {
                let find = if style.is_some() { styled } else { unstyled };
                match (find(&label, &spans, parents), style) {
                    (None, _) => self.paragraph(&label, indent, &spans, first, last),
                    (Some(lead), Some(level)) => {
                        self.margin = 0;
                        let numbered = |open: &Open| matches!(open.number, Some(Number::Decimal(_)));
                        // Numbers are more reliable than styles: 2.1 is below 2, whatever they look like.
                        let level = match &lead.number {
                            number @ Some(Number::Decimal(_)) if self.open.iter().any(numbered) => {
                                self.level(number.as_ref(), None)
                            }
                            _ => level.clamp(1, DEEPEST),
                        };
                        self.open(level, lead, true, first, last)?;
                    }
                    (Some(lead), None) => {
                        let level = self.level(lead.number.as_ref(), rank.filter(|_| !stated));
                        self.margin = if label.is_empty() { 0 } else { indent + 1 };
                        self.open(level, lead, false, first, last)?;
                    }
                }
            }
        }
        self.current.footnotes.extend(footnotes);
        Ok(())
    }

    fn paragraph(&mut self, label: &str, indent: usize, spans: &[Span], first: usize, last: usize) {
        let (gap, below) = if label.is_empty() { ("", "") } else { (" ", "  ") };
        // Further lines of an item are indented below its text.
        let margin = "  ".repeat(indent.saturating_sub(self.margin));
        let text = joined(spans).trim().replace('\n', &format!("\n{margin}{below}"));
        self.add(&format!("{margin}{label}{gap}{text}"), !label.is_empty(), first, last);
    }

    /// The level of a heading that has no markup.
    fn level(&self, number: Option<&Number>, rank: Option<u8>) -> u8 {
        let below = |open: Option<&Open>| open.map_or(1, |open| open.level.saturating_add(1));
        let level = match number {
            Some(Number::Decimal(_)) => {
                let depth = number.map_or(1, Number::depth);
                let numbered = |open: &&Open| matches!(open.number, Some(Number::Decimal(_)));
                // Numbers determine levels relative to each other; the first is below what precedes it.
                let (level, own) = match self.open.iter().rev().find(numbered) {
                    Some(open) => (usize::from(open.level), open.number.as_ref().map_or(1, Number::depth)),
                    None => (usize::from(below(self.open.last())), 1),
                };
                u8::try_from((level + depth).saturating_sub(own)).unwrap_or(DEEPEST)
            }
            Some(Number::Word(word)) => {
                let kind = |word: &str| word.split(' ').next().unwrap_or_default().to_lowercase();
                let same = |open: &&Open| matches!(&open.number, Some(Number::Word(w)) if kind(w) == kind(word));
                let sibling = self.open.iter().rev().find(same).map(|open| open.level);
                // Annexes are beside the body, articles below what contains them.
                let around = match clause::is_attached(word) {
                    true => self.open.iter().find(|open| open.stated),
                    false => self.open.last(),
                };
                sibling.or(rank).unwrap_or_else(|| below(around))
            }
            Some(Number::Letter(_)) | None => {
                let like = |open: &&Open| !open.stated && open.number.is_some() == number.is_some();
                let sibling = self.open.iter().rev().find(like).map(|open| open.level);
                rank.or(sibling).unwrap_or_else(|| below(self.open.last()))
            }
        };
        level.clamp(1, DEEPEST)
    }

    /// Opens the section of a heading, which begins with what follows the heading in its paragraph.
    fn open(&mut self, level: u8, lead: Lead, stated: bool, first: usize, last: usize) -> Result<()> {
        let Lead { heading, number, rest } = lead;
        self.close();
        let limits = self.source.limits;
        if self.done.len() >= limits.sections {
            return Err(self.source.too_much("the number of its sections", limits.sections));
        }
        // Clause 2.3 is not in clause 1, even if clause 2 has no heading.
        let lies_in = |open: &Open| match (&open.number, &number) {
            (Some(Number::Decimal(above)), Some(Number::Decimal(own))) => clause::above(own).any(|n| n == above),
            _ => true,
        };
        self.open.retain(|open| open.level < level && (stated || open.stated || lies_in(open)));
        self.copied += self.open.iter().map(|open| open.heading.len()).sum::<usize>();
        if self.copied > limits.unpacked_bytes {
            let what = "what its sections repeat of the headings above them";
            return Err(self.source.too_much(what, size(limits.unpacked_bytes)));
        }
        let path = self.open.iter().map(|open| open.heading.clone()).collect();
        let shown = number.as_ref().map(|number| number.as_str().to_owned());
        self.current = Current { heading: heading.clone(), path, level, number: shown, ..Current::default() };
        self.open.push(Open { level, heading, number, stated });
        self.reach(first, last);
        self.add(&rest, false, first, last);
        Ok(())
    }

    fn reach(&mut self, first: usize, last: usize) {
        let (from, to) = self.current.span.unwrap_or((first, last));
        self.current.span = Some((from.min(first), to.max(last)));
    }

    fn add(&mut self, text: &str, listed: bool, first: usize, last: usize) {
        let text = text.trim_end().trim_start_matches('\n');
        if text.is_empty() {
            return;
        }
        self.reach(first, last);
        let current = &mut self.current;
        if !current.body.is_empty() {
            current.body.push_str(if listed && current.listing { "\n" } else { "\n\n" });
        }
        current.body.push_str(text);
        current.listing = listed;
    }

    fn close(&mut self) {
        let current = std::mem::take(&mut self.current);
        let Some((first, last)) = current.span else { return };
        let mut body = current.body;
        for (mark, text) in current.footnotes {
            let gap = if body.is_empty() { "" } else { "\n\n" };
            body.push_str(&format!("{gap}[{mark}] {}", text.trim()));
        }
        let first_id = SectionId::new(&current.path, &current.heading, &body, 0);
        let before = self.seen.entry(first_id).or_default();
        let id = SectionId::new(&current.path, &current.heading, &body, *before);
        *before += 1;
        self.done.push(Section {
            id,
            heading: current.heading,
            path: current.path,
            level: current.level,
            number: current.number,
            body,
            place: SectionPlace { unit: self.unit, first, last },
        });
    }
}
