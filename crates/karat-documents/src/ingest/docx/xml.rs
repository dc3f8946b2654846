//! A bounded pull parser for XML. Entities are not expanded.

use crate::ingest::{IngestError, Result, Source};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

pub(super) enum Node<'a> {
    Open(Tag<'a>),
    Close,
    Text(String),
    End,
}

/// An element, without its namespace prefix.
pub(super) struct Tag<'a> {
    start: BytesStart<'a>,
}

impl Tag<'_> {
    pub(super) fn name(&self) -> &str {
        local(self.start.name().0)
    }

    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let found = self.start.attributes().with_checks(false).flatten().find(|a| local(a.key.0) == name)?;
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

    pub(super) fn next(&mut self) -> Result<Node<'a>> {
        loop {
            self.events += 1;
            if self.events > self.source.limits.xml_events {
                let what = format!("what there is in {}", self.part);
                return Err(self.source.too_much(what, format!("{} tags and texts", self.source.limits.xml_events)));
            }
            let event = self.reader.read_event().map_err(|error| self.damaged(&error.to_string()))?;
            return Ok(match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > self.source.limits.depth {
                        let what = format!("the nesting of {}", self.part);
                        return Err(self.source.too_much(what, format!("{} levels", self.source.limits.depth)));
                    }
                    Node::Open(Tag { start })
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    Node::Close
                }
                Event::Text(text) => Node::Text(text.xml10_content().into_owned()),
                Event::CData(text) => Node::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(character)) => Node::Text(character.to_string()),
                    _ => match resolve_xml_entity(&reference.xml10_content()) {
                        Some(text) => Node::Text(text.to_owned()),
                        None => return Err(self.damaged("it uses an entity, which no document needs")),
                    },
                },
                Event::DocType(_) => return Err(self.damaged("it declares a DTD, which no document needs")),
                Event::Eof if self.depth > 0 => return Err(self.damaged("it ends in the middle")),
                Event::Eof => Node::End,
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => continue,
            });
        }
    }

    pub(super) fn skip(&mut self) -> Result<()> {
        self.each(|_, _| Ok(false))
    }

    /// Visits each descendant of the current element. A visitor that reads an element to its end returns `true`.
    pub(super) fn each(&mut self, mut visit: impl FnMut(&mut Self, &Tag<'a>) -> Result<bool>) -> Result<()> {
        let mut open = 1;
        while open > 0 {
            match self.next()? {
                Node::Open(tag) => {
                    if !visit(self, &tag)? {
                        open += 1;
                    }
                }
                Node::Close => open -= 1,
                Node::Text(_) => {}
                Node::End => break,
            }
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> IngestError {
        let message = format!("this part is damaged XML: {what}; open the document and save it again");
        self.source.malformed(self.part, message)
    }
}
