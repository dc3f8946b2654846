//! Builds sections from blocks: detects headings and their nesting.

use super::clause::{self, Lead, Number, Span, joined, lead};
use super::{Result, Section, SectionPlace, Source, size};
use karat_format::session::UnitV1;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
struct Block {
    kind: Kind,
    place: SectionPlace,
    /// Mark and text of each.
    footnotes: Vec<(String, String)>,
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

    /// Adds a block; its place is given in the format's unit.
    pub(super) fn push(&mut self, kind: Kind, first: usize, last: usize) {
        let place = SectionPlace { unit: self.unit, first, last };
        self.blocks.push(Block { kind, place, footnotes: Vec::new() });
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
        let limits = self.source.limits;
        let mut building = Building::default();
        for block in self.blocks {
            building.take(block, &parents, stated);
            if building.done.len() >= limits.sections {
                return Err(self.source.too_much("the number of its sections", limits.sections));
            }
            if building.copied > limits.unpacked_bytes {
                let what = "what its sections repeat of the headings above them";
                return Err(self.source.too_much(what, size(limits.unpacked_bytes)));
            }
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
    let prefix = if label.is_empty() || label == "-" { String::new() } else { format!("{label} ") };
    let shown = format!("{prefix}{text}");
    let number = || clause::number(&shown).map(|(number, _)| number);
    let title = bare.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
    if few && clause::is_brief(title) {
        return Some(Lead { number: number(), heading: shown.clone(), rest: String::new() });
    }
    lead(label, spans, parents).or_else(|| {
        let (title, rest) = clause::title_sentence(&text)?;
        Some(Lead { number: number(), heading: format!("{prefix}{title}"), rest: rest.to_owned() })
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

#[derive(Default)]
struct Building {
    open: Vec<Open>,
    /// Without its footnotes and id.
    current: Option<Section>,
    /// Whether its body ends with a list item, so that the next one follows without an empty line.
    listing: bool,
    footnotes: Vec<(String, String)>,
    done: Vec<Section>,
    /// How often each text stands under the same headings.
    seen: BTreeMap<String, usize>,
    /// List depth of the heading, subtracted from the depth of items below it.
    margin: usize,
    /// Bytes of headings that sections repeat.
    copied: usize,
}

impl Building {
    fn take(&mut self, block: Block, parents: &BTreeSet<String>, stated: bool) {
        let Block { kind, place, footnotes } = block;
        match kind {
            Kind::Heading { level, text } => {
                let number = clause::number(&text).map(|(number, _)| number);
                self.margin = 0;
                let lead = Lead { heading: text, number, rest: String::new() };
                self.open(level.clamp(1, DEEPEST), lead, true, place);
            }
            Kind::Plain(text) => self.add(&text, false, place),
            Kind::Text { style, label, indent, spans, rank } => {
                let find = if style.is_some() { styled } else { unstyled };
                match (find(&label, &spans, parents), style) {
                    (None, _) => self.paragraph(&label, indent, &spans, place),
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
                        self.open(level, lead, true, place);
                    }
                    (Some(lead), None) => {
                        let level = self.level(lead.number.as_ref(), rank.filter(|_| !stated));
                        self.margin = if label.is_empty() { 0 } else { indent + 1 };
                        self.open(level, lead, false, place);
                    }
                }
            }
        }
        self.footnotes.extend(footnotes);
    }

    fn paragraph(&mut self, label: &str, indent: usize, spans: &[Span], place: SectionPlace) {
        let (gap, below) = if label.is_empty() { ("", "") } else { (" ", "  ") };
        // Further lines of an item are indented below its text.
        let margin = "  ".repeat(indent.saturating_sub(self.margin));
        let text = joined(spans).trim().replace('\n', &format!("\n{margin}{below}"));
        self.add(&format!("{margin}{label}{gap}{text}"), !label.is_empty(), place);
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
    fn open(&mut self, level: u8, lead: Lead, stated: bool, place: SectionPlace) {
        let Lead { heading, number, rest } = lead;
        self.close();
        // Clause 2.3 is not in clause 1, even if clause 2 has no heading.
        let lies_in = |open: &Open| match (&open.number, &number) {
            (Some(Number::Decimal(above)), Some(Number::Decimal(own))) => clause::above(own).any(|n| n == above),
            _ => true,
        };
        self.open.retain(|open| open.level < level && (stated || open.stated || lies_in(open)));
        self.copied += self.open.iter().map(|open| open.heading.len()).sum::<usize>();
        let path = self.open.iter().map(|open| open.heading.clone()).collect();
        let shown = number.as_ref().map(|number| number.as_str().to_owned());
        self.current =
            Some(Section { heading: heading.clone(), path, level, number: shown, place, ..Section::default() });
        self.open.push(Open { level, heading, number, stated });
        self.add(&rest, false, place);
    }

    fn add(&mut self, text: &str, listed: bool, place: SectionPlace) {
        let text = text.trim_end().trim_start_matches('\n');
        if text.is_empty() {
            return;
        }
        let section = self.current.get_or_insert_with(|| Section { place, ..Section::default() });
        section.place.first = section.place.first.min(place.first);
        section.place.last = section.place.last.max(place.last);
        if !section.body.is_empty() {
            section.body.push_str(if listed && self.listing { "\n" } else { "\n\n" });
        }
        section.body.push_str(text);
        self.listing = listed;
    }

    fn close(&mut self) {
        let footnotes = std::mem::take(&mut self.footnotes);
        self.listing = false;
        let Some(mut section) = self.current.take() else { return };
        for (mark, text) in footnotes {
            let gap = if section.body.is_empty() { "" } else { "\n\n" };
            section.body.push_str(&format!("{gap}[{mark}] {}", text.trim()));
        }
        let digest = digest(&section);
        let times = self.seen.entry(digest.clone()).or_default();
        *times += 1;
        section.id = if *times == 1 { digest } else { format!("{digest}#{times}") };
        self.done.push(section);
    }
}

/// The first 16 hex digits of the hash of a section's text and headings.
fn digest(section: &Section) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in section.path.iter().chain([&section.heading, &section.body]) {
        // Lengths make the concatenation unambiguous.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{IngestLimits, ingest};

    #[test]
    fn ids_depend_on_text_and_position() {
        let id_of = |path: &[&str], heading: &str, body: &str| {
            let path = path.iter().map(|part| (*part).to_owned()).collect();
            digest(&Section { path, heading: heading.into(), body: body.into(), ..Section::default() })
        };
        let id = id_of(&["A", "B"], "C", "text");
        assert_eq!(id, id_of(&["A", "B"], "C", "text"));
        for other in [id_of(&["AB"], "C", "text"), id_of(&["A"], "BC", "text"), id_of(&["A", "B"], "C", "texts")] {
            assert_ne!(id, other);
        }
        assert_eq!(id.len(), 16);
        let thrice = ingest("a.md", b"# A\nx\n# A\nx\n# A\nx\n", &IngestLimits::default()).unwrap().sections;
        assert_eq!(format!("{}#3", thrice[0].id), thrice[2].id);
    }
}
