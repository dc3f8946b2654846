//! Reads Word documents: styles, automatic numbers, tables, notes and tracked changes.

mod body;
mod numbering;
mod styles;
#[cfg(test)]
mod tests;
mod xml;

use super::clause::{Span, lead, prevailing};
use super::outline::{Kind, Outline};
use super::{DocumentFormat, Result, Source, size};
use body::{BodyReader, Item, NoteId, Paragraph, Run, Table, flat};
use karat_format::session::UnitV1;
use numbering::Numbering;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use styles::Styles;
use xml::Xml;
use zip::ZipArchive;
use zip::result::ZipError;

pub(super) const FORMAT: DocumentFormat =
    DocumentFormat { name: "docx", extensions: &["docx"], unit: UnitV1::Paragraph, read };

fn read(source: &Source<'_>, outline: &mut Outline<'_>) -> Result<()> {
    source.refuse_other_kinds("docx")?;
    let mut package = Package::open(source)?;
    let main = main_part(source, &mut package)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut beside = |name: &str| -> Result<(String, Option<String>)> {
        let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let text = package.part(&path)?;
        Ok((path, text))
    };
    let mut reader = BodyReader::default();
    if let (path, Some(text)) = beside("styles.xml")? {
        reader.styles = Styles::read(Xml::new(source, &path, &text))?;
    }
    if let (path, Some(text)) = beside("numbering.xml")? {
        reader.numbering = Numbering::read(Xml::new(source, &path, &text))?;
    }
    let mut notes = BTreeMap::new();
    for kind in ["footnote", "endnote"] {
        if let (path, Some(text)) = beside(&format!("{kind}s.xml"))? {
            notes.extend(reader.note_texts(kind, Xml::new(source, &path, &text))?);
        }
    }
    let Some(text) = package.part(&main)? else {
        let message = "there is no such part in the archive; is this a Word document? Save it as .docx again";
        return Err(source.malformed_part(&main, message));
    };
    let mut items = Vec::new();
    Xml::new(source, &main, &text).each(|xml, tag| {
        if tag.name() == "body" {
            items.extend(reader.blocks(xml)?);
        }
        Ok(())
    })?;
    for (what, n) in reader.counts {
        (0..n).for_each(|_| outline.count(what));
    }
    let items = unfold(items);
    let body = BodyStyle::from_items(&items);
    for item in items {
        match item {
            Item::Paragraph(paragraph) => push(paragraph, &body, &mut notes, outline),
            Item::Table(table) => push_table(&table, &mut notes, outline),
        }
    }
    Ok(())
}

/// The parts of the archive, read into memory; nothing is written, whatever the names.
struct Package<'a> {
    source: &'a Source<'a>,
    archive: ZipArchive<Cursor<&'a [u8]>>,
    left: usize,
}

impl<'a> Package<'a> {
    fn open(source: &'a Source<'a>) -> Result<Self> {
        let archive = ZipArchive::new(Cursor::new(source.bytes)).map_err(|error| {
            let help = "open it in a word processor and save it again";
            source.unreadable(format!("this is no .docx, which is a zip archive ({error}); {help}"))
        })?;
        if archive.len() > source.limits.entries {
            return Err(source.too_much("the number of entries of the archive", source.limits.entries));
        }
        Ok(Self { source, archive, left: source.limits.unpacked_bytes })
    }

    /// A part as text; `None` if missing.
    fn part(&mut self, name: &str) -> Result<Option<String>> {
        let source = self.source;
        let damaged = |error: &dyn std::fmt::Display| {
            let help = "open the document and save it again";
            source.malformed_part(name, format!("this part cannot be unpacked ({error}); {help}"))
        };
        let entry = match self.archive.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(source.encrypted("an archive with a password"));
            }
            Err(error) => return Err(damaged(&error)),
        };
        let most = self.left.min(source.limits.part_bytes);
        let mut bytes = Vec::new();
        // The sizes stated by the archive are not trusted.
        let read = entry.take(u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| damaged(&error))?;
        if bytes.len() > most {
            return Err(source.too_much(format!("{name}, unpacked,"), size(most)));
        }
        self.left -= bytes.len();
        Ok(Some(encoding_rs::UTF_8.decode(&bytes).0.into_owned()))
    }
}

/// The part with the main document, as named by the archive.
fn main_part(source: &Source<'_>, package: &mut Package<'_>) -> Result<String> {
    let mut main = "word/document.xml".to_owned();
    let Some(text) = package.part("_rels/.rels")? else { return Ok(main) };
    Xml::new(source, "_rels/.rels", &text).each(|_, tag| {
        let kind = tag.attribute("Type").filter(|_| tag.name() == "Relationship").unwrap_or_default();
        if kind.ends_with("/officeDocument")
            && let Some(target) = tag.attribute("Target")
        {
            main = target.trim_start_matches('/').to_owned();
        }
        Ok(())
    })?;
    Ok(main)
}

