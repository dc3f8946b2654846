//! A bounded pull parser for XML. Entities are not expanded.

use crate::ingest::{DocumentError, Result, Source};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// An element, without its namespace prefix.
pub(super) struct Tag<'a>(BytesStart<'a>);

impl Tag<'_> {
    pub(super) fn name(&self) -> &str {
        local(self.0.name().0)
    }

    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let found = self.0.attributes().with_checks(false).flatten().find(|a| local(a.key.0) == name)?;
        let value = found.normalized_value(XmlVersion::Implicit1_0);
        Some(value.map_or_else(|_| found.value.to_string(), |value| value.into_owned()))
    }

    pub(super) fn value(&self) -> Option<String> {
        self.attribute("val")
    }

    pub(super) fn is_on(&self) -> bool {
        !matches!(self.value().as_deref(), Some("0" | "false" | "off" | "none"))
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

pub(super) struct Xml<'a> {
    source: &'a Source<'a>,
    part: &'a str,
    reader: Reader<&'a [u8]>,
    depth: usize,
    events: usize,
}

impl<'a> Xml<'a> {
    pub(super) fn new(source: &'a Source<'a>, part: &'a str, text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { source, part, reader, depth: 0, events: 0 }
    }

    /// Skips the rest of the current element.
    pub(super) fn skip(&mut self) -> Result<()> {
        self.each(|_, _| Ok(()))
    }

    /// All text of the current element.
    pub(super) fn text(&mut self) -> Result<String> {
        let mut all = String::new();
        self.walk(|_, _| Ok(()), |text| all.push_str(text))?;
        Ok(all)
    }

    /// Visits each descendant of the current element, except those of an element that the visitor reads to its end.
    pub(super) fn each(&mut self, visit: impl FnMut(&mut Self, &Tag<'a>) -> Result<()>) -> Result<()> {
        self.walk(visit, |_| {})
    }

    fn walk(
        &mut self,
        mut visit: impl FnMut(&mut Self, &Tag<'a>) -> Result<()>,
        mut take: impl FnMut(&str),
    ) -> Result<()> {
        let limits = self.source.limits;
        let current = self.depth;
        loop {
            self.events += 1;
            if self.events > limits.xml_events {
                let what = format!("what there is in {}", self.part);
                return Err(self.source.too_much(what, format!("{} tags and texts", limits.xml_events)));
            }
            match self.reader.read_event().map_err(|error| self.damaged(&error.to_string()))? {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > limits.depth {
                        let what = format!("the nesting of {}", self.part);
                        return Err(self.source.too_much(what, format!("{} levels", limits.depth)));
                    }
                    visit(self, &Tag(start))?;
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth < current {
                        return Ok(());
                    }
                }
                Event::Text(text) => take(&text.xml10_content()),
                Event::CData(text) => take(&text.xml10_content()),
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(character)) => take(character.encode_utf8(&mut [0; 4])),
                    _ => match resolve_xml_entity(&reference.xml10_content()) {
                        Some(text) => take(text),
                        None => return Err(self.damaged("it uses an entity, which no document needs")),
                    },
                },
                Event::DocType(_) => return Err(self.damaged("it declares a DTD, which no document needs")),
                Event::Eof if self.depth > 0 => return Err(self.damaged("it ends in the middle")),
                Event::Eof => return Ok(()),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    fn damaged(&self, what: &str) -> DocumentError {
        let message = format!("this part is damaged XML: {what}; open the document and save it again");
        self.source.malformed_part(self.part, message)
    }
}
