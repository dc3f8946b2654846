//! A document as a session keeps it: taken apart, so that it need not be read again.

use crate::ingest::{Document, Place, Section, SectionId, Unit, format_named};
use serde::{Deserialize, Serialize};

/// A document that was taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestedV1 {
    format: String,
    sections: Vec<SectionV1>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SectionV1 {
    id: String,
    heading: String,
    path: Vec<String>,
    level: u8,
    number: Option<String>,
    body: String,
    unit: UnitV1,
    first: usize,
    last: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum UnitV1 {
    Line,
    Paragraph,
    Page,
}

impl From<&Document> for IngestedV1 {
    fn from(document: &Document) -> Self {
        let section = |section: &Section| SectionV1 {
            id: section.id.to_string(),
            heading: section.heading.clone(),
            path: section.path.clone(),
            level: section.level,
            number: section.number.clone(),
            body: section.body.clone(),
            unit: match section.place.unit {
                Unit::Line => UnitV1::Line,
                Unit::Paragraph => UnitV1::Paragraph,
                Unit::Page => UnitV1::Page,
            },
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

impl IngestedV1 {
    /// The document, under the name it has now; none where its format is not one that is known.
    pub fn into_document(self, name: &str) -> Option<Document> {
        let section = |section: SectionV1| Section {
            id: SectionId::kept(section.id),
            heading: section.heading,
            path: section.path,
            level: section.level,
            number: section.number,
            body: section.body,
            place: Place {
                unit: match section.unit {
                    UnitV1::Line => Unit::Line,
                    UnitV1::Paragraph => Unit::Paragraph,
                    UnitV1::Page => Unit::Page,
                },
                first: section.first,
                last: section.last,
            },
        };
        let format = format_named(&self.format)?.name;
        let sections = self.sections.into_iter().map(section).collect();
        Some(Document { name: name.to_owned(), format, sections, notes: self.notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Limits, ingest};

    #[test]
    fn a_document_comes_back_as_it_was() {
        let text = "front\n\n# A\n\ntext\n\n## 1.2 B\n\n- one\n- two\n";
        let document = ingest("a.md", text.as_bytes(), &Limits::default()).unwrap();
        let kept = serde_json::to_string(&IngestedV1::from(&document)).unwrap();
        let read: IngestedV1 = serde_json::from_str(&kept).unwrap();
        assert_eq!(read.clone().into_document("a.md"), Some(document));
        assert_eq!(IngestedV1 { format: "odt".into(), ..read }.into_document("a.md"), None);
    }
}
