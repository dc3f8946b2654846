//! Documents as stored in sessions.

use super::{Document, Section, SectionId, SectionPlace, Unit, format_named};
use karat_format::session::{IngestedSectionV1, IngestedV1, UnitV1};

impl From<&Document> for IngestedV1 {
    fn from(document: &Document) -> Self {
        let section = |section: &Section| IngestedSectionV1 {
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

/// Restores a stored document under its current name; `None` if its format is unknown.
pub fn stored_document(stored: IngestedV1, name: &str) -> Option<Document> {
    let section = |section: IngestedSectionV1| Section {
        id: SectionId::from_stored(section.id),
        heading: section.heading,
        path: section.path,
        level: section.level,
        number: section.number,
        body: section.body,
        place: SectionPlace {
            unit: match section.unit {
                UnitV1::Line => Unit::Line,
                UnitV1::Paragraph => Unit::Paragraph,
                UnitV1::Page => Unit::Page,
            },
            first: section.first,
            last: section.last,
        },
    };
    let format = format_named(&stored.format)?.name;
    let sections = stored.sections.into_iter().map(section).collect();
    Some(Document { name: name.to_owned(), format, sections, notes: stored.notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{IngestLimits, ingest};

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
