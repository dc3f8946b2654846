//! Resolves styles: which paragraphs are headings, and their formatting.

use super::numbering::Numbered;
use super::xml::Xml;
use crate::ingest::Result;
use std::collections::BTreeMap;

/// Limit for inheritance; ends cycles.
const LONGEST_CHAIN: usize = 32;
/// Heading style names in several languages. Names in files are mostly, but not always, English.
const HEADINGS: &str =
    "heading rubrik überschrift berschrift titre título ttulo titolo kop overskrift otsikko nagłówek";

#[derive(Clone, Debug, Default)]
pub(super) struct Properties {
    pub(super) outline: Option<u8>,
    pub(super) numbered: Option<Numbered>,
    pub(super) bold: Option<bool>,
    pub(super) underlined: Option<bool>,
    pub(super) size: Option<u32>,
    pub(super) hidden: Option<bool>,
    pub(super) style: Option<String>,
    pub(super) mark_deleted: bool,
    pub(super) ends_pages: bool,
}

impl Properties {
    /// Reads the current `pPr` or `rPr`.
    pub(super) fn read(xml: &mut Xml<'_>) -> Result<Self> {
        let mut own = Self::default();
        let mut number = (None, None);
        xml.each(|xml, tag| {
            match tag.name() {
                "pStyle" | "rStyle" => own.style = tag.value(),
                "outlineLvl" => own.outline = tag.value().and_then(|v| v.parse().ok()),
                "numId" => number.0 = tag.value(),
                "ilvl" => number.1 = tag.value().and_then(|v| v.parse::<usize>().ok()).filter(|level| *level < 9),
                "b" => own.bold = Some(tag.is_on()),
                "u" => own.underlined = Some(tag.is_on()),
                "sz" => own.size = tag.value().and_then(|v| v.parse().ok()),
                "vanish" => own.hidden = Some(tag.is_on()),
                "del" => own.mark_deleted = true,
                // Properties before a tracked change, and page properties.
                name @ ("pPrChange" | "rPrChange" | "sectPr" | "numberingChange") => {
                    own.ends_pages |= name == "sectPr";
                    xml.skip()?;
                }
                _ => {}
            }
            Ok(())
        })?;
        if number.0.is_some() || number.1.is_some() {
            own.numbered = Some(Numbered { list: number.0, level: number.1 });
        }
        Ok(own)
    }

    fn or(self, other: &Self) -> Self {
        let numbered = match (self.numbered, &other.numbered) {
            (Some(own), Some(other)) => {
                Some(Numbered { list: own.list.or_else(|| other.list.clone()), level: own.level.or(other.level) })
            }
            (own, other) => own.or_else(|| other.clone()),
        };
        Self {
            outline: self.outline.or(other.outline),
            numbered,
            bold: self.bold.or(other.bold),
            underlined: self.underlined.or(other.underlined),
            size: self.size.or(other.size),
            hidden: self.hidden.or(other.hidden),
            style: self.style,
            mark_deleted: self.mark_deleted,
            ends_pages: self.ends_pages,
        }
    }
}

#[derive(Debug, Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    own: Properties,
}

#[derive(Debug, Default)]
pub(super) struct Styles {
    by_id: BTreeMap<String, Style>,
    default_paragraph: Option<String>,
    /// The default size in half points.
    pub(super) size: u32,
}

#[derive(Debug, Default)]
pub(super) struct Resolved {
    pub(super) properties: Properties,
    pub(super) heading: Option<u8>,
    pub(super) contents: bool,
}

impl Styles {
    pub(super) fn read(mut xml: Xml<'_>) -> Result<Self> {
        let mut styles = Self { size: 20, ..Self::default() };
        xml.each(|xml, tag| {
            match tag.name() {
                "pPrDefault" => xml.skip()?,
                // Those of styles are read with their style.
                "rPr" => styles.size = Properties::read(xml)?.size.unwrap_or(styles.size),
                "style" => {
                    let id = tag.attribute("styleId").unwrap_or_default();
                    if tag.attribute("default").is_some_and(|v| v == "1" || v == "true")
                        && tag.attribute("type").as_deref() == Some("paragraph")
                    {
                        styles.default_paragraph = Some(id.clone());
                    }
                    styles.by_id.insert(id, style(xml)?);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(styles)
    }

    pub(super) fn paragraph(&self, own: Properties) -> Resolved {
        let (mut heading, mut contents) = (None, false);
        let level_of = |outline: u8| (outline < 9).then(|| outline + 1);
        let start = own.style.clone().or_else(|| self.default_paragraph.clone());
        // An outline level on the paragraph itself makes a heading too.
        let own_outline = own.outline;
        let mut properties = own;
        for (id, style) in self.chain(start) {
            if heading.is_none() && style.own.outline.is_none() {
                heading = named_heading(&style.name).or_else(|| named_heading(id));
            }
            if heading.is_none() {
                heading = style.own.outline.and_then(level_of);
            }
            contents |=
                style.name.to_lowercase().starts_with("toc ") && !style.name.to_lowercase().ends_with("heading");
            properties = properties.or(&style.own);
        }
        if let Some(outline) = own_outline {
            heading = level_of(outline);
        }
        Resolved { properties, heading, contents }
    }

    pub(super) fn run(&self, own: Properties, paragraph: &Properties) -> Properties {
        self.chain(own.style.clone()).fold(own, |run, (_, style)| run.or(&style.own)).or(paragraph)
    }

    /// The paragraph's style and those it is based on.
    pub(super) fn names(&self, own: Option<&str>) -> Vec<&str> {
        let start = own.map(str::to_owned).or_else(|| self.default_paragraph.clone());
        self.chain(start).map(|(id, _)| id).collect()
    }

    fn chain(&self, start: Option<String>) -> impl Iterator<Item = (&str, &Style)> {
        let first = start.and_then(|id| self.by_id.get_key_value(&id));
        let next = |(_, style): &(&String, &Style)| style.based_on.as_ref().and_then(|id| self.by_id.get_key_value(id));
        std::iter::successors(first, next).take(LONGEST_CHAIN).map(|(id, style)| (id.as_str(), style))
    }
}

fn style(xml: &mut Xml<'_>) -> Result<Style> {
    let mut style = Style::default();
    xml.each(|xml, tag| {
        match tag.name() {
            "name" => style.name = tag.value().unwrap_or_default(),
            "basedOn" => style.based_on = tag.value(),
            "pPr" | "rPr" => {
                let read = Properties::read(xml)?;
                style.own = std::mem::take(&mut style.own).or(&read);
            }
            // Table formatting is irrelevant.
            "tblStylePr" => xml.skip()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(style)
}

fn named_heading(name: &str) -> Option<u8> {
    let name = name.trim().to_lowercase();
    if name == "title" {
        return Some(1);
    }
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let level = name[word.len()..].parse().ok().filter(|level| (1..=9).contains(level))?;
    let word = word.trim_end_matches([' ', '-', '_']);
    HEADINGS.split(' ').any(|heading| heading == word).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heading_styles_are_recognised_in_every_language() {
        for (name, expect) in [
            ("heading 1", Some(1)),
            ("Heading 9", Some(9)),
            ("Rubrik 2", Some(2)),
            ("berschrift3", Some(3)),
            ("Title", Some(1)),
            ("heading 10", None),
            ("heading", None),
            ("Normal", None),
            ("Body Text 2", None),
        ] {
            assert_eq!(named_heading(name), expect, "{name}");
        }
    }
}
