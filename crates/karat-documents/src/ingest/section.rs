//! Documents and their sections, and the form in which sessions store them.

use super::FORMATS;
use karat_format::session::{IngestedSectionV1, IngestedV1, UnitV1};
use serde::Serialize;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Document {
    pub name: String,
    pub format: &'static str,
    /// In document order; all text is in exactly one of them.
    pub sections: Vec<Section>,
    pub notes: Vec<String>,
}

/// A heading and the text up to the next heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The same text under the same headings has the same id.
    pub id: SectionId,
    /// With its number; empty for text before the first heading.
    pub heading: String,
    pub path: Vec<String>,
    /// From 1; 0 for text before the first heading.
    pub level: u8,
    /// Without a final dot, such as `2.3`.
    pub number: Option<String>,
    /// Plain text: paragraphs separated by empty lines, table cells by ` | `, lists with markers.
    pub body: String,
    pub place: SectionPlace,
}

/// 16 hex digits; equal sections get a suffix such as `#2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SectionId(pub(super) String);

impl SectionId {
    /// `before` is the number of equal sections so far.
    pub(super) fn new(path: &[String], heading: &str, body: &str, before: usize) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in path.iter().map(String::as_str).chain([heading, body]) {
            // Lengths make the concatenation unambiguous.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let digits = &hasher.finalize().to_hex()[..16];
        Self(if before == 0 { digits.to_owned() } else { format!("{digits}#{}", before + 1) })
    }
}

impl fmt::Display for SectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A range of units, from 1, both ends inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SectionPlace {
    /// Paragraphs include empty ones and those in tables.
    pub unit: UnitV1,
    pub first: usize,
    pub last: usize,
}

impl fmt::Display for SectionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            UnitV1::Line => "line",
            UnitV1::Paragraph => "paragraph",
            UnitV1::Page => "page",
        };
        if self.first == self.last {
            write!(f, "{unit} {}", self.first)
        } else {
            write!(f, "{unit}s {}–{}", self.first, self.last)
        }
    }
}

impl From<&Document> for IngestedV1 {
    fn from(document: &Document) -> Self {
        let section = |section: &Section| IngestedSectionV1 {
            id: section.id.to_string(),
            heading: section.heading.clone(),
            path: section.path.clone(),
            level: section.level,
            number: section.number.clone(),
            body: section.body.clone(),
            unit: section.place.unit,
            first: section.place.first,
            last: section.place.last,
        };
        Self {
            format: document.format.to_owned(),
            sections: document.sections.iter().map(section).collect(),
            notes: document.notes.clone(),
        }
    }
}

/// Restores a stored document under its current name; `None` if its format is unknown.
pub fn stored_document(stored: IngestedV1, name: &str) -> Option<Document> {
    let section = |section: IngestedSectionV1| Section {
        id: SectionId(section.id),
        heading: section.heading,
        path: section.path,
        level: section.level,
        number: section.number,
        body: section.body,
        place: SectionPlace { unit: section.unit, first: section.first, last: section.last },
    };
    let format = FORMATS.iter().find(|format| format.name == stored.format)?.name;
    let sections = stored.sections.into_iter().map(section).collect();
    Some(Document { name: name.to_owned(), format, sections, notes: stored.notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{IngestLimits, ingest};

    #[test]
    fn ids_depend_on_text_and_position() {
        let path = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let id = SectionId::new(&path(&["A", "B"]), "C", "text", 0);
        assert_eq!(id, SectionId::new(&path(&["A", "B"]), "C", "text", 0));
        assert_eq!(format!("{id}#3"), SectionId::new(&path(&["A", "B"]), "C", "text", 2).to_string());
        for other in [
            SectionId::new(&path(&["AB"]), "C", "text", 0),
            SectionId::new(&path(&["A"]), "BC", "text", 0),
            SectionId::new(&path(&["A", "B"]), "C", "texts", 0),
        ] {
            assert_ne!(id, other);
        }
        assert_eq!(id.0.len(), 16);
    }

    #[test]
    fn documents_round_trip() {
        let text = "front\n\n# A\n\ntext\n\n## 1.2 B\n\n- one\n- two\n";
        let document = ingest("a.md", text.as_bytes(), &IngestLimits::default()).unwrap();
        let kept = serde_json::to_string(&IngestedV1::from(&document)).unwrap();
        let read: IngestedV1 = serde_json::from_str(&kept).unwrap();
        assert_eq!(stored_document(read.clone(), "a.md"), Some(document));
        assert_eq!(stored_document(IngestedV1 { format: "odt".into(), ..read }, "a.md"), None);
    }
}