/// Replaces layout tables by their text: those with one column or with headings.
fn unfold(items: Vec<Item>) -> Vec<Item> {
    let mut out = Vec::new();
    for item in items {
        match item {
            Item::Table(table) if is_arrangement(&table) => {
                for cell in table.into_iter().flatten() {
                    out.extend(unfold(cell));
                }
            }
            other => out.push(other),
        }
    }
    out
}

fn is_arrangement(table: &Table) -> bool {
    let heads = |item: &Item| match item {
        Item::Paragraph(paragraph) => paragraph.heading.is_some() && !paragraph.text().trim().is_empty(),
        Item::Table(table) => is_arrangement(table) && table.iter().flatten().flatten().count() > 0,
    };
    table.iter().all(|row| row.len() <= 1) || table.iter().flatten().flatten().any(heads)
}

/// The prevailing style of the text, and the styles of emphasised lines.
struct BodyStyle {
    size: u32,
    bold: bool,
    /// Most prominent first.
    ranks: Vec<(u32, bool)>,
}

impl BodyStyle {
    fn from_items(items: &[Item]) -> Self {
        let paragraphs = || {
            items.iter().filter_map(|item| match item {
                Item::Paragraph(paragraph) => Some(paragraph),
                Item::Table(_) => None,
            })
        };
        let runs = paragraphs().flat_map(|paragraph| &paragraph.runs);
        let (size, bold) = prevailing(runs.map(|run| (run.size, run.bold, run.text.trim().len())));
        let mut body = Self { size: size.unwrap_or(20), bold, ranks: Vec::new() };
        let emphasised = |paragraph: &&Paragraph| {
            let lead = || lead(&paragraph.label, &body.spans(paragraph), &BTreeSet::new());
            paragraph.heading.is_none() && lead().is_some_and(|lead| lead.number.is_none())
        };
        let ranks: BTreeSet<(u32, bool)> = paragraphs().filter(emphasised).filter_map(prominence).collect();
        body.ranks = ranks.into_iter().rev().collect();
        body
    }

    fn spans(&self, paragraph: &Paragraph) -> Vec<Span> {
        paragraph.runs.iter().map(|run| Span { text: run.text.clone(), marked: self.marks(run) }).collect()
    }

    fn marks(&self, run: &Run) -> bool {
        // Small bold print is an explanation, not a heading.
        let set_off = (run.bold && !self.bold) || run.underlined;
        (set_off && run.size >= self.size) || run.size * 5 >= self.size * 6
    }

    fn rank(&self, paragraph: &Paragraph) -> Option<u8> {
        let own = prominence(paragraph)?;
        let rank = self.ranks.iter().position(|rank| *rank == own)?;
        u8::try_from(rank + 1).ok()
    }
}

fn prominence(paragraph: &Paragraph) -> Option<(u32, bool)> {
    let run = paragraph.runs.iter().find(|run| !run.text.trim().is_empty())?;
    Some((run.size, run.bold))
}

fn push(paragraph: Paragraph, body: &BodyStyle, notes: &mut BTreeMap<NoteId, String>, outline: &mut Outline<'_>) {
    let text = paragraph.text();
    if text.trim().is_empty() {
        return;
    }
    if paragraph.contents {
        return outline.count("lines of a table of contents left out");
    }
    let at = paragraph.ordinal;
    let label = paragraph.label.clone();
    let (indent, spans) = (paragraph.indent, body.spans(&paragraph));
    let (style, rank) = (paragraph.heading, body.rank(&paragraph));
    outline.push(Kind::Text { style, label, indent, spans, rank }, at, at);
    attach_notes(&[&paragraph], notes, outline);
}

fn push_table(table: &Table, notes: &mut BTreeMap<NoteId, String>, outline: &mut Outline<'_>) {
    let rows = table.iter().map(|row| row.iter().map(|cell| flat(cell)).collect::<Vec<_>>());
    let filled = rows.filter(|cells| cells.iter().any(|cell| !cell.is_empty()));
    let lines: Vec<String> = filled.map(|cells| cells.join(" | ").trim_end().to_owned()).collect();
    let paragraphs = paragraphs(table);
    let places = || paragraphs.iter().map(|paragraph| paragraph.ordinal);
    let (Some(first), Some(last)) = (places().min(), places().max()) else { return };
    outline.push(Kind::Plain(lines.join("\n")), first, last);
    attach_notes(&paragraphs, notes, outline);
}

/// Attaches notes to the block that refers to them first.
fn attach_notes(paragraphs: &[&Paragraph], notes: &mut BTreeMap<NoteId, String>, outline: &mut Outline<'_>) {
    for (mark, id) in paragraphs.iter().flat_map(|paragraph| &paragraph.notes) {
        if let Some(text) = notes.remove(id) {
            outline.footnote(mark, text);
        }
    }
}

fn paragraphs(table: &Table) -> Vec<&Paragraph> {
    let items = table.iter().flatten().flatten();
    let own = items.flat_map(|item| match item {
        Item::Paragraph(paragraph) => vec![paragraph],
        Item::Table(table) => paragraphs(table),
    });
    own.collect()
}
