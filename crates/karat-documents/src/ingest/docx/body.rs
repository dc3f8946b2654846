//! Reads paragraphs and tables of a document part.

use super::numbering::Numbering;
use super::styles::{Properties, Styles};
use super::xml::{Tag, Xml};
use crate::ingest::Result;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) enum Item {
    Paragraph(Paragraph),
    Table(Table),
}

#[derive(Debug, Default)]
pub(super) struct Paragraph {
    /// Counted from 1.
    pub(super) ordinal: usize,
    /// The number or bullet shown before it.
    pub(super) label: String,
    pub(super) indent: usize,
    /// Heading level by style.
    pub(super) heading: Option<u8>,
    pub(super) contents: bool,
    pub(super) runs: Vec<Run>,
    pub(super) notes: Vec<(String, NoteId)>,
}

impl Paragraph {
    pub(super) fn text(&self) -> String {
        self.runs.iter().map(|run| run.text.as_str()).collect()
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) bold: bool,
    pub(super) underlined: bool,
    pub(super) size: u32,
}

/// The contents of each cell, by row.
pub(super) type Table = Vec<Vec<Vec<Item>>>;

/// `footnote` or `endnote`, and its id among those.
pub(super) type NoteId = (&'static str, String);

#[derive(Default)]
pub(super) struct BodyReader {
    pub(super) styles: Styles,
    pub(super) numbering: Numbering,
    pub(super) counts: BTreeMap<&'static str, usize>,
    ordinal: usize,
    notes: usize,
    /// The open fields, and whether each is still in its instruction, which is not text.
    fields: Vec<bool>,
}

pub(super) const DELETED: &str = "tracked deletions left out";
const INSERTED: &str = "tracked insertions taken";
const HIDDEN: &str = "hidden text left out";
const COMMENTS: &str = "comments left out";

impl BodyReader {
    /// Reads up to the end of the current element or of the part.
    pub(super) fn blocks(&mut self, xml: &mut Xml<'_>) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        xml.each(|xml, tag| {
            match tag.name() {
                "p" => self.paragraph(xml, &mut items)?,
                "tbl" => items.push(Item::Table(self.table(xml)?)),
                _ => self.skip_unless_text(xml, tag)?,
            }
            Ok(())
        })?;
        Ok(items)
    }

    /// Skips an element that has no document text.
    fn skip_unless_text(&mut self, xml: &mut Xml<'_>, tag: &Tag<'_>) -> Result<()> {
        match tag.name() {
            "del" | "moveFrom" => *self.counts.entry(DELETED).or_default() += 1,
            "commentReference" => *self.counts.entry(COMMENTS).or_default() += 1,
            "ins" | "moveTo" => {
                *self.counts.entry(INSERTED).or_default() += 1;
                return Ok(());
            }
            // Alternatives for programs that cannot draw the first choice, and properties.
            "Fallback" | "sectPr" | "sdtPr" | "sdtEndPr" | "tblPr" | "tblGrid" | "tcPr" | "trPr" | "tblPrEx"
            | "delText" | "delInstrText" | "instrText" | "docPr" | "cNvPr" | "posOffset" | "align" | "pctWidth"
            | "pctHeight" => {}
            _ => return Ok(()),
        }
        xml.skip()
    }

    fn table(&mut self, xml: &mut Xml<'_>) -> Result<Table> {
        let mut table = Table::new();
        xml.each(|xml, tag| {
            match tag.name() {
                "tr" => table.push(Vec::new()),
                "tc" => {
                    let cell = self.blocks(xml)?;
                    match table.last_mut() {
                        Some(row) => row.push(cell),
                        None => table.push(vec![cell]),
                    }
                }
                _ => self.skip_unless_text(xml, tag)?,
            }
            Ok(())
        })?;
        Ok(table)
    }

    fn paragraph(&mut self, xml: &mut Xml<'_>, items: &mut Vec<Item>) -> Result<()> {
        self.ordinal += 1;
        let mut paragraph = Paragraph { ordinal: self.ordinal, ..Paragraph::default() };
        let mut own = Properties::default();
        let mut looks = self.styles.paragraph(own.clone()).properties;
        let mut boxes = Vec::new();
        xml.each(|xml, tag| {
            match tag.name() {
                "pPr" => {
                    own = Properties::read(xml)?;
                    // A paragraph's run properties apply only to its paragraph mark.
                    let named = Properties { style: own.style.clone(), ..Properties::default() };
                    looks = self.styles.paragraph(named).properties;
                }
                "r" => self.run(xml, &looks, &mut paragraph, &mut boxes)?,
                "txbxContent" => boxes.extend(self.blocks(xml)?),
                _ => self.skip_unless_text(xml, tag)?,
            }
            Ok(())
        })?;
        // An empty paragraph keeps its number unless it was deleted or only ends a section.
        let gone = (own.mark_deleted || own.ends_pages) && paragraph.text().trim().is_empty();
        let names = self.styles.names(own.style.as_deref());
        let resolved = self.styles.paragraph(own);
        if let Some(numbered) = resolved.properties.numbered.as_ref().filter(|_| !gone)
            && let Some((label, level)) = self.numbering.next(numbered, &names)
        {
            (paragraph.label, paragraph.indent) = (label, level);
        }
        paragraph.heading = resolved.heading;
        paragraph.contents = resolved.contents;
        items.push(Item::Paragraph(paragraph));
        items.extend(boxes);
        Ok(())
    }

    fn run(
        &mut self,
        xml: &mut Xml<'_>,
        paragraph_looks: &Properties,
        paragraph: &mut Paragraph,
        boxes: &mut Vec<Item>,
    ) -> Result<()> {
        let mut looks = self.styles.run(Properties::default(), paragraph_looks);
        let mut text = String::new();
        xml.each(|xml, tag| {
            match tag.name() {
                "rPr" => looks = self.styles.run(Properties::read(xml)?, paragraph_looks),
                "t" => {
                    let words = xml.text()?;
                    if !self.fields.contains(&true) {
                        text.push_str(&words);
                    }
                }
                "tab" | "ptab" => text.push('\t'),
                // Page and column breaks are not text.
                "br" if tag.attribute("type").is_none_or(|kind| kind == "textWrapping") => text.push('\n'),
                "cr" => text.push('\n'),
                "noBreakHyphen" => text.push('-'),
                "sym" => text.extend(symbol(tag)),
                "fldChar" => match tag.attribute("fldCharType").as_deref() {
                    Some("begin") if self.fields.len() < 100 => self.fields.push(true),
                    Some("separate") => self.fields.last_mut().into_iter().for_each(|open| *open = false),
                    Some("end") => _ = self.fields.pop(),
                    _ => {}
                },
                name @ ("footnoteReference" | "endnoteReference") => {
                    self.notes += 1;
                    let mark = self.notes.to_string();
                    text.push_str(&format!("[{mark}]"));
                    let kind = if name == "footnoteReference" { "footnote" } else { "endnote" };
                    paragraph.notes.push((mark, (kind, tag.attribute("id").unwrap_or_default())));
                }
                "txbxContent" => boxes.extend(self.blocks(xml)?),
                _ => self.skip_unless_text(xml, tag)?,
            }
            Ok(())
        })?;
        if looks.hidden == Some(true) {
            if !text.trim().is_empty() {
                *self.counts.entry(HIDDEN).or_default() += 1;
            }
            return Ok(());
        }
        let (bold, underlined) = (looks.bold == Some(true), looks.underlined == Some(true));
        let run = Run { text, bold, underlined, size: looks.size.unwrap_or(self.styles.size) };
        match paragraph.runs.last_mut() {
            Some(last) if (last.bold, last.underlined, last.size) == (bold, underlined, run.size) => {
                last.text.push_str(&run.text);
            }
            _ => paragraph.runs.push(run),
        }
        Ok(())
    }

    pub(super) fn note_texts(&mut self, kind: &'static str, mut xml: Xml<'_>) -> Result<BTreeMap<NoteId, String>> {
        let mut found = BTreeMap::new();
        xml.each(|xml, tag| {
            if matches!(tag.name(), "footnote" | "endnote") {
                let ordinal = self.ordinal;
                let items = self.blocks(xml)?;
                self.ordinal = ordinal;
                found.insert((kind, tag.attribute("id").unwrap_or_default()), flat(&items));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// The text of items on one line.
pub(super) fn flat(items: &[Item]) -> String {
    let mut words = Vec::new();
    for item in items {
        match item {
            Item::Paragraph(paragraph) => {
                let gap = if paragraph.label.is_empty() { "" } else { " " };
                words.push(format!("{}{gap}{}", paragraph.label, paragraph.text()));
            }
            Item::Table(table) => words.extend(table.iter().flatten().map(|cell| flat(cell))),
        }
    }
    words.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A character of a symbol font: only check boxes have a meaning as text.
fn symbol(tag: &Tag<'_>) -> Option<char> {
    let code = u32::from_str_radix(&tag.attribute("char")?, 16).ok()?;
    match code & 0xff {
        0xfe | 0x52 | 0x54 => Some('☒'),
        0xa8 | 0x6f | 0xa3 => Some('☐'),
        0xb7 => Some('•'),
        _ => None,
    }
}
